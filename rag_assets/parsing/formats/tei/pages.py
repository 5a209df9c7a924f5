"""The pages of each piece of text, proved by coordinates or page breaks.

GROBID reads a paper page after page, so along its running text pages never go back: two references
on page 4 prove that all words between them are on page 4. Between a reference on 4 and one on 5 the
page turns somewhere; the areas of the paragraph, inner references and what a page can hold narrow
the stretch where, and what is left of it is marked as "4 to 5". A wider doubt gives no page.
Coordinates that contradict their neighbours prove nothing.

How much text a page can hold at most, estimated from the coordinates a file has.

With coordinates on references alone, a turn of the page is known to lie somewhere between two
references. The lines below the one and above the other hold only so many characters, which bounds
the place of the turn. All estimates err on the side of more text, so that the bounds hold.
"""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from rag_assets.core.domain import BlockKind, Box, Span
from rag_assets.parsing.formats.tei.coords import Area, boxes_of, whole_lines
from rag_assets.parsing.formats.tei.text import Mark, TextRun, UnplacedBlock
from rag_assets.parsing.places.matching import longest_ascending

_LEAST_TOP, _LEAST_BOTTOM = 0.09, 0.92
"""Text is taken to reach at least from here to here, as shares of the page's height."""
_LEAST_WIDTH = 0.7
"""Text is taken to be at least so wide, as a share of the page's width, both columns together."""
_LINE_PITCH = 1.08
"""Distance of two base lines in heights of an area; GROBID's areas are 0.75 to 0.8 of it, so this
packs more."""
_SPARE = 1.15
"""Allowance for lines that are denser than the references measured."""
_MIN_CHARS, _MIN_SAMPLES = 3, 5
_MIN_UNIT_LINES = 3
"""Text units of fewer lines are not measured: formulas and headings are set wider and higher."""
_CENTRE_BAND = 0.02
_MAX_CROSSING = 0.04
"""Two columns, if fewer of the areas than this share lie across the middle of the page."""
_MAX_COLUMN_WIDTH = 0.55


@dataclass(frozen=True)
class Layout:
    """The text area and the density of a document's pages."""

    sizes: Mapping[int, Area]
    top: float
    """Upper end of the text area as a share of the page's height."""
    bottom: float
    chars_per_line: float
    """Most characters on a line across the whole text area."""
    line_height: float
    """Least distance of two lines, in points."""
    n_columns: int

    def column_of(self, area: Area) -> int:
        """0 for the left column and for what spans the page, 1 for the right column."""
        size = self.sizes.get(area.page)
        if self.n_columns == 1 or size is None or area.width > _MAX_COLUMN_WIDTH * size.width:
            return 0
        return int(area.left + area.width / 2 - size.left > size.width / 2)

    def is_read_before(self, one: Area, other: Area) -> bool:
        """Whether `one` precedes `other` on their page, or is on the same line."""
        columns = self.column_of(one), self.column_of(other)
        if columns[0] != columns[1]:
            return columns[0] < columns[1]
        return one.top <= other.top + self.line_height / 2

    def chars_before(self, area: Area) -> float:
        """Most characters of running text that the page holds before `area`."""
        size = self.sizes.get(area.page)
        if size is None:
            return math.inf
        above = self._chars_in(area.bottom - size.top - self.top * size.height)
        if self.n_columns == 1 or self.column_of(area) == 0:
            return above
        return self.chars_on(area.page) / 2 + above / 2

    def chars_after(self, area: Area) -> float:
        """Most characters of running text that the page holds after `area`."""
        size = self.sizes.get(area.page)
        if size is None:
            return math.inf
        below = self._chars_in(self.bottom * size.height - (area.top - size.top))
        if self.n_columns == 1 or self.column_of(area) == 1:
            return below
        return self.chars_on(area.page) / 2 + below / 2

    def chars_on(self, page: int) -> float:
        """Most characters of running text that a page holds; the most of any page if its own size
        is unknown."""
        size = self.sizes.get(page)
        heights = [size.height] if size else [other.height for other in self.sizes.values()]
        return self._chars_in((self.bottom - self.top) * max(heights)) if heights else math.inf

    def _chars_in(self, height: float) -> float:
        lines = max(0.0, height) / self.line_height + 1
        return lines * self.chars_per_line


def layout_of(
    marks: Sequence[Mark], others: Iterable[Area], sizes: Mapping[int, Area]
) -> Layout | None:
    """The layout that a document's coordinates show; None if there are too few.

    marks: the places of the running text. others: areas of references, figures and notes, which
    show how far text reaches.
    """
    samples = [
        ((mark.end - mark.start) / sum(area.width for area in mark.areas), mark.areas[0].height)
        for mark in marks
        if mark.end - mark.start >= _MIN_CHARS
        and all(area.width > 0 and area.height > 0 for area in mark.areas)
        and (not mark.is_block or len(mark.areas) >= _MIN_UNIT_LINES)
    ]
    areas = [area for mark in marks for area in mark.areas]
    reach = [area for area in (*areas, *others) if area.page in sizes]
    if len(samples) < _MIN_SAMPLES or not reach:
        return None
    density = median(density for density, _ in samples)
    widths = [sizes[area.page].width for area in reach]
    text_width = max(
        max(area.right for area in reach) - min(area.left for area in reach),
        _LEAST_WIDTH * max(widths),
    )
    return Layout(
        sizes=sizes,
        top=min(_LEAST_TOP, *(_height_share(area.top, area, sizes) for area in reach), 1.0),
        bottom=max(
            _LEAST_BOTTOM, *(_height_share(area.bottom, area, sizes) for area in reach), 0.0
        ),
        chars_per_line=_SPARE * density * text_width,
        line_height=_LINE_PITCH * median(height for _, height in samples),
        n_columns=1 if _crossing_share(areas, sizes) > _MAX_CROSSING else 2,
    )


def _height_share(y: float, area: Area, sizes: Mapping[int, Area]) -> float:
    size = sizes[area.page]
    return min(1.0, max(0.0, (y - size.top) / size.height))


def _crossing_share(areas: Sequence[Area], sizes: Mapping[int, Area]) -> float:
    known = [(area, sizes[area.page]) for area in areas if area.page in sizes]
    crossing = 0
    for area, size in known:
        middle = size.left + size.width / 2
        band = _CENTRE_BAND * size.width
        crossing += area.left < middle - band and area.right > middle + band
    return crossing / max(1, len(known))


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
