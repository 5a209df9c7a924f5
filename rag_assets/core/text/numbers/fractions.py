"""Shares and multiples in words: "half", "two thirds", "twice", "threefold"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from rag_assets.core.text.numbers.words import ONES, TENS, UP_TO_NINETEEN

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


@dataclass(frozen=True, slots=True)
class Fraction:
    """A share or a multiple."""

    value: Decimal
    start: int
    end: int
    """It is `text[start:end]`."""

    def is_about(self, value: Decimal, tolerance: Decimal) -> bool:
        """Whether a value is it, up to that share of it."""
        return abs(abs(value) - self.value) <= tolerance * self.value


def fractions(text: str) -> Iterator[Fraction]:
    """In order."""
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
