"""The text of tables: one line per row of cells; rows in LaTeX as plain text; and tables in HTML.

Models and tools write HTML tables into the text of a paper. These are cut out of the text around
them and read into cells. Real ones contain a bare `<0.05`, no `<th>`, merged cells, several tables
in a row, and text before and after them. Cells keep their ids, by which a caller finds their boxes
on the page.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag_assets.core.domain import Block, BlockKind, Box, Cell, Span
from rag_assets.parsing.shared.superscripts import lowered, raised
from rag_assets.parsing.tables import read_table, split_title, without_empty_rows

CELL_SEPARATOR = " | "


def table_block(
    cells: Sequence[Cell],
    title: str,
    table_boxes: Sequence[Box] = (),
    title_boxes: Sequence[Box] = (),
) -> Block:
    """The block of a table: `cells` after `read_table`, and their text with one line and one span
    per row. The section is left empty.

    The boxes of a row are those of its cells, or `table_boxes` if its cells have none. Title rows
    inside the table are added to `title`.
    """
    title_cells, cells = split_title(cells)
    title = " ".join(
        filter(None, (title, *(cell.text for cell in title_cells if cell.text not in title)))
    )
    title_boxes = title_boxes or [box for cell in title_cells for box in cell.boxes]
    cells = read_table(cells)
    lines, spans, start = [], [], 0
    for row, line in zip(_rows(cells), table_lines(cells), strict=True):
        boxes = tuple(
            dict.fromkeys(box for cell in row if cell.text for box in cell.boxes)
        ) or tuple(table_boxes)
        lines.append(line)
        spans.append(span_over(start, start + len(line) + 1, boxes))
        start += len(line) + 1
    if spans:  # no line break follows the last row
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
    """One line for each row in which a cell begins: the texts of its cells, also empty ones, joined
    by " | "."""
    return [CELL_SEPARATOR.join(cell.text for cell in row).strip() for row in _rows(cells)]


class Columns:
    """Finds free columns while the rows of a grid are filled from top to bottom: a cell that spans
    several rows occupies its columns in the rows below."""

    def __init__(self) -> None:
        self._free_from: dict[int, int] = {}
        """Column -> first row in which no cell above occupies it."""

    def place(self, row: int, col: int, row_span: int, col_span: int) -> int:
        """Place a cell in the first free column of the row at or after `col`. Returns that column;
        the rows and columns that the cell spans are occupied from now on."""
        while self._free_from.get(col, 0) > row:
            col += 1
        self._free_from.update(dict.fromkeys(range(col, col + col_span), row + row_span))
        return col


def span_over(start: int, end: int, boxes: Sequence[Box]) -> Span:
    """A span from the first to the last page of its boxes; without boxes its pages are unknown."""
    pages = [box.page for box in boxes]
    return Span(start, end, min(pages, default=None), max(pages, default=None), tuple(boxes))


def _rows(cells: Sequence[Cell]) -> list[list[Cell]]:
    """The cells by the row in which they begin, from left to right."""
    rows: dict[int, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append(cell)
    return [sorted(rows[row], key=lambda cell: cell.col) for row in sorted(rows)]


_ROW = re.compile(
    r"\\(?:begin|end)\s?\{(?:table|tabular|longtable|array)[*x]?\}|\\(?:hline|caption|multicolumn|multirow|(?:top|mid|bottom)rule)"
    r"|(?<!\\)&(?:[^&\n]|(?<=\\)&)*\\\\"
)
_ARGUMENT = r"\s?\{(?:[^{}]|\{[^{}]{0,40}\}){0,80}\}"
_WITHOUT_TEXT = re.compile(
    rf"\\begin{_ARGUMENT}(?:\[[^\]]{{0,20}}\])?(?:{_ARGUMENT})?|\\multi(?:column|row)(?:\[[^\]]{{0,20}}\])?(?:{_ARGUMENT}){{2}}"
    rf"|\\(?:end|cline|label|(?:row|cell|column)?color|[vh]space\*?){_ARGUMENT}"
)
_PLAIN_OF_ESCAPED = {
    r"\$": "\ue000",
    r"\%": "%",
    r"\&": "\ue001",
    r"\{": "(",
    r"\}": ")",
    r"\_": "_",
    r"\#": "#",
}
"""Escaped signs are text. "$" and "&" become private characters until the markup is removed, so
that they are not taken for markup."""
_SYMBOLS = {
    "times": "×", "pm": "±", "cdot": "·", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "approx": "≈",
    "sim": "~", "circ": "°", "alpha": "α", "beta": "β", "gamma": "γ", "mu": "μ", "sigma": "σ", "chi": "χ",
}  # fmt: skip
_COMMAND = re.compile(r"\\([a-zA-Z]+)\*?")
_LEFT_OVER = re.compile(r"\\[^\w\s]|[{}$\\]")


def plain_rows(text: str) -> list[str] | None:
    """The lines of `text` with a LaTeX table as plain text, with " | " between cells; None if it
    contains no LaTeX table.

    "A & $12 \\pm 3$ \\\\ \\hline" becomes "A | 12 ± 3".
    """
    if not _ROW.search(text):
        return None
    for escaped, plain in _PLAIN_OF_ESCAPED.items():
        text = text.replace(escaped, plain)
    text = _WITHOUT_TEXT.sub(" ", text).replace("\\\\", "\n").replace("&", " | ")
    text = _COMMAND.sub(lambda command: _SYMBOLS.get(command[1], " "), text)
    text = _LEFT_OVER.sub("", text).replace("\ue000", "$").replace("\ue001", "&")
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return [line for line in lines if line.strip("| ")]


_TAGS = (
    "table|thead|tbody|tfoot|tr|td|th|caption|colgroup|col|br|sup|sub|b|i|em|strong|u|s|span|p|a|ul|ol|li|div|"
    "input|img|hr|small|code|del|ins|strike|mark|font"
)
_STRAY_LESS_THAN = re.compile(rf"<(?!/?(?:{_TAGS})(?:\s[^<>]*)?/?>)", re.IGNORECASE)
_STRAY_AMPERSAND = re.compile(
    r"&(?!(?:[a-zA-Z][a-zA-Z0-9]{1,30}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});)"
)
_TABLE_EDGE = re.compile(r"<(/?)table(?:\s[^<>]*)?>", re.IGNORECASE)
_BREAKS = frozenset({"br", "p", "li", "div", "hr", "table", "tr", "td", "th"})
_SCRIPTS = {"sup": raised, "sub": lowered}
_MAX_SPAN = 1000
"""Printed tables have no larger one, and a wrong value would cost memory."""
_MAX_COLUMNS = 2000


@dataclass(frozen=True)
class HtmlTable:
    """A table that was read from HTML."""

    cells: tuple[Cell, ...]
    """Cells at their rows and columns, without boxes. Rows without text are left out; `is_header`
    is what the HTML says."""
    cell_ids: tuple[str, ...]
    """The `id` of each cell of `cells`; empty if it has none."""
    caption: str
    """Text of its `<caption>`; empty if it has none."""


def split_tables(text: str) -> list[str | HtmlTable]:
    """The pieces of `text` in order: its HTML tables, and the texts between them that are not
    blank.

    A table without an end tag reaches to the end of the text; a table inside a table is part of the
    text of its cell.
    """
    pieces: list[str | HtmlTable] = []
    at = 0
    for start, end in _table_ranges(text):
        pieces.append(text[at:start])
        pieces.append(_table(text[start:end]))
        at = end
    pieces.append(text[at:])
    return [piece for piece in pieces if isinstance(piece, HtmlTable) or piece.strip()]


def _table_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each outermost table."""
    depth, start = 0, 0
    for tag in _TABLE_EDGE.finditer(text):
        is_end_tag = tag.group(1)
        if not is_end_tag:
            start = tag.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield start, tag.end()
    if depth:
        yield start, len(text)


