"""Filters: conditions for the passages that a search may return, and the syntax in which people
write them.

`paper:smith2020,"jones 2021" section:results page:3-7 -source:text year:2019-`: conditions are
separated by blanks, and all must hold; values are separated by commas, and one must apply; a minus
excludes. `search.retrieval.filtering` applies filters to passages.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Self, TypeVar

from rag_assets.core.domain.documents import SectionKind, SourceFormat
from rag_assets.core.errors import InvalidFilter

EXAMPLE = "paper:smith2020,jones2021 section:results page:3-7 -source:text"
MAX_FILTER_CHARS, MAX_PAPERS_NAMED = 10_000, 1000
"""Limits of one request."""
_CONDITION = re.compile(r'(?P<minus>-?)(?P<field>[^\s:"]*):(?P<values>(?:"[^"]*"|[^\s"])*)(?=\s|$)')
_UP_TO_COMMA = re.compile(r'(?<![^,])((?:[^",]++|"[^"]*")*+),')
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_NEEDS_QUOTES = re.compile(r'[\s",]|^$')
_RANGE = re.compile(r"(?P<first>\d{1,9})(?:(?P<range>-)(?P<last>\d{1,9})?)?")
Enumerated = TypeVar("Enumerated", bound=StrEnum)


class FilterField(StrEnum):
    """What a condition is about."""

    PAPER = "paper"
    """The id of the paper."""
    SOURCE = "source"
    """The format it was read from."""
    SECTION = "section"
    """What the headings above the passage say it is."""
    PAGE = "page"
    """Physical pages, from 1."""
    AUTHOR = "author"
    """The family name of an author, or the whole name, in the paper's record."""
    YEAR = "year"
    """When the paper appeared."""
    VENUE = "venue"
    """Words of the journal, conference or series."""
    TYPE = "type"
    """What kind of publication it is, as CSL names it: article-journal."""
    LANGUAGE = "language"
    """The code of ISO 639: en."""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """Pages (physical, 1-based) or years, `first` to `last`."""

    first: int
    last: int | None
    """None: to the end."""

    def __contains__(self, number: int) -> bool:
        return self.first <= number and (self.last is None or number <= self.last)

    def __str__(self) -> str:
        if self.last is None:
            return f"{self.first}-"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


