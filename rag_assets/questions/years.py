"""The years by which a question names papers: "since 2019", "between 2015 and 2018"."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rag_assets.core.domain import NumberRange

_YEAR = r"(?:the year )?((?:19|20)\d\d)\b"
_YEARS = re.compile(
    rf"\b(?:(?:between|from) {_YEAR} (?:and|to|until) {_YEAR}|(of|in|from|since|after|before|until) {_YEAR})",
    re.IGNORECASE,
)
_RANGES: Mapping[str, Callable[[int], NumberRange]] = {
    "since": lambda year: NumberRange(year, None),
    "after": lambda year: NumberRange(year + 1, None),
    "before": lambda year: NumberRange(1, year - 1),
    "until": lambda year: NumberRange(1, year),
}
"""What a word before a year means; any other word means the year itself."""


@dataclass(frozen=True, slots=True)
class YearsAsked:
    """Years, and where a question has them."""

    years: NumberRange
    start: int
    end: int


def years_asked_for(question: str) -> Iterator[YearsAsked]:
    """In the order of the question; two years in the wrong order are no range."""
    for match in _YEARS.finditer(question):
        first, last, word, year = match.groups()
        if year:
            one = int(year)
            of_word = _RANGES.get(word.lower())
            yield YearsAsked(of_word(one) if of_word else NumberRange(one, one), *match.span())
        elif int(first) <= int(last):
            yield YearsAsked(NumberRange(int(first), int(last)), *match.span())
