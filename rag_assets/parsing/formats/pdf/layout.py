"""From the segments of a page to its lines in reading order: columns, and rows with cells.

The columns of a page: it is cut where a gutter runs between two columns of prose.

What crosses the gutter (a title, a wide table) separates bands; inside a band the left column is
read before the right one. Cells in columns are not cut. Where no such gutter is, what is set beside
lines of prose (the caption of a figure in the other column, a small table) is taken out of their
rows:

    the mills of the river turn     Model     Mills
    slowly in spring and stand      oak           9
    still in summer, when the       beech        12
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Protocol

import numpy as np

from rag_assets.parsing.formats.pdf.glyphs import Frame
from rag_assets.parsing.formats.pdf.printed_table import Printed
from rag_assets.parsing.formats.pdf.text import Layer, Segment, is_one_size

_MAX_CUTS = 3
"""Four columns, or a column inside a column, is the most that is looked for."""
_GUTTER_RANGE, _GUTTER_STEPS = (0.15, 0.85), 141
_MIN_PROSE_LINES = 3
_PROSE_FILL, _LEAST_EMS, _PROSE_EMS = 0.55, 5.0, 11.0
"""A segment that fills this share of its side of the gutter, or is as wide as a line of three
narrow columns, is a line of prose, not a number in a table."""
_BAND_GAP_EMS, _HAIR_EMS = 0.9, 0.1
_MIN_ROW_OVERLAP = 0.5
_LEAST_LINES_BESIDE, _BESIDE_EMS, _LINE_WORDS = 3, 0.5, 4
"""Lines of prose beside which something may be set, the white space between, and words that make a
line of prose."""
_INDENT_EMS, _PITCH = 2.5, 2.0
"""Lines of one stack of prose: how far their beginnings may be apart, and one below the other in
heights of a line."""
_ONE_GRID_EMS = 0.25
_SHORT_SHARE = 0.15
"""A line that ends so much before the others, as a share of its width, ends a paragraph."""


class _PrintedText(Protocol):
    @property
    def text(self) -> str: ...


def regions(segments: list[Segment], cuts_left: int = _MAX_CUTS) -> Iterator[list[Segment]]:
    """The segments in regions of one column each, in reading order.

    A region without a gutter between columns of prose is cut only where something is printed beside
    prose. cuts_left: how many times it may still be cut."""
    gutter = _gutter(segments) if cuts_left else None
    bands = _bands(segments, gutter) if gutter is not None else []
    if gutter is None or not any(
        band.is_in_columns and _is_prose_in_columns(band.segments, gutter) for band in bands
    ):
        parts = _parts_beside_prose(segments) if cuts_left else []
        for part in parts:
            yield from regions(part, cuts_left - 1)
        if not parts:
            yield segments
        return
    for band in bands:
        if band.is_in_columns:
            left = [s for s in band.segments if _centre(s) < gutter]
            right = [s for s in band.segments if _centre(s) >= gutter]
            for side in (right, left) if is_right_to_left(band.segments) else (left, right):
                yield from regions(side, cuts_left - 1)
        else:
            yield from regions(band.segments, cuts_left - 1)


def _parts_beside_prose(segments: Sequence[Segment]) -> list[list[Segment]]:
    """The segments in reading order as up to four groups: what is above some lines of prose, what
    is printed beside these lines, the lines, and what is below. Empty if nothing is printed beside
    prose."""
    for stack in _stacks(segments):
        among = [
            s for s in segments if s not in stack and stack[0].top < _middle(s) < stack[-1].bottom
        ]
        if sum(map(str.isalpha, " ".join(s.text for s in among).split())) < _LINE_WORDS:
            continue  # numbers of notes or equations, marks of a list
        lines = stack
        if not _are_apart(among, lines):  # lines above and below what is set beside them are longer
            top, bottom = min(s.top for s in among), max(s.bottom for s in among)
            lines = [line for line in stack if top < _middle(line) < bottom]
        if (
            len(lines) >= _LEAST_LINES_BESIDE
            and _are_apart(among, lines)
            and _is_set_apart(among, lines)
        ):
            rest = [s for s in segments if s not in among and s not in lines]
            above = [s for s in rest if _middle(s) < _middle(lines[0])]
            below = [s for s in rest if s not in above]
            # Prose that goes on below what is set beside it stays together.
            is_first = among[0].left < lines[0].left or any(s in stack for s in below)
            parts = [above, among, lines, below] if is_first else [above, lines, among, below]
            return [part for part in parts if part]
    return []


def _are_apart(among: Sequence[Segment], lines: Sequence[Segment]) -> bool:
    """Whether a strip of white space separates texts from the lines of prose beside them."""
    if not lines:
        return False
    gaps = (
        min(line.left for line in lines) - max(s.right for s in among),
        min(s.left for s in among) - max(line.right for line in lines),
    )
    return max(gaps) >= _BESIDE_EMS * lines[0].size


def _stacks(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Lines of prose below each other with one left edge, each stack from top to bottom; the stack
    with most lines comes first."""
    stacks: list[list[Segment]] = []
    for segment in sorted(segments, key=_middle):
        is_long = segment.right - segment.left >= _PROSE_EMS * segment.size
        if segment.is_float or len(segment.text.split()) < _LINE_WORDS or not is_long:
            continue
        above = (
            stack
            for stack in reversed(stacks)
            if 0 < segment.top - stack[-1].top <= _PITCH * (stack[-1].bottom - stack[-1].top)
            and is_one_size(stack[-1].size, segment.size)
            and abs(segment.left - min(line.left for line in stack)) <= _INDENT_EMS * segment.size
        )
        if stack := next(above, None):
            stack.append(segment)
        else:
            stacks.append([segment])
    return sorted(stacks, key=len, reverse=True)