def _table(html: str) -> HtmlTable:
    from lxml import html as lxml_html

    clean = _STRAY_AMPERSAND.sub("&amp;", _STRAY_LESS_THAN.sub("&lt;", html)).replace("\x00", "")
    parser = lxml_html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True
    )
    root = lxml_html.fragment_fromstring(
        clean.encode("utf-8", "replace"), create_parent="div", parser=parser
    )
    for struck in root.xpath("//del|//s|//strike"):
        struck.drop_tree()
    table = next(root.iter("table"), root)
    placed = _placed(table)
    rows_with_text = {cell.row for cell, _ in placed if cell.text}
    kept = [(cell, cell_id) for cell, cell_id in placed if cell.row in rows_with_text]
    cells = without_empty_rows([cell for cell, _ in kept])
    caption = next((_text_of(node) for node in table.iter("caption")), "")
    return HtmlTable(tuple(cells), tuple(cell_id for _, cell_id in kept), caption)


def _placed(table: Any) -> list[tuple[Cell, str]]:
    """Every cell at its row and column, with its `id`."""
    rows = [row for row in table.iter("tr") if next(row.iterancestors("table"), table) is table]
    columns = Columns()
    placed: list[tuple[Cell, str]] = []
    for row_index, row in enumerate(rows):
        in_head = any(True for _ in row.iterancestors("thead"))
        nodes = [node for node in row if node.tag in ("td", "th")]
        is_header = bool(nodes) and (in_head or all(node.tag == "th" for node in nodes))
        col = 0
        for node in nodes:
            col_span = min(cell_span(node, "colspan"), max(1, _MAX_COLUMNS - col))
            row_span = min(cell_span(node, "rowspan"), len(rows) - row_index)
            col = columns.place(row_index, col, row_span, col_span)
            is_stub = node.tag == "th" and not is_header
            cell = Cell(row_index, col, _text_of(node), row_span, col_span, is_header, is_stub)
            placed.append((cell, str(node.get("id") or "")))
            col += col_span
    return placed


def cell_span(node: Any, *names: str) -> int:
    """How many rows or columns a cell spans, 1 to 1000, by the first of these attributes that it
    has; 1 if that is no number."""
    digits = str(next(filter(None, map(node.get, names)), "")).strip()
    is_number = digits.isascii() and digits.isdigit() and len(digits) < 9
    return min(max(int(digits), 1), _MAX_SPAN) if is_number else 1


def _text_of(node: Any) -> str:
    """The text of a cell on one line: breaks become spaces, digits in <sup> and <sub> become
    superscript and subscript characters."""
    from lxml import etree

    parts: list[str] = []
    scripts: list[Callable[[str], str]] = [str]
    """How text is written at each level of nesting, the innermost last."""
    for event, inner in etree.iterwalk(node, events=("start", "end")):
        if event == "start":
            scripts.append(_SCRIPTS.get(inner.tag, scripts[-1]))
            parts.append(" " if inner.tag in _BREAKS else "")
            parts.append(scripts[-1](inner.text or ""))
        else:
            scripts.pop()
            parts.append(" " if inner.tag in _BREAKS else "")
            parts.append(scripts[-1]((inner is not node and inner.tail) or ""))
    return " ".join("".join(parts).split())
