"""Finds the quantities of a text: numbers with the kind of thing that they measure.

The kind is percent, year, a dimension (mass, length, mass/volume, ...), a currency, p value, or
plain for a number without any of these. Digits inside names (COVID-19, IL-6), reference marks
([12], Smith et al., 2019) and the numbers of figures, tables, sections and pages are no quantities;
a number before "%" always is one. In "type 2" and "phase 3", the kind is "type" and "phase".
`spelling` prepares the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from rag_assets.core.text.number_spelling import (
    CURRENCIES,
    ONES,
    PER,
    PERCENT,
    POWERS_OF_TEN,
    SYMBOL,
    TENS,
    UNIT,
    UP_TO_NINETEEN,
    measured_in,
    normalized_numbers,
    value_in_words,
)
from rag_assets.core.text.sentences import REFERENCE_MARK

PLAIN, YEAR, P_VALUE, DECADE = "plain", "year", "p value", "decade"

_TIMES = "|".join(POWERS_OF_TEN)
_SHORT_MULTIPLIERS = {"k": 3, "m": 6, "b": 9, "bn": 9}
_SHORT_TIMES = r"bn|(?-i:M)(?!\s?=)|(?<=\d)(?-i:[kKB])|(?(currency)[mbk]|(?!))"
"""Abbreviated thousands, millions and billions: "56k", "110M", "7B", "2.5 bn", "€2.5m"; but the M of
"M = 3" is a mean."""
_MAX_SMALL = 9
"""Numbers in words up to this one ("two groups") contradict no other number."""

_LABEL = re.compile(
    r"\b(?:(?:figs?|figures?|tables?|tabs?|sections?|sects?|eqs?|equations?|refs?|references?|chapters?|appendix|pages?|"
    r"algorithms?|steps?)\.?\s?|pp?\.\s?(?=\d+\b(?!\.\d)))"
    rf"\(?S?\d++(?:\.\d+)*+[a-z]?\b\)?(?![.\d]*\s?(?:{UNIT})(?![A-Za-z]))"
    rf"(?:(?: and| to|–|-)\s?\(?\d++(?:\.\d+)*+[a-z]?\b\)?(?![.\d]*\s?{SYMBOL}))*",
    re.IGNORECASE,
)
_MARK = re.compile(rf"(?:{REFERENCE_MARK.pattern})(?!\s?{SYMBOL})")
_QUANTITY = re.compile(
    r"(?P<sign>(?<![\w.)\]])[+-])?"
    rf"(?:(?P<currency>{CURRENCIES})\s?)?"
    r"(?<![\w.^])(?<![A-Za-z][-/])"
    r"(?P<number>\d{1,3}(?:[ ,]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?:\^\{?(?P<raised>[+-]?\d{1,3})\b\}?)?"
    r"(?:e(?P<e>[+-]?\d{1,3})\b|\s?[×x*·]\s?10(?:\^\{?(?P<power>[+-]?\d{1,3})\}?|(?P<flat_power>-\d{1,2})\b))?"
    rf"(?:[ -]?(?P<times>{_TIMES}|{_SHORT_TIMES})\b)?"
    rf"(?:[ -]?(?P<unit>{UNIT})(?:(?<=%)|(?![A-Za-z]))(?:(?:\^|\s(?=[23]\b))?(?P<dimensions>[23])\b)?{PER})?"
    r"(?P<rest>-?[A-Za-z][\w-]*)?",
    re.IGNORECASE,
)
_UNIT_WORD = (
    rf"(?:{'|'.join(TENS)})(?:[- ](?:{'|'.join(ONES)}))?|{'|'.join(reversed(UP_TO_NINETEEN))}"
)
_HUNDREDS = rf"(?:{_UNIT_WORD})(?:[- ]hundred(?:[- ](?:and[- ])?(?:{_UNIT_WORD}))?)?"
_LARGE = "|".join(word for word, power in POWERS_OF_TEN.items() if power > 2)
_NUMBER_WORD = re.compile(
    rf"(?<![\w-])(?P<words>(?:a(?=[ -](?:{_TIMES})\b)(?:[ -]hundred\b)?|{_HUNDREDS})"
    rf"(?:[ -](?:{_LARGE})(?:[ -](?:and[ -])?(?:{_HUNDREDS}))?)*)(?![A-Za-z])"
    rf"(?:[ -]?(?P<unit>{UNIT})(?![A-Za-z]))?(?!-?\w)",
    re.IGNORECASE,
)
_SAME_UNIT = re.compile(r"\s?(?:[-–—/±,]|to|and|or|through)\s?(?:\+/-\s?)?", re.IGNORECASE)
"""Text between two numbers of which only the second has the unit: "5-7 mg", "5 to 7 mg", "3 ± 1
mg"."""
_P_BEFORE = re.compile(
    r"\bp(?:[- ]?values?)?\s?(?:(?:of|was|is|were|are)\s)?"
    r"(?:[=<>≤≥]{1,2}|(?:(?:not )?(?:below|under|above|over|less|greater|smaller|larger|lower|higher|more))?)?"
    r"\s?(?:than )?$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"\b(type|phase|grade|stage|class|group|arm|cohort|study|trial|experiment|hypothesis)s?\s$",
    re.IGNORECASE,
)
"""The word before a number that only counts: type 2 diabetes, a phase 3 trial."""
_MORE_WORDS, _LESS_WORDS = "more|greater|higher|larger", "less|fewer|lower|smaller"
_ABOUT = r"about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca\.?|close to|just (?:over|under)"
_BOUNDS = tuple(
    (bound, re.compile(pattern, re.IGNORECASE))
    for bound, pattern in (
        ("about", rf"(?:\b(?:{_ABOUT})|[~≈])\s?$"),
        (
            "less",
            rf"\b(?:no|not|never) (?:{_MORE_WORDS}|above|over|exceed(?:ing|s|ed)?) ?(?:than )?$",
        ),
        ("more", rf"\b(?:no|not|never) (?:{_LESS_WORDS}|below|under) ?(?:than )?$"),
        (
            "more",
            rf"(?:\b(?:over|(?:{_MORE_WORDS}) than|above|at least|minimum of|exceed(?:s|ed|ing)?)|[>≥]=?)\s?$",
        ),
        (
            "less",
            rf"(?:\b(?:under|(?:{_LESS_WORDS}) than|below|at most|up to|maximum of)|[<≤]=?)\s?$",
        ),
    )
)
_MORE_AFTER = re.compile(
    r"\s?(?:or|and) (?:more|above|over|older|higher|greater|longer)\b", re.IGNORECASE
)
_LESS_AFTER = re.compile(
    r"\s?(?:or|and) (?:less|fewer|below|under|younger|lower|shorter)\b", re.IGNORECASE
)
_EQUALS_BEFORE = re.compile(r"=\s?$")
_PLURAL_AFTER = re.compile(r"\s[a-z]{2,}s\b")
_BARE_IN_BRACKETS = re.compile(r"\(\s?\d+\s?\)")
_DECADE_BEFORE = re.compile(r"\b(?:their|his|her|early|late|mid)[ -]$", re.IGNORECASE)
_BEFORE_CHARS = 32


