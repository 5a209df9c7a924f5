"""Checks that every number of a claim is in its quotes or in the question, or follows from numbers
that are.

A number follows if it is the difference, sum, ratio or share of two numbers of the quotes, their
change in per cent, or the sum of all their numbers. `number_agreement` decides whether two numbers
are the same one, rounded or in another unit.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations

from rag_assets.answering.verify.normalized_text import RAISED_MARK
from rag_assets.answering.verify.number_agreement import MAX_COMPARED, agree, is_rounded_to
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.table_numbers import GivenNumber, numbers_of_cell
from rag_assets.core.text.numbers.quantities import (
    P_VALUE,
    PLAIN,
    YEAR,
    Quantity,
    placed_quantities,
    quantities,
)
from rag_assets.core.text.numbers.spelling import Fraction, fractions, normalized_numbers
from rag_assets.core.text.numbers.units import PERCENT

_MOST_COMBINED = 12
"""Nothing is computed from more numbers: some two of them give nearly any result."""
_DIGITS = re.compile(r"[^\W_]*\d[^\W_]*(?:[-.,/^][^\W_]*\d[^\W_]*)*")
_RATIO_BEHIND = re.compile(r"[ -]?fold\b| times\b|(?: [\w-]+){0,3} per\b", re.IGNORECASE)
"""Words after a number that make it the ratio of two others."""
_NAME_BEFORE = re.compile(r"(?<=[\w,] )[A-Z]\w* $")
"""A name right before a number; the first word of a sentence does not count."""
_NAME_CHARS = 40
_UNCERTAIN = Decimal("0.1")
""" "about half" and "about twice" are true up to a tenth."""


@dataclass(frozen=True, slots=True)
class NumberCheck:
    """The numbers of a claim that its quotes do not have."""

    missing: tuple[str, ...]
    """Numbers that are in no quote and do not follow, as the claim writes them."""
    computed: tuple[str, ...]
    """Computations of the numbers that follow: "3.3 = 12.4 - 9.1"."""


def check_numbers(claim: str, quotes: Sequence[QuotedText], question: str) -> NumberCheck:
    """Small numbers in words ("two groups") count what the quotes may list, and are not looked
    for."""
    text = normalized_numbers(claim)
    placed = placed_quantities(text)
    if len(placed) > MAX_COMPARED:
        return NumberCheck(("more than can be compared",), ())
    quoted = dict.fromkeys(_quoted_quantities(quotes))
    combined = _combined(quotes)
    frame = [one for quote in quotes for part in quote.frame for one in quantities(part)]
    known = [
        *quoted,
        *(GivenNumber(one, has_known_unit=False) for one in (*frame, *quantities(question))),
    ]
    around = [one for quote in quotes for one in quantities(quote.chunk_text)]
    units = {one.kind for one in (*around, *(held.quantity for held in known))}
    codes = _codes_around(quotes, question)
    shares = list(fractions(text))
    missing = [
        text[part.start : part.end] for part in shares if not _is_fraction_held(part, quotes)
    ]
    computed: list[str] = []
    for start, end, one in placed:
        is_share = any(part.start <= start < part.end for part in shares)
        if is_share or one.is_vague or any(_is_held(one, other, units) for other in known):
            continue
        written = text[start:end].strip()
        if how := _computed(one, combined, is_ratio=_RATIO_BEHIND.match(text, end) is not None):
            computed.append(how)
        elif not _is_label(text, start, written, codes):
            missing.append(written)
    missing += [
        code
        for code in _codes_of(text, placed)
        if not {code.casefold(), code.removesuffix("s").casefold()} & codes
    ]
    return NumberCheck(tuple(dict.fromkeys(missing)), tuple(dict.fromkeys(computed)))


def _quoted_quantities(quotes: Sequence[QuotedText]) -> Iterator[GivenNumber]:
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


def _is_held(claimed: Quantity, given: GivenNumber, units: set[str]) -> bool:
    """Whether they are one number; its unit may be elsewhere, unless a table gives it another
    one."""
    if (
        claimed.kind == PERCENT
        and given.quantity.kind == PLAIN
        and given.quantity.value * 100 == claimed.value
    ):
        return True
    is_unit_elsewhere = claimed.has_unit and not given.quantity.has_unit
    if is_unit_elsewhere and (given.has_known_unit or claimed.kind not in units):
        return False
    return agree(claimed, given.quantity)


def _combined(quotes: Sequence[QuotedText]) -> list[Quantity]:
    found = [
        one
        for quote in quotes
        for one in quantities(RAISED_MARK.sub(" ", quote.quote))
        if one.kind not in (P_VALUE, YEAR) and not one.is_vague
    ]
    return found if len(found) <= _MOST_COMBINED else []


def _computed(claimed: Quantity, numbers: Sequence[Quantity], *, is_ratio: bool) -> str | None:
    """How the claimed number follows from two numbers of the quotes, or from all of them; None if
    it does not."""
    for one, other in permutations(numbers, 2):
        if any(
            part.kind == claimed.kind and is_rounded_to(claimed, abs(part.value))
            for part in (one, other)
        ):
            continue  # the rest changes nothing
        for kind, value, how in _results(one, other, is_ratio=is_ratio):
            if kind == claimed.kind and is_rounded_to(claimed, abs(value)):
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
    if one.kind == other.kind:
        if one.value >= other.value:
            yield one.kind, one.value - other.value, f"{one.written} - {other.written}"
        yield one.kind, one.value + other.value, f"{one.written} + {other.written}"
        if other.value:
            yield PERCENT, 100 * one.value / other.value, f"{one.written} / {other.written}"
            change = 100 * (one.value - other.value) / other.value
            yield PERCENT, change, f"({one.written} - {other.written}) / {other.written}"
    if is_ratio and other.value:
        yield PLAIN, _ratio(one, other), f"{one.written} / {other.written}"


def _ratio(one: Quantity, other: Quantity) -> Decimal:
    return one.value / other.value if one.kind == other.kind else one.bare / other.bare


def _is_fraction_held(part: Fraction, quotes: Sequence[QuotedText]) -> bool:
    said = [other.value for quote in quotes for other in fractions(quote.quote)]
    if part.value in said:
        return True
    numbers = _combined(quotes)
    held = [one.quantity for one in _quoted_quantities(quotes)]
    values = [one.value / 100 if one.kind == PERCENT else one.bare for one in held]
    values += [_ratio(one, other) for one, other in permutations(numbers, 2) if other.value]
    values += [
        _ratio(one, other) for one in numbers for other in [_sum(numbers, one.kind)] if other.value
    ]
    return any(part.is_about(value, _UNCERTAIN) for value in (*said, *values))


def _sum(numbers: Sequence[Quantity], kind: str) -> Quantity:
    return Quantity(
        sum((abs(one.value) for one in numbers if one.kind == kind), Decimal(0)), kind, ""
    )


def _is_label(text: str, start: int, written: str, codes: set[str]) -> bool:
    """Whether a number is part of a name in the text around the quotes: "405B", the 3 of "Time 3"
    for "T3"."""
    if any(map(str.isalpha, written)):
        return written.casefold() in codes
    is_behind_name = _NAME_BEFORE.search(text, max(0, start - _NAME_CHARS), start) is not None
    return is_behind_name and any(
        re.fullmatch(rf"\D*{re.escape(written)}\D*", code) for code in codes
    )


def _codes_around(quotes: Sequence[QuotedText], question: str) -> set[str]:
    known = [question, *(part for one in quotes for part in (one.chunk_text, *one.frame))]
    return {match[0].casefold() for match in _DIGITS.finditer(normalized_numbers(" ".join(known)))}


def _codes_of(text: str, placed: Sequence[tuple[int, int, Quantity]]) -> Iterator[str]:
    """The words with digits that are no quantities: "8x7B", the 2 of "Table 2"."""
    for match in _DIGITS.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end, _ in placed):
            yield match[0]
