"""Where a text stands in a paper: boxes on pages, and spans (ranges of text on the same pages).

Pages are physical pages counted from 1, or None if nothing proves them; a printed page label is
never used as a page. Boxes are fractions of the page with the origin at its top left. Offsets count
characters of a Python string (code points).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, as fractions (0-1) of the page's width and height, origin top left."""

    page: int
    """Physical page, 1-based."""
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text whose pages (and boxes, if known) are the same: `text[start:end]`."""

    start: int
    end: int
    page_start: int | None
    """First page the run may be on; None when nothing proves it."""
    page_end: int | None
    """Last page the run may be on; differs from `page_start` where the turn of the page is not
    known exactly."""
    boxes: tuple[Box, ...] = ()
    source_start: int | None = None
    """In a chunk or passage: offset of the run in `Document.text`; None for captions, which are not
    in it."""
    page_confidence: float | None = None
    """How sure an *aligned* page is (0-1); None where the source itself states the page."""
    label_start: str | None = None
    """Label printed on `page_start` ("xii", "118"); None where it is not known."""
    label_end: str | None = None
    """Label printed on `page_end`."""
    is_by_ocr: bool = False
    """Its page has no usable text of its own: OCR read its picture, so letters and digits may be
    wrong."""


def first_page(spans: Sequence[Span]) -> int | None:
    """Page of the first span; None if it is not known, because the page of a later span would be a
    guess."""
    return spans[0].page_start if spans else None


def last_page(spans: Sequence[Span]) -> int | None:
    """Page of the last span; None if it is not known."""
    return spans[-1].page_end if spans else None


def page_range(spans: Sequence[Span]) -> tuple[int, int] | tuple[None, None]:
    """First and last page; both are None if one of them is not known."""
    first, last = first_page(spans), last_page(spans)
    return (None, None) if first is None or last is None else (first, last)


def known_spans(spans: Sequence[Span], own_start: int = 0) -> list[Span]:
    """The spans that show the pages of a text: those of document text, and those of captions whose
    page is known.

    own_start: captions before this offset are repeated from an earlier chunk, so their pages say
    nothing about the other text.
    """
    return [
        span
        for span in spans
        if span.source_start is not None
        or (span.page_start is not None and span.start >= own_start)
    ]


def page_label(first: Span, last: Span) -> str | None:
    """Printed labels from the first page of `first` to the last page of `last`, "118" or "xii-xiv";
    None if one is not known."""
    start, end = first.label_start, last.label_end
    if start is None or end is None:
        return None
    return start if start == end else f"{start}-{end}"


def page_words(
    first: int | None, last: int | None, label: str | None, *, is_by_ocr: bool = False
) -> str:
    """The pages in words: "p. 3" or "pp. 3-4", with the printed label if it differs ("p. 2 (printed
    118)"), and with ", read by OCR" at the end. Empty if no page is known."""
    if first is None or last is None:
        return ""
    sign, numbers = ("p.", f"{first}") if first == last else ("pp.", f"{first}-{last}")
    printed = f" (printed {label})" if label is not None and label != numbers else ""
    return f"{sign} {numbers}{printed}{', read by OCR' if is_by_ocr else ''}"


def span_at(spans: Sequence[Span], offset: int) -> Span | None:
    """The span that contains the character at `offset`; None if there is none (between
    sentences)."""
    return next(iter(spans_between(spans, offset, offset + 1)), None)


def all_boxes(spans: Sequence[Span]) -> tuple[Box, ...]:
    """The boxes of all spans in order, each once."""
    return tuple(dict.fromkeys(box for span in spans for box in span.boxes))


def any_by_ocr(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether OCR read a part of [start, end)."""
    return any(span.is_by_ocr for span in spans_between(spans, start, end))


def spans_between(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """The spans with at least one character in [start, end), whole. spans: in order, without
    overlap."""
    first = bisect_right(spans, start, key=lambda span: span.end)
    last = bisect_left(spans, end, key=lambda span: span.start)
    return tuple(spans[first:last])
