"""The place of a quote on the pages of its paper: its own lines in the PDF, else the boxes of its paragraph."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.core.domain import Box, Chunk, Span, all_boxes, spans_between
from rag_assets.core.errors import NotFound, UnreadableDocument
from rag_assets.library.reading.page_search import QuoteSearch, find_on_pages
from rag_assets.library.reading.pdfs import PdfFiles, PdfWorkers

logger = logging.getLogger(__name__)
_MAX_PAGES = 6
"""A quote whose text may be on more pages than this is not searched."""
_CONTEXT_CHARS = 300
_PLACES_KEPT = 2000


@dataclass(frozen=True, slots=True)
class PagePlace:
    """The boxes to be marked on one page."""

    page: int
    """Physical page, 1-based."""
    page_label: str | None
    """Printed on the page, where it is known."""
    boxes: tuple[Box, ...]
    """In reading order; empty if only the page is known."""
    is_exact: bool
    """Whether the boxes are the lines of the quote, found in the PDF's own text; else they are those of its paragraph
    or table, as the source gives them."""


class Places:
    """Looks quotes up in PDFs; may be used by several threads."""

    def __init__(self, pdfs: PdfFiles, workers: PdfWorkers) -> None:
        self._pdfs = pdfs
        self._found = lru_cache(_PLACES_KEPT)(lambda search: workers.run(find_on_pages, search, search.pdf))

    def of(self, chunk: Chunk, start: int, end: int) -> tuple[PagePlace, ...]:
        """The pages of `text[start:end]` of a chunk, in order; empty if no page is known."""
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
        """A box per line of the quote in the PDF; empty if it is not found or no PDF can be read."""
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


def wordings(text: str, start: int, end: int) -> tuple[str, ...]:
    """How `text[start:end]` of a chunk may be printed on a page. A row of a table has the names of its columns in the
    chunk, but not on the page."""
    quote = text[start:end]
    cells = [cell for rows in QuotedText(text, start, end).rows for _, cell in rows.cells]
    if not any(cell.column and text.startswith(cell.column, cell.start) for cell in cells):
        return (quote,)
    return " ".join(cell.text for cell in cells), quote


def _pages(spans: Sequence[Span]) -> list[int]:
    """The pages on which the spans may be."""
    pages: set[int] = set()
    for span in spans:
        if span.page_start is not None and span.page_end is not None:
            pages.update(range(span.page_start, span.page_end + 1))
    return sorted(pages)


def _labels(spans: Sequence[Span]) -> dict[int, str]:
    """Printed labels of the pages of a chunk, as far as they are known."""
    ends = (end for span in spans for end in ((span.page_start, span.label_start), (span.page_end, span.label_end)))
    return {page: label for page, label in ends if page is not None and label is not None}
