"""The PDFs of papers: looked up and hashed, their pages drawn as images, and quotes placed on them.

Drawing a page and finding a quote on it are in `pages`, which runs in a worker.
A worker is kept ready between two requests: starting one takes half a second, drawing a page a
tenth of that.
"""

import logging
import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.core.domain import (
    Box,
    Chunk,
    SourceFormat,
    Span,
    StatementKind,
    all_boxes,
    spans_between,
)
from rag_assets.core.errors import DocumentLimit, NotFound, UnreadableDocument
from rag_assets.core.incremental import file_sha256, fingerprint, stamp_if_there
from rag_assets.core.kept import Kept, kept_file
from rag_assets.core.settings import ParseLimits, Settings
from rag_assets.core.workforce.processes import WorkerPool
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.library.reading.pages import (
    RENDERING_VERSION,
    FractionBox,
    PageImageJob,
    PdfFile,
    QuoteSearch,
    find_on_pages,
    page_png,
)
from rag_assets.library.reading.papers import Papers
from rag_assets.parsing.discovery import file_problem

_HASHES_KEPT = 10_000
_MAX_WORKERS = 2
"""Pages drawn or searched at once, each in a process of its own."""


class PdfFiles:
    """Looks up PDFs; may be used by several threads."""

    def __init__(self, settings: Settings, papers: Papers) -> None:
        self._folder = settings.paths.papers
        self._limits = settings.parsing.limits
        self._papers = papers
        self._sha256 = lru_cache(_HASHES_KEPT)(_sha256)

    def of(self, paper_id: str) -> PdfFile | None:
        """The PDF of a paper; None for a paper without one. Raises NotFound for a paper that was
        not read, and for a PDF that is missing or may not be read."""
        name = self._papers.pdf_path(paper_id)
        if name is None:
            return None
        # A list may name files elsewhere, and then there need be no papers folder to go up from.
        path = Path(os.path.normpath(self._folder.absolute() / name))
        # A file that was found in the papers folder must not be a link that leads out of it.
        is_inside = path.resolve().is_relative_to(self._folder.resolve())
        if not name.startswith(("../", "/")) and not is_inside:
            raise NotFound(
                f"{name} is a link that leads out of the papers folder. Put the file itself here."
            )
        if problem := file_problem(path, self._limits):
            raise NotFound(f"{name} {problem}")
        return PdfFile(path, name, self._sha256(path, stamp_if_there(path)), self._limits.max_pages)


def _sha256(path: Path, _stamp: tuple[int, int, int] | None) -> str:
    """SHA-256 of the file; the stamp is a key of the cache, so that a changed file is hashed
    again."""
    return file_sha256(path)


Item = TypeVar("Item", bound=Hashable)
Result = TypeVar("Result")
PAGE_TIMEOUT_S, _PAGE_MEMORY_MB = 20.0, 1024
"""Most that one page may take to be drawn or searched; then its worker is killed."""
_FAILURES_KEPT = 1000
_FAILURE_HOLDS_S = 600.0
"""A page may pass the time limit because the machine was busy."""


class PdfWorkers:
    """Runs functions of an importable module on items that can be pickled; may be used by several
    threads.

    An item that crashed a worker, or passed its limits, is not tried again for some minutes.
    """

    def __init__(self, settings: Settings) -> None:
        limits = {"timeout_s": PAGE_TIMEOUT_S, "max_memory_mb": _PAGE_MEMORY_MB}
        self._limits = ParseLimits(**settings.parsing.limits.model_dump() | limits)
        self._pool = WorkerPool(_MAX_WORKERS)
        self._lock = threading.Lock()
        self._failures: OrderedDict[Hashable, tuple[float, str]] = OrderedDict()

    def run(self, work: Callable[[Item], Result], item: Item, pdf: PdfFile) -> Result:
        """`work(item)` in a worker, when one is free. pdf: what the item is about, for messages.

        Raises UnreadableDocument for a file or page that cannot be used, DocumentLimit (one of its
        kinds) where a limit of time or memory was passed or the worker crashed.
        """
        until, reason = self._failures.get(item, (0.0, ""))
        if time.monotonic() < until:
            raise DocumentLimit(reason)
        done = self._pool.submit(work, item, self._limits).result()
        if not isinstance(done, Failure):
            return done
        if not done.is_worker_lost:
            raise UnreadableDocument(f"{pdf.name} {done.reason}")
        reason = (
            f"{pdf.name} has a page that cannot be read: it took longer than {self._limits.timeout_s:g} s, needed more "
            f"than {self._limits.max_memory_mb} MB, or ended the program that reads it. Export the file again."
        )
        with self._lock:
            self._failures[item] = time.monotonic() + _FAILURE_HOLDS_S, reason
            if len(self._failures) > _FAILURES_KEPT:
                self._failures.popitem(last=False)
        raise DocumentLimit(reason)

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        self._pool.close()


MIN_WIDTH, MAX_WIDTH = 50, 2400
MAX_BOXES = 200
_DIGITS = 4
"""Digits kept of a box's fractions: a hundredth of a per cent is less than a pixel."""


