"""Compares the numbers of a claim with those of the quotes it rests on; `quantities` reads them.

Two quantities contradict each other if they are of one kind, or the same numeral with different units. No arithmetic is
done: a difference or a share that a claim computes from its quotes counts as missing from them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from rag_assets.answering.citations.normalized_text import RAISED_MARK
from rag_assets.text.numbers.quantities import P_VALUE, PLAIN, YEAR, Quantity, quantities
from rag_assets.text.numbers.units import PERCENT

MAX_COMPARED = 100
"""A claim with more numbers counts as contradicted: comparing takes quadratic time."""
_SIGNIFICANCE_LEVELS = {Decimal(level) for level in ("0.1", "0.05", "0.01", "0.005", "0.001", "0.0001")}
_ROUNDED_SHARE = Decimal("0.05")
_BOUND_FACTOR = 10
"""A limit further from the value than this is true but says nothing."""


def confirmed_share(claim: str, quotes: Sequence[str], question: str) -> float | None:
    """Share of the claim's quantities that a quote or the question holds; None when it has none."""
    own = quantities(claim)[:MAX_COMPARED]
    holding = [*_quantities_of_all(quotes), *quantities(question)]
    return sum(any(_agree(one, other) for other in holding) for one in own) / len(own) if own else None


def contradictions(claim: str, quotes: Sequence[str], question: str) -> list[Quantity]:
    """The quantities of the claim that neither a quote nor the question holds while a quote says otherwise.

    "Otherwise" is a quantity of the same kind that the claim does not name, or the same numeral with another unit.
    Small numbers written as words contradict nothing: "two groups" and "five weeks" count different things.
    """
    own = quantities(claim)
    if len(own) > MAX_COMPARED:
        return own
    in_quotes = Counter(_quantities_of_all(quotes))
    in_question = quantities(question)
    unnamed = _kinds_unnamed(own, in_quotes)
    return [
        one
        for one in own
        if not one.is_vague
        and (not unnamed.isdisjoint(_contradicted_kinds(one)) or _has_other_unit(one, in_quotes))
        and not any(may_be_same(one, other) for other in in_quotes)
        and not any(_agree(one, other) for other in in_question)
    ]


def _quantities_of_all(quotes: Sequence[str]) -> list[Quantity]:
    return [one for quote in quotes for one in quantities(RAISED_MARK.sub(" ", quote))]


def _kinds_unnamed(own: Sequence[Quantity], in_quotes: Mapping[Quantity, int]) -> set[str]:
    """Kinds left of the quotes' quantities when each of the claim's has taken one that agrees with it.

    Those of its own kind come first: a plain 6 must not take the 6 months that a claimed 2 contradicts.
    """
    left, unmatched = dict(in_quotes), []
    for one in own:
        if not _count_down_first(
            left, (other for other in left if other.kind == one.kind and _same_amount(one, other))
        ):
            unmatched.append(one)
    for one in unmatched:
        _count_down_first(left, (other for other in left if other.kind != one.kind and _agree(one, other)))
    return {one.kind for one in left if not one.is_vague}


def _count_down_first(left: dict[Quantity, int], agreeing: Iterable[Quantity]) -> bool:
    """Count down the first of `agreeing`; whether there was one."""
    taken = next(iter(agreeing), None)
    if taken is None:
        return False
    left[taken] -= 1
    if not left[taken]:
        del left[taken]
    return True


def _contradicted_kinds(claimed: Quantity) -> set[str]:
    """The kinds of quantities it can contradict: 9013, a mistake for 2013, is not read as a year."""
    is_like_year = claimed.kind == PLAIN and len(claimed.written) == 4 and claimed.written.isdigit()
    return {PLAIN, YEAR} if is_like_year else {claimed.kind}


def _has_other_unit(claimed: Quantity, in_quotes: Iterable[Quantity]) -> bool:
    """Whether a quote has the numeral with a unit of another kind: "5 mg" is not "5 ml"."""
    return claimed.has_unit and any(
        other.has_unit and other.kind != claimed.kind and abs(other.bare) == abs(claimed.bare) for other in in_quotes
    )


