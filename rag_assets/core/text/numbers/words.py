"""Number words of English and their values, and shares and multiples in words: "half", "two thirds", "twice"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

UP_TO_NINETEEN = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
ONES = {word: value for word, value in UP_TO_NINETEEN.items() if 0 < value < 10}
POWERS_OF_TEN = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""Exponents."""
IN_WORDS = {str(value): word for word, value in (UP_TO_NINETEEN | TENS).items()} | {
    str(ten + one): word + its for word, ten in TENS.items() for its, one in ONES.items()
}
"""The numbers from 0 to 99 as one word, "twentyfive": as a text reads without hyphens."""
_PARTS = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
"""Singular, or without the s of the plural."""
_WORTH = {
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
    rf"|\b(?P<word>{'|'.join(_WORTH)})\b"
    rf"|\b(?P<of>{_COUNT}) (?:in|out of) (?:every )?(?P<base>{'|'.join([*UP_TO_NINETEEN, *TENS])})\b"
    rf"|\b(?P<times>{_COUNT})(?:[- ]?fold| times (?:as|more|higher|larger|the)\b)",
    re.IGNORECASE,
)


def value_in_words(words: Sequence[str]) -> int:
    """The value of number words: 2_300_005 of "two million three hundred thousand five"."""
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
    """A share or a multiple."""

    value: Decimal
    start: int
    end: int
    """The fraction is `text[start:end]`."""

    def is_about(self, value: Decimal, tolerance: Decimal) -> bool:
        """Whether a value differs from it by at most the share `tolerance`."""
        return abs(abs(value) - self.value) <= tolerance * self.value


def fractions(text: str) -> Iterator[Fraction]:
    """The fractions of a text, in order."""
    for match in _FRACTION.finditer(text):
        if match["part"]:
            n_parts = _PARTS[match["part"].lower().removesuffix("s")]
            value = Decimal(ONES[match["count"].lower()] if match["count"] else 1) / n_parts
        elif match["of"]:
            value = Decimal(ONES[match["of"].lower()]) / (UP_TO_NINETEEN | TENS)[match["base"].lower()]
        elif match["times"]:
            value = Decimal(ONES[match["times"].lower()])
        else:
            value = Decimal(_WORTH[match["word"].lower()])
        yield Fraction(value, *match.span())
