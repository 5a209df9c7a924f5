"""Finds the pages of each piece of text from coordinates or page breaks.

GROBID reads a paper page by page, so in a chain of text the pages never decrease: two references on
page 4 prove that all words between them are on page 4. Between a reference on page 4 and one on
page 5, a new page begins somewhere. Where, is narrowed by the areas of the paragraph, by references
inside it, and by the amount of text that fits on a page; text that may be on either page gets "4 to
5". If more than two pages are possible, the text gets no page. Coordinates that contradict their
neighbours are ignored.

The amount of text that fits on a page is estimated from the coordinates (`Layout`). If only
references have coordinates, the lines below the one reference and above the next can contain only
so many characters, which limits where the new page begins. All estimates are too high rather than
too low, so that these limits are safe.

Offsets count characters of a chain: the texts of its blocks one after the other.
"""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from rag_assets.core.domain import BlockKind, Box, Span
from rag_assets.parsing.formats.tei.elements import Area, boxes_of, whole_lines
from rag_assets.parsing.formats.tei.text import Mark, TextRun, UnplacedBlock
from rag_assets.parsing.places.matching import longest_ascending

_LEAST_TOP, _LEAST_BOTTOM = 0.09, 0.92
"""The text area is assumed to reach at least from here to here, as shares of the page's height."""
_LEAST_WIDTH = 0.7
"""The text area, with all columns, is assumed to have at least this share of the page's width."""
_LINE_PITCH = 1.08
"""Assumed distance of two lines, in heights of an area. The true distance is larger (1.25 to 1.33
heights of GROBID's areas), so the estimated number of lines is too high rather than too low."""
_SPARE = 1.15
"""Factor for lines that have more characters than the measured references."""
_MIN_CHARS, _MIN_SAMPLES = 3, 5
_MIN_UNIT_LINES = 3
"""Text units with fewer lines are not measured, because formulas and headings are larger."""
_CENTRE_BAND = 0.02
_MAX_CROSSING = 0.04
"""A paper has two columns if a smaller share of its areas than this crosses the middle of the
page."""
_MAX_COLUMN_WIDTH = 0.55


@dataclass(frozen=True)
class Layout:
    """The text area of a document's pages, and how much text fits in it."""

    sizes: Mapping[int, Area]
    """Page -> its rectangle."""
    top: float
    """Upper edge of the text area, as a share of the page's height from the top."""
    bottom: float
    """Lower edge, likewise."""
    chars_per_line: float
    """Largest number of characters on a line across the whole text area."""
    line_height: float
    """Least distance of two lines, in points."""
    n_columns: int

    def column_of(self, area: Area) -> int:
        """0 for the left column and for an area across the page, 1 for the right column."""
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
        """Largest number of characters of text on the page of `area` before it."""
        size = self.sizes.get(area.page)
        if size is None:
            return math.inf
        above = self._chars_in(area.bottom - size.top - self.top * size.height)
        if self.n_columns == 1 or self.column_of(area) == 0:
            return above
        return self.chars_on(area.page) / 2 + above / 2

    def chars_after(self, area: Area) -> float:
        """Largest number of characters of text on the page of `area` after it."""
        size = self.sizes.get(area.page)
        if size is None:
            return math.inf
        below = self._chars_in(self.bottom * size.height - (area.top - size.top))
        if self.n_columns == 1 or self.column_of(area) == 1:
            return below
        return self.chars_on(area.page) / 2 + below / 2

    def chars_on(self, page: int) -> float:
        """Largest number of characters of text on a page; if its size is unknown, that of the
        largest page."""
        size = self.sizes.get(page)
        heights = [size.height] if size else [other.height for other in self.sizes.values()]
        return self._chars_in((self.bottom - self.top) * max(heights)) if heights else math.inf

    def _chars_in(self, height: float) -> float:
        lines = max(0.0, height) / self.line_height + 1
        return lines * self.chars_per_line


