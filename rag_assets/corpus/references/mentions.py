"""Where a paper's text refers to its reference list: "[12]", "(3, 5-7)", raised numbers, "(Smith et
al., 2019)".

A paper has one way to refer: the one by which most different entries are reached. The other forms
are something else in it (equations in parentheses, years of data).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag_assets.core.text.folding import plain_lower
from rag_assets.corpus.references.entries import Reference

_NUMBERS = r"\d{1,3}(?:\s?[,;–—-]\s?\d{1,3}){0,30}"
_BRACKETS = re.compile(rf"\[({_NUMBERS})\]")
_PARENTHESES = re.compile(rf"\(({_NUMBERS})\)")
_RAISED = re.compile(
    r"(?<![^\W\d_])(?<!\d)[⁰¹²³⁴⁵⁶⁷⁸⁹](?:[⁰¹²³⁴⁵⁶⁷⁸⁹]|\s?[,⁻–-]\s?(?=[⁰¹²³⁴⁵⁶⁷⁸⁹])){0,60}"
)
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_RANGE = re.compile(r"(\d+)(?:\s?[–—-]\s?(\d+))?")
_WORD = r"[^\W\d_][\w’'-]{1,40}"
_NAME = rf"(?:[A-Za-z]{{1,3}} ){{0,2}}{_WORD}"
_YEAR = r"(?:1[6-9]|20)\d\d[a-z]?"
_AUTHORS_YEAR = re.compile(
    rf"(?<![^\W\d_])(?P<first>(?![a-z]){_WORD})"
    rf"(?P<more>(?:,? et al\.?| and colleagues|(?:, {_NAME}){{0,8}},? (?:and|&) {_NAME})?)"
    rf"(?:[’']s?)?[,\s]{{0,3}}[(\[]?(?P<years>{_YEAR}(?:(?:,|;| and) ?{_YEAR}){{0,4}})"
)
_YEARS = re.compile(_YEAR)
_INITIALS = r"(?:[^\W\d_a-z]\.?[ -]?){1,4}"
_SEVERAL_AUTHORS = re.compile(
    rf"(?:{_NAME},? {_INITIALS}|{_INITIALS} ?{_NAME})(?:, ?(?:&|and) |[,;] ?| ?(?:&|and) )"
    rf"(?:{_NAME},? {_INITIALS}|{_INITIALS} ?{_NAME})(?![^\W\d_])"
)
"""How an entry by several authors begins: "Lund A, Moe B", "Lund, A. & Moe, B.", "A. Lund and B.
Moe"."""
_GENITIVE = re.compile(r"[’']s?$")
_MOST_OF_A_RANGE = 60


@dataclass(frozen=True, slots=True)
class Mention:
    """`text[start:end]` refers to entries of the reference list."""

    start: int
    end: int
    numbers: tuple[int, ...]
    """`Reference.number` of each."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of the list by its number, its words, and whether it begins with several authors."""

    number: int
    words: list[str]
    is_by_several: bool


def mentions_in(texts: Sequence[str], references: Sequence[Reference]) -> list[list[Mention]]:
    """The mentions in each text of one paper, in order."""
    readers: list[Callable[[str], Iterator[Mention]]] = [
        _by_number(_BRACKETS, references),
        _by_number(_PARENTHESES, references),
        _by_number(_RAISED, references),
        _by_name(references),
    ]
    found = [[list(reader(text)) for text in texts] for reader in readers]
    return max(
        found,
        key=lambda by_text: len({n for own in by_text for mention in own for n in mention.numbers}),
    )


def _by_number(
    form: re.Pattern[str], references: Sequence[Reference]
) -> Callable[[str], Iterator[Mention]]:
    known = {reference.number for reference in references}

    def read(text: str) -> Iterator[Mention]:
        for match in form.finditer(text):
            numbers = _numbers_in((match[1] if form.groups else match[0]).translate(_PLAIN))
            if numbers and known.issuperset(numbers):
                yield Mention(match.start(), match.end(), numbers)

    return read


def _numbers_in(written: str) -> tuple[int, ...]:
    """ "3, 5-7" is 3, 5, 6, 7; empty where a range falls or is too long."""
    numbers: list[int] = []
    for match in _RANGE.finditer(written):
        first, last = int(match[1]), int(match[2] or match[1])
        if not 0 <= last - first <= _MOST_OF_A_RANGE:
            return ()
        numbers += range(first, last + 1)
    return tuple(numbers)


def _by_name(references: Sequence[Reference]) -> Callable[[str], Iterator[Mention]]:
    """Entries by the name they begin with and their year; of several, those that hold the other
    names as well, and for one name alone those by one author."""
    years: set[str] = set()
    entries: dict[tuple[str, str], list[_Entry]] = {}
    for reference in references:
        words = re.findall(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*", plain_lower(reference.text))
        own_years, is_by_several = (
            set(reference.years),
            _SEVERAL_AUTHORS.match(reference.text) is not None,
        )
        for year in own_years | {year[:4] for year in own_years}:
            years.add(year)
            for word in set(words[:_AUTHOR_WORDS]):
                entries.setdefault((word, year), []).append(
                    _Entry(reference.number, words, is_by_several)
                )

    def read(text: str) -> Iterator[Mention]:
        for match in _AUTHORS_YEAR.finditer(text):
            written = re.findall(_WORD, match["first"] + match["more"])
            names = [plain_lower(_GENITIVE.sub("", name)) for name in written if name[0].isupper()]
            if not match["first"][0].isupper():
                continue
            written_years = (
                year if year in years else year[:4] for year in _YEARS.findall(match["years"])
            )
            numbers = [
                n
                for year in written_years
                for n in _named(names, entries.get((names[0], year), ()), bool(match["more"]))
            ]
            if numbers:
                yield Mention(match.start(), match.end(), tuple(dict.fromkeys(numbers)))

    return read


_AUTHOR_WORDS = 6
"""The first author's family name is among the first words of an entry, before or behind the given
names."""
_MOST_ALIKE = 20
"""A name with a year says nothing if more entries share it; this bounds the work on a hostile
list."""


def _named(names: Sequence[str], entries: Sequence[_Entry], is_by_several: bool) -> list[int]:
    """entries: those with the first name and the year. is_by_several: others are named, or "et
    al."."""
    if len(entries) > _MOST_ALIKE:
        return []
    whole = [one for one in entries if all(name in one.words for name in names)]
    first = [one for one in whole if one.words[:1] == names[:1]] or whole
    fitting = [one for one in first if one.is_by_several == is_by_several] or first
    return [one.number for one in fitting]