def _is_set_apart(among: Sequence[Segment], lines: Sequence[Segment]) -> bool:
    """Whether texts beside lines of prose are independent of them, such as a small table, and not
    labels in one row with what explains them.

    They are labels if a paragraph ends between each two of them. Otherwise they are independent if
    they are prose themselves, have another font size, or are at other heights than the lines."""
    places = [_middle(row[0]) for row in rows_of(among)]
    full = max(line.right for line in lines) - _SHORT_SHARE * (lines[0].right - lines[0].left)
    ends = [_middle(line) for line in lines if line.right < full]
    if len(places) > 1 and all(any(a < end < b for end in ends) for a, b in pairwise(places)):
        return False
    is_of_one_size = any(is_one_size(s.size, lines[0].size) for s in among)
    if not is_of_one_size or all(len(s.text.split()) > _LINE_WORDS for s in among):
        return True
    offsets = [min((s.bottom - line.bottom for line in lines), key=abs) for s in among]
    return max(offsets) - min(offsets) > _ONE_GRID_EMS * lines[0].size


def _centre(segment: Segment) -> float:
    return (segment.left + segment.right) / 2


def _middle(segment: Segment) -> float:
    return (segment.top + segment.bottom) / 2


def _gutter(segments: Sequence[Segment]) -> float | None:
    """The x, in points, of a gutter between two columns of prose; None if there is no gutter.

    Chooses the x that maximises the number of prose lines on the side that has fewer; ties go to
    the x crossed by the fewest segments. Lines of the left column that are longer by a hair do not
    cross it.
    """
    if len(segments) < 2 * _MIN_PROSE_LINES:
        return None
    lefts, rights = np.array([s.left for s in segments]), np.array([s.right for s in segments])
    widths, sizes = rights - lefts, np.array([s.size for s in segments])
    start, width = lefts.min(), max(rights.max() - lefts.min(), 1.0)
    places = start + width * np.linspace(*_GUTTER_RANGE, _GUTTER_STEPS)
    x = places[:, None]
    is_left, is_right = rights[None, :] <= x, lefts[None, :] >= x
    left_prose = is_left & (widths >= _width_of_prose(x - start, sizes))
    right_prose = is_right & (widths >= _width_of_prose(start + width - x, sizes))
    evidence = np.minimum(left_prose.sum(axis=1), right_prose.sum(axis=1))
    crossing = (~is_left & ~is_right).sum(axis=1)
    best = evidence.max()
    if best < _MIN_PROSE_LINES:
        return None
    candidates = np.flatnonzero(evidence == best)
    candidates = candidates[crossing[candidates] == crossing[candidates].min()]
    gutter = places[candidates[len(candidates) // 2]]
    ends = rights[(lefts < gutter) & (rights > gutter) & (rights <= gutter + _HAIR_EMS * sizes)]
    return float(ends.max(initial=gutter))


@dataclass
class _PageSlice:
    """A horizontal slice of a page with a gutter."""

    segments: list[Segment]
    is_in_columns: bool


def _bands(segments: Sequence[Segment], gutter: float) -> list[_PageSlice]:
    """Slices from top to bottom, each read either down the columns beside the gutter or across it.

    Segments beside the gutter are sliced wherever a gap runs through both sides, so that a table
    between prose is judged by itself. Neighbouring slices of one kind are then joined into one
    band, because columns go on below such a gap."""
    bands: list[_PageSlice] = []
    for piece in _slices(segments, gutter):
        in_columns = _reads_in_columns(piece, gutter)
        if in_columns is None:  # nothing in it decides: it goes with the slice above
            in_columns = bands[-1].is_in_columns if bands else True
        if bands and bands[-1].is_in_columns == in_columns:
            bands[-1].segments.extend(piece)
        else:
            bands.append(_PageSlice(piece, in_columns))
    return bands


def _slices(segments: Sequence[Segment], gutter: float) -> list[list[Segment]]:
    """The segments in slices from top to bottom.

    A slice ends where text begins or ceases to cross the gutter, and, among segments beside the
    gutter, at white space that runs through both columns."""
    slices: list[list[Segment]] = []
    crossed, floor = True, float("-inf")
    for segment in sorted(segments, key=_middle):
        crosses = segment.left < gutter < segment.right
        is_apart = segment.top - floor > _BAND_GAP_EMS * segment.size
        if not slices or crosses != crossed or (not crosses and is_apart):
            slices.append([])
        slices[-1].append(segment)
        crossed, floor = crosses, max(floor, segment.bottom)
    return slices


def _reads_in_columns(piece: Sequence[Segment], gutter: float) -> bool | None:
    """Whether a slice is read down one side of the gutter and then the other; None if nothing in
    the slice decides."""
    if any(s.left < gutter < s.right for s in piece):
        return False
    across = [row for row in rows_of(piece) if row[0].right <= gutter <= row[-1].left]
    n_prose = sum(_is_prose(row, gutter) for row in across)
    if across and median(len(row) for row in across) >= 3 and n_prose * 2 <= len(across):
        return False
    return True if n_prose else None


def _is_prose(row: Sequence[Segment], gutter: float) -> bool:
    """Whether a row with texts on both sides of the gutter has a line of prose on each side, not
    cells."""
    left, right = [s for s in row if _centre(s) < gutter], [s for s in row if _centre(s) >= gutter]
    return all(
        sum(s.right - s.left for s in side) >= 0.8 * (side[-1].right - side[0].left)
        for side in (left, right)
    )


def _is_prose_in_columns(piece: Sequence[Segment], gutter: float) -> bool:
    """Whether each side has at least three lines of prose."""
    start, end = min(s.left for s in piece), max(s.right for s in piece)
    sides = [
        [
            s
            for s in piece
            if s.right <= gutter and s.right - s.left >= _width_of_prose(gutter - start, s.size)
        ],
        [
            s
            for s in piece
            if s.left >= gutter and s.right - s.left >= _width_of_prose(end - gutter, s.size)
        ],
    ]
    return min(map(len, sides)) >= _MIN_PROSE_LINES


def _width_of_prose(side: Any, size: Any) -> Any:
    """The least width of a line of prose in points: `side` is the width of its column, which may
    consist of several columns, and `size` the font size. Both may be arrays."""
    return np.clip(_PROSE_FILL * side, _LEAST_EMS * size, _PROSE_EMS * size)


def rows_of(segments: Sequence[Segment]) -> list[list[Segment]]:
    """The segments as rows from top to bottom. Segments beside each other are one row, from left to
    right, or from right to left in Hebrew and Arabic."""
    rows: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda s: (_middle(s), s.left)):
        for row in rows[-3:]:
            if _stand_beside(row, segment):
                row.append(segment)
                break
        else:
            rows.append([segment])
    for row in rows:
        row.sort(key=lambda s: s.left, reverse=is_right_to_left(row))
    return rows


def _stand_beside(row: Sequence[Segment], segment: Segment) -> bool:
    """Whether a segment belongs to a row: it overlaps with the row in height, but hardly in
    width."""
    tallest = max(row, key=lambda s: s.bottom - s.top)
    overlap = min(tallest.bottom, segment.bottom) - max(tallest.top, segment.top)
    least = _MIN_ROW_OVERLAP * min(tallest.bottom - tallest.top, segment.bottom - segment.top)
    if overlap < least or segment.is_float or row[0].is_float:
        return False
    # Lines set so tightly that their boxes overlap are still lines: their texts share columns.
    shared = max(min(s.right, segment.right) - max(s.left, segment.left) for s in row)
    return shared <= 0.3 * min(segment.right - segment.left, max(s.right - s.left for s in row))


def is_right_to_left(row: Sequence[_PrintedText]) -> bool:
    """Whether most letters of a row, or of a column of lines, are Hebrew or Arabic."""
    text = "".join(part.text for part in row)
    n_right_to_left = sum("\u0590" <= c <= "\u08ff" or "\ufb1d" <= c <= "\ufefc" for c in text)
    return n_right_to_left * 2 > sum(c.isalpha() for c in text)


_CELL_GAP_EMS, _SIDE_GAP_EMS = 1.3, 2.0
_LARGER_TEXT = 1.4
_MAX_TITLE_LINES = 40
_MARKER = re.compile(
    r"[•▪◦●■□○‣⁃·–—*-]|\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxIVX]{1,5})[.)]?|\[\d{1,3}\]"
)
_CURRENCY = re.compile(r"[$€£¥]")
_NUMBER = re.compile(r"[-−–+(<≈~]?\d[\d.,]*+[)%*⁰¹²³⁴-⁹⁻,]*")


@dataclass(frozen=True, slots=True)
class Column:
    """Left and right edge of the text around a line, in points of its frame."""

    left: float
    right: float

    @property
    def width(self) -> float:
        return max(self.right - self.left, 1.0)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of prose, or a row of a table when it has several cells. Coordinates in points of its
    frame."""

    frame: Frame
    column: Column
    cells: tuple[str, ...]
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: float
    italic: float
    font: str = ""
    cell_lefts: tuple[float, ...] = ()
    cell_rights: tuple[float, ...] = ()
    segments: tuple[Segment, ...] = ()
    parts: "tuple[Line, ...]" = ()
    """The words that it begins with in a face of their own, and the rest; empty where it has no
    such words."""
    table: Printed | None = None
    picture: tuple[float, float, float, float] | None = None
    """In the first line of a figure's caption: the place of the figure."""

    @property
    def text(self) -> str:
        return " ".join(self.cells)

    @property
    def height(self) -> float:
        return max(self.bottom - self.top, 0.1)


def lines_in_reading_order(layer: Layer) -> list[Line]:
    """The lines of a layer, in the order a reader takes them."""
    usual = median([s.size for s in layer.segments] or [1.0])
    found = regions(list(layer.segments))
    return [line for region in found for line in _lines_of(region, layer.frame, usual)]


def _lines_of(segments: Sequence[Segment], frame: Frame, usual: float) -> Iterator[Line]:
    """The lines of one region; small print beside a title comes after all other lines."""
    if not segments:
        return
    beside = _beside_larger_text(segments, usual)
    for part in ([s for s in segments if s not in beside], [s for s in segments if s in beside]):
        if part:
            column = Column(min(s.left for s in part), max(s.right for s in part))
            yield from (line_of(row, column, frame) for row in rows_of(part))


def _beside_larger_text(segments: Sequence[Segment], usual: float) -> set[Segment]:
    """The segments of small print to the right of a title (licence, DOI), which are a column of
    their own and not cells of a row.

    `usual` is the font size of most segments of the page."""
    large_ones = [s for s in segments if s.size >= _LARGER_TEXT * usual][:_MAX_TITLE_LINES]
    pairs = [
        (small, large)
        for large in large_ones
        for small in segments
        if large.size >= _LARGER_TEXT * small.size
        and small.left - large.right > _SIDE_GAP_EMS * small.size
        and min(small.bottom, large.bottom) > max(small.top, large.top)
    ]
    if not pairs:
        return set()
    left, edge = min(small.left for small, _ in pairs), max(large.right for _, large in pairs)
    top, bottom = min(large.top for _, large in pairs), max(large.bottom for _, large in pairs)
    if left < edge:
        return set()
    return {
        s for s in segments if s.left >= left - 1 and s.bottom > top and s.top < bottom + 2 * s.size
    }


def line_of(row: Sequence[Segment], column: Column, frame: Frame) -> Line:
    """The line that the segments of a row form, with its cells in the order of the segments.

    Its size is that of the longest segment. Its font is empty if the segments have several."""
    n_chars = sum(len(s.text) for s in row) or 1
    cells = _cells(row)
    return Line(
        frame=frame,
        column=column,
        cells=tuple(" ".join(s.text for s in cell) for cell in cells),
        left=min(s.left for s in row),
        top=min(s.top for s in row),
        right=max(s.right for s in row),
        bottom=max(s.bottom for s in row),
        size=max(row, key=lambda s: len(s.text)).size,
        bold=sum(s.bold * len(s.text) for s in row) / n_chars,
        italic=sum(s.italic * len(s.text) for s in row) / n_chars,
        font=row[0].font if len({s.font for s in row}) == 1 else "",
        cell_lefts=tuple(min(s.left for s in cell) for cell in cells),
        cell_rights=tuple(max(s.right for s in cell) for cell in cells),
        segments=tuple(row),
    )


def _cells(row: Sequence[Segment]) -> list[list[Segment]]:
    """The segments of a row as cells. A row that would have two cells, the first only a bullet or a
    number as in "2.1 Mills", is one cell: a list item or a numbered heading."""
    cells: list[list[Segment]] = []
    for segment in row:
        if cells and _belong_together(cells[-1], segment):
            cells[-1].append(segment)
        else:
            cells.append([segment])
    if len(cells) == 2 and _MARKER.fullmatch(
        cells[0][0].text
    ):  # a list item or a numbered heading, not a row
        return [[*cells[0], *cells[1]]]
    return cells


def _belong_together(cell: Sequence[Segment], segment: Segment) -> bool:
    """Whether a segment is in one cell with the segments before it: white space decides.

    Two numbers are always two cells. The sign of a currency begins a cell, and the amount after it
    belongs to it across any gap."""
    if _NUMBER.fullmatch(segment.text) and _NUMBER.fullmatch(cell[-1].text):
        return False
    if _CURRENCY.fullmatch(
        segment.text
    ):  # the sign of an amount starts its cell, however near the last one is
        return False
    # The gap is on the left of the cell where the row reads from right to left.
    gap = max(segment.left - max(s.right for s in cell), min(s.left for s in cell) - segment.right)
    if gap <= _CELL_GAP_EMS * min(segment.size, cell[-1].size):
        return True
    return _CURRENCY.fullmatch(cell[-1].text) is not None
