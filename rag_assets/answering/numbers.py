"""The quantities of a text, and whether a claim contradicts the quotes it rests on.

A quantity has a kind: percent, year, a dimension (mass, length, ...), a compound unit ("ng/ml"), a p value, or a plain
number. Only quantities of one kind can contradict each other. Digits inside names (COVID-19, IL-6), reference marks
([12], Smith et al., 2019) and the numbers of figures, tables, sections and pages are no quantities. What is told
apart by a number ("type 2", "phase 3") is a kind of its own.

No arithmetic is done: a difference or a share that a claim computes from its quotes counts as not held by them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from rag_assets.answering.reference_marks import REFERENCE_MARK

PLAIN, PERCENT, YEAR, P_VALUE = "plain", "percent", "year", "p value"

_DIMENSIONS: dict[str, dict[str, str]] = {
    "mass": {"ng": "1e-9", "µg": "1e-6", "mcg": "1e-6", "mg": "1e-3", "g": "1", "grams": "1", "gram": "1", "kg": "1e3"},
    "length": {"nm": "1e-9", "µm": "1e-6", "mm": "1e-3", "cm": "1e-2", "m": "1", "km": "1e3", "metres": "1"}
    | {"meter": "1", "metre": "1", "meters": "1", "kilometres": "1e3", "kilometers": "1e3"},
    "volume": {"µl": "1e-6", "ml": "1e-3", "dl": "1e-1", "l": "1", "litres": "1", "liters": "1"},
    "time": {"ns": "1e-9", "µs": "1e-6", "ms": "1e-3", "s": "1", "sec": "1", "second": "1", "seconds": "1"}
    | {"min": "60", "mins": "60", "minute": "60", "minutes": "60", "h": "3600", "hr": "3600", "hrs": "3600"}
    | {"hour": "3600", "hours": "3600", "day": "86400", "days": "86400", "week": "604800", "weeks": "604800"},
    "months": {"month": "1", "months": "1", "year": "12", "years": "12", "yr": "12", "yrs": "12"},
    "temperature": {"°c": "1"},
    "frequency": {"hz": "1", "khz": "1e3", "mhz": "1e6", "ghz": "1e9"},
    "energy": {"kj": "1e3", "kcal": "4184"},
    "voltage": {"mv": "1e-3", "kv": "1e3"},
    "storage": {"kb": "1e3", "mb": "1e6", "gb": "1e9", "tb": "1e12"},
    PERCENT: {"%": "1", "percent": "1", "per cent": "1", "percentage points": "1"},
}
_UNITS = {unit: (kind, Decimal(f)) for kind, units in _DIMENSIONS.items() for unit, f in units.items()}
_MULTIPLIERS = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9}
_WORDS = dict(
    zip(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split(),
        range(2, 21),
        strict=True,
    )
)
"""Without "one", which is a pronoun more often than a number."""
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_CLEANED = str.maketrans({"μ": "µ", "−": "-", "﹣": "-", "－": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " "})

_LABEL = re.compile(
    r"\b(?:(?:figs?|figures?|tables?|tabs?|sections?|sects?|eqs?|equations?|refs?|references?|chapters?|appendix|pages?|"
    r"algorithms?|steps?)\.?\s?|pp?\.\s?(?=\d+\b(?!\.\d)))"
    r"\(?S?\d+(?:\.\d+)*[a-z]?\b\)?(?:(?: and| to|–|-)\s?\(?\d+(?:\.\d+)*[a-z]?\b\)?(?!\s?%))*",
    re.IGNORECASE,
)
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_QUANTITY = re.compile(
    r"(?P<sign>(?<![\w.)\]])[+-])?"
    r"(?<![\w.])(?<![A-Za-z][-/])"
    r"(?P<number>\d{1,3}(?:[ ,]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?:e(?P<e>[+-]?\d{1,3})\b|\s?[×x*]\s?10(?P<power>\^\{?-?\d{1,3}\}?|-\d{1,2}\b|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))?"
    rf"(?:[ -]?(?P<times>{'|'.join(_MULTIPLIERS)})\b)?"
    rf"(?:[ -]?(?P<unit>{_UNIT})(?:(?<=%)|(?![A-Za-z]))(?P<per>/[a-zµ]{{1,5}}\b)?)?"
    r"(?P<rest>-?[A-Za-z][\w-]*)?",
    re.IGNORECASE,
)
_NUMBER_WORD = re.compile(
    rf"(?<![\w-])(?P<word>{'|'.join(_WORDS)})(?:[ -](?P<unit>{_UNIT})\b|(?![\w-]))", re.IGNORECASE
)
_SAME_UNIT = re.compile(r"\s?(?:[-–—/±,]|to|and|or|through)\s?(?:\+/-\s?)?", re.IGNORECASE)
"""What stands between two numbers of which only the second has the unit: "5-7 mg", "5 to 7 mg", "3 ± 1 mg"."""
_P_BEFORE = re.compile(r"\bp(?:[- ]?values?)?\s?(?:[=<>≤≥]|of|was|is|below|under)?\s?(?:than )?$", re.IGNORECASE)
_NUMBERED = re.compile(
    r"\b(type|phase|grade|stage|class|group|arm|cohort|study|trial|experiment|hypothesis)s?\s$", re.IGNORECASE
)
"""What is told apart by a number: type 2 diabetes, a phase 3 trial."""
_ABOUT_BEFORE = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca\.?|close to|just (?:over|under))|"
    r"[~≈])\s?$",
    re.IGNORECASE,
)
_MORE_BEFORE = re.compile(
    r"(?:\b(?:over|more than|greater than|above|at least|exceed(?:s|ed|ing)|no fewer than|no less than)|[>≥])\s?$",
    re.IGNORECASE,
)
_LESS_BEFORE = re.compile(
    r"(?:\b(?:under|less than|fewer than|below|at most|up to|no more than|smaller than)|[<≤])\s?$", re.IGNORECASE
)
_EQUALS_BEFORE = re.compile(r"=\s?$")
_PLURAL_AFTER = re.compile(r"\s[a-z]{2,}s\b")
_BARE_IN_BRACKETS = re.compile(r"\(\s?\d+\s?\)")
_SIGNIFICANCE_LEVELS = {Decimal(level) for level in ("0.1", "0.05", "0.01", "0.005", "0.001", "0.0001")}
_BEFORE_CHARS = 24
_ROUNDED_SHARE = Decimal("0.05")
_BOUND_FACTOR = 2


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text, with what it measures."""

    value: Decimal
    """In the base unit of its kind: grams, metres, litres, seconds, months."""
    kind: str
    written: str
    """The digits as they stand, without thousands' separators; how precise the number is follows from them."""
    scale: Decimal = Decimal(1)
    """What the written number was multiplied with to become `value`."""
    bound: str = ""
    """ "about", "more" or "less" when a word or sign before it says so."""
    is_signed: bool = False
    """The sign is written, or the number stands after "=" where a missing sign means plus."""
    is_word: bool = False

    @property
    def bare(self) -> Decimal:
        """The number as written, without its unit."""
        return self.value / self.scale

    @property
    def n_digits(self) -> int:
        """Significant digits; zeros at the end of a whole number do not count."""
        digits = self.written.lstrip("+-").replace(".", "").lstrip("0")
        return len(digits if "." in self.written else digits.rstrip("0")) or 1


