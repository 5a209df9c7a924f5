"""Finds the columns of a printed table, so that its rows can be read with the names of their columns.

A PDF does not state them: columns are where cells of different rows are below each other. A table gets no columns if
anything about them is in doubt, because a value below the wrong name is a false statement.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from rag_assets.core.domain import Cell
from rag_assets.parsing.formats.pdf.layout import Line
from rag_assets.parsing.tables import is_value

_MOST_HEADER_ROWS = 6
_LEAST_NAMED = 0.6
"""Share of the columns behind the first that must have a name."""
_LEAST_VALUES = 0.3
"""Share of values among the cells behind the first of a row of values, and of a whole table: names of people in columns
are no table."""
_LEAST_OVERLAP = 1.0
"""Two cells are below each other if they share so many points."""
_LEAST_COLUMNS, _MOST_COLUMNS = 2, 40
Interval = tuple[float, float]
"""Left and right edge of a cell, in points."""
Row = Sequence[tuple[str, Interval]]


def table_cells(lines: Sequence[Line]) -> tuple[Cell, ...]:
    """The cells of a table with their columns, its header marked; none where columns or header are in doubt.

    lines: its rows from top to bottom; `Cell.row` counts them.
    """
    rows = [list(zip(line.cells, zip(line.cell_lefts, line.cell_rights, strict=True), strict=True)) for line in lines]
    columns = _columns(rows)
    if not _LEAST_COLUMNS <= len(columns) <= _MOST_COLUMNS:
        return ()
    placed = [[part for cell in row for part in _placed(*cell, columns)] for row in rows]
    n_header = _n_header(placed, len(columns))
    cells: list[Cell] = []
    for nth, row in enumerate(placed):
        own = _cells(nth, row, is_header=nth < n_header)
        if own is None:
            return ()
        cells += own
    is_one_table = _names_columns(cells, len(columns)) and not _names_rows_anew(cells)
    return tuple(cells) if is_one_table and _holds_values(cells) else ()


def _columns(rows: Sequence[Row]) -> list[Interval]:
    """Where cells of several rows are below each other, from left to right.

    Cells above or below two cells of another row are left out, and so are lone ones: they belong to several columns or
    to no column.
    """
    narrow = _in_one_column([row for row in rows if len(row) > 1])
    columns: list[Interval] = []
    for left, right in sorted(narrow):
        if columns and left < columns[-1][1] - _LEAST_OVERLAP:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
        else:
            columns.append((left, right))
    return columns


def _in_one_column(rows: Sequence[Row]) -> list[Interval]:
    """The cells above or below at most one cell of any other row."""
    cells = [interval for row in rows for _, interval in row]
    if not cells:
        return []
    lefts, rights = np.array(cells).T
    first_of_row = np.cumsum([0, *(len(row) for row in rows[:-1])])
    return [
        (left, right)
        for left, right in cells
        if np.add.reduceat(
            np.minimum(right, rights) - np.maximum(left, lefts) >= _LEAST_OVERLAP, first_of_row, dtype=int
        ).max()
        <= 1
    ]


@dataclass(frozen=True)
class _PlacedCell:
    """A cell and its first column and the end of its columns; both are 0 if it has none."""

    text: str
    first: int
    end: int


def _placed(text: str, at: Interval, columns: Sequence[Interval]) -> Iterator[_PlacedCell]:
    """A cell with its columns; one over several columns that has a word for each is parted."""
    over = [nth for nth, edge in enumerate(columns) if min(at[1], edge[1]) - max(at[0], edge[0]) >= _LEAST_OVERLAP]
    first, end = (over[0], over[-1] + 1) if over else (0, 0)
    words = text.split()
    if len(over) > 1 and len(words) == len(over):
        yield from (_PlacedCell(word, nth, nth + 1) for word, nth in zip(words, over, strict=True))
    else:
        yield _PlacedCell(text, first, end)


def _n_header(rows: Sequence[Sequence[_PlacedCell]], n_columns: int) -> int:
    """The rows that name the columns: those above the first row of values, up to where each column has a name of its
    own. A name may hold digits ("x 10^6")."""
    named: set[int] = set()
    for nth, row in enumerate(rows[: _MOST_HEADER_ROWS + 1]):
        behind = [is_value(cell.text) for cell in row if cell.first]
        if len(named) == n_columns or (behind and sum(behind) >= _LEAST_VALUES * len(behind)):
            return nth
        named |= {cell.first for cell in row if cell.end - cell.first == 1}
    return 0


def _cells(nth: int, row: Sequence[_PlacedCell], *, is_header: bool) -> list[Cell] | None:
    """The cells of a row; None where one has no column, or two have the same one.

    Words over several columns of a row of values name the row, like its first cell; a long name may reach over columns
    that are empty in its row.
    """
    if len(row) == 1 and not is_header:
        return [Cell(nth, 0, row[0].text)]
    cells: list[Cell] = []
    for cell in row:
        if cell.first == cell.end:
            return None
        is_name = not is_header and cell.end - cell.first > 1 and not is_value(cell.text)
        if is_name and not cells and cell.first == 0:
            cells.append(Cell(nth, 0, cell.text))
        elif is_name and len(cells) == 1 and cells[0].col == 0:
            cells[0] = replace(cells[0], text=f"{cells[0].text} {cell.text}")
        elif is_name or (cells and cells[-1].col + cells[-1].col_span > cell.first):
            return None
        else:
            cells.append(Cell(nth, cell.first, cell.text, col_span=cell.end - cell.first, is_header=is_header))
    return cells


def _names_columns(cells: Sequence[Cell], n_columns: int) -> bool:
    """Whether a header names most columns behind the first one, and no two of them alike."""
    names: dict[int, str] = {}
    for cell in (cell for cell in cells if cell.is_header):
        for nth in range(max(cell.col, 1), cell.col + cell.col_span):
            names[nth] = f"{names.get(nth, '')} {cell.text}"
    return len(names) >= _LEAST_NAMED * (n_columns - 1) and len(set(names.values())) == len(names)


def _names_rows_anew(cells: Sequence[Cell]) -> bool:
    """Whether a row below the header repeats it behind its first cell: another table begins there, with the same
    columns."""
    header = {(cell.col, cell.text) for cell in cells if cell.is_header}
    body = groupby((cell for cell in cells if not cell.is_header), key=lambda cell: cell.row)
    rows = ([(cell.col, cell.text) for cell in row] for _, row in body)
    return any(len(row) > 1 and row[0][0] == 0 and row[0] not in header and header.issuperset(row[1:]) for row in rows)


def _holds_values(cells: Sequence[Cell]) -> bool:
    behind = [
        is_value(cell.text) or not any(map(str.isalnum, cell.text)) for cell in cells if cell.col and not cell.is_header
    ]
    return sum(behind) >= _LEAST_VALUES * max(len(behind), 1)
