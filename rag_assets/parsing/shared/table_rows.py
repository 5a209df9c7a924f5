"""The lines of a table's text, one per row with its own boxes; rows in LaTeX as plain text."""

import re
from collections.abc import Sequence
from dataclasses import replace

from rag_assets.core.domain import Block, BlockKind, Box, Cell, Span
from rag_assets.parsing.tables import read_table, split_title

CELL_SEPARATOR = " | "


def table_block(
    cells: Sequence[Cell],
    title: str,
    table_boxes: Sequence[Box] = (),
    title_boxes: Sequence[Box] = (),
) -> Block:
    """A table of `cells` as `read_table` reads them, without a section; a row none of whose cells
    has a box takes `table_boxes`. A title inside the table follows `title`."""
    inside, cells = split_title(cells)
    title = " ".join(
        filter(None, (title, *(cell.text for cell in inside if cell.text not in title)))
    )
    title_boxes = title_boxes or [box for cell in inside for box in cell.boxes]
    cells = read_table(cells)
    lines, spans, start = [], [], 0
    for row, line in zip(_rows(cells), table_lines(cells), strict=True):
        boxes = tuple(
            dict.fromkeys(box for cell in row if cell.text for box in cell.boxes)
        ) or tuple(table_boxes)
        lines.append(line)
        spans.append(span_over(start, start + len(line) + 1, boxes))
        start += len(line) + 1
    if spans:
        spans[-1] = replace(spans[-1], end=spans[-1].end - 1)
    return Block(
        BlockKind.TABLE,
        "\n".join(lines),
        spans=tuple(spans),
        title=title,
        title_spans=(span_over(0, len(title), title_boxes),) if title and title_boxes else (),
        cells=tuple(cells),
    )


def table_lines(cells: Sequence[Cell]) -> list[str]:
    """One line per row that has cells of its own: their texts joined, empty ones included."""
    return [CELL_SEPARATOR.join(cell.text for cell in row).strip() for row in _rows(cells)]


class Columns:
    """The columns of a grid while its rows are filled from top to bottom."""

    def __init__(self) -> None:
        self._free_from: dict[int, int] = {}
        """Column -> first row that no cell above reaches into."""

    def place(self, row: int, col: int, row_span: int, col_span: int) -> int:
        """The first free column of the row from `col` on; it and those the cell spans are taken
        from then on."""
        while self._free_from.get(col, 0) > row:
            col += 1
        self._free_from.update(dict.fromkeys(range(col, col + col_span), row + row_span))
        return col


def span_over(start: int, end: int, boxes: Sequence[Box]) -> Span:
    """A run whose pages are those of its boxes; without boxes its pages are unknown."""
    pages = [box.page for box in boxes]
    return Span(start, end, min(pages, default=None), max(pages, default=None), tuple(boxes))


def _rows(cells: Sequence[Cell]) -> list[list[Cell]]:
    rows: dict[int, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append(cell)
    return [sorted(rows[row], key=lambda cell: cell.col) for row in sorted(rows)]


_ROW = re.compile(
    r"\\(?:begin|end)\s?\{(?:table|tabular|longtable|array)[*x]?\}|\\(?:hline|caption|multicolumn|multirow|(?:top|mid|bottom)rule)"
    r"|(?<!\\)&[^\n]*\\\\"
)
_ARGUMENT = r"\s?\{(?:[^{}]|\{[^{}]{0,40}\}){0,80}\}"
_WITHOUT_TEXT = re.compile(
    rf"\\begin{_ARGUMENT}(?:\[[^\]]{{0,20}}\])?(?:{_ARGUMENT})?|\\multi(?:column|row)(?:\[[^\]]{{0,20}}\])?(?:{_ARGUMENT}){{2}}"
    rf"|\\(?:end|cline|label|(?:row|cell|column)?color|[vh]space\*?){_ARGUMENT}"
)
_ESCAPED = {
    r"\$": "\ue000",
    r"\%": "%",
    r"\&": "\ue001",
    r"\{": "(",
    r"\}": ")",
    r"\_": "_",
    r"\#": "#",
}
"""Escaped signs are text; a private character keeps one from being read as markup."""
_SYMBOLS = {
    "times": "×", "pm": "±", "cdot": "·", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "approx": "≈",
    "sim": "~", "circ": "°", "alpha": "α", "beta": "β", "gamma": "γ", "mu": "μ", "sigma": "σ", "chi": "χ",
}  # fmt: skip
_COMMAND = re.compile(r"\\([a-zA-Z]+)\*?")
_LEFT_OVER = re.compile(r"\\[^\w\s]|[{}$\\]")


def plain_rows(text: str) -> list[str] | None:
    """The rows and other lines of `text`, with " | " between cells; None where it holds no table in
    LaTeX.

    They stay text, without cells: "A & $12 \\pm 3$ \\\\ \\hline" becomes "A | 12 ± 3".
    """
    if not _ROW.search(text):
        return None
    for sign, shown in _ESCAPED.items():
        text = text.replace(sign, shown)
    text = _WITHOUT_TEXT.sub(" ", text).replace("\\\\", "\n").replace("&", " | ")
    text = _COMMAND.sub(lambda command: _SYMBOLS.get(command[1], " "), text)
    text = _LEFT_OVER.sub("", text).replace("\ue000", "$").replace("\ue001", "&")
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return [line for line in lines if line.strip("| ")]
