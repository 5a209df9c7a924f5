"""Finds numbers that a claim gives to another row or column of a table than the one they stand in.

A cell has a meaning only together with the names of its row and column. A number is misplaced where the claim names
another row or column and not its own, or names two columns in one order and gives their numbers in the other. A claim
that names neither is not objected to. Whether a number stands in the quoted cells at all is decided in `claim_numbers`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from rag_assets.answering.verify.number_agreement import MAX_COMPARED, agree
from rag_assets.answering.verify.table_quotes.cell_quantities import readings
from rag_assets.answering.verify.table_quotes.rows import SEPARATOR, QuotedRows, TableCell
from rag_assets.core.text.numbers.quantities import Quantity, placed_quantities, quantities
from rag_assets.core.text.numbers.spelling import normalized_numbers
from rag_assets.core.text.terms import placed_stems, terms_of

_NAMED_FROM = 0.5
"""Share of the words that only one of two rows (or columns) has in its name, from which a claim names it."""


def misplaced_numbers(claim: str, rows: Sequence[QuotedRows]) -> list[str]:
    """The numbers of the claim, as written, that stand in the quoted cells and belong elsewhere.

    None where the claim is a quoted row as it stands.
    """
    if any(_states_a_row(claim, some) for some in rows):
        return []
    said = _Said.of(claim)
    found = [written for some in _by_table(rows) for written in _Cells(some, said).misplaced()]
    return list(dict.fromkeys(found))


def _by_table(rows: Sequence[QuotedRows]) -> list[QuotedRows]:
    """The quoted cells, put together where two quotes are rows of one table."""
    cells: dict[tuple[str, int], dict[tuple[int, TableCell], None]] = {}
    tables = {(some.chunk_text, some.table.rows[0].start): some for some in rows}
    for some in rows:
        cells.setdefault((some.chunk_text, some.table.rows[0].start), {}).update(dict.fromkeys(some.cells))
    return [replace(some, cells=tuple(cells[key])) for key, some in tables.items()]


@dataclass(frozen=True)
class _Said:
    """A claim: its numbers with their places, and the places of its words."""

    numbers: tuple[tuple[int, Quantity], ...]
    places: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, claim: str) -> "_Said":
        text = normalized_numbers(claim)
        placed = placed_quantities(text)
        numbers = tuple((start, one) for start, _, one in placed if not one.is_vague)
        words = (word for word in placed_stems(text) if not any(_is_part(word, text[s:e], s) for s, e, _ in placed))
        return cls(numbers[:MAX_COMPARED], tuple(words))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words that are no numbers: of a row that is called "0", any 0 of the claim would be the name."""
        starts = {start for start, _ in self.numbers}
        return frozenset(stem for at, stem in self.places if at not in starts)

    def names(self, stems: frozenset[str]) -> bool:
        return bool(stems) and len(stems & self.stems) >= _NAMED_FROM * len(stems)

    def has(self, given: Sequence[Quantity]) -> bool:
        """Whether one of the given numbers is claimed."""
        return any(agree(one, other) for _, one in self.numbers for other in given)


@dataclass(frozen=True)
class _Cells:
    """The quoted cells of one table, and a claim about them."""

    quoted: QuotedRows
    said: _Said

    def misplaced(self) -> Iterator[str]:
        for _, one in self.said.numbers:
            fits = [self._fits(nth, cell) for nth, cell, given in self._values if _holds(given, one)]
            if fits and not any(fits):
                yield one.written
        yield from self._exchanged()

    @cached_property
    def _values(self) -> list[tuple[int, TableCell, list[Quantity]]]:
        """The quoted cells with values: number of the row, cell, and its numbers with the units of the table."""
        table = self.quoted.table
        return [
            (nth, cell, [*(one.quantity for one in readings(table, table.rows[nth], cell)), *quantities(cell.text)])
            for nth, cell in self.quoted.cells
            if cell.position or cell.column
        ]

    @cached_property
    def _row_names(self) -> list[frozenset[str]]:
        return [terms_of(" ".join([*row.names[:1], row.heading])) for row in self.quoted.table.rows]

    def _fits(self, nth: int, cell: TableCell) -> bool:
        """Whether the claim names no other row or column in place of the cell's."""
        own, column = self._row_names[nth], terms_of(cell.column)
        columns = [
            terms_of(other.column)
            for row, other, given in self._values
            if row == nth and other.position and other.is_value and other.column != cell.column
            if column - terms_of(other.column) and not self.said.has(given)
        ]
        return not any(self._is_named_instead(name, own) for name in self._row_names) and not (
            cell.position and any(self._is_named_instead(name - own, column) for name in columns)
        )

    def _is_named_instead(self, name: frozenset[str], own: frozenset[str]) -> bool:
        is_named = self.said.names(name - own) or (name < own and name <= self.said.stems)
        return is_named and not self.said.stems & (own - name)

    def _exchanged(self) -> Iterator[str]:
        """Two numbers that the claim gives in the other order than the names of their rows or columns."""
        for (at, one), (other_at, other) in combinations(self.said.numbers, 2):
            name, other_name = self._only_name(one), self._only_name(other)
            first, second = self._places(name - other_name), self._places(other_name - name)
            if not first or not second:
                continue
            (before, behind) = (second, first) if at < other_at else (first, second)
            if max(before) < min(behind):
                yield one.written

    def _only_name(self, number: Quantity) -> frozenset[str]:
        """The words of the row and column of the only quoted cell with the number; none where there are several."""
        names = [
            self._row_names[nth] | terms_of(cell.column) for nth, cell, given in self._values if _holds(given, number)
        ]
        return names[0] if len(names) == 1 else frozenset()

    def _places(self, stems: frozenset[str]) -> list[int]:
        return [at for at, stem in self.said.places if stem in stems]


def _is_part(word: tuple[int, str], number: str, start: int) -> bool:
    """Whether a word is part of a number; one that is the whole of it may be a name: the 2 of "Pen 2"."""
    return start <= word[0] < start + len(number) and word[1] != number


def _holds(given: Sequence[Quantity], number: Quantity) -> bool:
    return any(agree(number, other) for other in given)


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
