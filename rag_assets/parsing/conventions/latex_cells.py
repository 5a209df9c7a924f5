"""The rows of a table in LaTeX, between its `\\begin` and `\\end`, as cells on a grid.

Real ones hold a `tabular` in a cell, give the sign of a currency a column of its own, and name two columns with one
merged cell.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_assets.domain import Cell
from rag_assets.parsing.conventions.latex_headers import with_header
from rag_assets.parsing.conventions.latex_text import plain_latex
from rag_assets.parsing.conventions.table_rows import without_empty_rows

_RULE = re.compile(
    r"\\(?:h(?:dash)?line|(?:top|mid|bottom)rule|end(?:first|last)?(?:head|foot)|addlinespace)(?:\[[^\]]{0,9}\])?"
    r"|\\c(?:line|midrule)\s?(?:\([^)]{0,9}\))?\{[^{}]{0,9}\}"
    r"|\\(?:row|cell)color(?:\[[^\]]{0,20}\])?\{[^{}]{0,20}\}"
)
_TOKEN = re.compile(
    r"\\(begin|end)\s?\{([a-zA-Z*]{1,20})\}|(\\\\\*?(?:\[[^\]]{0,9}\])?|\\tabularnewline)|\\.|[{}&]", re.DOTALL
)
_SPANNING = re.compile(
    r"\\multi(?P<way>column|row)(?:\[[^\]]{0,9}\])?\s?\{\s?(?P<span>\d{1,3})\s?\}(?:\[[^\]]{0,9}\])?"
    r"\{[^{}]{0,60}(?:\{[^{}]{0,20}\}[^{}]{0,20}){0,3}\}(?:\[[^\]]{0,9}\])?\{(?P<text>.*)\}",
    re.DOTALL,
)
_CURRENCY = frozenset("$€£¥")
_MAX_SPAN, _MAX_COLUMNS, _MOST_NESTED = 100, 500, 4


@dataclass(frozen=True, slots=True)
class LatexTable:
    """One table on its grid."""

    cells: tuple[Cell, ...]
    """Rows without text left out, header rows marked."""
    caption: str
    """Its caption, and a first row over its whole width."""


@dataclass(frozen=True, slots=True)
class _Written:
    """A cell as it was written."""

    text: str
    row_span: int = 1
    col_span: int = 1


def latex_table(source: str, caption: str) -> LatexTable | None:
    """The table of `source`; None where no row has two cells with text in the second or later ones."""
    cells = without_empty_rows(_placed(source))
    if not any(cell.text and cell.col > 0 for cell in cells):
        return None
    title, cells = _split_title(cells)
    stated = " ".join(text for text in (caption, title) if text)
    return LatexTable(tuple(with_header(cells)), stated)


def _placed(source: str) -> list[Cell]:
    cells: list[Cell] = []
    covered: dict[int, int] = {}
    for row, written in enumerate(_rows(source)):
        col = 0
        for cell in _with_currency(written):
            is_below_merged = not cell.text and covered.get(col, 0) > row
            if cell.text or not is_below_merged:
                cells.append(Cell(row, col, cell.text, cell.row_span, cell.col_span))
                covered[col] = row + cell.row_span
            col += cell.col_span
            if col >= _MAX_COLUMNS:
                break
    return cells


def _split_title(cells: Sequence[Cell]) -> tuple[str, list[Cell]]:
    """The first row where it is one cell over the whole width, and the rows below it.

    It names the table, unless further such rows make it the heading of a group of rows.
    """
    n_columns = max(cell.col + cell.col_span for cell in cells)
    over_all = [cell for cell in cells if cell.col == 0 and cell.col_span >= n_columns]
    if len(over_all) != 1 or over_all[0].row != 0 or over_all[0].row_span != 1:
        return "", list(cells)
    return over_all[0].text, [replace(cell, row=cell.row - 1) for cell in cells if cell.row > 0]


def _rows(source: str) -> Iterator[list[_Written]]:
    """The cells of each row; the row and cell ends within a group or a nested environment are text."""
    source = _RULE.sub(" ", source)
    row: list[_Written] = []
    start = 0
    for begin, end in [*_ends(source), (len(source), len(source))]:
        row.append(_written(source[start:begin]))
        if source[begin:end] != "&":
            if len(row) > 1 or row[0].text:
                yield row
            row = []
        start = end


def _ends(source: str) -> list[tuple[int, int]]:
    """Where the cells and rows of the table itself end, in order."""
    ends: list[tuple[int, int]] = []
    opened: list[tuple[str, int, int]] = []
    """Name of what is open, number of ends and number of cells before it."""
    n_open: Counter[str] = Counter()
    n_cells = 0
    for token in _TOKEN.finditer(source):
        edge, name, row_end = token.groups(default="{")
        if edge == "begin" or token[0] == "{":
            opened.append((name, len(ends), n_cells))
            n_open[name] += 1
        elif (edge == "end" or token[0] == "}") and n_open[name]:
            n_before, n_cells_before = _closed(opened, n_open, name)
            if edge == "end" or n_cells == n_cells_before:  # a brace left open would swallow the cells behind it
                del ends[n_before:]
                n_cells = n_cells_before
        elif token[0] == "&" or row_end != "{":
            ends.append(token.span())
            n_cells += token[0] == "&"
    return ends


def _closed(opened: list[tuple[str, int, int]], n_open: Counter[str], name: str) -> tuple[int, int]:
    """Takes the last one of that name, and what was opened in it and never closed, from `opened`."""
    while True:
        found, n_before, n_cells_before = opened.pop()
        n_open[found] -= 1
        if found == name:
            return n_before, n_cells_before


def _written(cell: str) -> _Written:
    row_span = col_span = 1
    for _ in range(_MOST_NESTED):
        spanning = _SPANNING.fullmatch(cell.strip())
        if spanning is None:
            break
        span = max(1, min(int(spanning["span"]), _MAX_SPAN))
        row_span, col_span = (row_span, span) if spanning["way"] == "column" else (span, col_span)
        cell = spanning["text"]
    return _Written(plain_latex(cell), row_span, col_span)


def _with_currency(cells: Sequence[_Written]) -> Iterator[_Written]:
    """The sign of a currency stands before the number in the next cell, not in a cell of its own."""
    sign = ""
    for nth, cell in enumerate(cells):
        if cell.text in _CURRENCY and nth + 1 < len(cells) and cells[nth + 1].text:
            sign = f"{cell.text} "
            yield _Written("", cell.row_span, cell.col_span)
        else:
            yield _Written(sign + cell.text, cell.row_span, cell.col_span)
            sign = ""