def quantities(text: str) -> list[Quantity]:
    """The quantities of a text in order."""
    cleaned = _without_references(text.translate(_CLEANED))
    found = sorted([*_written_in_digits(cleaned), *_written_in_words(cleaned)], key=lambda item: item[0])
    return [one for _, _, one in _with_shared_units(cleaned, found)]


def held_share(claim: str, quotes: Sequence[str], question: str) -> float | None:
    """Share of the claim's quantities that a quote or the question holds; None when it has none."""
    own = quantities(claim)
    holding = [one for text in (*quotes, question) for one in quantities(text)]
    return sum(any(_agree(one, other) for other in holding) for one in own) / len(own) if own else None


def contradictions(claim: str, quotes: Sequence[str], question: str) -> list[Quantity]:
    """The quantities of the claim that neither a quote nor the question holds while a quote says otherwise.

    "Otherwise" is a quantity of the same kind that the claim does not name. Small numbers written as words contradict
    nothing: "two groups" and "five weeks" count different things.
    """
    own = quantities(claim)
    in_quotes = [one for quote in quotes for one in quantities(quote)]
    in_question = quantities(question)
    unnamed = {one.kind for one in _unnamed(own, in_quotes) if not one.is_word}
    return [
        one
        for one in own
        if one.kind in unnamed
        and not one.is_word
        and not any(_agree_in_kind(one, other) for other in in_quotes)
        and not any(_agree(one, other) for other in in_question)
    ]


