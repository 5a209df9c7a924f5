"""Where a quote stands on the pages of its paper: its own lines in the PDF, else the boxes of its paragraph."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.core.domain import Box, Chunk, Span, all_boxes, spans_between
from rag_assets.core.errors import NotFound, UnreadableDocument
from rag_assets.library.reading.page_search import QuoteSearch, find_on_pages
from rag_assets.library.reading.pdf_files import PdfFiles
from rag_assets.library.reading.pdf_workers import PdfWorkers

logger = logging.getLogger(__name__)
_MAX_PAGES = 6
"""A quote that may stand on more pages is not searched: nothing is known of its place."""
_CONTEXT_CHARS = 300
_PLACES_KEPT = 2000


@dataclass(frozen=True, slots=True)
class PagePlace:
    """What is marked on one page."""

    page: int
    """Physical page, 1-based."""
    page_label: str | None
    """Printed on the page, where it is known."""
    boxes: tuple[Box, ...]
    """In reading order; none where only the page is known."""
    is_exact: bool
    """The boxes are the lines of the quote, found in the PDF's own text; else those of the paragraph or table it stands
    in, as the source gives them."""


class Places:
    """Looks quotes up in PDFs; may be used by several threads."""

    def __init__(self, pdfs: PdfFiles, workers: PdfWorkers) -> None:
        self._pdfs = pdfs
        self._workers = workers
        self._found = lru_cache(_PLACES_KEPT)(self._search)

    def of(self, chunk: Chunk, start: int, end: int) -> tuple[PagePlace, ...]:
        """The pages that `text[start:end]` of a chunk stands on, in order; none where no page is known."""
        spans = spans_between(chunk.spans, start, end)
        pages = _pages(spans)
        if not pages:
            return ()
        labels = _labels(chunk.spans)
        boxes = self._lines(chunk, start, end, pages)
        is_exact = bool(boxes)
        boxes = boxes or all_boxes(spans)
        marked = sorted({box.page for box in boxes}) or pages
        return tuple(
            PagePlace(page, labels.get(page), tuple(box for box in boxes if box.page == page), is_exact)
            for page in marked
        )

    def _lines(self, chunk: Chunk, start: int, end: int, pages: Sequence[int]) -> tuple[Box, ...]:
        """A box per line of the quote in the PDF; none where it is not found or there is no PDF that can be read."""
        if len(pages) > _MAX_PAGES:
            return ()
        try:
            pdf = self._pdfs.of(chunk.paper_id)
            before, after = chunk.text[max(0, start - _CONTEXT_CHARS) : start], chunk.text[end : end + _CONTEXT_CHARS]
            if pdf is None:
                return ()
            return self._found(QuoteSearch(pdf, wordings(chunk.text, start, end), before, after, tuple(pages)))
        except (NotFound, UnreadableDocument) as error:
            logger.warning("The place of a quote is that of its paragraph: %s", error)
            return ()

    def _search(self, search: QuoteSearch) -> tuple[Box, ...]:
        return self._workers.run(find_on_pages, search, search.pdf)


def wordings(text: str, start: int, end: int) -> tuple[str, ...]:
    """How `text[start:end]` of a chunk may stand on a page. A row of a table is written with the names of its columns,
    which stand elsewhere there."""
    quote = text[start:end]
    cells = [cell for rows in QuotedText(text, start, end).rows for _, cell in rows.cells]
    if not any(cell.column and text.startswith(cell.column, cell.start) for cell in cells):
        return (quote,)
    return " ".join(cell.text for cell in cells), quote


def _pages(spans: Sequence[Span]) -> list[int]:
    """The pages that runs of text may stand on."""
    pages: set[int] = set()
    for span in spans:
        if span.page_start is not None and span.page_end is not None:
            pages.update(range(span.page_start, span.page_end + 1))
    return sorted(pages)


def _labels(spans: Sequence[Span]) -> dict[int, str]:
    """What is printed on the pages of a chunk, as far as it is known."""
    ends = ((page, label) for span in spans for page, label in _ends(span))
    return {page: label for page, label in ends if page is not None and label is not None}


def _ends(span: Span) -> tuple[tuple[int | None, str | None], tuple[int | None, str | None]]:
    return (span.page_start, span.label_start), (span.page_end, span.label_end)
