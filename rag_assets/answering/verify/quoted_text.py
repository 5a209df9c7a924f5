"""A quote in its chunk: the tables that it touches, and the text around it that gives it its
meaning.

Chunking writes a row as one line, "Drug: Kinase inhibitors / A | IC50 (nM): 3.4", with the group
before the name, or as plain cells, "A | 3.4", where no header is known. A table is a block of
lines; lines without a separator are its caption before the first row, and headings after it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import dropwhile

from rag_assets.core.domain import GROUP_SEPARATOR
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.parsing.tables import is_value

SEPARATOR = " | "
_BLOCK = re.compile(r"[^\n]+(?:\n[^\n]+)*")
_LABELLED = re.compile(r"(?P<header>[^\n]{1,300}?): (?P<text>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TableCell:
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
        """Whether the cell has a value and not a name, by the rule of the reader of tables."""
        return is_value(self.text)


@dataclass(frozen=True)
class TableRow:
    """One row and its place in the chunk's text."""

    start: int
    end: int
    cells: tuple[TableCell, ...]
    heading: str = ""
    """The nearest heading within the table above the row; the first may stand below the caption. A
    row that names a group of its own ends it."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The texts that name the row: its first cell, then its other cells that hold words."""
        first, *others = self.cells
        names_row = not (
            first.is_value and first.column
        )  # "Layers: 6" is a value in the column "Layers"
        named = [
            cell.text for cell in others if not cell.is_value and any(map(str.isalnum, cell.text))
        ]
        return (*([first.text] if names_row else []), *named)


@dataclass(frozen=True)
class QuotedTable:
    """The rows of one table that a chunk holds."""

    caption: str
    """The lines above the first row."""
    rows: tuple[TableRow, ...]
    notes: str = ""
    """The lines below the last row."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Headers of the columns that hold more than the names of the rows, each once."""
        headers = dict.fromkeys(cell.column for row in self.rows for cell in row.cells[1:])
        first = dict.fromkeys(row.cells[0].column for row in self.rows if row.cells[0].is_value)
        return tuple(header for header in (headers | first) if header)

    def says_whose(self, row: TableRow) -> bool:
        """Whether it is certain whose values a row has.

        All of this must be true. Each value has the header of its column, or the row has only one
        value. If there is a heading above the row, it is in the name of the row. No other row with
        the same names and columns has other texts. The first column of the table is in the row, and
        in the first row of the table if that row is as full: a name that is printed once may also
        be the name of the rows below it.
        """
        name, *values = row.cells
        has_columns = len(values) < 2 or all(cell.column for cell in values if cell.is_value)
        columns = [cell.column for cell in row.cells]
        alike = [one.cells for one in self.rows if row.names and one.names == row.names]
        texts = {
            tuple(cell.text for cell in cells)
            for cells in alike
            if [cell.column for cell in cells] == columns
        }
        first, *others = (
            cell.column for cell in max(self.rows, key=lambda one: len(one.cells)).cells
        )
        at_top = {cell.column for cell in self.rows[0].cells}
        is_as_full = at_top.issuperset(set(columns) - {first})
        beside = [set(columns), *([at_top] if is_as_full else [])]
        is_named = not any(first not in own and own <= set(others) for own in beside)
        return is_named and has_columns and row.heading.rstrip(": ") in name.text and len(texts) < 2


@dataclass(frozen=True)
class QuotedRows:
    """Rows of one table that a quote holds, and the cells in them that were quoted."""

    table: QuotedTable
    cells: tuple[tuple[int, TableCell], ...]
    """Index of the row in the table, and the cell."""
    chunk_text: str