Value = str | SourceFormat | SectionKind | NumberRange


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the values must apply; if they are excluded, no value may."""

    field: FilterField
    values: tuple[Value, ...]
    """Values of the field's type. Without values, nothing passes (everything, if they are
    excluded)."""
    is_excluded: bool = False

    def __str__(self) -> str:
        values = ",".join(_quoted(str(value)) for value in self.values)
        return f"{'-' if self.is_excluded else ''}{self.field}:{values}"


@dataclass(frozen=True, slots=True)
class Filter:
    """The passages that meet all conditions; without conditions, all passages."""

    conditions: tuple[Condition, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """The filter of a text in the syntax above. Raises InvalidFilter, whose message names the
        wrong word and what is allowed."""
        conditions: list[Condition] = []
        rest = text.strip()
        while rest:
            match = _CONDITION.match(rest)
            if match is None:
                raise InvalidFilter.at(rest.split()[0], _why_unreadable(rest.split()[0]))
            conditions.append(_condition(match))
            rest = rest[match.end() :].lstrip()
        if not conditions:
            raise InvalidFilter(f"The filter is empty. Write it like {EXAMPLE}, or leave it out.")
        return cls(tuple(conditions))

    @classmethod
    def of_papers(cls, paper_ids: Iterable[str]) -> Self:
        """The filter that passes only passages of these papers; without ids, it passes nothing."""
        return cls((Condition(FilterField.PAPER, tuple(paper_ids)),))

    @classmethod
    def given(cls, paper_ids: Iterable[str] | None, where: str | None) -> "Filter | None":
        """What passes both; None if neither is given. Raises InvalidFilter."""
        if paper_ids is None and where is None:
            return None
        papers = EVERYTHING if paper_ids is None else cls.of_papers(paper_ids)
        return papers & (EVERYTHING if where is None else cls.parse(where))

    def __and__(self, other: "Filter") -> "Filter":
        return Filter((*self.conditions, *other.conditions))

    def __str__(self) -> str:
        """The filter in the syntax above. `parse` turns it into the same filter, if each condition
        has a value."""
        return " ".join(map(str, self.conditions))

    def names(self, kind: SectionKind) -> bool:
        """Whether a condition demands this kind of section."""
        return any(kind in condition.values for condition in self._demanded(FilterField.SECTION))

    @property
    def papers(self) -> tuple[str, ...] | None:
        """Ids of the papers that a condition demands; None without such a condition."""
        named = self._demanded(FilterField.PAPER)
        if not named:
            return None
        return tuple(str(value) for condition in named for value in condition.values)

    def _demanded(self, field: FilterField) -> list[Condition]:
        """The conditions on a field that do not exclude values."""
        return [each for each in self.conditions if each.field is field and not each.is_excluded]


EVERYTHING = Filter()
"""The filter that lets all passages through."""


def _condition(match: re.Match[str]) -> Condition:
    word, name = match.group(), match["field"].casefold()
    if name not in set(FilterField):
        raise InvalidFilter.at(word, _unknown("field", match["field"], FilterField))
    if not match["values"]:
        raise InvalidFilter.at(
            word, f"a value is missing; write it behind the colon, like {EXAMPLE}"
        )
    field = FilterField(name)
    values = tuple(
        dict.fromkeys(_value(field, value, word) for value in _split(match["values"], word))
    )
    return Condition(field, values, bool(match["minus"]))


def _split(text: str, word: str) -> list[str]:
    """The values of a condition, separated by commas, without quotes. word: the whole condition,
    for messages."""
    values = []
    for part in _UP_TO_COMMA.findall(f"{text},"):
        quoted = _QUOTED.fullmatch(part)
        if not part:
            raise InvalidFilter.at(word, "a value is missing beside a comma")
        if '"' in part and not quoted:
            raise InvalidFilter.at(word, "quotes go around a whole value, and are doubled inside")
        values.append(quoted[1].replace('""', '"') if quoted else part)
    return values


def _value(field: FilterField, value: str, word: str) -> Value:
    match field:
        case FilterField.PAGE | FilterField.YEAR:
            return _range(field, value, word)
        case FilterField.SOURCE:
            return _one_of(SourceFormat, value, word)
        case FilterField.SECTION:
            return _one_of(SectionKind, value, word)
        case _:
            return value


def _one_of(kinds: type[Enumerated], value: str, word: str) -> Enumerated:
    if value.casefold() not in set(kinds):
        what = "format" if kinds is SourceFormat else "kind of section"
        raise InvalidFilter.at(word, _unknown(what, value, kinds))
    return kinds(value.casefold())


def _range(field: FilterField, value: str, word: str) -> NumberRange:
    match = _RANGE.fullmatch(value)
    if match is None:
        examples = (
            "3, 3-7 or 3- (to the end)"
            if field is FilterField.PAGE
            else "2019, 2019-2021 or 2019- (and later)"
        )
        raise InvalidFilter.at(word, f"{field}s are written {examples}")
    first = int(match["first"])
    last: int | None = first
    if match["range"]:
        last = int(match["last"]) if match["last"] else None
    if first < 1 or (last is not None and last < first):
        raise InvalidFilter.at(
            word, f"{field}s count from 1, and the first of two is not behind the second"
        )
    return NumberRange(first, last)


def _why_unreadable(word: str) -> str:
    if '"' in word:
        return 'a quote is not closed; write paper:"an id with blanks"'
    return f"a condition is a field, a colon and values without blanks, like {EXAMPLE}"


def _unknown(what: str, value: str, known: type[StrEnum]) -> str:
    alike = get_close_matches(value.casefold(), list(known), n=1)
    return f'there is no {what} "{value}"{f", is {alike[0]} meant?" if alike else "."} Known are {", ".join(known)}'


def _quoted(value: str) -> str:
    doubled = value.replace('"', '""')
    return f'"{doubled}"' if _NEEDS_QUOTES.search(value) else value
