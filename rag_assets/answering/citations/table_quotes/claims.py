"""Compares the numbers of a claim with the table rows it quotes.

A cell has a meaning only together with the names of its row and column. A number of a claim is confirmed when a quoted
cell has it, with its unit, and the claim or the question names the cell's row, and the claim names no other row or
column for it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rag_assets.answering.citations.number_agreement import MAX_COMPARED, may_be_same
from rag_assets.answering.citations.table_quotes.axes import Axis
from rag_assets.answering.citations.table_quotes.cell_quantities import Reading, readings
from rag_assets.answering.citations.table_quotes.naming import Names, Word, all_stems, are_one_word, words_of
from rag_assets.answering.citations.table_quotes.rows import SEPARATOR, QuotedRows, TableCell, TableRow
from rag_assets.answering.citations.table_quotes.statement import Statement, is_within, literal_places
from rag_assets.text.numbers.quantities import DECADE, P_VALUE, PLAIN, YEAR, Quantity, quantities

_NEGATIVE = re.compile(
    r"\b(?:decreas|declin|fell|fall|drop|reduc|loss|lost|los[et]|lower|less|negativ|minus|below|subtract|withdr|paid|"
    r"pay|cost|fee|sold|debit|spen|outflow|deduct|charg|shrank|shrink|worse)",
    re.IGNORECASE,
)
_MONEY = frozenset({"dollars", "euros", "pounds sterling", "yen"})
_KINDS_OF_NUMBERS = frozenset({PLAIN, YEAR, P_VALUE, DECADE})
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)(?<![\w-])(?<!\d\s)[A-Z][\w-]*|(?<![\w-])[A-Za-z][\w-]*\d[\w-]*")
_MIN_FOREIGN_WORDS = 2
_ROW_NAMED_FROM = 0.51
"""Share of a row's name that the claim or the question must have; half of "Total stocks" names no row."""


def contradicts_rows(claim: str, rows: Sequence[QuotedRows], prose: Sequence[str], question: str) -> bool:
    """Whether a claim has a number that neither the quoted cells nor the prose quoted beside them have.

    A number of the question may stand in a claim if another of its numbers is confirmed. A claim that is a quoted row
    as it stands contradicts nothing.
    """
    if any(_states_a_row(claim, some) for some in rows):
        return False
    said = Statement.of(claim, question, rows)
    if len(said.values) > MAX_COMPARED:
        return True
    tables = [_QuotedTable(some, said) for some in rows]
    in_prose = [one for text in prose for one in quantities(text)]
    missing = [one for at, _, one in said.values if not any(table.holds(at, one) for table in tables)]
    missing = [one for one in missing if not any(may_be_same(one, other) for other in in_prose)]
    if missing and len(missing) < len(said.values):
        asked = quantities(question)
        missing = [one for one in missing if not any(may_be_same(one, other) for other in asked)]
    return bool(missing)


def _states_a_row(claim: str, quoted: QuotedRows) -> bool:
    """Whether a claim is a quoted row, its first cell and any others in their order, word for word; before it may stand
    what stands above the row: the beginning of the caption, its other lines, and the heading within the table."""
    pieces = [piece.strip() for piece in claim.split(SEPARATOR)]
    caption = quoted.table.caption
    if caption.startswith(pieces[0]):
        pieces = pieces[1:]
    for nth in dict.fromkeys(nth for nth, _ in quoted.cells):
        own = [quoted.chunk_text[cell.start : cell.end].strip() for at, cell in quoted.cells if at == nth]
        is_titled = pieces and pieces[0] in (quoted.table.rows[nth].heading, *caption.split("\n"))
        stated, left = pieces[1:] if is_titled else pieces, iter(own)
        if len(stated) > 1 and stated[0] == own[0] and all(piece in left for piece in stated):
            return True
    return False