@dataclass(frozen=True)
class QuotedText:
    """A stretch of a chunk that a claim rests on: `chunk_text[start:end]`."""

    chunk_text: str
    start: int
    end: int
    section_path: str = ""
    title: str = ""
    """The paper's title; empty where it is not known."""
    byline: str = ""
    """Authors and year of the paper, as far as they are known."""
    population: str = ""
    """The sentence that says who or what was studied; empty where none was read."""

    @property
    def quote(self) -> str:
        return self.chunk_text[self.start : self.end]

    @cached_property
    def rows(self) -> list[QuotedRows]:
        """The rows of tables that the quote touches, by table."""
        found = []
        for table in tables_in(self.chunk_text):
            cells = tuple(
                (nth, cell)
                for nth, row in enumerate(table.rows)
                for cell in row.cells
                if self._touches(cell)
            )
            if cells:
                found.append(QuotedRows(table, cells, self.chunk_text))
        return found

    @cached_property
    def prose(self) -> str:
        """The quote without rows of tables."""
        kept, at = [], self.start
        for row in (
            row for table in tables_in(self.chunk_text) for row in table.rows if self._touches(row)
        ):
            kept.append(self.chunk_text[at : max(at, row.start)])
            at = row.end
        return "".join([*kept, self.chunk_text[at : self.end]])

    @property
    def is_certain(self) -> bool:
        """Whether it is certain whose values the quoted rows have. Always True for prose."""
        return all(
            some.table.says_whose(some.table.rows[nth])
            for some in self.rows
            for nth, _ in some.cells
        )

    @cached_property
    def beside(self) -> tuple[str, str]:
        """The text before the quote, from the beginning of the sentence before it, and the text
        behind it, up to the end of the sentence after it. Both are empty for rows, which have their
        headers."""
        spans = sentence_spans(self.chunk_text)
        if self.rows or not spans:
            return "", ""
        before = max((start for start, end in spans if end <= self.start), default=0)
        behind = min((end for start, end in spans if start >= self.end), default=spans[-1][1])
        return self.chunk_text[before : self.start], self.chunk_text[self.end : behind]

    @cached_property
    def sentence(self) -> str:
        """The sentences that the quote is in, in full; empty for rows."""
        spans = sentence_spans(self.chunk_text) if not self.rows else []
        within = [one for one in spans if one[0] < self.end and self.start < one[1]]
        return self.chunk_text[within[0][0] : within[-1][1]] if within else ""

    @cached_property
    def place(self) -> tuple[str, ...]:
        """Title, section, and the captions of its tables."""
        texts = (self.title, self.section_path, *(some.table.caption for some in self.rows))
        return tuple(text for text in texts if text)

    @cached_property
    def frame(self) -> tuple[str, ...]:
        """The text that a reader of the quote sees around it: its place, the headers and notes of
        its tables, and the headings above its rows."""
        headings = (some.table.rows[nth].heading for some in self.rows for nth, _ in some.cells)
        around = (text for some in self.rows for text in (*some.table.columns, some.table.notes))
        return (*self.place, *filter(None, dict.fromkeys((*around, *headings))))

    def _touches(self, part: TableCell | TableRow) -> bool:
        return part.start < self.end and self.start < part.end


@lru_cache(maxsize=64)
def tables_in(text: str) -> tuple[QuotedTable, ...]:
    """The tables of a chunk's text, in order."""
    if SEPARATOR not in text:
        return ()
    return tuple(table for block in _BLOCK.finditer(text) if (table := _table(block)) is not None)


def _table(block: re.Match[str]) -> QuotedTable | None:
    """Reads a block of lines as a table; None if it only looks like one. Lines without a separator
    are the caption before the first row, and headings or notes after it: notes are those that no
    row follows. Rows at the top with neither values nor headers are left out."""
    caption: list[str] = []
    rows: list[TableRow] = []
    heading = ""
    notes: list[str] = []
    for line in re.finditer(r"[^\n]+", block[0]):
        if SEPARATOR not in line[0]:
            heading = line[0] if rows or caption else ""
            (notes if rows else caption).append(line[0])
            continue
        notes = []
        start = block.start() + line.start()
        cells = tuple(_cells(line[0], start))
        if GROUP_SEPARATOR in cells[0].text and heading.rstrip(": ") not in cells[0].text:
            heading = ""  # the row has a group, so the one above it has ended
        rows.append(TableRow(start, start + len(line[0]), cells, heading))
    if not any(sum(bool(cell.column) for cell in row.cells) > 1 or _has_value(row) for row in rows):
        return None  # a formula or a command with a bar in it
    named = tuple(
        dropwhile(lambda row: not any(cell.is_value or cell.column for cell in row.cells), rows)
    )
    return QuotedTable("\n".join(caption), named, "\n".join(notes))


def _has_value(row: TableRow) -> bool:
    return any(cell.is_value for cell in row.cells)


def _cells(line: str, start: int) -> Iterator[TableCell]:
    """Yields the cells of a line, which begins at offset `start` of the chunk. "IC50 (nM): 3.4" has
    the column "IC50 (nM)" and the text "3.4"."""
    for position, piece in enumerate(line.split(SEPARATOR)):
        found = _LABELLED.fullmatch(piece)
        column, text = (
            (found["header"].strip(), found["text"].strip()) if found else ("", piece.strip())
        )
        yield TableCell(column, position, text, start, start + len(piece))
        start += len(piece) + len(SEPARATOR)
