"""The runs of a block whose page is not proved, filled from the PDF; proven pages are only compared with it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag_assets.core.domain import Span


@dataclass(frozen=True)
class Filled:
    """A block's spans, and how they agree with the PDF."""

    spans: tuple[Span, ...]
    n_filled: int
    """Characters that had no page, or two, and have one now."""
    n_agreed: int
    """Characters whose proven page is the PDF's too."""
    n_contradicted: int
    """Characters that the PDF has on another page than the proven one."""


def has_gaps(spans: Sequence[Span]) -> bool:
    """Whether some of the runs have no page or more than one."""
    return any(not _is_proved(span) for span in spans)


def filled(spans: Sequence[Span], from_pdf: Sequence[Span]) -> Filled:
    """`spans` with those without one proven page cut and filled after `from_pdf`, which runs over the same text.

    A run that may stand on two pages is filled from these two alone; a run without any, only with pages between the
    proven ones around it.
    """
    found: list[Span] = []
    n_filled = n_agreed = n_contradicted = 0
    for index, span in enumerate(spans):
        pieces = [piece for piece in _cut(from_pdf, span.start, span.end) if _is_proved(piece)]
        if _is_proved(span):
            found.append(span)
            n_same = sum(piece.end - piece.start for piece in pieces if piece.page_start == span.page_start)
            n_agreed += n_same
            n_contradicted += sum(piece.end - piece.start for piece in pieces) - n_same
            continue
        first, last = _bounds(spans, index)
        fitting = [piece for piece in pieces if first <= (piece.page_start or 0) <= last]
        n_filled += sum(piece.end - piece.start for piece in fitting)
        found.extend(_with_pieces(span, fitting))
    return Filled(tuple(found), n_filled, n_agreed, n_contradicted)


def _is_proved(span: Span) -> bool:
    return span.page_start is not None and span.page_start == span.page_end


def _bounds(spans: Sequence[Span], index: int) -> tuple[int, float]:
    """First and last page that a run can stand on after what is known of it, or of its neighbours in the block."""
    span = spans[index]
    if span.page_start is not None and span.page_end is not None:
        return span.page_start, span.page_end
    before = [other.page_end for other in spans[:index] if other.page_end is not None]
    after = [other.page_start for other in spans[index + 1 :] if other.page_start is not None]
    return max(before, default=1), min(after, default=float("inf"))


def _cut(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """The parts of `spans` that lie within [start, end)."""
    for span in spans:
        if span.start < end and span.end > start:
            yield replace(span, start=max(span.start, start), end=min(span.end, end))


def _with_pieces(span: Span, pieces: Sequence[Span]) -> Iterator[Span]:
    """`span` with `pieces` in their places, the rest of it as it was."""
    if not pieces:
        yield span
        return
    edges = [span.start, *(edge for piece in pieces for edge in (piece.start, piece.end)), span.end]
    by_start = {piece.start: piece for piece in pieces}
    for start, end in pairwise(edges):
        if end > start:
            yield by_start.get(start) or replace(span, start=start, end=end)