class PageImages:
    """Draws pages; may be used by several threads."""

    def __init__(self, settings: Settings, workers: PdfWorkers) -> None:
        self._workers = workers
        self._kept = Kept(kept_file(settings), "page_images", bytes, bytes)

    def png(self, pdf: PdfFile, page: int, width: int, boxes: Sequence[FractionBox]) -> bytes:
        """The page as a PNG, `width` cut to MIN_WIDTH to MAX_WIDTH pixels; very long pages are
        narrower.

        At most MAX_BOXES boxes are marked; invalid ones (not a number, or no area) are passed over.
        Raises NotFound for a page that is not there, UnreadableDocument for a PDF or page that
        cannot be drawn.
        """
        shown: list[FractionBox] = []
        for box in boxes[:MAX_BOXES]:
            if all(map(math.isfinite, box)) and box[0] < box[2] and box[1] < box[3]:
                # the part of the box that lies on the page
                left, top, right, bottom = (
                    round(min(max(side, 0.0), 1.0), _DIGITS) for side in box
                )
                shown.append((left, top, right, bottom))
        job = PageImageJob(pdf, page, min(max(width, MIN_WIDTH), MAX_WIDTH), tuple(shown))
        key = fingerprint(RENDERING_VERSION, pdf.sha256, job.page, job.width, job.boxes)

        def drawn() -> bytes:
            png = self._workers.run(page_png, job, pdf)
            if png is None:
                raise NotFound(
                    f"{pdf.name} has no page {page}. Pages are counted from 1, as in the file."
                )
            return png

        return self._kept.once(key, drawn)[0]


logger = logging.getLogger(__name__)
_MAX_PAGES = 6
"""A quote whose text may be on more pages than this is not searched."""
_CONTEXT_CHARS = 300
_PLACES_KEPT = 2000


@dataclass(frozen=True)
class PagePlace:
    """The boxes to be marked on one page."""

    page: int
    """Physical page, 1-based."""
    page_label: str | None
    """Printed on the page, where it is known."""
    boxes: tuple[Box, ...]
    """In reading order; empty if only the page is known."""
    is_exact: bool
    """Whether the boxes are those of the quote: its lines, found in the PDF's own text or by OCR,
    the figure whose caption it is, or its paragraph where that is quoted whole. Else they are those
    of the paragraph or table that holds it, as the source gives them."""


class Places:
    """Looks quotes up in PDFs; may be used by several threads."""

    def __init__(self, pdfs: PdfFiles, workers: PdfWorkers) -> None:
        self._pdfs = pdfs
        self._found = lru_cache(_PLACES_KEPT)(
            lambda search: workers.run(find_on_pages, search, search.pdf)
        )

    def of(self, chunk: Chunk, start: int, end: int) -> tuple[PagePlace, ...]:
        """The pages of `text[start:end]` of a chunk, in order; empty if no page is known."""
        spans = spans_between(chunk.spans, start, end)
        pages = sorted(
            {
                page
                for span in spans
                if span.page_start is not None and span.page_end is not None
                for page in range(span.page_start, span.page_end + 1)
            }
        )
        if not pages:
            return ()
        labels = {span.page_start: span.label_start for span in chunk.spans if span.label_start}
        labels |= {span.page_end: span.label_end for span in chunk.spans if span.label_end}
        boxes = self._lines(chunk, start, end, pages)
        # the lines were found, or what the source gives is all of the quote and nothing else
        is_whole = start <= spans[0].start and spans[-1].end <= end
        is_exact = bool(boxes) or is_whole or all(span.is_by_ocr for span in spans)
        boxes = (*boxes, *_pictures(chunk, start, spans)) if boxes else all_boxes(spans)
        marked = sorted({box.page for box in boxes}) or pages
        return tuple(
            PagePlace(
                page, labels.get(page), tuple(box for box in boxes if box.page == page), is_exact
            )
            for page in marked
        )

    def _lines(self, chunk: Chunk, start: int, end: int, pages: Sequence[int]) -> tuple[Box, ...]:
        """A box per line of the quote in the PDF; empty if it is not found or no PDF can be
        read."""
        if len(pages) > _MAX_PAGES:
            return ()
        try:
            pdf = self._pdfs.of(chunk.paper_id)
            before, after = (
                chunk.text[max(0, start - _CONTEXT_CHARS) : start],
                chunk.text[end : end + _CONTEXT_CHARS],
            )
            if pdf is None:
                return ()
            return self._found(
                QuoteSearch(pdf, wordings(chunk.text, start, end), before, after, tuple(pages))
            )
        except (NotFound, UnreadableDocument) as error:
            logger.warning("The place of a quote is that of its paragraph: %s", error)
            return ()


def _pictures(chunk: Chunk, start: int, spans: Sequence[Span]) -> Iterator[Box]:
    """The places of the figures whose caption is quoted: our own reader of PDFs gives a run of text
    one box, and a caption those of its figures after it."""
    is_row = any(
        unit.kind is StatementKind.ROW for unit in chunk.units if unit.start <= start < unit.end
    )
    if chunk.source == SourceFormat.PDF and not is_row:
        for span in spans:
            yield from span.boxes[1:]


def wordings(text: str, start: int, end: int) -> tuple[str, ...]:
    """How `text[start:end]` of a chunk may be printed on a page. A row of a table has the names of
    its columns in the chunk, but not on the page."""
    quote = text[start:end]
    cells = [cell for rows in QuotedText(text, start, end).rows for _, cell in rows.cells]
    if not any(cell.column and text.startswith(cell.column, cell.start) for cell in cells):
        return (quote,)
    return " ".join(cell.text for cell in cells), quote
