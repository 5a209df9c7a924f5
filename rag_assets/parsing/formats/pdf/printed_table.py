"""A table as it was read from one page, and one that goes on over pages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_assets.core.domain import Cell
from rag_assets.parsing.formats.pdf.drawings import Rectangle
from rag_assets.parsing.formats.pdf.glyphs import Frame

CONTINUED = re.compile(r"\bcont(?:inued\b|inues\b|['’]d\b|\.)", re.IGNORECASE)
"""Says that a table goes on, beside its caption or below its rows."""


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
