"""Rewrites numbers and their units in one spelling, so that `quantities` finds all of them.

"９０﹪", "90 %" with an invisible character in between, "[90]%", "x90%" and "1O%" all become a number
before a per cent sign, "0·71" becomes "0.71" and "2002–03" becomes "2002–2003". Offsets change.

The module also has the units of measurement with their scale (their value in the base unit of their
kind), the English number words, and shares and multiples in words ("half", "twice").
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rag_assets.core.text.folding import scripts_as_plain

PERCENT, POINTS = "percent", "points"
"""Points are differences of percentages, or of values on a scale: "3.5 points" is not 3.5
percent."""

_UNITS_BY_WORTH: dict[str, dict[str, str]] = {
    "mass": {
        "1e-12": "pg",
        "1e-9": "ng, nanograms",
        "1e-6": "µg, ug, mcg, microgram, micrograms",
        "1e-3": "mg, milligram, milligrams",
        "1": "gram, grams",
        "28.349523125": "oz, ounce, ounces",
        "1e3": "kg, kilogram, kilograms",
    },
    "length": {
        "1e-9": "nm, nanometres, nanometers",
        "1e-6": "µm, um, micrometres, micrometers",
        "1e-3": "mm, millimetres, millimeters",
        "1e-2": "cm, centimetres, centimeters",
        "1": "metre, metres, meter, meters",
        "1e3": "km, kilometres, kilometers",
    },
    "volume": {
        "1e-6": "µl, ul, microlitres, microliters",
        "1e-3": "ml, millilitres, milliliters",
        "1e-1": "dl",
        "1": "litre, litres, liter, liters",
    },
    "time": {
        "1e-9": "ns",
        "1e-6": "µs",
        "1e-3": "ms, msec, milliseconds",
        "1": "sec, secs, second, seconds",
        "60": "min, mins, minute, minutes",
        "3600": "hr, hrs, hour, hours",
        "86400": "day, days",
        "604800": "week, weeks",
    },
    "months": {"1": "month, months", "12": "year, years, yr, yrs"},
    "celsius": {"1": "°c, degrees celsius, degrees c"},
    "fahrenheit": {"1": "°f, degrees fahrenheit, degrees f"},
    "frequency": {"1": "hz", "1e3": "khz", "1e6": "mhz", "1e9": "ghz"},
    "energy": {"1e3": "kj", "4184": "kcal"},
    "voltage": {"1e-3": "mv", "1e3": "kv"},
    "pressure": {"1": "pa", "1e2": "hpa", "1e3": "kpa", "133.322": "mmhg, mm hg"},
    "storage": {"1e3": "kb", "1e6": "mb", "1e9": "gb", "1e12": "tb"},
    "substance": {
        "1e-12": "pmol",
        "1e-9": "nmol",
        "1e-6": "µmol, umol",
        "1e-3": "mmol",
        "1": "mol",
    },
    "activity": {"1e-3": "miu", "1": "iu"},
    "dose": {"1": "gy"},
    "weight of molecules": {"1": "da", "1e3": "kda"},
    "dollars": {"1": "$, usd, us$, dollars, dollar, us dollars"},
    "euros": {"1": "€, eur, euros, euro"},
    "pounds sterling": {"1": "£, gbp"},
    "yen": {"1": "¥, yen"},
    PERCENT: {
        "0.1": "‰, permille, per mille",
        "1": "%, percent, per cent, per-cent, pct, prozent",
    },
    POINTS: {
        "1": "percentage points, percentage point, percent points, prozentpunkte, punkte, pp, points, point"
    },
}
"""Kind of unit -> scale -> names of the units, in any case."""
_CASED: dict[str, tuple[str, str]] = {
    "g": ("mass", "1"),
    "m": ("length", "1"),
    "l": ("volume", "1"),
    "L": ("volume", "1"),
    "s": ("time", "1"),
    "h": ("time", "3600"),
    "pM": ("concentration", "1e-12"),
    "nM": ("concentration", "1e-9"),
    "µM": ("concentration", "1e-6"),
    "uM": ("concentration", "1e-6"),
    "mM": ("concentration", "1e-3"),
    "K": ("kelvin", "1"),
    "MPa": ("pressure", "1e6"),
    "GPa": ("pressure", "1e9"),
    "mGy": ("dose", "1e-3"),
    "MDa": ("weight of molecules", "1e6"),
    "MIU": ("activity", "1e6"),
}
"""Units in which capital and small letters differ: mM is not mm, 4G is not 4 g, and 5 M is 5
million."""
_UNITS = {
    name: (kind, Decimal(worth))
    for kind, by_worth in _UNITS_BY_WORTH.items()
    for worth, names in by_worth.items()
    for name in names.split(", ")
}


def _any_of(units: list[str]) -> str:
    return "|".join(re.escape(unit) for unit in sorted(units, key=len, reverse=True))


UNIT = rf"(?-i:{_any_of(list(_CASED))})(?![A-Za-z])|{_any_of(list(_UNITS))}"
"""Pattern of a unit, for use in case-insensitive patterns."""
PER = (
    rf"(?:(?:\s?/\s?| per )(?P<per>{UNIT})(?![A-Za-z])"
    r"|[ ·.]?(?P<inverse>(?-i:[mdµu]?[lL]|kg|m?g|min|s|h|day|m|cm))(?:\^-?|-)1(?!\d))?"
)
"""Pattern of a divisor after a unit: "/ml", " per day", " ml-1"."""
CURRENCIES = r"us\$|[$€£¥]|(?:usd|eur|gbp)(?=\s)"
SYMBOL = r"(?:%|percent\b|per[ -]?cent\b|pct\b|(?:[mµnk]g|[mµd]l|[mckn]m|k?hz|kcal|kj)\b|°[cf]\b)"
"""Pattern of units that never follow the number of a page or a reference."""


def measured_in(unit: str) -> tuple[str, Decimal]:
    """Kind and scale of a unit that `UNIT` matches: "mass" and 1000 for "kg"."""
    if unit in _CASED:
        kind, worth = _CASED[unit]
        return kind, Decimal(worth)
    return _UNITS[unit.lower()]


_PERCENT = r"(?:%|percent\b|per[ -]?cent\b|pct\b)"
_TAG = re.compile(r"<(?:(sup)|/?[a-z]{1,6})>", re.IGNORECASE)
_SIGNS = str.maketrans(
    {"º": "°", "˚": "°", "½": ".5", "¼": ".25", "¾": ".75", "٪": "%", "⁒": "%", "٫": "."}
)
_AFTER_FOLDING = str.maketrans(
    {"μ": "µ", "\u039c": "µ", "−": "-", "‐": "-", "‑": "-", "﹣": "-", "\u0131": "i", "\u0130": "I"}
)
"""Includes the Greek capital mu and the Turkish letters i, which case-insensitive patterns would
match as µ and i."""
_BLANKS = re.compile(r"\s+")
_ROUND_LETTERS = "oO\u043e\u041e\u03bf\u039f"
"""The letter O in Latin, Cyrillic and Greek, which text recognition confuses with 0."""
_AS_ZERO = str.maketrans(dict.fromkeys(_ROUND_LETTERS, "0"))
_LETTER_O = re.compile(
    rf"(?<![0-9{_ROUND_LETTERS}])([{_ROUND_LETTERS}]*+)([0-9][0-9{_ROUND_LETTERS}]*+)(?=\s?{_PERCENT})",
    re.IGNORECASE,
)
_SHORT_YEAR = re.compile(r"(?<![\w.,-])(1[5-9]|20)(\d\d)[-–/](\d\d)\b(?![-–/.,]\d)")
_REWRITTEN = tuple(
    (re.compile(pattern, re.IGNORECASE), written)
    for pattern, written in (
        (rf"(?<=\d)\s?[(\[{{]\s?({_PERCENT})\s?[)\]}}]", r" \1"),
        (rf"[(\[{{]\s?(\d[\d.,]{{0,20}})\s?[)\]}}](?=\s?{SYMBOL})", r" \1"),
        (rf"(?<=\d)[^\w\s%+<>=-]{{1,4}}\s?(?={_PERCENT})", " "),
        (rf"(?<=\d)[*_`]{{1,3}}\s?(?={SYMBOL})", " "),
        (r"(?<!\w)_{1,3}(?=\d)", " "),
        (r"(?<=[^\W\d])[-./]?(?=\.?\d[\d.,]{0,20}%)", " "),
        (r"(?<=[^\W\d])[-./]?(?=\.?\d[\d.,]{0,20}\s(?:percent|per[ -]?cent|pct)\b)", " "),
        (r"(?<!10)\^(?=\d{1,6}\s?%)", " "),
        (r"(?<=\d)[·∙⋅](?=\d)(?!10\^)", "."),
        (r"(?<![\d.,])(\d{1,3}), (?=0\d\d(?!\d))", r"\1,"),
        (
            r"(?<![\w.,])(0|\d+(?=,\d{1,2} ?[^\W\d_]|,\d{1,2} ?[%‰])),(?=\d+(?![\d,])(?! (?:and|or|to)\b))",
            r"\1.",
        ),
    )
)
"""Patterns and their replacements. They correct brackets and marks between a number and its unit, letters
right before a percentage, the raised decimal point, a blank inside "2, 000", and the decimal comma
of "0,71", "3,5 %" and "2,5 Punkte"."""


def normalized_numbers(text: str) -> str:
    """The text with plain characters, single blanks, powers as "10^5", and numbers right before
    their units."""
    untagged = _TAG.sub(lambda match: "^" if match[1] else "", text)
    folded = unicodedata.normalize("NFKC", scripts_as_plain(untagged.translate(_SIGNS))).translate(
        _AFTER_FOLDING
    )
    visible = "".join(_plain(character) for character in folded)
    plain = _LETTER_O.sub(
        lambda match: match[1] + match[2].translate(_AS_ZERO), _BLANKS.sub(" ", visible)
    )
    for pattern, written in _REWRITTEN:
        plain = pattern.sub(written, plain)
    return _SHORT_YEAR.sub(_in_full, plain)


def _plain(character: str) -> str:
    """A digit of any script as 0 to 9; nothing for an invisible character; others as they are."""
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return "" if unicodedata.category(character) == "Cf" else character


def _in_full(years: re.Match[str]) -> str:
    """ "2002–03" -> "2002–2003". "2020-03" stays, because it is March; the second year must be
    later."""
    century, first, second = years.groups()
    return f"{century}{first}–{century}{second}" if second > first else years[0]


UP_TO_NINETEEN = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
    )
}
ONES = {word: value for word, value in UP_TO_NINETEEN.items() if 0 < value < 10}
POWERS_OF_TEN = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12} | {
    "tausend": 3,
    "millionen": 6,
    "millones": 6,
    "milliarden": 9,
    "milliards": 9,
}
"""Word -> exponent of ten."""
_PARTS = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
"""Word without the "s" of the plural -> number of parts."""
_VALUE_OF_WORD = {
    "twice": "2",
    "double": "2",
    "doubled": "2",
    "doubling": "2",
    "triple": "3",
    "tripled": "3",
    "quadruple": "4",
    "halved": ".5",
}
_COUNT = "|".join(ONES)
_FRACTION = re.compile(
    rf"\b(?:(?P<count>{_COUNT})[ -])?(?P<part>half|halves|thirds?|quarters?|fifths?|tenths?)\b"
    r"(?= of (?!an?\b)| the\b| as\b|[,.;)]|$)"
    rf"|\b(?P<word>{'|'.join(_VALUE_OF_WORD)})\b"
    rf"|\b(?P<of>{_COUNT})(?: [a-z]+)? (?:in|out of) (?:every )?(?P<base>{'|'.join([*UP_TO_NINETEEN, *TENS])})\b"
    rf"|\b(?P<times>{_COUNT})(?:[- ]?fold| times (?:as|more|higher|larger|the)\b)",
    re.IGNORECASE,
)


def value_in_words(words: Sequence[str]) -> int:
    """The value of number words: "two million three hundred thousand five" -> 2_300_005."""
    total = group = 0
    for word in words:
        power = POWERS_OF_TEN.get(word)
        if power is None:
            group += 1 if word == "a" else (UP_TO_NINETEEN | TENS)[word]
        elif power == POWERS_OF_TEN["hundred"]:
            group *= 100
        else:
            total, group = total + group * 10**power, 0
    return total + group


@dataclass(frozen=True, slots=True)
class Fraction:
    """A share or a multiple in words: "half", "two thirds", "twice", "one in five"."""

    value: Decimal
    start: int
    end: int
    """The fraction is `text[start:end]`."""

    def is_about(self, value: Decimal, tolerance: Decimal) -> bool:
        """Whether `value` differs from the fraction by at most this share of the fraction."""
        return abs(abs(value) - self.value) <= tolerance * self.value


def fractions(text: str) -> Iterator[Fraction]:
    """The shares and multiples in words in a text, in order."""
    for match in _FRACTION.finditer(text):
        if match["part"]:
            n_parts = _PARTS[match["part"].lower().removesuffix("s")]
            value = Decimal(ONES[match["count"].lower()] if match["count"] else 1) / n_parts
        elif match["of"]:
            value = (
                Decimal(ONES[match["of"].lower()]) / (UP_TO_NINETEEN | TENS)[match["base"].lower()]
            )
        elif match["times"]:
            value = Decimal(ONES[match["times"].lower()])
        else:
            value = Decimal(_VALUE_OF_WORD[match["word"].lower()])
        yield Fraction(value, *match.span())
