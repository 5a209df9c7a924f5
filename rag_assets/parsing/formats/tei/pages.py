"""The pages of each piece of text, proved by coordinates or page breaks.

GROBID reads a paper page after page, so along its running text pages never go back: two references
on page 4 prove that all words between them are on page 4. Between a reference on 4 and one on 5 the
page turns somewhere; the areas of the paragraph, inner references and what a page can hold
(`layout`) narrow the stretch where, and what is left of it is marked as "4 to 5". A wider doubt
gives no page. Coordinates that contradict their neighbours prove nothing.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_assets.core.domain import BlockKind, Box, Span
from rag_assets.parsing.formats.tei.coords import Area, boxes_of, whole_lines
from rag_assets.parsing.formats.tei.layout import Layout
from rag_assets.parsing.formats.tei.text import Mark, TextRun, UnplacedBlock
from rag_assets.parsing.places.matching import longest_ascending

FLOAT_KINDS = frozenset({BlockKind.FIGURE, BlockKind.TABLE, BlockKind.FOOTNOTE})
"""Kinds that are printed where there is room; they prove nothing about the pages of the text around
them."""
_CLOSING = re.compile(r"(?<!\s)[^\w\s]+")
"""Signs that stand against the text before them, as the full stop after a reference: no page turns
in between."""
_TURN_CHARS, _TURN_SHARE = 40.0, 0.05
"""Half width of the doubt around an estimated turn: so many characters and this share of the
shorter side."""


@dataclass(frozen=True, slots=True)
class PageProof:
    """One place of a chain of text whose page is proved."""

    offset: int
    page: int
    area: Area | None = None
    block: int = 0
    """Index in its chain of the block that proves it."""


@dataclass(frozen=True, slots=True)
class PageRange:
    """A run of text and the first and last page it may be on (None: not known)."""

    start: int
    end: int
    first: int | None
    last: int | None


def chain_points(blocks: Sequence[UnplacedBlock]) -> list[PageProof]:
    """Everything that proves a page along the blocks' texts, one after the other, in order of the
    offsets."""
    points: list[PageProof] = []
    at = 0
    for index, block in enumerate(blocks):
        if block.kind not in FLOAT_KINDS:
            points.extend(
                replace(point, offset=point.offset + at, block=index)
                for point in _points_of(block.run.marks)
            )
        at += len(block.run)
    return sorted(points, key=lambda point: point.offset)


def consistent(points: Sequence[PageProof]) -> list[bool]:
    """Which points belong to the longest run in which pages never go back; the others contradict
    their neighbours."""
    kept = set(longest_ascending([(point.page, index) for index, point in enumerate(points)]))
    return [index in kept for index in range(len(points))]


def page_ranges(
    points: Sequence[PageProof], n_chars: int, bounds: tuple[int, int | None], layout: Layout | None
) -> list[PageRange]:
    """The pages along a chain of `n_chars` characters, in order and without gap.

    bounds: the first and the last page that its text can be on.
    """
    first_page, last_page = bounds
    points = _with_confirmed_areas(points, layout)
    kept = consistent(points)
    found: list[PageRange] = []
    before, is_disturbed = PageProof(0, first_page), False
    for point, is_kept in zip(points, kept, strict=True):
        if is_kept:
            found.extend(
                _between(before, point, layout)
                if not is_disturbed
                else [PageRange(before.offset, point.offset, None, None)]
            )
            before, is_disturbed = point, False
        else:
            is_disturbed = True
    if last_page is None or last_page < before.page or is_disturbed:
        found.append(PageRange(before.offset, n_chars, None, None))
    else:
        found.extend(_between(before, PageProof(n_chars, last_page), layout))
    return [piece for piece in found if piece.end > piece.start]


def spans_of(
    block: UnplacedBlock, at: int, along: Sequence[PageRange], sizes: Mapping[int, Area]
) -> tuple[Span, ...]:
    """The spans of a block that starts at offset `at` of its chain."""
    if block.kind in FLOAT_KINDS:
        return float_spans(block, sizes)
    leaves = _leaves(block.run.marks)
    spans: list[Span] = []
    for piece in along:
        start, end = max(0, piece.start - at), min(len(block.run), piece.end - at)
        if spans and (signs := _CLOSING.match(block.run.text, start, max(start, end))):
            start = signs.end()
            spans[-1] = replace(spans[-1], end=start)
        if spans and block.run.text[start:end].isspace():
            spans[-1] = replace(spans[-1], end=end)
        elif start < end:
            spans.extend(_with_boxes(PageRange(start, end, piece.first, piece.last), leaves, sizes))
    return merged(spans)


def float_spans(block: UnplacedBlock, sizes: Mapping[int, Area]) -> tuple[Span, ...]:
    """One span with the pages of a figure's, table's or note's own areas."""
    whole = (
        mark
        for mark in block.run.marks
        if mark.is_block and (mark.start, mark.end) == (0, len(block.run))
    )
    areas = (
        block.areas
        if block.kind is not BlockKind.FOOTNOTE
        else next((mark.areas for mark in whole), block.areas)
    )
    pages = [area.page for area in areas]
    if not pages or max(pages) - min(pages) > 1:
        return (Span(0, len(block.run), None, None),)
    return (Span(0, len(block.run), min(pages), max(pages), boxes_of(whole_lines(areas), sizes)),)


