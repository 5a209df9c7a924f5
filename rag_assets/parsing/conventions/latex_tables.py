"""Tables written as LaTeX `tabular`, as programs that read pages into text write them.

Real ones are left open, hold a `tabular` in a cell, and give the sign of a currency a column of its own. No command is
run: markup is taken off, and an unknown command leaves its argument.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_assets.domain import Cell
from rag_assets.parsing.conventions.table_rows import with_inferred_header, without_empty_rows

_BEGIN, _END = "\\begin{tabular", "\\end{tabular"
_EDGE = re.compile(
    r"\\(?:begin|end)\{tabular[x*]?\}(?:\[[^\]]{0,9}\])?(?:\{[^{}]{0,400}(?:\{[^{}]{0,40}\}[^{}]{0,400}){0,40}\})?"
)
_RULE = re.compile(r"\\(?:hline|(?:top|mid|bottom)rule|c(?:line|midrule)(?:\([^)]{0,9}\))?\{[^{}]{0,9}\})")
_ROW_END = re.compile(r"\\\\(?:\[[^\]]{0,9}\])?")
_CELL_END = re.compile(r"(?<!\\)&")
_SPANNING = re.compile(
    r"\\multi(?P<way>column|row)(?:\[[^\]]{0,9}\])?\{(?P<span>\d{1,3})\}\{[^{}]{0,40}(?:\{[^{}]{0,20}\}[^{}]{0,20}){0,3}\}"
    r"\{(?P<text>.*)\}",
    re.DOTALL,
)
_ARGUMENT = re.compile(r"\\[a-zA-Z]{1,20}\s?\{([^{}]{0,400})\}")
_COMMAND = re.compile(r"\\[a-zA-Z]{1,20}\s?|[{}]")
_RAISED_MARK = re.compile(r"(?:\{\s?\}\s?)?\^\s?(?=\{?\s?\()")
"""Before the mark of a footnote: "${ }^{(a)}$"."""
_ESCAPED = {r"\$": "\ue000", r"\%": "%", r"\&": "&", r"\#": "#", r"\_": "_", "~": " ", r"\,": " ", r"\ ": " "}
_SYMBOLS = {r"\times": "×", r"\pm": "±", r"\leq": "≤", r"\geq": "≥", r"\mu": "μ", r"\alpha": "α", r"\beta": "β"}
_CURRENCY = frozenset("$€£¥")
_MAX_SPAN, _MAX_COLUMNS, _MAX_NESTED = 100, 500, 8


@dataclass(frozen=True, slots=True)
class _Written:
    """A cell as it was written."""

    text: str
    row_span: int = 1
    col_span: int = 1


def n_table_lines(lines: Sequence[str], start: int) -> int:
    """How many lines belong to the table that begins at line `start`; 0 where none begins.

    A table that is never closed ends before the first line that is no row of it.
    """
    if not lines[start].lstrip().startswith(_BEGIN):
        return 0
    depth = 0
    for nth in range(start, len(lines)):
        if nth > start and lines[nth].startswith(_BEGIN):
            break
        depth += lines[nth].count(_BEGIN) - lines[nth].count(_END)
        if depth <= 0:
            return nth + 1 - start
    n_lines = 1
    while start + n_lines < len(lines) and _looks_like_row(lines[start + n_lines]):
        n_lines += 1
    return n_lines


def latex_cells(source: str) -> list[Cell]:
    """The cells of one table, header rows marked, rows without text left out; none where no row has two cells."""
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
    rows_with_values = {cell.row for cell in cells if cell.text and cell.col > 0}
    return _with_header(without_empty_rows(cells)) if rows_with_values else []


def _with_header(cells: Sequence[Cell]) -> list[Cell]:
    """`cells` with the header rows marked; a heading over the whole width ends them: it names the rows below it."""
    marked = with_inferred_header(cells)
    n_cells = Counter(cell.row for cell in marked)
    headings = [cell.row for cell in marked if cell.row > 0 and n_cells[cell.row] == 1]
    first_heading = min(headings, default=len(marked))
    return [replace(cell, is_header=cell.is_header and cell.row < first_heading) for cell in marked]


def _looks_like_row(line: str) -> bool:
    return _CELL_END.search(line) is not None or line.endswith("\\\\") or _RULE.match(line) is not None


def _rows(source: str) -> Iterator[list[_Written]]:
    for line in _ROW_END.split(_RULE.sub(" ", _EDGE.sub(" ", _without_nested(source)))):
        if line.strip():
            yield [_written(cell) for cell in _CELL_END.split(line)]


def _without_nested(source: str) -> str:
    """A table inside a cell becomes its cells, side by side."""
    for _ in range(_MAX_NESTED):
        start = source.rfind(_BEGIN)
        if start <= source.find(_BEGIN):
            break
        end = source.find(_END, start)
        end = len(source) if end < 0 else end
        inner = _ROW_END.sub(" ", _CELL_END.sub(" ", _EDGE.sub(" ", source[start:end])))
        source = source[:start] + inner + _EDGE.sub(" ", source[end:], count=1)
    return source


def _written(cell: str) -> _Written:
    row_span = col_span = 1
    while (spanning := _SPANNING.fullmatch(cell.strip())) is not None:
        span = max(1, min(int(spanning["span"]), _MAX_SPAN))
        row_span, col_span = (row_span, span) if spanning["way"] == "column" else (span, col_span)
        cell = spanning["text"]
    return _Written(_plain(cell), row_span, col_span)


def _plain(text: str) -> str:
    """The text of a cell without markup; the mark of a footnote stays, behind a space."""
    for escaped, character in (_ESCAPED | _SYMBOLS).items():
        text = text.replace(escaped, character)
    text = _RAISED_MARK.sub(" ", text.replace("$", ""))
    for _ in range(_MAX_NESTED):
        text, n_found = _ARGUMENT.subn(r" \1 ", text)
        if not n_found:
            break
    text = _COMMAND.sub("", text).replace(_ESCAPED[r"\$"], "$")
    return " ".join(text.split()).replace("( ", "(").replace(" )", ")").replace(" %", "%")


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
