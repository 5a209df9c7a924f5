"""Finds the numbers of a claim that belong to another row or column of the quoted table.

A number is misplaced where the claim names another row or column and not its own, or names two rows
or columns in one order and gives their numbers in the other. A claim that names neither is not
objected to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, groupby

from rag_assets.answering.verify.number_agreement import MAX_COMPARED, agree
from rag_assets.answering.verify.quoted_text import QuotedRows, TableCell
from rag_assets.answering.verify.table_numbers import numbers_of_cell
from rag_assets.core.text.numbers.quantities import Quantity, placed_quantities, quantities
from rag_assets.core.text.numbers.spelling import normalized_numbers
from rag_assets.core.text.terms import placed_stems, terms_of

_NAMED_FROM = 0.5
"""Share of the words that only one of two rows (or columns) has in its name, from which a claim
names it."""
Extent = tuple[int, float]
"""How many words of a name are said, and what share of it."""


def misplaced_numbers(claim: str, rows: Sequence[QuotedRows]) -> list[str]:
    """The numbers of the claim, as written, that occur in the quoted cells and belong elsewhere."""
    said = _Said.of(claim)
    return list(
        dict.fromkeys(
            written for some in _by_table(rows) for written in _Cells(some, said).misplaced()
        )
    )


def _by_table(rows: Sequence[QuotedRows]) -> list[QuotedRows]:
    found: dict[tuple[str, int], QuotedRows] = {}
    for some in rows:
        key = some.chunk_text, some.table.rows[0].start
        cells = (*found[key].cells, *some.cells) if key in found else some.cells
        found[key] = replace(some, cells=tuple(dict.fromkeys(cells)))
    return list(found.values())


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
        words = (
            word
            for word in placed_stems(text)
            if not any(_is_part(word, text[s:e], s) for s, e, _ in placed)
        )
        return cls(numbers[:MAX_COMPARED], tuple(words))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words without numbers: otherwise any 0 of the claim would name a row that is called
        "0"."""
        starts = {start for start, _ in self.numbers}
        return frozenset(stem for at, stem in self.places if at not in starts)

    def names(self, stems: frozenset[str]) -> bool:
        return bool(stems) and len(stems & self.stems) >= _NAMED_FROM * len(stems)

    def stretches(self, name: frozenset[str]) -> Iterator[tuple[Extent, list[int]]]:
        """Where words of a name follow each other, none twice, that are most of it: their extent
        and their places."""
        for is_of_name, words in groupby(self.places, lambda word: word[1] in name):
            for found in _without_repeats(list(words)) if is_of_name else ():
                if len(found) >= _NAMED_FROM * len(name):
                    yield (len(found), len(found) / len(name)), [at for at, _ in found]

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
            fits = [
                self._fits(nth, cell) for nth, cell, given in self._values if _holds(given, one)
            ]
            if fits and not any(fits):
                yield one.written
        yield from self._exchanged()

    @cached_property
    def _values(self) -> list[tuple[int, TableCell, list[Quantity]]]:
        table = self.quoted.table
        return [
            (
                nth,
                cell,
                [
                    *(one.quantity for one in numbers_of_cell(table, table.rows[nth], cell)),
                    *quantities(cell.text),
                ],
            )
            for nth, cell in self.quoted.cells
            if cell.position or cell.column
        ]

    @cached_property
    def _row_names(self) -> list[frozenset[str]]:
        return [terms_of(" ".join([*row.names[:1], row.heading])) for row in self.quoted.table.rows]

    def _fits(self, nth: int, cell: TableCell) -> bool:
        own, column = self._row_names[nth], terms_of(cell.column)
        columns = [
            terms_of(other.column)
            for row, other, given in self._values
            if row == nth and other.position and other.is_value and other.column != cell.column
            if column - terms_of(other.column) and not self.said.has(given)
        ]
        is_of_other_row = not self._mentions[nth] and any(
            self._is_named_instead(name, own) for name in self._row_names
        )
        is_of_other_column = cell.position and any(
            self._is_named_instead(name - own, column) for name in columns
        )
        return not is_of_other_row and not is_of_other_column

    @cached_property
    def _mentions(self) -> list[list[int]]:
        """The places where the claim names each row. The name of a row within a longer one of
        another is no mention: "Taxes withheld" in "State taxes withheld".
        """
        stretches = [
            (nth, *found)
            for nth, name in enumerate(self._row_names)
            for found in self.said.stretches(name)
        ]
        best: dict[int, Extent] = {}
        for _, extent, places in stretches:
            best.update((at, max(extent, best.get(at, extent))) for at in places)
        mentions: list[list[int]] = [[] for _ in self._row_names]
        for nth, extent, places in stretches:
            if all(best[at] == extent for at in places):
                mentions[nth].append(places[0])
        return mentions

    def _is_named_instead(self, name: frozenset[str], own: frozenset[str]) -> bool:
        is_named = self.said.names(name - own) or (name < own and name <= self.said.stems)
        return is_named and not self.said.stems & (own - name)

    def _exchanged(self) -> Iterator[str]:
        for (at, one), (other_at, other) in combinations(self.said.numbers, 2):
            place, other_place = self._only_place(one), self._only_place(other)
            if place is None or other_place is None:
                continue
            (row, name), (other_row, other_name) = place, other_place
            first, second = self._places(name - other_name), self._places(other_name - name)
            if row != other_row and self._mentions[row] and self._mentions[other_row]:
                first, second = self._mentions[row], self._mentions[other_row]
            if not first or not second:
                continue
            (before, behind) = (second, first) if at < other_at else (first, second)
            if max(before) < min(behind):
                yield one.written

    def _only_place(self, number: Quantity) -> tuple[int, frozenset[str]] | None:
        """The row of the only cell that holds a number, in the columns that the claim names best,
        and the names of the row and the column. The number of a name, as in "22 March", is no
        value."""
        rows = self.quoted.table.rows
        values = [
            (nth, cell, given)
            for nth, cell, given in self._values
            if cell.text not in rows[nth].names[:1]
        ]
        held = [
            (nth, terms_of(cell.column)) for nth, cell, given in values if _holds(given, number)
        ]
        shares = [len(column & self.said.stems) / max(1, len(column)) for _, column in held]
        found = [place for place, share in zip(held, shares, strict=True) if share == max(shares)]
        return (
            (found[0][0], self._row_names[found[0][0]] | found[0][1]) if len(found) == 1 else None
        )

    def _places(self, stems: frozenset[str]) -> list[int]:
        return [at for at, stem in self.said.places if stem in stems]


def _without_repeats(words: Sequence[tuple[int, str]]) -> Iterator[Sequence[tuple[int, str]]]:
    """The longest stretch that has no word twice, the last of those, and the same of what stands on
    each side of it."""
    left = [words]
    while left:
        some = left.pop()
        start, best, seen = 0, (0, 0), dict[str, int]()
        for at, (_, stem) in enumerate(some):
            start = max(start, seen.get(stem, -1) + 1)
            seen[stem] = at
            best = max(best, (at + 1 - start, start))
        n_words, start = best
        if n_words:
            yield some[start : start + n_words]
            left += [some[:start], some[start + n_words :]]


def _is_part(word: tuple[int, str], number: str, start: int) -> bool:
    """Whether a word is part of a number; one that is the whole of it may be a name: the 2 of "Pen
    2"."""
    return start <= word[0] < start + len(number) and word[1] != number


def _holds(given: Sequence[Quantity], number: Quantity) -> bool:
    return any(agree(number, other) for other in given)