def break_spans(run: TextRun, offset: int) -> tuple[Span, ...]:
    """The spans between page breaks: page n after the nth break, counted from `offset`; none before
    the first."""
    return merged(
        [
            Span(start, end, breaks + offset or None, breaks + offset or None)
            for start, end, breaks in run.page_runs()
        ]
    )


def merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Neighbours of the same pages and boxes in one."""
    kept: list[Span] = []
    for span in spans:
        last = kept[-1] if kept else None
        if last and (last.page_start, last.page_end, last.boxes) == (
            span.page_start,
            span.page_end,
            span.boxes,
        ):
            kept[-1] = replace(last, end=span.end)
        else:
            kept.append(span)
    return tuple(kept)


def _with_confirmed_areas(points: Sequence[PageProof], layout: Layout | None) -> list[PageProof]:
    """Keep a point's place on its page only if a neighbour on that page is where reading on would
    lead.

    A footer that was taken for text has the right page and, among the lines of that page, the wrong
    place.
    """
    confirmed = []
    for index, point in enumerate(points):
        earlier = _neighbour(points, index, range(index - 1, -1, -1))
        later = _neighbour(points, index, range(index + 1, len(points)))
        in_order = [
            layout is not None and first.area is not None and second.area is not None
            and layout.is_read_before(first.area, second.area)
            for first, second in ((earlier, point), (point, later))
            if first is not None and second is not None
        ]  # fmt: skip
        confirmed.append(point if in_order and all(in_order) else replace(point, area=None))
    return confirmed


def _neighbour(points: Sequence[PageProof], index: int, others: Iterable[int]) -> PageProof | None:
    """The next point with another area, if it is on the same page."""
    for other in others:
        if points[other].area != points[index].area:
            return points[other] if points[other].page == points[index].page else None
    return None


def _points_of(marks: Sequence[Mark]) -> Iterator[PageProof]:
    leaves = {id(leaf): inner for leaf, inner in _leaves(marks)}
    for mark in marks:
        first, last = mark.areas[0], mark.areas[-1]
        yield PageProof(mark.start, first.page, first)
        if id(mark) in leaves and first.page != last.page:
            yield from _turns(mark, leaves[id(mark)])
        yield PageProof(mark.end, last.page, last)


def _turns(mark: Mark, inner: Sequence[Mark]) -> Iterator[PageProof]:
    """Points around the turns of the page inside a text unit, from the share of its areas on either
    page.

    An estimate that a reference inside the unit contradicts is dropped.
    """
    widths: dict[int, float] = {}
    for area in (*mark.areas, *(area for other in inner for area in other.areas)):
        widths[area.page] = widths.get(area.page, 0.0) + area.width
    pages, whole = sorted(widths), sum(widths.values()) or 1.0
    n_chars, passed = mark.end - mark.start, 0.0
    for page, following in itertools.pairwise(pages):
        passed += widths[page]
        turn = n_chars * passed / whole
        doubt = _TURN_CHARS + _TURN_SHARE * min(turn, n_chars - turn)
        proved_before = max(
            (other.end for other in inner if other.areas[-1].page <= page), default=mark.start
        )
        proved_after = min(
            (other.start for other in inner if other.areas[0].page > page), default=mark.end
        )
        before, after = mark.start + turn - doubt, mark.start + turn + doubt
        if proved_before <= after and before <= proved_after:
            yield PageProof(max(mark.start, int(before)), page)
            yield PageProof(min(mark.end, int(after)), following)


def _between(before: PageProof, after: PageProof, layout: Layout | None) -> list[PageRange]:
    """The pages from one proved place to the next."""
    if before.page == after.page:
        return [PageRange(before.offset, after.offset, before.page, before.page)]
    cuts = {before.offset, after.offset}
    lower = _reaches(before, after, layout, side=1)
    upper = _reaches(after, before, layout, side=-1)
    cuts.update(offset for offset, _ in (*lower, *upper) if before.offset < offset < after.offset)
    found = []
    for start, end in itertools.pairwise(sorted(cuts)):
        first = max((page for offset, page in lower if offset <= start), default=before.page)
        last = min((page for offset, page in upper if offset >= end), default=after.page)
        if last < first:
            first, last = before.page, after.page
        is_known = last - first <= 1
        found.append(PageRange(start, end, first if is_known else None, last if is_known else None))
    return found


def _reaches(
    place: PageProof, other: PageProof, layout: Layout | None, *, side: int
) -> list[tuple[int, int]]:
    """Offsets beyond which the text must have left the page of `place`, the next one, and so on,
    towards `other`.

    side: 1 looks forward in the text, -1 back. Returns pairs of offset and the page that is reached
    at the nearest.
    """
    if layout is None:
        return []
    if place.area is None:
        room = layout.chars_on(place.page)
    else:
        room = layout.chars_after(place.area) if side > 0 else layout.chars_before(place.area)
    found = []
    page, n_chars = place.page, abs(other.offset - place.offset)
    while room < n_chars and page != other.page:
        page += side
        found.append((place.offset + side * int(room), page))
        room += layout.chars_on(page)
    return found


def _leaves(marks: Sequence[Mark]) -> list[tuple[Mark, list[Mark]]]:
    """Text units that hold no smaller one (sentences before paragraphs), with the references inside
    each."""
    units = [mark for mark in marks if mark.is_block]
    found = []
    for unit in units:
        inside = [
            mark
            for mark in marks
            if mark is not unit and unit.start <= mark.start and mark.end <= unit.end
        ]
        if not any(mark.is_block for mark in inside):
            found.append((unit, inside))
    return found


def _with_boxes(
    piece: PageRange, leaves: Sequence[tuple[Mark, list[Mark]]], sizes: Mapping[int, Area]
) -> Iterator[Span]:
    """Cut a piece at the edges of its text units and give each part the boxes of its unit on that
    page."""
    edges = {piece.start, piece.end}
    for leaf, _ in leaves:
        edges.update(edge for edge in (leaf.start, leaf.end) if piece.start < edge < piece.end)
    for start, end in itertools.pairwise(sorted(edges)):
        boxes: tuple[Box, ...] = ()
        if piece.first is not None and piece.first == piece.last:
            boxes = _boxes_at(start, end, piece.first, leaves, sizes)
        yield Span(start, end, piece.first, piece.last, boxes)


def _boxes_at(
    start: int,
    end: int,
    page: int,
    leaves: Sequence[tuple[Mark, list[Mark]]],
    sizes: Mapping[int, Area],
) -> tuple[Box, ...]:
    for leaf, inside in leaves:
        if leaf.start <= start and end <= leaf.end:
            areas = [area for mark in (leaf, *inside) for area in mark.areas if area.page == page]
            return boxes_of(
                whole_lines(sorted(areas, key=lambda area: (area.top, area.left))), sizes
            )
    return ()
