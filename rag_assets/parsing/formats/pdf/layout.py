"""From the segments of a page to its lines in reading order: columns, and rows with cells.

`columns` cuts the page into columns and their segments into rows.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from rag_assets.parsing.formats.pdf.columns import regions, rows_of
from rag_assets.parsing.formats.pdf.glyphs import Frame
from rag_assets.parsing.formats.pdf.printed_table import Printed
from rag_assets.parsing.formats.pdf.text import Layer, Segment

_CELL_GAP_EMS, _SIDE_GAP_EMS = 1.3, 2.0
_LARGER_TEXT = 1.4
_MAX_TITLE_LINES = 40
_MARKER = re.compile(
    r"[•▪◦●■□○‣⁃·–—*-]|\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxIVX]{1,5})[.)]?|\[\d{1,3}\]"
)
_CURRENCY = re.compile(r"[$€£¥]")
_NUMBER = re.compile(r"[-−–+(<≈~]?\d[\d.,]*[)%*⁰¹²³⁴-⁹⁻,]*")
_CLOSING = re.compile(r"[)%]+")


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
    if not segments:
        return
    beside = _beside_larger_text(segments, usual)
    for part in ([s for s in segments if s not in beside], [s for s in segments if s in beside]):
        if part:
            column = Column(min(s.left for s in part), max(s.right for s in part))
            yield from (_line(row, column, frame) for row in rows_of(part))


def _beside_larger_text(segments: Sequence[Segment], usual: float) -> set[Segment]:
    """Small print to the right of a title (licence, DOI): a column of its own, not cells of a row.

    `usual` is the font size of most segments of the page.
    """
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


def _line(row: Sequence[Segment], column: Column, frame: Frame) -> Line:
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
    if _NUMBER.fullmatch(segment.text) and _NUMBER.fullmatch(cell[-1].text):
        return False
    if _CURRENCY.fullmatch(
        segment.text
    ):  # the sign of an amount starts its cell, however near the last one is
        return False
    gap = max(segment.left - max(s.right for s in cell), min(s.left for s in cell) - segment.right)
    if gap <= _CELL_GAP_EMS * min(segment.size, cell[-1].size):
        return True
    return bool(_CURRENCY.fullmatch(cell[-1].text) or _CLOSING.fullmatch(segment.text))
