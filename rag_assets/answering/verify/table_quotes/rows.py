"""Reads the tables in the text of a chunk: rows, cells and their names.

Chunking writes a row as one line, "Drug: A | IC50 (nM): 3.4", or as plain cells, "A | 3.4", where no header is known.
The lines of one table stand together; those without a separator before the first row are its caption, those after it
are headings within the table. Whether a claim agrees with a row is decided in `claims`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

SEPARATOR = " | "
_BLOCK = re.compile(r"[^\n]+(?:\n[^\n]+)*")
_LABELLED = re.compile(r"(?P<header>[^\n]{1,300}?): (?P<text>.+)", re.DOTALL)
_CODE = re.compile(r"[^\W\d_][\w-]*\d[\w-]*")
_MOST_LETTERS_IN_VALUE = 0.34
_MOST_HEADER_ROWS = 3
_SAMPLE_SIZE = re.compile(r"\bn\s*=\s*[\d,]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell of a row."""

    column: str
    """The header of its column; empty in a table without headers."""
    position: int
    """Index among the cells of its row."""
    text: str
    start: int
    """Offset in the chunk's text, of the header where it has one."""
    end: int

    @property
    def is_value(self) -> bool:
        return is_value(self.text)


@dataclass(frozen=True)
class TableRow:
    """One row and where it stands in the chunk's text."""

    start: int
    end: int
    cells: tuple[TableCell, ...]
    heading: str = ""
    """The nearest heading within the table above the row."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The texts that name the row: its first cell, then its other cells that hold words."""
        first, *others = self.cells
        names_row = not (first.is_value and first.column)  # "Layers: 6" is a value in the column "Layers"
        return (*([first.text] if names_row else []), *(cell.text for cell in others if not cell.is_value))


@dataclass(frozen=True)
class Table:
    """The rows of one table that a chunk holds."""

    caption: str
    """The lines above the first row."""
    rows: tuple[TableRow, ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Headers of the columns that hold more than the names of the rows, each once."""
        headers = dict.fromkeys(cell.column for row in self.rows for cell in row.cells[1:])
        first = dict.fromkeys(row.cells[0].column for row in self.rows if row.cells[0].is_value)
        return tuple(header for header in (headers | first) if header)

    @cached_property
    def texts_by_column(self) -> dict[str, tuple[str, ...]]:
        """The texts of the cells below each header."""
        texts: dict[str, list[str]] = {}
        for row in self.rows:
            for cell in row.cells:
                texts.setdefault(cell.column, []).append(cell.text)
        return {column: tuple(below) for column, below in texts.items()}


@dataclass(frozen=True)
class QuotedRows:
    """Rows of one table that a quote holds, and the cells in them that were quoted."""

    table: Table
    cells: tuple[tuple[int, TableCell], ...]
    """Index of the row in the table, and the cell."""
    chunk_text: str


def quoted_rows(text: str, start: int, end: int) -> list[QuotedRows]:
    """The rows of tables that `text[start:end]` touches, by table. text: a chunk's."""
    found = []
    for table in tables_in(text):
        cells = tuple(
            (nth, cell)
            for nth, row in enumerate(table.rows)
            if row.start < end and start < row.end
            for cell in row.cells
            if cell.start < end and start < cell.end
        )
        if cells:
            found.append(QuotedRows(table, cells, text))
    return found


def prose_between(text: str, start: int, end: int) -> str:
    """`text[start:end]` without the rows of tables."""
    rows = [row for table in tables_in(text) for row in table.rows if row.start < end and start < row.end]
    kept, at = [], start
    for row in rows:
        kept.append(text[at : max(at, row.start)])
        at = row.end
    return "".join([*kept, text[at:end]])


@lru_cache(maxsize=64)
def tables_in(text: str) -> tuple[Table, ...]:
    """The tables of a chunk's text, in order."""
    if SEPARATOR not in text:
        return ()
    return tuple(table for block in _BLOCK.finditer(text) if (table := _table(block)) is not None)


def is_value(text: str) -> bool:
    """Whether a cell holds a value rather than a name: digits, few letters, and no code such as BMS-986158."""
    bare = "".join(_SAMPLE_SIZE.sub("", text).split())
    if not any(character.isdigit() for character in bare) or _CODE.fullmatch(bare):
        return False
    return sum(character.isalpha() for character in bare) < _MOST_LETTERS_IN_VALUE * len(bare)


def _table(block: re.Match[str]) -> Table | None:
    caption, heading = [], ""
    rows: list[TableRow] = []
    for line in re.finditer(r"[^\n]+", block[0]):
        if SEPARATOR not in line[0]:
            caption += [] if rows else [line[0]]
            heading = line[0] if rows else heading
            continue
        start = block.start() + line.start()
        rows.append(TableRow(start, start + len(line[0]), tuple(_cells(line[0], start)), heading))
    if not any(_has_header(row) or any(cell.is_value for cell in row.cells) for row in rows):
        return None  # a formula or a command with a bar in it
    return Table("\n".join(caption), tuple(_with_columns_named(rows)))


def _has_header(row: TableRow) -> bool:
    return sum(bool(cell.column) for cell in row.cells) > 1


def _cells(line: str, start: int) -> Iterator[TableCell]:
    for position, (piece, at) in enumerate(_pieces(line)):
        found = _LABELLED.fullmatch(piece)
        column, text = (found["header"].strip(), found["text"].strip()) if found else ("", piece.strip())
        yield TableCell(column, position, text, start + at, start + at + len(piece))


def _pieces(line: str) -> Iterator[tuple[str, int]]:
    at = 0
    for piece in line.split(SEPARATOR):
        yield piece, at
        at += len(piece) + len(SEPARATOR)


def _with_columns_named(rows: Sequence[TableRow]) -> Iterator[TableRow]:
    """The rows; in a table without headers, first rows that hold words only name the columns below."""
    heads: list[TableRow] = []
    for row in rows[:_MOST_HEADER_ROWS]:
        if any(cell.column or cell.is_value for cell in row.cells):
            break
        heads.append(row)
    for row in (row for row in rows if row not in heads or len(heads) == len(rows)):
        above = [head for head in heads if head.start < row.start and len(head.cells) == len(row.cells)]
        if not above or any(cell.column for cell in row.cells):
            yield row
            continue
        names = [
            " ".join(dict.fromkeys(cell.text for cell in cells if cell.text))
            for cells in zip(*(head.cells for head in above), strict=True)
        ]
        yield replace(row, cells=tuple(replace(cell, column=name) for cell, name in zip(row.cells, names, strict=True)))
