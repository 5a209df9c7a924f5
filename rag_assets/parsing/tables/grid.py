"""The cells of a table by position."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rag_assets.core.domain import Box, Cell
from rag_assets.parsing.tables.values import is_value, repeats_in, values_in

_MOST_COLUMNS = 500


@dataclass(frozen=True)
class Grid:
    """A table's cells by position; a merged cell is at every position it covers."""

    rows: tuple[tuple[Cell | None, ...], ...]
    """Only rows in which a cell begins."""

    @classmethod
    def of(cls, cells: Sequence[Cell]) -> "Grid":
        numbers = sorted({cell.row for cell in cells})
        n_cols = min(max((cell.col + cell.col_span for cell in cells), default=0), _MOST_COLUMNS)
        rows: list[list[Cell | None]] = [[None] * n_cols for _ in numbers]
        for cell in cells:
            columns = range(min(cell.col, n_cols), min(cell.col + cell.col_span, n_cols))
            for row in rows[
                bisect_left(numbers, cell.row) : bisect_left(numbers, cell.row + cell.row_span)
            ]:
                row[columns.start : columns.stop] = [cell] * len(columns)
        return cls(tuple(map(tuple, rows)))

    @cached_property
    def texts(self) -> list[list[str]]:
        """The texts of each row, column by column; empty where there is no cell."""
        return [[cell.text.strip() if cell else "" for cell in row] for row in self.rows]

    @property
    def n_columns(self) -> int:
        return len(self.rows[0]) if self.rows else 0

    def named(self, row: int) -> list[Cell]:
        """The cells of the row that are not blank, a merged one once."""
        return list(
            {id(cell): cell for cell in self.rows[row] if cell and cell.text.strip()}.values()
        )

    def lone(self, row: int) -> Cell | None:
        """The only cell of a row that is not blank, if it holds a name."""
        cells = self.named(row)
        if len(cells) != 1 or self.n_columns < 2:
            return None
        is_name = not is_value(cells[0].text) or (
            cells[0].col == 0 and any(map(str.isalpha, cells[0].text))
        )
        return cells[0] if is_name else None

    def own_boxes(self, row: int) -> tuple[Box, ...]:
        """Boxes of the cells with text that begin in this row, each once."""
        above = {id(cell) for cell in self.rows[row - 1]} if row else set()
        own = (cell for cell in self.named(row) if id(cell) not in above)
        return tuple(dict.fromkeys(box for cell in own for box in cell.boxes))


def without_empty_rows(cells: Sequence[Cell]) -> list[Cell]:
    """`cells` in reading order, rows without any text taken out and the others numbered anew."""
    kept_rows = sorted({cell.row for cell in cells if cell.text})
    new_row = {row: index for index, row in enumerate(kept_rows)}
    kept = []
    for cell in sorted(cells, key=lambda cell: (cell.row, cell.col)):
        if cell.row in new_row:
            end = bisect_left(kept_rows, cell.row + cell.row_span)
            kept.append(replace(cell, row=new_row[cell.row], row_span=end - new_row[cell.row]))
    return kept


def taken_apart(cells: Iterable[Cell]) -> list[Cell]:
    """`cells`, one for each column where several were read as one: "2.8 (2.2) 2.6 (2.2)" over two
    columns.

    Words are never parted: two columns may share a heading of two words.
    """
    apart: list[Cell] = []
    for cell in cells:
        n_columns = min(cell.col_span, _MOST_COLUMNS)
        pieces = (
            (values_in(cell.text, n_columns) or repeats_in(cell.text, n_columns))
            if n_columns > 1
            else None
        )
        texts = pieces or [cell.text]
        span = 1 if pieces else cell.col_span
        apart += [
            replace(cell, col=cell.col + nth, col_span=span, text=text)
            for nth, text in enumerate(texts)
        ]
    return apart