def layout_of(
    marks: Sequence[Mark], others: Iterable[Area], sizes: Mapping[int, Area]
) -> Layout | None:
    """The layout of a document, estimated from its coordinates; None if there are too few.

    marks: coordinates of the text, which show how dense it is. others: areas of references, figures
    and notes, which show only how large the text area is.
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
    """`y`, a height on the page of `area`, as a share of the page's height."""
    size = sizes[area.page]
    return min(1.0, max(0.0, (y - size.top) / size.height))


def _crossing_share(areas: Sequence[Area], sizes: Mapping[int, Area]) -> float:
    """Share of the areas that cross the middle of their page."""
    known = [(area, sizes[area.page]) for area in areas if area.page in sizes]
    crossing = 0
    for area, size in known:
        middle = size.left + size.width / 2
        band = _CENTRE_BAND * size.width
        crossing += area.left < middle - band and area.right > middle + band
    return crossing / max(1, len(known))


FLOAT_KINDS = frozenset({BlockKind.FIGURE, BlockKind.TABLE, BlockKind.FOOTNOTE})
"""Kinds that are printed where there is room; their page says nothing about the text around
them."""
_CLOSING_SIGNS = re.compile(r"(?<!\s)[^\w\s]+")
"""Signs right after a text, such as the full stop after a reference: they are on the same page."""
_TURN_CHARS, _TURN_SHARE = 40.0, 0.05
"""Tolerance before and after an estimated page turn: this many characters, and this share of the
shorter part of the text unit."""


@dataclass(frozen=True, slots=True)
class PageProof:
    """An offset in a chain of text whose page is proved."""

    offset: int
    page: int
    area: Area | None = None
    """Where on the page; None if that is not known."""
    block: int = 0
    """Index in the chain of the block with this offset."""


@dataclass(frozen=True, slots=True)
class PageRange:
    """A range [start, end) of offsets, and the first and last page that its text may be on; None if
    they are not known."""

    start: int
    end: int
    first: int | None
    last: int | None


def chain_points(blocks: Sequence[UnplacedBlock]) -> list[PageProof]:
    """The page proofs of a chain, sorted by offset. blocks: of the chain, in order."""
    points: list[PageProof] = []
    block_start = 0
    for index, block in enumerate(blocks):
        if block.kind not in FLOAT_KINDS:
            points.extend(
                replace(point, offset=point.offset + block_start, block=index)
                for point in _points_of(block.run.marks)
            )
        block_start += len(block.run)
    return sorted(points, key=lambda point: point.offset)


def consistent(points: Sequence[PageProof]) -> list[bool]:
    """For each point, whether it belongs to the longest subsequence in which pages never decrease;
    the other points contradict their neighbours."""
    kept = set(longest_ascending([(point.page, index) for index, point in enumerate(points)]))
    return [index in kept for index in range(len(points))]


def page_ranges(
    points: Sequence[PageProof], n_chars: int, bounds: tuple[int, int | None], layout: Layout | None
) -> list[PageRange]:
    """The pages of a chain of `n_chars` characters, in order and without gap. The text between two
    points gets no page if a contradicting point is between them.

    bounds: the first and the last page that the text can be on; None if the last is not known.
    """
    first_page, last_page = bounds
    points = _with_confirmed_areas(points, layout)
    found: list[PageRange] = []
    before, is_contradicted = PageProof(0, first_page), False
    for point, is_kept in zip(points, consistent(points), strict=True):
        if not is_kept:
            is_contradicted = True
            continue
        if is_contradicted:
            found.append(PageRange(before.offset, point.offset, None, None))
        else:
            found.extend(_between(before, point, layout))
        before, is_contradicted = point, False
    if last_page is None or last_page < before.page or is_contradicted:
        found.append(PageRange(before.offset, n_chars, None, None))
    else:
        found.extend(_between(before, PageProof(n_chars, last_page), layout))
    return [range_ for range_ in found if range_.end > range_.start]