def _unnamed(own: Sequence[Quantity], in_quotes: Sequence[Quantity]) -> list[Quantity]:
    """What is left of the quotes' quantities when each of the claim's has taken one that agrees with it."""
    left = list(in_quotes)
    for one in own:
        if (agreeing := next((other for other in left if _agree(one, other)), None)) is not None:
            left.remove(agreeing)
    return left


def _agree(claimed: Quantity, given: Quantity) -> bool:
    """Whether two numbers may be the same; the unit of one may stand elsewhere, in the header of a table."""
    is_one_plain = PLAIN in (claimed.kind, given.kind)
    return _agree_in_kind(claimed, given) or (
        is_one_plain and (claimed.bare == given.bare or claimed.value == given.value)
    )


def _agree_in_kind(claimed: Quantity, given: Quantity) -> bool:
    """As `_agree`, but 45 in "4 of 45 patients" is not the 45 of a claimed 45 %."""
    if claimed.kind == given.kind:
        return _same_amount(claimed, claimed.value, given, given.value)
    if given.kind == PLAIN and claimed.kind == PERCENT:
        return given.value * 100 == claimed.value
    if given.kind == PLAIN and claimed.kind == YEAR:
        return given.value == claimed.value
    if claimed.kind == PLAIN and given.kind == PERCENT and claimed.value * 100 == given.value:
        return True
    return claimed.kind == PLAIN and claimed.bare == given.bare


def _same_amount(claimed: Quantity, amount: Decimal, given: Quantity, other: Decimal) -> bool:
    if not claimed.is_signed or not given.is_signed:
        amount, other = abs(amount), abs(other)
    if amount == other:
        return True
    if claimed.kind == P_VALUE and claimed.bound == "less" and amount in _SIGNIFICANCE_LEVELS:
        return not given.bound and other < amount
    if given.bound or claimed.n_digits >= given.n_digits or amount * other <= 0:
        return False
    if claimed.bound in ("more", "less"):
        return _keeps_bound(claimed.bound, abs(amount), abs(other))
    is_rounded = _rounded(other / claimed.scale, claimed.written) == amount / claimed.scale
    if claimed.bound == "about":
        return is_rounded or abs(amount - other) <= _ROUNDED_SHARE * abs(other)
    return is_rounded and claimed.n_digits > 1


def _keeps_bound(bound: str, limit: Decimal, value: Decimal) -> bool:
    """Whether a limit is true of a value and not so far from it that it misleads."""
    low, high = (limit, value) if bound == "more" else (value, limit)
    return low <= high and (high <= low * _BOUND_FACTOR)


def _rounded(value: Decimal, like: str) -> Decimal:
    """A value rounded to the precision a number is written with."""
    zeros = len(like) - len(like.rstrip("0")) if "." not in like else 0
    exponent = -len(like.partition(".")[2]) if "." in like else zeros
    step = Decimal(1).scaleb(exponent)
    return (value / step).to_integral_value(rounding="ROUND_HALF_UP") * step


