"""A table becomes one unit per row, each readable by itself: "Group: A | Ferritin (ng/mL): 12".

Header rows are those the source marks, or else those that look like one (most sources mark none). Their words are
repeated in every row, so they make no unit of their own, unless a label would be lost: that of a column without values.
A table without a header keeps its lines as they are; so does
one whose source tells no cells apart (a PDF whose columns are in doubt), where a label might land on the wrong column.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.chunking.units import PlacedBlock, Unit, line_spans, repeated_title, verbatim_units, with_caption
from rag_assets.domain import Box, Cell, Span, all_boxes, spans_between

CELL_SEPARATOR = " | "
_MOST_COLUMNS = 500
_MOST_HEADER_ROWS = 4
_LONGEST_LABEL = 80
_YEAR = re.compile(r"(?:19|20)\d\d")
_SAMPLE_SIZE = re.compile(r"\bn\s*=\s*[\d,]+", re.IGNORECASE)
_MOST_LETTERS_IN_VALUE = 0.34
_LEAST_VALUES_BELOW = 0.3


@dataclass(frozen=True)
class Grid:
    """A table's cells by position; a merged cell stands at every position it covers."""

    rows: tuple[tuple[Cell | None, ...], ...]

    def texts(self, row: int) -> list[str]:
        return [cell.text.strip() if cell else "" for cell in self.rows[row]]

    def n_distinct(self, row: int) -> int:
        """Cells of the row that are not blank, a merged one counted once."""
        return len({id(cell) for cell in self.rows[row] if cell and cell.text.strip()})

    def own_boxes(self, row: int) -> tuple[Box, ...]:
        """Boxes of the cells with text that begin in this row, each once."""
        above = {id(cell) for cell in self.rows[row - 1]} if row else set()
        own = (cell for cell in self.rows[row] if cell and cell.text.strip() and id(cell) not in above)
        return tuple(dict.fromkeys(box for cell in own for box in cell.boxes))


def row_units(placed: PlacedBlock) -> list[Unit]:
    """The caption's sentences, then the rows, each with its own cells' boxes."""
    text, title = placed.block.text, repeated_title(placed.block)
    lines = _all_lines(text)
    grid = _grid(placed.block.cells, len(lines))
    n_header = _n_header_rows(grid) if placed.block.cells else 0
    if n_header == 0:
        return with_caption(placed, verbatim_units(placed, line_spans(text), title))
    labels = _labels(grid, n_header)
    header = CELL_SEPARATOR.join(label for label in labels if label).replace("\n", " ")
    rows = [(row, row + 1, _linearised(grid, row, labels)) for row in range(n_header, len(grid.rows))]
    if any(line for _, _, line in rows) and _has_unused(labels, grid, n_header):
        rows.insert(0, (0, n_header, header))
    units: list[Unit] = []
    for first, end, line in rows:
        if not line:
            continue
        place = (lines[first][0] if units else 0, lines[end - 1][1])  # the first one stands for the header rows too
        boxes = tuple(box for row in range(first, end) for box in grid.own_boxes(row))
        units.append(
            Unit(
                text=line,
                start=placed.start + place[0],
                end=placed.start + place[1],
                spans=(_row_span(placed, boxes, (lines[first][0], place[1]), len(line)),),
                kind=placed.block.kind,
                block=placed.index,
                section_path=placed.block.section_path,
                gap="\n" if units else "",
                prefix=title[0],
                prefix_spans=title[1],
                is_linearised=True,
            )
        )
    if not units:  # nothing below the header has text
        return with_caption(placed, verbatim_units(placed, line_spans(text), title))
    return with_caption(placed, units)


def _all_lines(text: str) -> list[tuple[int, int]]:
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append((at, at + len(line)))
        at += len(line) + 1
    return lines


def _grid(cells: Sequence[Cell], n_lines: int) -> Grid:
    """The cells by line and column.

    A row all of whose cells began above has no line. No rows at all when the cells do not go with the lines: their
    text has no place in the block then.
    """
    numbers = sorted({cell.row for cell in cells})
    if len(numbers) != n_lines:
        return Grid(())
    n_cols = min(max(cell.col + cell.col_span for cell in cells), _MOST_COLUMNS)
    rows: list[list[Cell | None]] = [[None] * n_cols for _ in numbers]
    for cell in cells:
        first, last = bisect_left(numbers, cell.row), bisect_left(numbers, cell.row + cell.row_span)
        columns = range(cell.col, min(cell.col + cell.col_span, n_cols))
        for row in rows[first:last]:
            row[columns.start : columns.stop] = [cell] * len(columns)
    return Grid(tuple(tuple(row) for row in rows))


