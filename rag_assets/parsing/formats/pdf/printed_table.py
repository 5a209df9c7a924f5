"""A table as it was read from one page, and one that goes on over pages."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from unicodedata import category

from rag_assets.core.domain import Cell
from rag_assets.parsing.formats.pdf.drawings import Rectangle
from rag_assets.parsing.formats.pdf.glyphs import Frame
from rag_assets.parsing.tables.grid import is_value

CONTINUED = re.compile(r"\bcont(?:inued\b|inues\b|['’]d\b|\.)", re.IGNORECASE)
"""Says that a table goes on, beside its caption or below its rows."""

_LEAST_ROWS, _LEAST_ROWS_ALONE = 2, 4
_LEAST_NAMED, _LEAST_WHOLE = 0.6, 0.5
"""Least shares in a table without a caption: columns with a name, and rows that are whole."""
_MARKS = ("Pd", "So")
"""Dashes and symbols like ticks, which stand for values."""


@dataclass(frozen=True)
class Printed:
    """A table read from a page."""

    frame: Frame
    area: Rectangle
    cells: tuple[Cell, ...]
    columns: tuple[tuple[float, float], ...]
    """Left and right edge of each, in points of the frame."""

    def goes_on_in(self, following: "Printed") -> bool:
        """Whether a table at the top of the next page has the same columns, and the same header or
        none."""
        are_alike = self.frame.page + 1 == following.frame.page and len(self.columns) == len(
            following.columns
        )
        return (
            are_alike
            and all(
                one[0] < other[1] and other[0] < one[1]
                for one, other in zip(self.columns, following.columns, strict=True)
            )
            and following._header() in ([], self._header())
        )

    def is_repeated_in(self, following: "Printed") -> bool:
        """Whether a table of the same name goes on with this one: it repeats the header here or on
        the next page."""
        is_near = 0 <= following.frame.page - self.frame.page <= 1
        return (is_near and following._header() == self._header() != []) or self.goes_on_in(
            following
        )

    @property
    def has_rows(self) -> bool:
        return len({cell.row for cell in self.cells}) > 1

    @property
    def holds_values(self) -> bool:
        """Whether cells without a caption look like a table: at least half of the rows have a name and
        values.

        Two such rows are enough if most columns have a name in a header; otherwise four are needed."""
        n_behind = len(self.columns) - 1
        named = {
            cell.col + nth for cell in self.cells if cell.is_header for nth in range(cell.col_span)
        }
        n_values: Counter[int] = Counter()
        names: set[int] = set()
        rows: set[int] = set()
        for cell in (cell for cell in self.cells if not cell.is_header and not cell.is_group):
            rows.add(cell.row)
            if cell.col:
                n_values[cell.row] += is_value(cell.text) or all(
                    category(sign) in _MARKS for sign in cell.text
                )
            elif any(map(str.isalpha, cell.text)) and not is_value(cell.text):
                names |= set(range(cell.row, cell.row + cell.row_span))
        n_whole = sum(row in names and 2 * n_values[row] >= n_behind for row in rows)
        least = _LEAST_ROWS if len(named - {0}) >= _LEAST_NAMED * n_behind else _LEAST_ROWS_ALONE
        return n_whole >= max(least, _LEAST_WHOLE * len(rows))

    def _header(self) -> list[tuple[int, str]]:
        return [(cell.col, cell.text) for cell in self.cells if cell.is_header]


def cells_over_pages(tables: Sequence[Printed]) -> list[Cell]:
    """The cells of a table and of those it goes on in, under its own header, without a last line
    that says so."""
    cells: list[Cell] = []
    for table in tables:
        last = [cell for cell in table.cells if cell.row == table.cells[-1].row]
        own = table.cells[:-1] if len(last) == 1 and CONTINUED.search(last[0].text) else table.cells
        n_header = len({cell.row for cell in own if cell.is_header}) if cells else 0
        below = max(cell.row for cell in cells) + 1 - n_header if cells else 0
        cells += [
            replace(cell, row=cell.row + below) for cell in own if not (below and cell.is_header)
        ]
    return cells
