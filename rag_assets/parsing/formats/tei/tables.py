"""Figures, tables and lists taken apart: captions, notes, rows with their cells, items."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml import etree

from rag_assets.core.domain import Cell
from rag_assets.parsing.formats.tei.elements import name_of
from rag_assets.parsing.formats.tei.inline import InlineReader, SetAside
from rag_assets.parsing.formats.tei.text import TextRun
from rag_assets.parsing.shared.table_rows import CELL_SEPARATOR, Columns

_ROWS = frozenset({"row", "tr"})
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot", "tgroup"})
_CELLS = frozenset({"cell", "td", "th", "entry"})
_MAX_SPAN = 500
"""No printed table has a bigger one, and a file that claims it costs memory."""


@dataclass(frozen=True)
class TableText:
    """A table's text, one line per row, and its cells."""

    run: TextRun
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class FigureParts:
    """What a figure or a table consists of."""

    caption: TextRun
    notes: tuple[TextRun, ...]
    tables: tuple[TableText, ...]


def figure_parts(figure: etree._Element, reader: InlineReader) -> FigureParts:
    """The parts of a `figure` (with or without a table in it) or of a bare `table`."""
    captions: list[tuple[str, TextRun]] = []
    notes: list[TextRun] = []
    tables: list[TableText] = []
    if name_of(figure) == "table":
        tables.append(_table(figure, captions, reader))
    else:
        _read_figure(figure, (captions, notes, tables), reader)
    kept = [table for table in tables if table.run.text]
    return FigureParts(_caption(captions), tuple(note for note in notes if note.text), tuple(kept))


def list_lines(element: etree._Element, reader: InlineReader, aside: SetAside) -> list[TextRun]:
    """One run per item; a label goes before its item, a list inside an item follows it line by line."""
    lines: list[TextRun] = []
    line = TextRun()
    reader.string(element.text, line)
    for child in element:
        name = name_of(child)
        if name == "item":
            lines.append(line)
            lines.extend(_read_item(child, line, reader, aside))
            line = TextRun()
        elif name in ("list", "head"):
            lines.append(line)
            lines.extend(list_lines(child, reader, aside))
            line = TextRun()
        else:
            reader.element(child, line, aside)
        reader.string(child.tail, line)
    lines.append(line)
    return [line for line in lines if line.text]


def _read_item(item: etree._Element, line: TextRun, reader: InlineReader, aside: SetAside) -> list[TextRun]:
    """Add the item's text to `line`; returns the lines of the lists inside it."""
    below: list[TextRun] = []
    line.space()
    reader.string(item.text, line)
    for child in item:
        name = name_of(child)
        if name == "list":
            below.extend(list_lines(child, reader, aside))
            line.space()
        elif name and child.find(".//{*}list") is not None:
            below.extend(_read_item(child, line, reader, aside))
        else:
            reader.element(child, line, aside)
        reader.string(child.tail, line)
    line.space()
    return below


def _read_figure(
    figure: etree._Element,
    parts: tuple[list[tuple[str, TextRun]], list[TextRun], list[TableText]],
    reader: InlineReader,
) -> None:
    captions, notes, tables = parts
    loose = TextRun()
    captions.append(("", loose))
    reader.string(figure.text, loose)
    for child in figure:
        name = name_of(child)
        if name == "table":
            tables.append(_table(child, captions, reader))
        elif name == "note":
            notes.append(reader.read(child))
        elif name in ("head", "label", "figDesc", "p", "figure"):
            captions.append((name, reader.read(child)))
            loose = TextRun()
            captions.append(("", loose))
        else:
            reader.element(child, loose)
        reader.string(child.tail, loose)


def _caption(captions: Sequence[tuple[str, TextRun]]) -> TextRun:
    """Head, label and description in this order, each once: GROBID repeats the label in the head."""
    ordered = [run for name, run in captions if name == "head" and run.text]
    rest = [run for name, run in captions if name not in ("head", "label") and run.text]
    told = _letters(" ".join(run.text for run in (*ordered, *rest)))
    for name, run in captions:
        if name == "label" and run.text and _letters(run.text) not in told:
            ordered.append(run)
    if ordered and rest and _letters(rest[0].text).startswith(_letters(ordered[0].text)):
        ordered = ordered[1:]
    return TextRun.joined([*ordered, *rest], " ")


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _table(table: etree._Element, captions: list[tuple[str, TextRun]], reader: InlineReader) -> TableText:
    rows = list(_rows(table))
    if not rows:
        return TableText(TextRun.joined(_raw_lines(table, reader), "\n"), ())
    lines: list[TextRun] = []
    cells: list[Cell] = []
    columns = Columns()
    for row in rows:
        if name_of(row) not in _ROWS:
            captions.append((name_of(row), reader.read(row)))
            continue
        runs = [(cell, reader.read(cell)) for cell in row if name_of(cell)]
        if any(run.text for _, run in runs):
            cells.extend(_placed(runs, len(lines), columns, row.get("role")))
            lines.append(TextRun.joined([run for _, run in runs], CELL_SEPARATOR))
    return TableText(TextRun.joined(lines, "\n"), tuple(cells))


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    """Rows and what stands between them; nothing when there is no row at all."""
    if next(table.iter("{*}row", "{*}tr"), None) is None:
        return
    for child in table:
        if name_of(child) in _ROW_GROUPS:
            yield from _rows(child)
        elif name_of(child):
            yield child


def _placed(
    runs: Sequence[tuple[etree._Element, TextRun]], row: int, columns: Columns, role: str | None
) -> Iterator[Cell]:
    col = 0
    for element, run in runs:
        if name_of(element) not in _CELLS:
            continue
        row_span, col_span = _span(element, "rows", "rowspan"), _span(element, "cols", "colspan")
        col = columns.place(row, col, row_span, col_span)
        yield Cell(row, col, run.text, row_span, col_span, _is_header(element, role))
        col += col_span


def _span(cell: etree._Element, tei_name: str, html_name: str) -> int:
    text = cell.get(tei_name) or cell.get(html_name) or "1"
    return min(_MAX_SPAN, max(1, int(text))) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def _is_header(cell: etree._Element, role: str | None) -> bool:
    return name_of(cell) == "th" or (cell.get("role") or role) in ("label", "head")


def _raw_lines(table: etree._Element, reader: InlineReader) -> list[TextRun]:
    """The printed lines of a table without rows (GROBID's training files)."""
    lines = [TextRun()]
    reader.string(table.text, lines[-1])
    for child in table:
        if name_of(child) == "lb":
            lines.append(TextRun())
        else:
            reader.element(child, lines[-1])
        reader.string(child.tail, lines[-1])
    return [line for line in lines if line.text]
