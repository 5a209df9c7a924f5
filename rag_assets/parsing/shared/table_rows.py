"""The lines of a table's text, one per row with its own boxes, and its header rows; rows in LaTeX as plain text."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from rag_assets.core.domain import Block, BlockKind, Box, Cell, Span

CELL_SEPARATOR = " | "
_MAX_HEADER_ROWS = 4
_MAX_HEADER_CELL_CHARS = 80
_SAMPLE_SIZE = re.compile(r"\bn\s*=\s*[\d,]+", re.IGNORECASE)
_SPACE_AND_BRACKETS = re.compile(r"[\s()]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MAX_LETTER_SHARE_OF_DATA = 0.34
_MEASUREMENT = re.compile(r"[<>≤≥~≈±]?\s?[−-]?\d+[.,]\d+ ?[^\W\d]\S*(?: \S+)?")
"""A number with its unit, and at times what it is of: "0.426 ppm ZnSO4"."""


def table_block(
    cells: Sequence[Cell], title: str, table_boxes: Sequence[Box] = (), title_boxes: Sequence[Box] = ()
) -> Block:
    """A table of `cells`, without a section; a row none of whose cells has a box takes `table_boxes`."""
    lines, spans, start = [], [], 0
    for row, line in zip(_rows(cells), table_lines(cells), strict=True):
        boxes = tuple(dict.fromkeys(box for cell in row if cell.text for box in cell.boxes)) or tuple(table_boxes)
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
        """The first free column of the row from `col` on; it and those the cell spans are taken from then on."""
        while self._free_from.get(col, 0) > row:
            col += 1
        self._free_from.update(dict.fromkeys(range(col, col + col_span), row + row_span))
        return col


def span_over(start: int, end: int, boxes: Sequence[Box]) -> Span:
    """A run whose pages are those of its boxes; without boxes its pages are unknown."""
    pages = [box.page for box in boxes]
    return Span(start, end, min(pages, default=None), max(pages, default=None), tuple(boxes))


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


def with_inferred_header(cells: Sequence[Cell]) -> list[Cell]:
    """`cells` with the header rows marked, if the source marked none.

    The first row is a header unless it holds data (numbers) beside its first cell. A further row belongs to the
    header when it holds no data either and its first cell is empty or covered from above, or it stands below merged
    headings and is not the first of several rows of measurements.
    """
    rows = _rows(cells)
    if len(rows) < 2 or any(cell.is_header for cell in cells):
        return list(cells)
    n_header = 0
    while n_header < min(_MAX_HEADER_ROWS, len(rows) - 1) and _continues_header(rows, n_header):
        n_header += 1
    return [replace(cell, is_header=cell.row < n_header) for cell in cells]


def with_continued_header(cells: Sequence[Cell]) -> list[Cell]:
    """`cells` of a format that has one header row, with the row below it marked too where that one goes on with it.

    Exports to such a format repeat a merged heading over each of its columns ("Calf | Calf") and leave the row that
    tells these columns apart to the body.
    """
    rows = _rows(cells)
    if len(rows) < 3 or [any(cell.is_header for cell in row) for row in rows[:2]] != [True, False]:
        return list(cells)
    header, below = rows[0], rows[1]
    repeated = {one.text for one, other in pairwise(header) if one.text and one.text == other.text}
    under = [(above.text, cell.text) for above, cell in zip(header, below, strict=False) if above.text in repeated]
    tells_apart = bool(under) and len(set(under)) == len(under) and all(name for _, name in under)
    names = [cell.text for cell in below if cell.col > 0]
    goes_on = below[0].text in ("", header[0].text) and sum(map(is_data, names)) < len(names) / 2
    return [replace(cell, is_header=cell.row < 2) for cell in cells] if tells_apart and goes_on else list(cells)


def _continues_header(rows: Sequence[Sequence[Cell]], index: int) -> bool:
    row = rows[index]
    if any(is_data(cell.text) for cell in row if cell.col > 0) or not any(cell.text for cell in row):
        return False
    if index == 0:
        return True
    if any(len(cell.text) > _MAX_HEADER_CELL_CHARS for cell in row):
        return False
    starts_empty = not row[0].text or row[0].col > 0
    is_below_merged = any(cell.col_span > 1 for cell in rows[index - 1])
    return starts_empty or (is_below_merged and not all(map(_holds_measurements, rows[index : index + 2])))


def _holds_measurements(row: Sequence[Cell]) -> bool:
    """Whether a row has a name and then measurements only."""
    values = [cell.text for cell in row if cell.col > 0 and cell.text]
    return bool(values) and all(map(_MEASUREMENT.fullmatch, values))


def is_data(text: str) -> bool:
    """Whether a cell holds a value rather than a name: mostly digits and signs, and not a year."""
    bare = _SPACE_AND_BRACKETS.sub("", _SAMPLE_SIZE.sub("", text))
    if not any(character.isdigit() for character in bare) or _YEAR.fullmatch(bare):
        return False
    return sum(character.isalpha() for character in bare) < _MAX_LETTER_SHARE_OF_DATA * len(bare)


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
_ESCAPED = {r"\$": "\ue000", r"\%": "%", r"\&": "\ue001", r"\{": "(", r"\}": ")", r"\_": "_", r"\#": "#"}
"""Escaped signs are text; a private character keeps one from being read as markup."""
_SYMBOLS = {
    "times": "×", "pm": "±", "cdot": "·", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "approx": "≈",
    "sim": "~", "circ": "°", "alpha": "α", "beta": "β", "gamma": "γ", "mu": "μ", "sigma": "σ", "chi": "χ",
}  # fmt: skip
_COMMAND = re.compile(r"\\([a-zA-Z]+)\*?")
_LEFT_OVER = re.compile(r"\\[^\w\s]|[{}$\\]")


def plain_rows(text: str) -> list[str] | None:
    """The rows and other lines of `text`, with " | " between cells; None where it holds no table in LaTeX.

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
