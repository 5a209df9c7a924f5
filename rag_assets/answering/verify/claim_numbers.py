"""Finds the numbers of a claim that its quotes do not have.

A number may be in the quotes or in the question, or follow from two numbers of the quotes: as their
difference, sum, ratio, share or change in per cent, or as the sum of all their numbers.
`table_numbers` decides whether two numbers are the same one; `misplaced_numbers` finds those that
belong to another row or column.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import permutations

from rag_assets.answering.verify.quoted_text import QuotedText
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

_MOST_COMBINED = 12
"""Nothing is computed from more numbers: some two of them give nearly any result."""
_DIGITS = re.compile(r"(?<![^\W_])[^\W_]*\d[^\W_]*(?:[-.,/^][^\W_]*\d[^\W_]*)*")
_RATIO_BEHIND = re.compile(r"[ -]?fold\b| times\b|(?: [\w-]+){0,3} per\b", re.IGNORECASE)
"""Words after a number that make it the ratio of two others."""
_NAME_BEFORE = re.compile(r"(?<=[\w,] )[A-Z]\w* $")
"""A name right before a number; the first word of a sentence does not count."""
_NAME_CHARS = 40
_EQUATION = re.compile(r"(?<!\w)([^\W\d_]\w*) ?= ?$")
"""The name that an equation before a number gives it: the k of "k = 60"."""
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
    contradicted: tuple[str, ...] = ()
    """Numbers that the quotes give otherwise: the quotes have another value for their name ("k =
    60"), or another number of their kind, while the claimed one only stands elsewhere around."""


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
    quoted_text = normalized_numbers(" ; ".join(quote.quote for quote in quotes))
    stated_kinds = {one.kind for _, _, one in placed_quantities(quoted_text)}
    missing: list[str] = []
    contradicted = _named_otherwise(_named(text), _named(quoted_text))
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
            is_around = any(_is_alike(one, other, units) for other in around)
            is_label = text[:end].strip() in texts  # "Wave 3" begins the claim
            if counts_few or (is_around and (is_label or one.kind not in stated_kinds)):
                unproven.append(written)
            else:
                (contradicted if is_around else missing).append(written)
    missing += [code for code in _codes_of(text, placed) if not _is_code_in(code, texts)]
    return NumberCheck(
        tuple(dict.fromkeys(missing)),
        tuple(dict.fromkeys(unproven)),
        tuple(dict.fromkeys(computed)),
        tuple(dict.fromkeys(contradicted)),
    )


def _named(text: str) -> dict[str, list[Quantity]]:
    """The numbers of a normalised text that an equation gives to a name, by the name."""
    named: dict[str, list[Quantity]] = defaultdict(list)
    for start, _, one in placed_quantities(text):
        if match := _EQUATION.search(text, max(0, start - _NAME_CHARS), start):
            named[match[1]].append(one)
    return named


def _named_otherwise(
    claimed: Mapping[str, Sequence[Quantity]], quoted: Mapping[str, Sequence[Quantity]]
) -> list[str]:
    """Returns the claimed numbers of names to which the quotes give one other value. Names with
    several values are passed over: n = 47 may count n = 28 and n = 19 together."""
    return [
        one.written
        for name, numbers in claimed.items()
        if len({other.value for other in quoted.get(name, ())}) == 1
        and not any(agree(one, other) for one in numbers for other in quoted[name])
        for one in numbers
    ]


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