@dataclass(frozen=True)
class Quantity:
    """A number in a text, with the kind of thing that it measures."""

    value: Decimal
    """The value in the base unit of its kind: grams, metres, litres, seconds, months."""
    kind: str
    written: str
    """The digits in the text, without separators of thousands; they show the precision."""
    unit_scale: Decimal = Decimal(1)
    """The value of its unit in the base unit; 1000 for kg."""
    times: Decimal = Decimal(1)
    """The factor of its power of ten, or of a word such as "million"."""
    bound: str = ""
    """ "about", "more" or "less" if a word or sign next to the number says so; else empty."""
    is_signed: bool = False
    """Whether its sign is known: it is written, or the number follows "=", where a missing sign
    means plus."""
    has_unit: bool = False
    is_vague: bool = False
    """Whether the number may confirm another one but contradicts none: small numbers in words."""

    @property
    def bare(self) -> Decimal:
        """The number without its unit: 2,000,000 of "2 million dollars"."""
        return self.value / self.unit_scale

    @property
    def scale(self) -> Decimal:
        """`value` divided by the written digits."""
        return self.unit_scale * self.times

    @cached_property
    def n_digits(self) -> int:
        """Number of significant digits; zeros at the end of a whole number do not count."""
        digits = self.written.lstrip("+-").replace(".", "").lstrip("0")
        return len(digits if "." in self.written else digits.rstrip("0")) or 1


