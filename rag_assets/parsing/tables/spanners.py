"""Names above several columns that were found on some of them only.

Layout tools put words that are centred above six columns on the one or two in the middle. Such a
name is widened over blank neighbours to the whole of a block of columns whose names come again ("b
| p | b | p") or differ in their numbers only. Being in the middle of some columns is no proof: they
may be one more or one less.
"""

from collections.abc import Sequence
from dataclasses import replace

from rag_assets.core.domain import Cell
from rag_assets.parsing.tables.grid import Grid
from rag_assets.parsing.tables.headers import MOST_HEADER_ROWS
from rag_assets.parsing.tables.values import shape_of

_LONGEST_RUN = 12
Columns = tuple[int, int]
"""First and last column."""


def widened(cells: Sequence[Cell], header: Sequence[int]) -> list[Cell]:
    """`cells` with the names above others, in rows that name columns, over all their columns."""
    cells = list(cells)
    for row in reversed(header):
        if row + 1 not in header:
            end = row + 1
            continue
        grid = Grid.of(cells)
        if end - row > MOST_HEADER_ROWS:
            continue
        blocks = _blocks(
            [tuple(filter(None, column)) for column in zip(*grid.texts[row + 1 : end], strict=True)]
        )
        names = [cell for cell in grid.named(row) if cell.col and cell.row == row]
        spans = {cell: _span(cell, grid.texts[row], blocks) for cell in names}
        covered = {col for first, last in spans.values() for col in range(first, last + 1)}
        cells = [
            replace(cell, col=spans[cell][0], col_span=spans[cell][1] + 1 - spans[cell][0])
            if cell in spans
            else cell
            for cell in cells
            if cell in spans or cell.row != row or cell.col not in covered
        ]
    return cells


def _blocks(names: Sequence[tuple[str, ...]]) -> list[Columns]:
    """Runs of columns that belong together by their names below, each from the top: a run of two or
    more lowest names comes again, or the names differ in their numbers only."""
    lowest = [name[-1] if name else "" for name in names]
    for length in range(2, min(len(names) // 2, _LONGEST_RUN) + 1):
        for start in range(1, len(names) - 2 * length + 1):
            run = lowest[start : start + length]
            n_times = 1
            while lowest[start + n_times * length : start + (n_times + 1) * length] == run:
                n_times += 1
            if n_times > 1 and len(set(run)) == length:
                return [
                    (at, at + length - 1) for at in range(start, start + n_times * length, length)
                ]
    blocks: list[Columns] = []
    for col in range(1, len(names)):
        is_alike = names[col] and [*map(shape_of, names[col])] == [*map(shape_of, names[col - 1])]
        if blocks and is_alike and names[col] != names[col - 1]:
            blocks[-1] = (blocks[-1][0], col)
        else:
            blocks.append((col, col))
    return [block for block in blocks if block[0] < block[1]]


def _span(cell: Cell, texts: Sequence[str], blocks: Sequence[Columns]) -> Columns:
    first, last = cell.col, cell.col + cell.col_span - 1
    touched = [block for block in blocks if block[0] <= last and first <= block[1]]
    if touched:
        wide = min(first, touched[0][0]), max(last, touched[-1][1])
        if not any(texts[col] for col in range(wide[0], wide[1] + 1) if not first <= col <= last):
            return wide
    return first, last  # the first line of a name of its own, or nothing tells how far it reaches
