"""What a sentence states, as far as rules can read it. Whether two sentences agree is decided in `comparing`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.answering.agreement import wordings
from rag_assets.answering.agreement.clauses import Clause, clause_of
from rag_assets.answering.agreement.figures import Figure, figures_of, without_statistics
from rag_assets.answering.agreement.terms import EMPTY
from rag_assets.answering.citations.number_formats import normalized_numbers

_NAME = re.compile(r"[^\W_]*[A-Z][^\W_]*[A-Z0-9][^\W_]*(?:-[^\W_]+)*|[^\W_]+-[^\W_]*[A-Z][^\W_]*|[A-Z][a-z]{2,}")
_SENTENCE_START = re.compile(r"(?:^|[.:;!?(\[]\s*)$")
_NO_NAMES = EMPTY | frozenset(
    "experiment table session phase day hypothesis abstract conclusion model ci methods background text".split()
)
"""Words that papers write with a capital, and that name nothing."""
_IN_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
_NO_FINDING = (wordings.CONJECTURE, wordings.POINTS_BACK, wordings.PROCEDURE)
_SYMBOL_APART = re.compile(r"\b([A-Z]) ([0e])\b(?=,? (?:of|was|is|at|were|and|for|in|from)\b)")
"""A symbol whose index a parser set apart: "R 0"."""


@dataclass(frozen=True)
class Statement:
    """What a sentence states."""

    text: str
    terms: frozenset[str]
    """Stems of its content words, without words of change."""
    names: frozenset[str]
    """Names, codes and acronyms, in small letters; not the first word."""
    clauses: tuple[Clause, ...]
    figures: tuple[Figure, ...]
    is_finding: bool
    """It does not only suppose, ask, intend or tell how it was studied, and names itself what it is about."""
    is_adjusted: bool
    """It holds once something else is taken into account."""


@lru_cache(maxsize=2**10)
def statement_of(text: str) -> Statement:
    """Read a quote. A quote of several sentences is read as one statement with more clauses."""
    plain = without_statistics(_SYMBOL_APART.sub(r"\1\2", normalized_numbers(text)))
    clauses = tuple(clause_of(part) for part in _parts(_IN_BRACKETS.sub(" ", plain)))
    return Statement(
        text=text,
        terms=frozenset(term for clause in clauses for term in clause.terms),
        names=frozenset(_names(plain)),
        clauses=clauses,
        figures=figures_of(plain),
        is_finding=not any(pattern.search(plain) for pattern in _NO_FINDING),
        is_adjusted=wordings.ADJUSTED.search(plain) is not None,
    )


def _names(text: str) -> Iterator[str]:
    for match in _NAME.finditer(text):
        name = match[0]
        is_first = name[1:].islower() and _SENTENCE_START.search(text, max(0, match.start() - 4), match.start())
        if not is_first and name.casefold() not in _NO_NAMES:
            yield name.casefold().removesuffix("s")


def _parts(text: str) -> Iterator[str]:
    start = 0
    for match in wordings.CLAUSE_END.finditer(text):
        yield text[start : match.start()]
        start = match.end()
    yield text[start:]