def quantities(text: str) -> list[Quantity]:
    """The quantities of a text, in order."""
    return [quantity for _, _, quantity in placed_quantities(normalized_numbers(text))]


def placed_quantities(normalized: str) -> list[tuple[int, int, Quantity]]:
    """Start, end and value of each quantity in a text, which `normalized_numbers` returned."""
    cleaned = _without_references(normalized)
    placed = sorted(
        [*_written_in_digits(cleaned), *_written_in_words(cleaned)], key=lambda item: item[0]
    )
    return _with_shared_units(cleaned, placed)


def _without_references(text: str) -> str:
    """The text with blanks in place of reference marks, numbers of figures and the like; offsets
    stay the same."""
    for pattern in (_MARK, _LABEL, _BARE_IN_BRACKETS):
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return text


def _written_in_digits(text: str) -> Iterator[tuple[int, int, Quantity]]:
    for match in _QUANTITY.finditer(text):
        if not _is_name(match):
            yield match.start(), match.end(), _quantity(text, match)


def _is_name(match: re.Match[str]) -> bool:
    """Whether the digits are part of a name, because letters that are no unit follow: 5-HT, 3D,
    2nd. "28-fold" and "12-item" are numbers."""
    rest = match["rest"]
    return bool(rest) and not match["unit"] and not re.fullmatch(r"-[a-z][a-z-]{2,}", rest)


def _quantity(text: str, match: re.Match[str]) -> Quantity:
    """The quantity of a match of `_QUANTITY`. The text before it decides its kind, if it has no
    unit, and its bound."""
    before = text[max(0, match.start() - _BEFORE_CHARS) : match.start()]
    digits = match["number"].replace(",", "").replace(" ", "")
    times = Decimal(1).scaleb(_exponent(match))
    measure, unit_scale = None, Decimal(1)
    if _is_decade(match, before):
        kind = DECADE
    elif measure := _measure_of(match):
        kind, unit_scale = measure
    else:
        kind = _kind_without_unit(match, text, before)
    sign = match["sign"] or ""
    return Quantity(
        value=Decimal(sign + digits) * times * unit_scale,
        kind=kind,
        written=digits,
        unit_scale=unit_scale,
        times=times,
        bound=_bound_of(text, match.end(), before),
        is_signed=bool(sign) or _EQUALS_BEFORE.search(before) is not None,
        has_unit=measure is not None,
    )


def _exponent(match: re.Match[str]) -> int:
    """The power of ten of a number: 5 for "10^5", -3 for "2e-3", 6 for "2 million"."""
    raised = int(match["raised"]) - 1 if match["raised"] and match["number"] == "10" else 0
    power = match["e"] or match["power"] or match["flat_power"] or "0"
    times = (match["times"] or "").lower()
    return raised + int(power) + (POWERS_OF_TEN | _SHORT_MULTIPLIERS).get(times, 0)