def _agree(claimed: Quantity, given: Quantity) -> bool:
    """Whether two numbers may be the same; the unit of one may stand elsewhere, in the header of a table."""
    is_one_plain = PLAIN in (claimed.kind, given.kind) and not _are_opposite(claimed, given)
    return may_be_same(claimed, given) or (
        is_one_plain and (claimed.bare == given.bare or claimed.value == given.value)
    )


def may_be_same(claimed: Quantity, given: Quantity) -> bool:
    """Whether two quantities may be the same; 45 in "4 of 45 patients" is not the 45 of a claimed 45 %."""
    if claimed.kind == given.kind:
        return _same_amount(claimed, given)
    if _are_opposite(claimed, given):
        return False
    if _is_per_left_out(claimed, given):
        return claimed.bare == given.bare
    if given.kind == PLAIN and claimed.kind == PERCENT:
        return given.value * 100 == claimed.value
    if given.kind == PLAIN and claimed.kind == YEAR:
        return given.value == claimed.value
    if claimed.kind == PLAIN and given.kind == PERCENT and claimed.value * 100 == given.value:
        return True
    return claimed.kind == PLAIN and claimed.bare == given.bare


def _are_opposite(one: Quantity, other: Quantity) -> bool:
    """One is an upper and one a lower limit: "at least 10" says nothing of "at most 10"."""
    return one.bound != other.bound and {one.bound, other.bound} == {"more", "less"}


def _is_per_left_out(one: Quantity, other: Quantity) -> bool:
    """ "5 mg" of "5 mg/day": what it is divided by may stand elsewhere."""
    short, long = sorted((one.kind, other.kind), key=len)
    return long.startswith(f"{short}/")


def _same_amount(claimed: Quantity, given: Quantity) -> bool:
    amount, other = claimed.value, given.value
    if not claimed.is_signed or not given.is_signed:
        amount, other = abs(amount), abs(other)
    if _are_opposite(claimed, given):
        return False
    if amount == other or _is_score_of_hundred(claimed, given):
        return True
    if claimed.kind == P_VALUE and claimed.bound in ("more", "less") and amount in _SIGNIFICANCE_LEVELS:
        return other < amount if claimed.bound == "less" else other > amount
    if given.bound or amount * other <= 0:
        return False
    if claimed.bound in ("more", "less"):
        return _is_within_bound(claimed.bound, abs(amount), abs(other))
    return _is_rounded(claimed, amount, given, other)


def _is_rounded(claimed: Quantity, amount: Decimal, given: Quantity, other: Decimal) -> bool:
    if abs(amount - other) * 2 > abs(amount) or claimed.n_digits >= given.n_digits:
        return False  # the first for speed: rounding moves no number by more than half of what is left of it
    is_rounded = _rounded(other / claimed.scale, claimed.written) == amount / claimed.scale
    if claimed.bound == "about":
        return is_rounded or abs(amount - other) <= _ROUNDED_SHARE * abs(other)
    return is_rounded and (claimed.n_digits > 1 or _is_close_measurement(claimed, given))


def _is_close_measurement(claimed: Quantity, given: Quantity) -> bool:
    """Whether a single digit stands for a measured value: 60 for 59.8, but not for 59 people or a p value."""
    is_measured = "." in given.written and claimed.kind != P_VALUE
    return is_measured and abs(abs(claimed.value) - abs(given.value)) <= _ROUNDED_SHARE * abs(given.value)


def _is_score_of_hundred(one: Quantity, other: Quantity) -> bool:
    """ "F1 of 93.2" for 0.932, where at least three digits agree."""
    if one.kind != PLAIN or other.kind != PLAIN or (one.value < 1) == (other.value < 1):
        return False
    return min(one.value, other.value) * 100 == max(one.value, other.value) and min(one.n_digits, other.n_digits) > 2


def _is_within_bound(bound: str, limit: Decimal, value: Decimal) -> bool:
    """Whether a limit is true of a value and close enough to say something."""
    low, high = (limit, value) if bound == "more" else (value, limit)
    return low <= high <= low * _BOUND_FACTOR


def _rounded(value: Decimal, like: str) -> Decimal:
    """A value rounded to the precision a number is written with."""
    zeros = len(like) - len(like.rstrip("0")) if "." not in like else 0
    exponent = -len(like.partition(".")[2]) if "." in like else zeros
    step = Decimal(1).scaleb(exponent)
    return (value / step).to_integral_value(rounding="ROUND_HALF_UP") * step
