"""Finds the numbers of a claim that belong to another row or column of the quoted table.

A number is misplaced where the claim names another row or column and not its own, or names two rows
or columns in one order and gives their numbers in the other. A claim that names neither is not
objected to.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, groupby

from rag_assets.answering.verify.quoted_text import QuotedRows, TableCell
from rag_assets.answering.verify.table_numbers import (
    MAX_COMPARED,
    agree,
    numbers_of_cell,
)
from rag_assets.core.text.number_spelling import (
    normalized_numbers,
)
from rag_assets.core.text.quantities import (
    Quantity,
    placed_quantities,
    quantities,
)
from rag_assets.core.text.terms import placed_stems, terms_of

_WITHOUT = re.compile(r"\b(?:without|no|not|non|ohne|kein\w*)[ -](?P<left_out>\w)", re.IGNORECASE)
_NAMED_FROM = 0.5
"""Share of the words that only one of two rows (or columns) has in its name, from which a claim
names it."""
Extent = tuple[int, float]
"""How many words of a name are said, and what share of it."""


def misplaced_numbers(claim: str, rows: Sequence[QuotedRows]) -> list[str]:
    """The numbers of the claim, as written, that are in the quoted cells but belong to another row
    or column than the claim says."""
    said = _ClaimWords.of(claim)
    return list(
        dict.fromkeys(
            written for some in _by_table(rows) for written in _Cells(some, said).misplaced()
        )
    )


def _by_table(rows: Sequence[QuotedRows]) -> list[QuotedRows]:
    """Joins the quoted rows of the same table, so that each table is returned once, with all its
    quoted cells."""
    found: dict[tuple[str, int], QuotedRows] = {}
    for some in rows:
        key = some.chunk_text, some.table.rows[0].start
        cells = (*found[key].cells, *some.cells) if key in found else some.cells
        found[key] = replace(some, cells=tuple(dict.fromkeys(cells)))
    return list(found.values())


@dataclass(frozen=True)
class _ClaimWords:
    """A claim: its numbers with their places, and the places of its words."""

    numbers: tuple[tuple[int, Quantity], ...]
    places: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, claim: str) -> "_ClaimWords":
        """Reads the numbers and the words of a claim. Vague numbers ("two groups") are not read. A
        word right after "without" or "no" is not read, so that a claim does not name what it
        excludes; nor is a part of a number, such as the unit."""
        text = normalized_numbers(claim)
        placed = placed_quantities(text)
        numbers = tuple((start, one) for start, _, one in placed if not one.is_vague)
        left_out = {match.start("left_out") for match in _WITHOUT.finditer(text)}
        words = (
            word
            for word in placed_stems(text)
            if word[0] not in left_out
            and not any(_is_part(word, text[s:e], s) for s, e, _ in placed)
        )
        return cls(numbers[:MAX_COMPARED], tuple(words))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words of the claim without its numbers. With them, any 0 of the claim would name a
        row that is called "0"."""
        starts = {start for start, _ in self.numbers}
        return frozenset(stem for at, stem in self.places if at not in starts)

    def names(self, stems: frozenset[str]) -> bool:
        """Whether the claim has at least half of these words. Always False without words."""
        return bool(stems) and len(stems & self.stems) >= _NAMED_FROM * len(stems)

    def stretches(self, name: frozenset[str]) -> Iterator[tuple[Extent, list[int]]]:
        """Yields each run of neighbouring words of the claim that has at least half of the words of
        a name, and no word twice. Each run is given as its extent and the offsets of its words."""
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
    said: _ClaimWords

    def misplaced(self) -> Iterator[str]:
        """Yields the numbers of the claim that are in quoted cells, but only in cells of rows or
        columns that the claim does not mean; then the numbers that changed places."""
        for _, one in self.said.numbers:
            fits = [
                self._fits(nth, cell) for nth, cell, given in self._values if _holds(given, one)
            ]
            if fits and not any(fits):
                yield one.written
        yield from self._exchanged()

    @cached_property
    def _values(self) -> list[tuple[int, TableCell, list[Quantity]]]:
        """The quoted cells that may have a value, each as the index of its row, the cell, and the
        numbers in it. The first cell of a row without a header is left out, because it is the name
        of the row."""
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
        """For each row, the words of its first name and of the heading above it."""
        return [terms_of(" ".join([*row.names[:1], row.heading])) for row in self.quoted.table.rows]

    def _fits(self, nth: int, cell: TableCell) -> bool:
        """Whether a number of this cell may be meant: the claim names no other row instead of row
        `nth`, and no other column instead of the column of the cell. A column whose own number the
        claim also gives is not another column in this sense: its name belongs to that number."""
        own, column = self._row_names[nth], terms_of(cell.column)
        # the other columns of the row whose numbers the claim does not give
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
        """For each row, the offsets at which the claim names it. A row name inside the longer name
        of another row is no mention: "Taxes withheld" in "State taxes withheld"."""
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
        """Whether the claim names something else than the cell's own row or column: it has the
        words of `name` that `own` lacks, and no word that only `own` has. A `name` that is a part
        of `own` must be in the claim with all its words."""
        is_named = self.said.names(name - own) or (name < own and name <= self.said.stems)
        return is_named and not self.said.stems & (own - name)

    def _exchanged(self) -> Iterator[str]:
        """Yields numbers that changed places: "A and B reach 2 and 1", where the table has 1 for A
        and 2 for B. Only numbers with a single place in the table are compared."""
        for (at, number), (other_at, other) in combinations(self.said.numbers, 2):
            cell, other_cell = self._only_place(number), self._only_place(other)
            if cell is None or other_cell is None:
                continue
            (row, name), (other_row, other_name) = cell, other_cell
            mentions = self._places(name - other_name)
            other_mentions = self._places(other_name - name)
            if row != other_row and self._mentions[row] and self._mentions[other_row]:
                mentions, other_mentions = self._mentions[row], self._mentions[other_row]
            if not mentions or not other_mentions:
                continue
            if at < other_at:
                is_exchanged = max(other_mentions) < min(mentions)
            else:
                is_exchanged = max(mentions) < min(other_mentions)
            if is_exchanged:
                yield number.written

    def _only_place(self, number: Quantity) -> tuple[int, frozenset[str]] | None:
        """Returns the row of a number, and the words that name its row and column; None if the
        number has no place or more than one. If several cells have the number, only those count
        whose column the claim names best. A cell that is the name of its row, as in "22 March", has
        no value."""
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
        """The offsets at which the claim has one of these words."""
        return [at for at, stem in self.said.places if stem in stems]


def _without_repeats(words: Sequence[tuple[int, str]]) -> Iterator[Sequence[tuple[int, str]]]:
    """Yields the longest run in which no word occurs twice (the last one, if several are equally
    long), then splits the words before it and the words behind it in the same way."""
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
    """Whether a word, given as offset and stem, is only a part of the number that begins at
    `start`. A word that is the whole number is not, because it may be a name: the 2 of "Pen 2"."""
    return start <= word[0] < start + len(number) and word[1] != number


def _holds(given: Sequence[Quantity], number: Quantity) -> bool:
    return any(agree(number, other) for other in given)