def spans_of(
    block: UnplacedBlock, offset: int, ranges: Sequence[PageRange], sizes: Mapping[int, Area]
) -> tuple[Span, ...]:
    """The spans of a block that starts at `offset` of its chain. ranges: the pages of the chain."""
    if block.kind in FLOAT_KINDS:
        return float_spans(block, sizes)
    leaves = _leaves(block.run.marks)
    spans: list[Span] = []
    for each in ranges:
        start, end = max(0, each.start - offset), min(len(block.run), each.end - offset)
        if spans and (signs := _CLOSING_SIGNS.match(block.run.text, start, max(start, end))):
            start = signs.end()
            spans[-1] = replace(spans[-1], end=start)
        if spans and block.run.text[start:end].isspace():
            spans[-1] = replace(spans[-1], end=end)
        elif start < end:
            spans.extend(_with_boxes(PageRange(start, end, each.first, each.last), leaves, sizes))
    return merged(spans)


def float_spans(block: UnplacedBlock, sizes: Mapping[int, Area]) -> tuple[Span, ...]:
    """One span over the text of a figure, table or note, with the pages of its areas; without a
    page if these are on more than two pages."""
    areas = block.areas
    if block.kind is BlockKind.FOOTNOTE:  # `areas` may be those of the table above the note
        own_areas = (
            mark.areas
            for mark in block.run.marks
            if mark.is_block and (mark.start, mark.end) == (0, len(block.run))
        )
        areas = next(own_areas, areas)
    pages = [area.page for area in areas]
    if not pages or max(pages) - min(pages) > 1:
        return (Span(0, len(block.run), None, None),)
    return (Span(0, len(block.run), min(pages), max(pages), boxes_of(whole_lines(areas), sizes)),)


def break_spans(run: TextRun, offset: int) -> tuple[Span, ...]:
    """The spans between page breaks: text after n breaks is on page n + `offset`, and on no page if
    that is 0."""
    return merged(
        [
            Span(start, end, breaks + offset or None, breaks + offset or None)
            for start, end, breaks in run.page_runs()
        ]
    )


def merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The spans, where neighbours with the same pages and boxes are one span."""
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
    """The points; the area of a point becomes None unless the points before and after it on the
    same page confirm it: they must be above and below it.

    A footer that was taken for text has the right page, but an area at the wrong height.
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
    """The first of `others` with another area than the point at `index`, if it is on the same
    page."""
    for other in others:
        if points[other].area != points[index].area:
            return points[other] if points[other].page == points[index].page else None
    return None


def _points_of(marks: Sequence[Mark]) -> Iterator[PageProof]:
    """Two points for each mark, at its start and end, and more in a text unit that is on several
    pages. Offsets are those of the marks."""
    leaves = {id(leaf): inner for leaf, inner in _leaves(marks)}
    for mark in marks:
        first, last = mark.areas[0], mark.areas[-1]
        yield PageProof(mark.start, first.page, first)
        if id(mark) in leaves and first.page != last.page:
            yield from _turns(mark, leaves[id(mark)])
        yield PageProof(mark.end, last.page, last)


def _turns(mark: Mark, inner: Sequence[Mark]) -> Iterator[PageProof]:
    """Points before and after each page turn inside a text unit.

    If a third of the width of all its areas is on the first page, the turn is after about a third
    of its characters. An estimate that contradicts a reference inside the unit is left out. inner:
    marks of these references.
    """
    widths: dict[int, float] = {}
    for area in (*mark.areas, *(area for other in inner for area in other.areas)):
        widths[area.page] = widths.get(area.page, 0.0) + area.width
    pages, total_width = sorted(widths), sum(widths.values()) or 1.0
    n_chars, width_before = mark.end - mark.start, 0.0
    for page, next_page in itertools.pairwise(pages):
        width_before += widths[page]
        turn = n_chars * width_before / total_width
        tolerance = _TURN_CHARS + _TURN_SHARE * min(turn, n_chars - turn)
        proved_before = max(
            (other.end for other in inner if other.areas[-1].page <= page), default=mark.start
        )
        proved_after = min(
            (other.start for other in inner if other.areas[0].page > page), default=mark.end
        )
        before, after = mark.start + turn - tolerance, mark.start + turn + tolerance
        if proved_before <= after and before <= proved_after:
            yield PageProof(max(mark.start, int(before)), page)
            yield PageProof(min(mark.end, int(after)), next_page)


