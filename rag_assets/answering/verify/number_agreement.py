"""Whether two numbers may be the same one: rounded, in another unit, as a share, or within a limit.

`core.text.numbers` reads them; `claim_numbers` compares those of a claim with those of its quotes.
"""

from decimal import Decimal

from rag_assets.core.text.numbers.quantities import P_VALUE, PLAIN, YEAR, Quantity
from rag_assets.core.text.numbers.units import PERCENT

MAX_COMPARED = 100
"""A claim with more numbers is not compared, and not published: comparing takes quadratic time."""
_SIGNIFICANCE_LEVELS = {
    Decimal(level) for level in ("0.1", "0.05", "0.01", "0.005", "0.001", "0.0001")
}
_ROUNDED_SHARE = Decimal("0.05")
_BOUND_FACTOR = 10
"""A limit further from the value than this factor is true but says too little."""


def agree(claimed: Quantity, given: Quantity) -> bool:
    """Whether two numbers may be the same; the unit of one may be elsewhere, as in the header of a
    table."""
    if {claimed.bound, given.bound} == {"more", "less"}:
        return False  # "at least 10" does not confirm "at most 10"
    is_one_plain = PLAIN in (claimed.kind, given.kind)
    if is_one_plain and (claimed.bare == given.bare or claimed.value == given.value):
        return True
    if claimed.kind == given.kind:
        return _same_amount(claimed, given)
    if {claimed.kind, given.kind} == {PLAIN, PERCENT}:
        share, percentage = (claimed, given) if claimed.kind == PLAIN else (given, claimed)
        return share.value * 100 == percentage.value
    return _is_per_left_out(claimed, given) and claimed.bare == given.bare


def _is_per_left_out(one: Quantity, other: Quantity) -> bool:
    """Whether one lacks the divisor of the other: "5 mg" for "5 mg/day"."""
    short, long = sorted((one.kind, other.kind), key=len)
    return long.startswith(f"{short}/")


def _same_amount(claimed: Quantity, given: Quantity) -> bool:
    amount, other = claimed.value, given.value
    if not claimed.is_signed or not given.is_signed:
        amount, other = abs(amount), abs(other)
    if amount == other:
        return True
    if (
        claimed.kind == P_VALUE
        and claimed.bound in ("more", "less")
        and amount in _SIGNIFICANCE_LEVELS
    ):
        return other < amount if claimed.bound == "less" else other > amount
    if given.bound or amount * other <= 0 or claimed.kind == YEAR:
        return False
    if claimed.bound in ("more", "less"):
        return _is_within_bound(claimed.bound, abs(amount), abs(other))
    return _is_rounded(claimed, amount, given, other)


def _is_rounded(claimed: Quantity, amount: Decimal, given: Quantity, other: Decimal) -> bool:
    if abs(amount - other) * 2 > abs(amount) or claimed.n_digits >= given.n_digits:
        # the first for speed: rounding moves no number by more than half of what is left of it
        return False
    is_rounded = _rounded(other / claimed.scale, claimed.written) == amount / claimed.scale
    if claimed.bound == "about":
        return is_rounded or abs(amount - other) <= _ROUNDED_SHARE * abs(other)
    return is_rounded and (claimed.n_digits > 1 or _is_close_measurement(claimed, given))


def _is_close_measurement(claimed: Quantity, given: Quantity) -> bool:
    is_measured = "." in given.written and claimed.kind != P_VALUE
    return is_measured and abs(abs(claimed.value) - abs(given.value)) <= _ROUNDED_SHARE * abs(
        given.value
    )


def _is_within_bound(bound: str, limit: Decimal, value: Decimal) -> bool:
    low, high = (limit, value) if bound == "more" else (value, limit)
    return low <= high <= low * _BOUND_FACTOR


def is_rounded_to(claimed: Quantity, value: Decimal) -> bool:
    """Whether a computed value, not negative, is a claimed one, to the last digit that the claim
    writes."""
    step = Decimal(1).scaleb(-len(claimed.written.partition(".")[2])) * claimed.scale
    return abs(value - abs(claimed.value)) * 2 <= step


def _rounded(value: Decimal, like: str) -> Decimal:
    zeros = len(like) - len(like.rstrip("0")) if "." not in like else 0
    exponent = -len(like.partition(".")[2]) if "." in like else zeros
    step = Decimal(1).scaleb(exponent)
    return (value / step).to_integral_value(rounding="ROUND_HALF_UP") * step
