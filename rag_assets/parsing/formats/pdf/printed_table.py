"""A table as it was read from one page, and one that goes on over pages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_assets.core.domain import Cell
from rag_assets.parsing.formats.pdf.drawings import Rectangle
from rag_assets.parsing.formats.pdf.glyphs import Frame


@dataclass(frozen=True)
class Printed:
    """A table read from a page."""

    frame: Frame
    area: Rectangle
    cells: tuple[Cell, ...]
    columns: tuple[tuple[float, float], ...]
    """Left and right edge of each, in points of the frame."""

    def goes_on_in(self, following: "Printed") -> bool:
        """Whether a table at the top of the next page has the same columns, and the same header or none."""
        are_alike = self.frame.page + 1 == following.frame.page and len(self.columns) == len(following.columns)
        return (
            are_alike
            and all(
                one[0] < other[1] and other[0] < one[1]
                for one, other in zip(self.columns, following.columns, strict=True)
            )
            and following._header() in ([], self._header())
        )

    def _header(self) -> list[tuple[int, str]]:
        return [(cell.col, cell.text) for cell in self.cells if cell.is_header]


def cells_over_pages(tables: Sequence[Printed]) -> list[Cell]:
    """The cells of a table and of those it goes on in, under its own header."""
    cells = list(tables[0].cells)
    for table in tables[1:]:
        n_header = len({cell.row for cell in table.cells if cell.is_header})
        below = max(cell.row for cell in cells) + 1 - n_header
        cells += [replace(cell, row=cell.row + below) for cell in table.cells if not cell.is_header]
    return cells
