"""Tells whether a quote is of the year that a question asks for.

The nearest place that names a year decides: the sentence or row, then the caption, the section, the
title of the paper, at last what stands before it in its paragraph. Years of cited works are not
those of the quote.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from rag_assets.answering.verify.names import NameKind, names_in
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.core.domain import NumberRange
from rag_assets.core.text.quantities import YEAR, placed_quantities, quantities
from rag_assets.questions.reading import years_asked_for

_FISCAL = re.compile(r"\b[FC]Y['’ ]?(?=(?:19|20)\d\d\b)")
_RANGE = re.compile(r"\W*(?:to|and|or)?\W*")
_ASKED = re.compile(
    r"(?:(?<!\s)\s+)?\b(?:(?:in|of|for|during|from|to|since|by|until|before|after|between|and|at the end of)\s+)?"
    r"(?:(?:the|fiscal|year)\s+|[FC]Y['’ ]?){0,5}(?:19|20)\d\d\b",
    re.IGNORECASE,
)
"""A year with the words that lead up to it."""


def asked_years(question: str) -> tuple[NumberRange, ...]:
    """The years that an answer must be of. The year in which a paper appeared ("proposed in 2019")
    is not one of them. Empty if the question names no year."""
    asked = [one for one in names_in(question) if one.kind is NameKind.YEAR and not one.is_loose]
    years = [NumberRange(int(one.text), int(one.text)) for one in asked]
    return (*years, *(one.years for one in years_asked_for(question))) if asked else ()


def listed(values: Iterable[object]) -> str:
    """The values with commas and "and": "2018, 2019 and 2020"."""
    *others, last = map(str, values)
    return f"{', '.join(others)} and {last}" if others else last


def without_years(question: str) -> str:
    """The question without its years and the words before them: "Sales in 2019" gives "Sales"."""
    return _ASKED.sub("", question)


def are_in(asked: Sequence[NumberRange], years: frozenset[int]) -> bool:
    """Whether one of the years is in one of the ranges that are asked for."""
    return any(year in one for one in asked for year in years)


def years_in(text: str) -> frozenset[int]:
    """The years that a text names; "FY2019" and "CY 2019" count as 2019."""
    return frozenset(
        int(one.value) for one in quantities(_FISCAL.sub("", text)) if one.kind == YEAR
    )


def years_of(quoted: QuotedText, asked: Sequence[NumberRange]) -> frozenset[int]:
    """The years of a quote, taken from the nearest place that names a year; empty if no place does.
    In some places only a year that is asked for decides, and any other year is passed over."""
    for text, decides in ((quoted.quote, False), *_places(quoted)):
        years = years_in(text)
        if years and (decides or are_in(asked, years)):
            return years
    return frozenset()


def _places(quoted: QuotedText) -> Iterator[tuple[str, bool]]:
    """Yields the texts that may name the year of a quote, the nearest first. The second value says
    whether a year that was not asked for decides there too."""
    for some in quoted.rows:
        rows = [some.table.rows[nth] for nth in dict.fromkeys(nth for nth, _ in some.cells)]
        yield " ; ".join(cell.column for row in rows for cell in row.cells), True
        yield (
            " ; ".join(row.cells[0].text for row in rows if not without_years(row.cells[0].text)),
            True,
        )
        yield " ; ".join((some.table.caption, *(row.heading for row in rows))), True
    if not quoted.rows:
        yield quoted.quote, not _leaves_a_value_open(quoted.quote)
    yield quoted.section_path, True
    yield quoted.title, True
    yield (
        quoted.chunk_text[quoted.chunk_text.rfind("\n", 0, quoted.start) + 1 : quoted.start],
        False,
    )  # its paragraph


def _leaves_a_value_open(sentence: str) -> bool:
    """Whether a sentence begins with a value, before all years, and has more values than years.
    "Sales were 48, up from 45 in 2019" gives 48 for a year that it does not name. A range is one
    value."""
    text = _FISCAL.sub("", sentence)
    found = placed_quantities(text)
    starts = [None, *(end for _, end, _ in found)]
    kinds = [
        one.kind == YEAR
        for before, (start, _, one) in zip(starts, found, strict=False)
        if before is None or not _RANGE.fullmatch(text[before:start])
    ]
    return bool(kinds) and not kinds[0] and kinds.count(False) > kinds.count(True)