@dataclass(frozen=True)
class _QuotedTable:
    """Quoted rows and a claim about them."""

    quoted: QuotedRows
    said: Statement

    @property
    def rows(self) -> tuple[TableRow, ...]:
        return self.quoted.table.rows

    @property
    def columns(self) -> tuple[str, ...]:
        return self.quoted.table.columns

    def holds(self, at: int, claimed: Quantity) -> bool:
        """Whether a quoted cell has the number at offset `at` of the claim, in a row and column the claim may mean."""
        for nth, cell in self.quoted.cells:
            if cell.position == 0 and not cell.is_value:
                continue  # numbers in the name of a row are no values
            given = readings(self.quoted.table, self.rows[nth], cell)
            if (
                any(_is_amount(self.said.text, claimed, one) for one in given)
                and self._fits_row(nth, at)
                and self._fits_column(cell, at)
            ):
                return True
        return False

    def _fits_row(self, nth: int, at: int) -> bool:
        axis = Axis(self._row_names, nth, self._runs[0], _ROW_NAMED_FROM)
        return axis.fits(self.said, at) and (axis.is_named_in_full or not self._has_foreign_name(axis))

    def _fits_column(self, cell: TableCell, at: int) -> bool:
        if cell.column not in self.columns:
            return True
        return Axis(self._column_names, self.columns.index(cell.column), self._runs[1], 0.0).fits(self.said, at)

    @cached_property
    def _row_names(self) -> Names:
        return Names.of([[*row.names, *([row.heading] if row.heading else [])] for row in self.rows])

    @cached_property
    def _column_names(self) -> Names:
        return Names.of([[column] for column in self.columns])

    @cached_property
    def _runs(self) -> tuple[list[list[Word]], list[list[Word]]]:
        """The claim's runs of words that may name a row, and those that may name a column.

        A word counts for the name that has more words of its run: the "account" of "percent of account" does not name
        the row "Core Account".
        """
        of_rows = literal_places((name for row in self.rows for name in row.names[:1] if " " in name), self.said.text)
        of_columns = literal_places((name for name in self.columns if " " in name), self.said.text)
        for_rows: list[list[Word]] = []
        for_columns: list[list[Word]] = []
        for words in self.said.runs([*of_rows, *of_columns]):
            contested = [one for one in words if not is_within(one.at, [*of_rows, *of_columns])]
            stems = frozenset(word.stem for word in contested)
            by_row, by_column = self._row_names.best(stems), self._column_names.best(stems)
            of_column_only = by_column.words if by_column.is_better_than(by_row) else frozenset()
            of_row_only = by_row.words if by_row.is_better_than(by_column) else frozenset()
            for chosen, literal, left_out in (
                (for_rows, of_rows, of_column_only),
                (for_columns, of_columns, of_row_only),
            ):
                kept = [
                    one
                    for one in words
                    if is_within(one.at, literal) or (one in contested and one.stem not in left_out)
                ]
                chosen += [kept] if kept else []
        return for_rows, for_columns

    def _has_foreign_name(self, axis: Axis) -> bool:
        """Whether the claim has a name that neither the chunk nor the question has.

        A name is a word with a capital or a digit, or several words beside those that name a part of the row.
        """
        known = all_stems(self.quoted.chunk_text) | self.said.question

        def is_foreign(stem: str) -> bool:
            return stem not in known and not any(are_one_word(stem, one) for one in known)

        named = [match[0] for match in _NAME.finditer(self.said.text) if len(match[0]) > 1]
        if any(is_foreign(word.stem) for name in named for word in words_of(name)):
            return True
        own = axis.own_naming.words
        beside = [words for words in axis.runs if own.intersection(word.stem for word in words)]
        return any(sum(is_foreign(word.stem) for word in words) >= _MIN_FOREIGN_WORDS for words in beside)


def _is_amount(claim: str, claimed: Quantity, given: Reading) -> bool:
    """Whether a cell has the claimed quantity; a claim that something "fell", or about money, may leave a minus out."""
    if not claimed.has_unit and claimed.kind not in _KINDS_OF_NUMBERS:
        claimed = replace(claimed, kind=PLAIN)  # "the number of trials 7" speaks of no seventh trial
    if (claimed.has_unit and not given.may_have_unit_of(claimed)) or not may_be_same(claimed, given.quantity):
        return False
    if (claimed.value < 0) == (given.quantity.value < 0) or not claimed.value:
        return True
    return not claimed.is_signed and (given.quantity.kind in _MONEY or _NEGATIVE.search(claim) is not None)