def _without_references(text: str) -> str:
    """The text with reference marks and the numbers of figures, tables and the like blanked out, offsets kept."""
    for pattern in (REFERENCE_MARK, _LABEL, _BARE_IN_BRACKETS):
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return text


def _written_in_digits(text: str) -> Iterator[tuple[int, int, Quantity]]:
    for match in _QUANTITY.finditer(text):
        if not _is_name(match):
            yield match.start(), match.end(), _quantity(text, match)


def _is_name(match: re.Match[str]) -> bool:
    """Letters directly behind the digits that are no unit: 5-HT, 3D, 2nd; "28-fold" and "12-item" are counts."""
    rest = match["rest"]
    return bool(rest) and not match["unit"] and not re.fullmatch(r"-[a-z][a-z-]{2,}", rest)


def _quantity(text: str, match: re.Match[str]) -> Quantity:
    before = text[max(0, match.start() - _BEFORE_CHARS) : match.start()]
    digits = match["number"].replace(",", "").replace(" ", "")
    scale = Decimal(1).scaleb(_exponent(match))
    kind = _kind_of(match, text, before)
    if match["unit"] and not match["per"]:
        scale *= _UNITS[match["unit"].lower()][1]
    sign = match["sign"] or ""
    return Quantity(
        value=Decimal(sign + digits) * scale,
        kind=kind,
        written=digits,
        scale=scale,
        bound=_bound_of(before),
        is_signed=bool(sign) or _EQUALS_BEFORE.search(before) is not None,
    )


def _exponent(match: re.Match[str]) -> int:
    power = match["e"] or (match["power"] or "").translate(_SUPERSCRIPTS).strip("^{}") or "0"
    return int(power) + _MULTIPLIERS.get((match["times"] or "").lower(), 0)


def _kind_of(match: re.Match[str], text: str, before: str) -> str:
    if match["unit"]:
        kind = _UNITS[match["unit"].lower()][0]
        return f"{match['unit']}{match['per']}".lower() if match["per"] else kind
    if numbered := _NUMBERED.search(before):
        return numbered[1].lower()
    if _P_BEFORE.search(before):
        return P_VALUE
    number = match["number"]
    if number.isdigit() and len(number) == 4 and "1500" <= number < "2100" and not _counts(text, match, before):
        return YEAR
    return PLAIN


def _counts(text: str, match: re.Match[str], before: str) -> bool:
    """Whether a number that could be a year counts things: "2000 patients", "n = 1999"."""
    return bool(match["sign"] or _EQUALS_BEFORE.search(before) or _PLURAL_AFTER.match(text, match.end()))


def _bound_of(before: str) -> str:
    for bound, pattern in (("about", _ABOUT_BEFORE), ("more", _MORE_BEFORE), ("less", _LESS_BEFORE)):
        if pattern.search(before):
            return bound
    return ""


def _written_in_words(text: str) -> Iterator[tuple[int, int, Quantity]]:
    for match in _NUMBER_WORD.finditer(text):
        value = _WORDS[match["word"].lower()]
        kind, factor = _UNITS[match["unit"].lower()] if match["unit"] else (PLAIN, Decimal(1))
        is_word = not match["unit"]
        yield match.start(), match.end(), Quantity(value * factor, kind, str(value), factor, is_word=is_word)


def _with_shared_units(text: str, found: list[tuple[int, int, Quantity]]) -> list[tuple[int, int, Quantity]]:
    """Give a number without unit the one of the number it is joined to on its right."""
    shared = list(found)
    for left in reversed(range(len(found) - 1)):
        (start, end, one), (next_start, _, other) = shared[left], shared[left + 1]
        has_unit = other.kind not in (PLAIN, YEAR, P_VALUE)
        if one.kind == PLAIN and has_unit and _SAME_UNIT.fullmatch(text, end, next_start):
            scale = one.scale * other.scale
            shared[left] = (start, end, replace(one, value=one.bare * scale, kind=other.kind, scale=scale))
    return shared
