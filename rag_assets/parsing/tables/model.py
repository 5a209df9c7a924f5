"""One reading of a table for all formats: which cells name columns, rows and groups of rows, and
how far they reach."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag_assets.core.domain import Cell
from rag_assets.parsing.tables.grid import Grid, taken_apart, without_empty_rows
from rag_assets.parsing.tables.groups import Groups
from rag_assets.parsing.tables.headers import header_rows, n_title_rows
from rag_assets.parsing.tables.rows import filled, joined_lines
from rag_assets.parsing.tables.spanners import widened

_BORDER = " | "
"""Stands between the cells of a row; inside a cell it is text."""


def read_table(cells: Sequence[Cell], *, rows_are_lines: bool = False) -> list[Cell]:
    """`cells` in reading order with the flags `is_header`, `is_stub`, `is_group` and the groups of
    each row.

    Cells that hold the values of several columns are taken apart, printed lines of one row are put
    together, and a name that is printed once for several rows spans them; a row in which no cell
    begins any more belongs to the one above. Where the source tells groups, as indentation on a
    page does, no others are looked for. rows_are_lines: rows and columns were found on a page
    (GROBID, a PDF): a row may be one printed line of several, and a name may stand over a part of
    its columns only.
    """
    cells = taken_apart(
        replace(cell, text=cell.text.replace(_BORDER, "|")) for cell in without_empty_rows(cells)
    )
    header = header_rows(Grid.of(cells))
    cells = widened(cells, header)
    cells = joined_lines(cells, Grid.of(cells), frozenset(header), rows_are_lines=rows_are_lines)
    numbers = {row: at for at, row in enumerate(sorted({cell.row for cell in cells}))}
    names_columns = frozenset(numbers[row] for row in header)
    cells = filled(cells, Grid.of(cells), names_columns)
    if not any(cell.is_group for cell in cells):
        cells = _grouped(
            cells, numbers, Groups(Grid.of(cells), names_columns, rows_are_lines=rows_are_lines)
        )
    marked = []
    for cell in sorted(cells, key=lambda cell: (cell.row, cell.col)):
        is_header = numbers[cell.row] in names_columns
        is_stub = not is_header and not cell.is_group and (cell.col == 0 or cell.is_stub)
        marked.append(replace(cell, is_header=is_header, is_stub=is_stub))
    return marked


def _grouped(cells: Sequence[Cell], numbers: Mapping[int, int], groups: Groups) -> list[Cell]:
    grouped = []
    for cell in cells:
        row = numbers[cell.row]
        group = tuple(one.text for one in groups.of_row.get(row, ())) if cell.col == 0 else ()
        if row in groups.lone and cell.text and row not in groups.open_ended:
            group = (cell.text,)
        grouped.append(replace(cell, is_group=row in groups.lone, group=group))
    return grouped


def split_title(cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """The cells above the header that are the table's title, or its end, and the others. Where a
    header comes again further down, they name what is above that one only, and are left to
    `read_table`."""
    cells = without_empty_rows(cells)
    grid = Grid.of(cells)
    header, n_title = header_rows(grid), n_title_rows(grid)
    is_group = any(cell.is_group for cell in cells if cell.row < n_title)
    if not n_title or is_group or header[-1] - header[0] >= len(header):
        return [], cells
    title = [cell for cell in cells if cell.row < n_title and cell.text]
    return title, [replace(cell, row=cell.row - n_title) for cell in cells if cell.row >= n_title]