def _is_decade(match: re.Match[str], before: str) -> bool:
    """Whether the "s" after a number is a plural, not the unit of seconds: "1990s", "in their
    50s"."""
    if (
        match["unit"] != "s"
        or match.start("unit") != match.end("number")
        or not match["number"].endswith("0")
    ):
        return False
    return _is_like_year(match["number"]) or (
        len(match["number"]) == 2 and bool(_DECADE_BEFORE.search(before))
    )


def _is_like_year(number: str) -> bool:
    return number.isdigit() and len(number) == 4 and "1500" <= number < "2100"


def _measure_of(match: re.Match[str]) -> tuple[str, Decimal] | None:
    """Kind and scale of the unit, also of a compound one: "ng/ml" is "mass/volume" with scale 1e-6;
    None without a unit or currency."""
    unit = match["unit"] if not match["currency"] or match["unit"] == "%" else None
    if not (unit or match["currency"]):
        return None
    kind, scale = measured_in(unit or match["currency"])
    if unit and match["dimensions"]:
        kind, scale = f"{kind}^{match['dimensions']}", scale ** int(match["dimensions"])
    if divisor := match["per"] or match["inverse"]:
        divisor_kind, divisor_scale = measured_in(divisor)
        kind, scale = f"{kind}/{divisor_kind}", scale / divisor_scale
    return kind, scale


def _kind_without_unit(match: re.Match[str], text: str, before: str) -> str:
    if numbered := _NUMBERED.search(before):
        return numbered[1].lower()
    if _P_BEFORE.search(before):
        return P_VALUE
    return YEAR if _is_like_year(match["number"]) and not _counts(text, match, before) else PLAIN


def _counts(text: str, match: re.Match[str], before: str) -> bool:
    """Whether a number that looks like a year counts things: "2000 patients", "n = 1999"."""
    return bool(
        match["sign"] or _EQUALS_BEFORE.search(before) or _PLURAL_AFTER.match(text, match.end())
    )


def _bound_of(text: str, end: int, before: str) -> str:
    """The value of `Quantity.bound`. before: the text before the number; end: its end."""
    if _MORE_AFTER.match(text, end):
        return "more"
    if _LESS_AFTER.match(text, end):
        return "less"
    return next((bound for bound, pattern in _BOUNDS if pattern.search(before)), "")


def _written_in_words(text: str) -> Iterator[tuple[int, int, Quantity]]:
    for match in _NUMBER_WORD.finditer(text):
        words = [word for word in re.split(r"[ -]", match["words"].lower()) if word != "and"]
        kind, unit_scale = measured_in(match["unit"]) if match["unit"] else (PLAIN, Decimal(1))
        if words == ["one"] and kind != PERCENT:
            continue
        number = value_in_words(words)
        before = text[max(0, match.start() - _BEFORE_CHARS) : match.start()]
        quantity = Quantity(
            value=number * unit_scale,
            kind=kind,
            written=str(number),
            unit_scale=unit_scale,
            bound=_bound_of(text, match.end(), before),
            has_unit=bool(match["unit"]),
            is_vague=not match["unit"] and (number <= _MAX_SMALL or words[0] == "a"),
        )
        yield match.start(), match.end(), quantity


def _with_shared_units(
    text: str, placed: list[tuple[int, int, Quantity]]
) -> list[tuple[int, int, Quantity]]:
    """The quantities; a plain number gets the unit of the one after it in "5-7 mg" and "3 ± 1 mg".
    From right to left, so that "3, 5 and 7 mg" is three masses."""
    shared = list(placed)
    for left in reversed(range(len(placed) - 1)):
        (start, end, quantity), (next_start, _, following) = shared[left], shared[left + 1]
        has_kind = following.kind not in (PLAIN, YEAR, P_VALUE)
        if quantity.kind == PLAIN and has_kind and _SAME_UNIT.fullmatch(text, end, next_start):
            with_unit = replace(
                quantity,
                value=quantity.value * following.unit_scale,
                kind=following.kind,
                unit_scale=following.unit_scale,
                has_unit=following.has_unit,
            )
            shared[left] = (start, end, with_unit)
    return shared
