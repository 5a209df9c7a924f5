"""A place in a paper: a stretch of a chunk, the pages it stands on, and who wrote it."""

from dataclasses import dataclass
from typing import Any, Self

from rag_assets.core.domain.chunks import Chunk
from rag_assets.core.domain.spans import (
    Box,
    all_boxes,
    any_by_ocr,
    page_label,
    page_words,
    span_at,
    spans_between,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`text[start:end]` of a chunk, and where it stands. What is said about a place extends this
    class."""

    paper_id: str
    chunk_id: str
    start: int
    end: int
    page_start: int | None
    """Physical, 1-based; None where nothing proves it."""
    page_end: int | None
    page_label: str | None = None
    """Printed label of the page, or of the first and last ("xii-xiv"); None where it is not
    known."""
    boxes: tuple[Box, ...] = ()
    """Boxes of the paragraphs, rows or lines, as the source gives them."""
    is_by_ocr: bool = False
    """OCR read the text, or a part of it, from a picture of its page."""
    is_generated: bool = False
    """A model wrote the text (a figure's description), not the paper's authors."""

    @classmethod
    def within(cls, chunk: Chunk, start: int, end: int, **more: Any) -> Self:
        """The place of `text[start:end]` of a chunk, which is not empty.

        more: the other fields of the class; pages that are known better than from the two ends.
        """
        first, last = span_at(chunk.spans, start), span_at(chunk.spans, end - 1)
        pages = {
            "page_start": first.page_start if first else None,
            "page_end": last.page_end if last else None,
            "page_label": page_label(first, last) if first and last else None,
        }
        return cls(
            paper_id=chunk.paper_id,
            chunk_id=chunk.chunk_id,
            start=start,
            end=end,
            boxes=all_boxes(spans_between(chunk.spans, start, end)),
            is_by_ocr=any_by_ocr(chunk.spans, start, end),
            is_generated=chunk.is_generated,
            **pages | more,
        )

    @property
    def page_words(self) -> str:
        """ "pp. 3-4, read by OCR"; empty when no page is known."""
        return page_words(self.page_start, self.page_end, self.page_label, is_by_ocr=self.is_by_ocr)
