"""Reads figures, tables, notes and lists of a TEI tree: their captions, notes, cells and items.

Figures, tables and notes are called floats. `paging` decides where they belong in the text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from lxml import etree

from rag_assets.core.domain import BlockKind, Cell, Zone
from rag_assets.parsing.formats.tei.elements import FLOATS, areas_of, name_of
from rag_assets.parsing.formats.tei.text import InlineReader, SetAside, TextRun, UnplacedBlock
from rag_assets.parsing.shared.table_rows import CELL_SEPARATOR, Columns, cell_span
from rag_assets.parsing.tables import read_table, split_title

_ROWS = frozenset({"row", "tr"})
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot", "tgroup"})
_CELLS = frozenset({"cell", "td", "th", "entry"})
_ID = "{http://www.w3.org/XML/1998/namespace}id"


def float_blocks(
    element: etree._Element, reader: InlineReader, path: tuple[str, ...], zone: Zone
) -> list[UnplacedBlock]:
    """The blocks of a figure, table or note: one, or several if a table has notes below it. Blocks
    without text are left out.

    If the element has no coordinates, those of the elements inside are used: some files have
    coordinates only on the picture.
    """
    areas = areas_of(element) or tuple(area for inner in element.iter() for area in areas_of(inner))
    empty = UnplacedBlock(
        BlockKind.FIGURE, TextRun(), path, zone, element_id=element.get(_ID) or "", areas=areas
    )
    if name_of(element) == "note":
        blocks = [replace(empty, kind=BlockKind.FOOTNOTE, run=reader.read(element))]
    else:
        blocks = _figure_blocks(element, reader, empty)
    return [block for block in blocks if block.run.text or block.title]


def trailing_floats(body: etree._Element) -> set[etree._Element]:
    """The figures, tables and notes after the last section, where GROBID puts all of them. Empty
    for a file with page breaks: it is not from GROBID, and its floats are in their places."""
    if next(body.iter("{*}pb"), None) is not None or body.find("{*}div") is None:
        return set()
    floats: set[etree._Element] = set()
    for child in reversed(body):
        if name_of(child) in FLOATS:
            floats.add(child)
        elif name_of(child):
            break
    return floats


def list_lines(element: etree._Element, reader: InlineReader, aside: SetAside) -> list[TextRun]:
    """The lines of a list, one per item. A label is put before its item; the lines of a list inside
    an item follow it. aside: takes figures and notes."""
    lines: list[TextRun] = []
    line = TextRun()
    reader.add_text(element.text, line)
    for child in element:
        name = name_of(child)
        if name in ("item", "list", "head"):
            lines.append(line)
            if name == "item":
                lines.extend(_read_item(child, line, reader, aside))
            else:
                lines.extend(list_lines(child, reader, aside))
            line = TextRun()
        else:
            reader.add_element(child, line, aside)
        reader.add_text(child.tail, line)
    lines.append(line)
    return [line for line in lines if line.text]


def _read_item(
    item: etree._Element, line: TextRun, reader: InlineReader, aside: SetAside
) -> list[TextRun]:
    """Add the text of the item to `line`. Returns the lines of the lists inside it."""
    below: list[TextRun] = []
    line.space()
    reader.add_text(item.text, line)
    for child in item:
        name = name_of(child)
        if name == "list":
            below.extend(list_lines(child, reader, aside))
            line.space()
        elif name and child.find(".//{*}list") is not None:
            below.extend(_read_item(child, line, reader, aside))
        else:
            reader.add_element(child, line, aside)
        reader.add_text(child.tail, line)
    line.space()
    return below


@dataclass
class _FigureParts:
    """The parts of a figure or a table."""

    captions: list[tuple[str, TextRun]] = field(default_factory=list)
    """Name of the element and text of each piece of the caption, in the order of the file."""
    notes: list[TextRun] = field(default_factory=list)
    tables: list[tuple[TextRun, tuple[Cell, ...]]] = field(default_factory=list)
    """Text (one line per row) and cells of each table."""


def _figure_blocks(
    figure: etree._Element, reader: InlineReader, empty: UnplacedBlock
) -> list[UnplacedBlock]:
    """The blocks of a figure or table. If there are cells: a block for each table, the first with
    the caption as its title, and one for each note; else one block with caption and notes. empty: a
    block without text that has everything they share."""
    parts = _FigureParts()
    if name_of(figure) == "table":
        _read_table(figure, parts, reader)
    else:
        _read_figure(figure, parts, reader)
    caption = _caption(parts.captions)
    notes = [note for note in parts.notes if note.text]
    tables = [
        replace(empty, kind=BlockKind.TABLE, run=run, cells=cells)
        for run, cells in parts.tables
        if run.text
    ]
    if not tables:
        return [
            replace(empty, run=TextRun.joined([run for run in (caption, *notes) if run.text], " "))
        ]
    if caption.text:
        tables[0] = replace(tables[0], title=caption.text, caption=caption)
    return [*tables, *(replace(empty, kind=BlockKind.FOOTNOTE, run=run) for run in notes)]


def _read_figure(figure: etree._Element, parts: _FigureParts, reader: InlineReader) -> None:
    """Add the content of a figure to `parts`. Text between the known elements is part of the
    caption too."""
    between = TextRun()
    parts.captions.append(("", between))
    reader.add_text(figure.text, between)
    for child in figure:
        name = name_of(child)
        if name == "table":
            _read_table(child, parts, reader)
        elif name == "note":
            parts.notes.append(reader.read(child))
        elif name in ("head", "label", "figDesc", "p", "figure"):
            between = TextRun()
            parts.captions.extend([(name, reader.read(child)), ("", between)])
        else:
            reader.add_element(child, between)
        reader.add_text(child.tail, between)


def _caption(captions: Sequence[tuple[str, TextRun]]) -> TextRun:
    """The caption: head, label and description, in this order. GROBID often repeats the label in
    the head, and the head in the description; such repetitions are left out."""
    ordered = [run for name, run in captions if name == "head" and run.text]
    rest = [run for name, run in captions if name not in ("head", "label") and run.text]
    letters = _letters(" ".join(run.text for run in (*ordered, *rest)))
    for name, run in captions:
        if name == "label" and run.text and _letters(run.text) not in letters:
            ordered.append(run)
    if ordered and rest and _letters(rest[0].text).startswith(_letters(ordered[0].text)):
        ordered = ordered[1:]
    return TextRun.joined([*ordered, *rest], " ")


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _read_table(table: etree._Element, parts: _FigureParts, reader: InlineReader) -> None:
    """Add the text and cells of a table to `parts`; its title rows are added to the caption."""
    rows = list(_rows(table))
    if not rows:
        parts.tables.append((TextRun.joined(_raw_lines(table, reader), "\n"), ()))
        return
    lines: list[TextRun] = []
    cells: list[Cell] = []
    columns = Columns()
    for row in rows:
        if name_of(row) not in _ROWS:
            parts.captions.append((name_of(row), reader.read(row)))
            continue
        runs = [(cell, reader.read(cell)) for cell in row if name_of(cell)]
        if any(run.text for _, run in runs):
            cells.extend(_placed(runs, len(lines), columns, row.get("role")))
            lines.append(TextRun.joined([run for _, run in runs], CELL_SEPARATOR))
    title, cells = split_title(cells)
    n_title = len({cell.row for cell in title})
    parts.captions.extend(("title", run) for run in lines[:n_title])
    lines = lines[n_title:]
    cells = read_table(cells, rows_are_lines=True)
    starts = sorted({cell.row for cell in cells})  # `read_table` may join several lines to one row
    joined = [
        TextRun.joined(lines[start:end], " ") for start, end in pairwise([*starts, len(lines)])
    ]
    parts.tables.append((TextRun.joined(joined, "\n"), tuple(cells)))


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    """The rows of a table, and other elements between them; nothing if there is no row."""
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
    """The cells of one row at their columns. runs: elements of the row, with their texts."""
    col = 0
    for element, run in runs:
        if name_of(element) not in _CELLS:
            continue
        row_span = cell_span(element, "rows", "rowspan")
        col_span = cell_span(element, "cols", "colspan")
        col = columns.place(row, col, row_span, col_span)
        is_header = name_of(element) == "th" or (element.get("role") or role) in ("label", "head")
        yield Cell(row, col, run.text, row_span, col_span, is_header)
        col += col_span


def _raw_lines(table: etree._Element, reader: InlineReader) -> list[TextRun]:
    """The lines of a table without row elements, by its line breaks (GROBID's training files)."""
    lines = [TextRun()]
    reader.add_text(table.text, lines[-1])
    for child in table:
        if name_of(child) == "lb":
            lines.append(TextRun())
        else:
            reader.add_element(child, lines[-1])
        reader.add_text(child.tail, lines[-1])
    return [line for line in lines if line.text]