def _n_header_rows(grid: Grid) -> int:
    """How many leading rows name the columns; 0 when none does, or nothing would be left to name."""
    n_rows = len(grid.rows)
    marked = 0
    while marked < n_rows and _is_marked(grid.rows[marked]):
        marked += 1
    n_header = marked or _n_inferred(grid)
    return n_header if n_header < n_rows else 0


def _is_marked(row: Sequence[Cell | None]) -> bool:
    cells = [cell for cell in row if cell]
    return bool(cells) and all(cell.is_header for cell in cells)


def _n_inferred(grid: Grid) -> int:
    """The header rows of a table that marks none.

    The first row names the columns when it holds words only and the rows below hold values, or are many columns of
    words; further rows belong to it while the row above leaves something open (merged, blank or repeated cells).
    """
    n_header = 0
    for row in range(min(_MOST_HEADER_ROWS, len(grid.rows) - 1)):
        if not _names_columns(grid, row) or (row > 0 and not _leaves_open(grid, row - 1)):
            break
        n_header = row + 1
    if n_header == 0:
        return 0
    below = [text for row in range(n_header, len(grid.rows)) for text in grid.texts(row)[1:] if text]
    has_values = sum(_is_value(text) for text in below) >= _LEAST_VALUES_BELOW * max(len(below), 1)
    return n_header if below and (has_values or len(grid.rows[0]) > 2) else 0


def _names_columns(grid: Grid, row: int) -> bool:
    texts = [text for text in grid.texts(row) if text]
    return grid.n_distinct(row) >= 2 and all(len(t) <= _LONGEST_LABEL and not _is_value(t) for t in texts)


def _leaves_open(grid: Grid, row: int) -> bool:
    texts = grid.texts(row)[1:]
    return "" in texts or len(set(texts)) < len(texts)


def _is_value(text: str) -> bool:
    """Whether a cell holds a value rather than a name: digits and few letters, neither a year nor "n = 20"."""
    bare = "".join(_SAMPLE_SIZE.sub("", text).split())
    if not any(character.isdigit() for character in bare) or _YEAR.fullmatch(bare):
        return False
    return sum(character.isalpha() for character in bare) < _MOST_LETTERS_IN_VALUE * len(bare)


def _labels(grid: Grid, n_header: int) -> list[str]:
    """One label per column: the header cells above it, joined, equal ones once."""
    columns = zip(*(grid.texts(row) for row in range(n_header)), strict=True)
    return [" ".join(dict.fromkeys(text for text in column if text)) for column in columns]


def _has_unused(labels: Sequence[str], grid: Grid, n_header: int) -> bool:
    """Whether a label stands in no row, because its column has no value there."""
    below = [row for row in range(n_header, len(grid.rows)) if grid.n_distinct(row) > 1]  # a lone cell takes no label
    used = {label for row in below for label, text in zip(labels, grid.texts(row), strict=True) if text}
    return not used.issuperset(label for label in labels if label)


def _linearised(grid: Grid, row: int, labels: Sequence[str]) -> str:
    """ "label: value" for every cell that is not blank; a lone cell (a heading within the table) stays as it is."""
    texts = grid.texts(row)
    if grid.n_distinct(row) == 1:
        return next(text for text in texts if text)
    return CELL_SEPARATOR.join(
        f"{label}: {text}" if label else text for label, text in zip(labels, texts, strict=True) if text
    ).replace("\n", " ")


def _row_span(placed: PlacedBlock, own: tuple[Box, ...], line: tuple[int, int], length: int) -> Span:
    """The whole row as one span: where its line stands, with its own cells' boxes if they have any."""
    source_start = placed.start + line[0]
    if own:
        first, last = min(box.page for box in own), max(box.page for box in own)
        label_of = {span.page_start: span.label_start for span in placed.block.spans}
        label_of |= {span.page_end: span.label_end for span in placed.block.spans}
        return Span(0, length, first, last, own, source_start, None, label_of.get(first), label_of.get(last))
    around = spans_between(placed.block.spans, *line)
    if not around:
        return Span(0, length, None, None, (), source_start)
    return Span(
        0,
        length,
        around[0].page_start,
        around[-1].page_end,
        all_boxes(around),
        source_start,
        around[0].page_confidence,
        around[0].label_start,
        around[-1].label_end,
    )