def _between(before: PageProof, after: PageProof, layout: Layout | None) -> list[PageRange]:
    """The pages of the text between two neighbouring points. The text far enough after `before`
    must be on a later page, and the text far enough before `after` on an earlier one."""
    if before.page == after.page:
        return [PageRange(before.offset, after.offset, before.page, before.page)]
    cuts = {before.offset, after.offset}
    earliest = _page_limits(before, after, layout, step=1)
    latest = _page_limits(after, before, layout, step=-1)
    cuts.update(
        offset for offset, _ in (*earliest, *latest) if before.offset < offset < after.offset
    )
    found = []
    for start, end in itertools.pairwise(sorted(cuts)):
        first = max((page for offset, page in earliest if offset <= start), default=before.page)
        last = min((page for offset, page in latest if offset >= end), default=after.page)
        if last < first:
            first, last = before.page, after.page
        is_known = last - first <= 1
        found.append(PageRange(start, end, first if is_known else None, last if is_known else None))
    return found


def _page_limits(
    point: PageProof, other: PageProof, layout: Layout | None, *, step: int
) -> list[tuple[int, int]]:
    """Pairs of offset and page: from that offset on, towards `other`, the text must be on that page
    or beyond, because no more text fits on the pages between.

    step: 1 goes forward in the text, -1 back.
    """
    if layout is None:
        return []
    if point.area is None:
        room = layout.chars_on(point.page)
    else:
        room = layout.chars_after(point.area) if step > 0 else layout.chars_before(point.area)
    limits = []
    page, n_chars = point.page, abs(other.offset - point.offset)
    while room < n_chars and page != other.page:
        page += step
        limits.append((point.offset + step * int(room), page))
        room += layout.chars_on(page)
    return limits


def _leaves(marks: Sequence[Mark]) -> list[tuple[Mark, list[Mark]]]:
    """The text units that contain no smaller unit (sentences rather than paragraphs), each with the
    references inside it."""
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
    pages: PageRange, leaves: Sequence[tuple[Mark, list[Mark]]], sizes: Mapping[int, Area]
) -> Iterator[Span]:
    """The spans of a range of a block, cut at the edges of its text units; each has the boxes of
    its unit on its page."""
    edges = {pages.start, pages.end}
    for leaf, _ in leaves:
        edges.update(edge for edge in (leaf.start, leaf.end) if pages.start < edge < pages.end)
    for start, end in itertools.pairwise(sorted(edges)):
        boxes: tuple[Box, ...] = ()
        if pages.first is not None and pages.first == pages.last:
            boxes = _boxes_at(start, end, pages.first, leaves, sizes)
        yield Span(start, end, pages.first, pages.last, boxes)


def _boxes_at(
    start: int,
    end: int,
    page: int,
    leaves: Sequence[tuple[Mark, list[Mark]]],
    sizes: Mapping[int, Area],
) -> tuple[Box, ...]:
    """The boxes on `page` of the text unit that contains [start, end); none if there is no such
    unit."""
    for leaf, inside in leaves:
        if leaf.start <= start and end <= leaf.end:
            areas = [area for mark in (leaf, *inside) for area in mark.areas if area.page == page]
            return boxes_of(
                whole_lines(sorted(areas, key=lambda area: (area.top, area.left))), sizes
            )
    return ()
