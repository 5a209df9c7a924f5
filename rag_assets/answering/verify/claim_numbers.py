"""Finds the numbers of a claim that its quotes do not have, or that belong to another row or column of
the quoted table.

A number may be in the quotes or in the question, or follow from two numbers of the quotes: as their
difference, sum, ratio, share or change in per cent, or as the sum of all their numbers.
`table_numbers` decides whether two numbers are the same one. A number is misplaced where the claim
names another row or column and not its own, or names two rows or columns in one order and gives
their numbers in the other. A claim that names neither is not objected to.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import combinations, groupby, permutations

from rag_assets.answering.verify.quoted_text import QuotedRows, QuotedText, TableCell
from rag_assets.answering.verify.table_numbers import (
    MAX_COMPARED,
    GivenNumber,
    agree,
    is_about,
    is_rounded_to,
    numbers_of_cell,
)
from rag_assets.core.text.folding import RAISED_MARK
from rag_assets.core.text.number_spelling import (
    PERCENT,
    POINTS,
    Fraction,
    fractions,
    normalized_numbers,
)
from rag_assets.core.text.quantities import (
    P_VALUE,
    PLAIN,
    YEAR,
    Quantity,
    placed_quantities,
    quantities,
)
from rag_assets.core.text.terms import placed_stems, terms_of

_MOST_COMBINED = 12
"""Nothing is computed from more numbers: some two of them give nearly any result."""
_DIGITS = re.compile(r"[^\W_]*\d[^\W_]*(?:[-.,/^][^\W_]*\d[^\W_]*)*")
_RATIO_BEHIND = re.compile(r"[ -]?fold\b| times\b|(?: [\w-]+){0,3} per\b", re.IGNORECASE)
"""Words after a number that make it the ratio of two others."""
_NAME_BEFORE = re.compile(r"(?<=[\w,] )[A-Z]\w* $")
"""A name right before a number; the first word of a sentence does not count."""
_NAME_CHARS = 40
_FEW, _COUNTED = frozenset(map(str, range(1, 11))), re.compile(r" [^\W\d_]{3,}")
"""A small number before a word may count what the quotes list."""
_THOUSANDS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_UNCERTAIN = Decimal("0.1")
""" "about half" and "about twice" are true up to a tenth."""


@dataclass(frozen=True)
class NumberCheck:
    """The numbers of a claim that its quotes do not have."""

    missing: tuple[str, ...]
    """Numbers that are in no quote and do not follow, as the claim writes them."""
    unproven: tuple[str, ...]
    """Of such numbers those that may be right: they stand around the quotes, or count or compare
    what the quotes may list ("5 steps", "three times")."""
    computed: tuple[str, ...]
    """Computations of the numbers that follow: "3.3 = 12.4 - 9.1"."""


def check_numbers(claim: str, quotes: Sequence[QuotedText], question: str) -> NumberCheck:
    """Returns which numbers of a claim are missing in its quotes, may be right without proof, or
    follow from numbers of the quotes. Small numbers in words ("two groups") are not checked,
    because they may count what the quotes list."""
    text = normalized_numbers(claim)
    placed = placed_quantities(text)
    if len(placed) > MAX_COMPARED:
        return NumberCheck(("more than can be compared",), (), ())
    quoted = dict.fromkeys(_quoted_quantities(quotes))
    combined = _combined(quotes)
    frame = [one for quote in quotes for part in quote.frame for one in quantities(part)]
    known = [
        *quoted,
        *(GivenNumber(one, has_known_unit=False) for one in (*frame, *quantities(question))),
        *(GivenNumber(one, has_known_unit=True) for one in _in_sentences(quotes)),
    ]
    chunks = {
        quote.chunk_text: replace(quote, start=0, end=len(quote.chunk_text)) for quote in quotes
    }
    around = [one for chunk in chunks.values() for one in quantities(chunk.prose)]
    units = {one.kind for text in chunks for one in quantities(text)}
    units |= {held.quantity.kind for held in known}
    texts = _texts_around(quotes, question)
    codes = {match[0].casefold() for match in _DIGITS.finditer(texts)}
    shares = list(fractions(text))
    unproven = [
        text[part.start : part.end] for part in shares if not _is_fraction_held(part, quotes)
    ]
    missing: list[str] = []
    computed: list[str] = []
    for start, end, one in placed:
        is_share = any(part.start <= start < part.end for part in shares)
        readings = (one, *_with_thousands(one))
        is_held = any(_is_held(each, other, units) for each in readings for other in known)
        if is_share or one.is_vague or is_held:
            continue
        written = text[start:end].strip()
        if how := _computed(one, combined, is_ratio=_RATIO_BEHIND.match(text, end) is not None):
            computed.append(how)
        elif not _is_label(text, start, written, codes):
            counts_few = (
                one.kind == PLAIN and one.written in _FEW and _COUNTED.match(text, end) is not None
            )
            may_be_right = counts_few or any(_is_alike(one, other, units) for other in around)
            (unproven if may_be_right else missing).append(written)
    missing += [code for code in _codes_of(text, placed) if not _is_code_in(code, texts)]
    return NumberCheck(
        tuple(dict.fromkeys(missing)),
        tuple(dict.fromkeys(unproven)),
        tuple(dict.fromkeys(computed)),
    )


def _with_thousands(one: Quantity) -> Iterator[Quantity]:
    """Yields a number such as "1.250" once more as 1250: other languages write the thousands of
    1,250 with a point. Yields nothing for any other number."""
    if _THOUSANDS.fullmatch(one.written):
        yield replace(one, value=one.value * 1000, written=one.written.replace(".", ""))


def _is_alike(claimed: Quantity, other: Quantity, units: set[str]) -> bool:
    """Whether a number around the quotes confirms the claimed one, or is the same number where one
    of the two is in per cent and the other in percentage points."""
    is_share = {claimed.kind, other.kind} == {PERCENT, POINTS}
    same = _is_held(claimed, GivenNumber(other, has_known_unit=True), units)
    return same or (is_share and claimed.bare == other.bare)


def _quoted_quantities(quotes: Sequence[QuotedText]) -> Iterator[GivenNumber]:
    """Yields the numbers of the quotes: first those of the prose, without raised reference marks,
    then those of each quoted cell. The numbers of a cell come with each unit that the table gives
    them, and once more as the text of the cell alone is read."""
    for quote in quotes:
        yield from (
            GivenNumber(one, has_known_unit=False)
            for one in quantities(RAISED_MARK.sub(" ", quote.prose))
        )
        for some in quote.rows:
            for nth, cell in some.cells:
                own = numbers_of_cell(some.table, some.table.rows[nth], cell)
                is_known = any(one.has_known_unit for one in own)
                yield from own
                yield from (
                    GivenNumber(one, has_known_unit=is_known) for one in quantities(cell.text)
                )


def _in_sentences(quotes: Sequence[QuotedText]) -> Iterator[Quantity]:
    """Yields the numbers of the whole sentences around the quotes, and the fractions in words as
    per cent: "half" gives 50 %."""
    for text in dict.fromkeys(quote.sentence for quote in quotes):
        yield from quantities(text)
        for part in fractions(text):
            yield Quantity(100 * part.value, PERCENT, f"{100 * part.value:.2f}", has_unit=True)


def _is_held(claimed: Quantity, given: GivenNumber, units: set[str]) -> bool:
    """Whether a given number confirms the claimed one. The unit of the given number may be
    elsewhere in the text, unless a table gives the number another unit. A plain 0.5 confirms 50 %.
    units: the kinds of all numbers in the quoted chunks, and of the other numbers that the claim
    may repeat."""
    if (
        claimed.kind == PERCENT
        and given.quantity.kind == PLAIN
        and given.quantity.value * 100 == claimed.value
    ):
        return True
    is_unit_elsewhere = claimed.has_unit and claimed.kind != POINTS and not given.quantity.has_unit
    if is_unit_elsewhere and (given.has_known_unit or claimed.kind not in units):
        return False
    return agree(claimed, given.quantity)


def _combined(quotes: Sequence[QuotedText]) -> list[Quantity]:
    """Returns the numbers of the quotes that a claim may calculate with: not p values, years and
    vague numbers. Returns none of them if there are more than 12."""
    found = [
        one
        for quote in quotes
        for one in quantities(RAISED_MARK.sub(" ", quote.quote))
        if one.kind not in (P_VALUE, YEAR) and not one.is_vague
    ]
    return found if len(found) <= _MOST_COMBINED else []


def _computed(claimed: Quantity, numbers: Sequence[Quantity], *, is_ratio: bool) -> str | None:
    """Returns how the claimed number follows from two numbers of the quotes, or from the sum of all
    of them, as in "3.3 = 12.4 - 9.1"; None if it does not follow. A pair that already has the
    claimed number proves nothing, as "5 + 0" does not prove 5."""
    for one, other in permutations(numbers, 2):
        if any(
            part.kind == claimed.kind and is_rounded_to(claimed, abs(part.value))
            for part in (one, other)
        ):
            continue  # the rest changes nothing
        for kind, value, how in _results(one, other, is_ratio=is_ratio):
            if kind == claimed.kind and (
                is_rounded_to(claimed, abs(value)) or is_about(claimed, abs(value))
            ):
                return f"{claimed.written} = {how}"
        are_alike = {one.kind, other.kind} <= {PLAIN, claimed.kind}
        if claimed.has_unit and are_alike and one.bare - other.bare == claimed.bare:
            # "the six days from 12 to 18 January"
            return f"{claimed.written} = {one.written} - {other.written}"
    total = sum((one.value for one in numbers), Decimal(0))
    if (
        len(numbers) > 2
        and {one.kind for one in numbers} == {claimed.kind}
        and is_rounded_to(claimed, total)
    ):
        return f"{claimed.written} = {' + '.join(one.written for one in numbers)}"
    return None


def _results(
    one: Quantity, other: Quantity, *, is_ratio: bool
) -> Iterator[tuple[str, Decimal, str]]:
    """Yields what follows from two numbers in this order, each as its kind, its value and the
    computation: the difference, the sum, the ratio and the change in per cent. A difference is
    given in percentage points too, and only if it is not negative, because the caller tries both
    orders. Numbers of different kinds give only a ratio, and only if the claim asks for one
    (`is_ratio`)."""
    if one.kind == other.kind:
        if one.value >= other.value:
            yield one.kind, one.value - other.value, f"{one.written} - {other.written}"
            yield POINTS, one.bare - other.bare, f"{one.written} - {other.written}"
        yield one.kind, one.value + other.value, f"{one.written} + {other.written}"
        if other.value:
            yield PERCENT, 100 * one.value / other.value, f"{one.written} / {other.written}"
            change = 100 * (one.value - other.value) / other.value
            yield PERCENT, change, f"({one.written} - {other.written}) / {other.written}"
    if is_ratio and other.value:
        yield PLAIN, _ratio(one, other), f"{one.written} / {other.written}"


def _ratio(one: Quantity, other: Quantity) -> Decimal:
    """The first number divided by the second. Numbers of different kinds are divided without their
    units: 10 mg and 5 litres give 2."""
    return one.value / other.value if one.kind == other.kind else one.bare / other.bare


def _is_fraction_held(part: Fraction, quotes: Sequence[QuotedText]) -> bool:
    """Whether the quotes confirm a fraction in words, such as "half" or "twice". The same fraction
    in words confirms it. So does, up to a tenth, another fraction in words, a number of the quotes,
    the ratio of two numbers, or the share of a number in the sum of all numbers of its kind."""
    said = [other.value for quote in quotes for other in fractions(quote.quote)]
    if part.value in said:
        return True
    numbers = _combined(quotes)
    held = [one.quantity for one in _quoted_quantities(quotes)]
    # the numbers themselves, the ratios of two of them, and the share of each in the sum
    values = [one.value / 100 if one.kind == PERCENT else one.bare for one in held]
    values += [_ratio(one, other) for one, other in permutations(numbers, 2) if other.value]
    values += [
        _ratio(one, other) for one in numbers for other in [_sum(numbers, one.kind)] if other.value
    ]
    return any(part.is_about(value, _UNCERTAIN) for value in (*said, *values))


def _sum(numbers: Sequence[Quantity], kind: str) -> Quantity:
    """The sum of the numbers of one kind, without their signs."""
    return Quantity(
        sum((abs(one.value) for one in numbers if one.kind == kind), Decimal(0)), kind, ""
    )


def _is_label(text: str, start: int, written: str, codes: set[str]) -> bool:
    """Whether a number belongs to a name in the text around the quotes. "405B" must be there as it
    is; a number behind a capitalised word may be in a short form, as the 3 of "Time 3" is in
    "T3"."""
    if any(map(str.isalpha, written)):
        return written.casefold() in codes
    is_behind_name = _NAME_BEFORE.search(text, max(0, start - _NAME_CHARS), start) is not None
    return is_behind_name and any(
        re.fullmatch(rf"\D*{re.escape(written)}\D*", code) for code in codes
    )


def _texts_around(quotes: Sequence[QuotedText], question: str) -> str:
    known = [question, *(part for one in quotes for part in (one.chunk_text, *one.frame))]
    return normalized_numbers(" ".join(known))


def _is_code_in(code: str, text: str) -> bool:
    """Whether a text has a code. Blanks and signs of the layout may be between its characters: "CO
    2" and "λ_1" are "CO2" and "λ1"."""
    letters = r"[\W_]{0,2}".join(map(re.escape, code.removesuffix("s")))
    return re.search(rf"(?<![^\W_]){letters}s?(?![^\W_])", text, re.IGNORECASE) is not None


def _codes_of(text: str, placed: Sequence[tuple[int, int, Quantity]]) -> Iterator[str]:
    """The words with digits that are not read as quantities: "8x7B", the 2 of "Table 2"."""
    for match in _DIGITS.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end, _ in placed):
            yield match[0]


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
