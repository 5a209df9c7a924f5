"""Reads the numbers of quoted table cells, and finds those that a claim gives to another row or column.

A cell "3.4" below "IC50 (nM)" is 3.4 nM: a unit may stand in the cell, in the header of its column, in the name of its
row, in a column of units, in other cells of the column, or in the caption. A number is misplaced where the claim names
another row or column and not its own, or names two columns in one order and gives their numbers in the other. A claim
that names neither is not objected to. Whether a number stands in the quoted cells at all is decided in `claim_numbers`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import combinations, groupby

from rag_assets.answering.verify.number_agreement import MAX_COMPARED, agree
from rag_assets.answering.verify.quoted_text import SEPARATOR, QuotedRows, Table, TableCell, TableRow
from rag_assets.core.text.numbers.quantities import PLAIN, YEAR, Quantity, placed_quantities, quantities
from rag_assets.core.text.numbers.spelling import normalized_numbers
from rag_assets.core.text.terms import placed_stems, terms_of

_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,40})[)\]]")
_BEHIND = re.compile(r"(?:[,;/]|\bin)\s+([^,;/()]{1,30})$|[,;/]([^,;/()]{1,30})$", re.IGNORECASE)
_LAST_WORDS = re.compile(r"(?:^|\s)(\S{2,}(?:\s\S{1,8})?)$|\s(\S{2,})$")
_COUNTS_AND_SHARES = re.compile(
    r"(?:^|[\s,])(?:n|no\.?|nr\.?|number|count|cases|patients|participants|frequency|freq\.?|total)\s?[(\[][^()\[\]]*[)\]]",
    re.IGNORECASE,
)
_SHARE = re.compile(r"\bper\s?cent(?:age)?s?\b|^%|%$|\bpct\b", re.IGNORECASE)
_AGE = re.compile(r"\bages?\b", re.IGNORECASE)
_UNIT_COLUMN = re.compile(r"units?(?: of measure(?:ment)?)?\s?\w?", re.IGNORECASE)
_P_HEADER = re.compile(r"\W*p(?:[- ]?values?)?\W*", re.IGNORECASE)
_BRACKETED_NUMBER = re.compile(r"[(\[]\s*[-−–+<>]?\s*[\d.]")
_MARK_BEHIND = re.compile(r"(?<=\d)[a-fi-jn-rt-zA-BD-JN-Z](?![\w/])|(?<=\d)[*†‡§¶]+")
"""The mark of a footnote directly behind a number; not a letter that is a unit."""
_BRACKETS = str.maketrans(dict.fromkeys("()[]{}", ";"))
_IN_UNIT = re.compile(r"\bin (\S{1,20}?)[.,;]?(?=\s|$)")
_PER_CENT, _YEARS = "%", "years"
_MAX_UNIT_CHARS = 30
_NAMED_FROM = 0.5
"""Share of the words that only one of two rows (or columns) has in its name, from which a claim names it."""


Extent = tuple[int, float]
"""How many words of a name are said, and what share of it."""


@dataclass(frozen=True, slots=True)
class GivenNumber:
    """A number that a claim may repeat; a number of a cell may be given in several units."""

    quantity: Quantity
    has_known_unit: bool
    """The table gives the number a unit, which `quantity` may or may not have, or tells that it is a count."""


def numbers_of_cell(table: Table, row: TableRow, cell: TableCell) -> list[GivenNumber]:
    """Every quantity that each number of a cell may be claimed as.

    A number with its own unit is read with that only; any other with each unit its table gives, and without a unit. A
    number without a sign is positive.
    """
    text = _MARK_BEHIND.sub("", cell.text)
    bare = text.translate(_BRACKETS)
    own = quantities(f"p {bare}" if _P_HEADER.fullmatch(cell.column) else bare)
    n_outside = len(quantities(_IN_BRACKETS.sub(" ", text).translate(_BRACKETS)))
    found: list[GivenNumber] = []
    for nth, one in enumerate(own):
        is_plain = not one.has_unit and one.kind in (PLAIN, YEAR)
        is_in_brackets = nth >= n_outside > 0
        units = _units_of(table, row, cell, is_in_brackets=is_in_brackets) if is_plain else []
        is_count = not is_in_brackets and any(_names_count_and_share(label, cell) for label in _labels(row, cell))
        found += [
            GivenNumber(number, bool(units) or is_count) for number in (one, *(_measured(one, it) for it in units))
        ]
    return [replace(one, quantity=replace(one.quantity, is_signed=True)) for one in found]


def _labels(row: TableRow, cell: TableCell) -> tuple[str, ...]:
    return (cell.column, *row.names[:1])


def _names_count_and_share(label: str, cell: TableCell) -> bool:
    """Whether a cell holds a count and its share: "n (%)" above "54 (4.9)"."""
    return _COUNTS_AND_SHARES.search(label) is not None and _BRACKETED_NUMBER.search(cell.text) is not None


def _measured(number: Quantity, unit: Quantity) -> Quantity:
    value, scale = number.value * unit.unit_scale, unit.unit_scale
    return replace(number, value=value, kind=unit.kind, unit_scale=scale, has_unit=True)


def _units_of(table: Table, row: TableRow, cell: TableCell, *, is_in_brackets: bool) -> list[Quantity]:
    labels = [it for it in _labels(row, cell) if is_in_brackets or not _names_count_and_share(it, cell)]
    of_unit_columns = _units(other.text for other in row.cells if _UNIT_COLUMN.fullmatch(other.column))
    below = [other.text for each in table.rows for other in each.cells if cell.column and other.column == cell.column]
    in_column = [
        replace(one, value=one.unit_scale, written="1", times=Decimal(1), bound="", is_signed=False)
        for text in below
        for one in quantities(text)
        if one.has_unit
    ]
    nearest = [*(unit for it in labels for unit in _units_named(it)), *of_unit_columns, *dict.fromkeys(in_column)]
    if nearest:
        return nearest
    in_caption = _IN_BRACKETS.findall(table.caption) + _IN_UNIT.findall(table.caption)
    share = [_PER_CENT] if _SHARE.search(table.caption) else []
    return [*_units_named(row.heading), *_units([*in_caption, *share])]


def _units_named(label: str) -> list[Quantity]:
    """The units that a header or the name of a row gives: "IC50 (nM)", "Age, years", "Weight in kg", "Dose mg"."""
    parts = [part for found in _IN_BRACKETS.findall(label) for part in (found, *re.split(r"[,;] ?", found))]
    outside = _IN_BRACKETS.sub(" ", label).strip()
    parts += [part for found in (_BEHIND.search(label), _BEHIND.search(outside)) if found for part in found.groups()]
    parts += [part for found in _LAST_WORDS.finditer(outside) for part in found.groups()]
    units = _units([label, outside, *(part for part in parts if part)])
    if not units and _SHARE.search(label):
        units = _units([_PER_CENT])
    if not units and _AGE.search(label):
        units = _units([_YEARS])
    return units


def _units(texts: Iterable[str]) -> list[Quantity]:
    """The quantity "1 <text>" for every text that is a unit and nothing else."""
    found: dict[Quantity, None] = {}
    for text in texts:
        has_digit = any(character.isdigit() for character in text.replace("-1", ""))
        may_be_unit = 0 < len(text.strip()) <= _MAX_UNIT_CHARS and not has_digit
        read = quantities(f"1 {text.strip()}") if may_be_unit else ()
        if len(read) == 1 and read[0].has_unit:
            found[read[0]] = None
    return list(found)


def misplaced_numbers(claim: str, rows: Sequence[QuotedRows]) -> list[str]:
    """The numbers of the claim, as written, that occur in the quoted cells and belong elsewhere."""
    said = _Said.of(claim)
    return list(dict.fromkeys(written for some in _by_table(rows) for written in _Cells(some, said).misplaced()))


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
        words = (word for word in placed_stems(text) if not any(_is_part(word, text[s:e], s) for s, e, _ in placed))
        return cls(numbers[:MAX_COMPARED], tuple(words))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words without numbers: otherwise any 0 of the claim would name a row that is called "0"."""
        starts = {start for start, _ in self.numbers}
        return frozenset(stem for at, stem in self.places if at not in starts)

    def names(self, stems: frozenset[str]) -> bool:
        return bool(stems) and len(stems & self.stems) >= _NAMED_FROM * len(stems)

    def stretches(self, name: frozenset[str]) -> Iterator[tuple[Extent, list[int]]]:
        """Where words of a name follow each other, none twice, that are most of it: their extent and their places."""
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
            fits = [self._fits(nth, cell) for nth, cell, given in self._values if _holds(given, one)]
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
                [*(one.quantity for one in numbers_of_cell(table, table.rows[nth], cell)), *quantities(cell.text)],
            )
            for nth, cell in self.quoted.cells
            if cell.position or (cell.column and cell.text not in table.rows[nth].names)
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
        is_of_other_row = not self._mentions[nth] and any(self._is_named_instead(name, own) for name in self._row_names)
        is_of_other_column = cell.position and any(self._is_named_instead(name - own, column) for name in columns)
        return not is_of_other_row and not is_of_other_column

    @cached_property
    def _mentions(self) -> list[list[int]]:
        """By row, the places where the claim names it. The name of a row within a longer one of another is no mention:
        "Taxes withheld" in "State taxes withheld"."""
        stretches = [(nth, *found) for nth, name in enumerate(self._row_names) for found in self.said.stretches(name)]
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
        """The row of the only cell that holds a number, and the names of the row and the column."""
        found = [(nth, cell) for nth, cell, given in self._values if _holds(given, number)]
        row, cell = found[0] if len(found) == 1 else (0, None)
        return None if cell is None else (row, self._row_names[row] | terms_of(cell.column))

    def _places(self, stems: frozenset[str]) -> list[int]:
        return [at for at, stem in self.said.places if stem in stems]


def _without_repeats(words: Sequence[tuple[int, str]]) -> Iterator[Sequence[tuple[int, str]]]:
    """The longest stretch that has no word twice, the last of those, and then those on both sides of it."""
    start, best, seen = 0, (0, 0), dict[str, int]()
    for at, (_, stem) in enumerate(words):
        start = max(start, seen.get(stem, -1) + 1)
        seen[stem] = at
        best = max(best, (at + 1 - start, start))
    n_words, start = best
    if n_words:
        yield words[start : start + n_words]
        yield from _without_repeats(words[:start])
        yield from _without_repeats(words[start + n_words :])


def _is_part(word: tuple[int, str], number: str, start: int) -> bool:
    """Whether a word is part of a number; one that is the whole of it may be a name: the 2 of "Pen 2"."""
    return start <= word[0] < start + len(number) and word[1] != number


def _holds(given: Sequence[Quantity], number: Quantity) -> bool:
    return any(agree(number, other) for other in given)


def states_a_row(claim: str, quoted: QuotedRows) -> bool:
    """Whether a claim repeats a quoted row word for word, below its caption or heading or without."""
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
