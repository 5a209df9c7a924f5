"""Rows of tables as candidates: a row answers a question that names it, and one of its columns where it has several.

A row is published as it stands in its paper, "Model: X | BLEU: 28.4"; of a wide one, its name and the columns that were
asked for. Captions alone are no answer. Tables are read by `citations.table_quotes.rows`, as they are in verification.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from rag_assets.answering.citations.table_quotes.claims import contradicts_rows
from rag_assets.answering.citations.table_quotes.rows import (
    SEPARATOR,
    Table,
    TableCell,
    TableRow,
    quoted_rows,
    tables_in,
)
from rag_assets.answering.extractive.candidates import Candidate, CandidateKind, candidate
from rag_assets.answering.extractive.words import terms_of
from rag_assets.domain import Context
from rag_assets.questions import question_parts

_MAX_ROW_CHARS = 240
"""A longer row is narrowed to the columns that were asked for."""
_MAX_NAME_WORDS = 12
"""A longer cell is prose and names no row."""
_NAMED_FROM = 0.4
"""Share of a column's name from which a question names it."""
_LEAST_NAMED = 0.25
"""Share of the row's name that a question must hold for the row to answer it."""
_NAME_WEIGHT, _COLUMN_WEIGHT = 0.5, 0.2
"""Of the shares that the question has of a row's name and of a column's, beside the share of the question that the row
covers with its header, headings, caption, section and paper. Fitted to which row answers (OHR-Bench); the nearness of
token vectors added nothing to these words."""
_MATCH_FROM = 0.9
"""The least match of a row. At 1.1, of 240 questions about tables 33 got the right cell, now 52; of those that got a
row at all, the same share as before."""
_MOST_MATCH = 1 + _NAME_WEIGHT + _COLUMN_WEIGHT
_LEAST_COMMON_START = 5
"""Stems that begin alike with so many letters are one word: "params" and "parameters"."""
_BESIDE_BEST = 0.9
"""A second row is used from this share of the best row's relevance on."""
_LEAST_RELEVANCE = 0.62
"""Of a row with the least match, on the scale of sentences."""


def table_rows(contexts: Sequence[Context], question: str) -> list[Candidate]:
    """The rows that a part of the question names, each once, in the order of the contexts."""
    rows = [row for nth, context in enumerate(contexts) if not context.is_generated for row in _rows_of(nth, context)]
    weights = _Weights.of(rows)
    parts = [(part.text, terms_of(part.searched)) for part in question_parts(question)]
    relevances = {text: _only_best([row.relevance(asked, weights) for row in rows]) for text, asked in parts}
    asked = frozenset[str]().union(*(terms for _, terms in parts))
    found: dict[tuple[str, str], Candidate] = {}
    for at, row in enumerate(rows):
        relevance = {text: of_rows[at] for text, of_rows in relevances.items()}
        if any(relevance.values()) and (text := row.published(question, asked, weights)):
            one = candidate(row.context, row.nth, row.row.start, row.row.end, CandidateKind.ROW)
            one = replace(one, text=text, quote=row.quote, relevance=relevance)
            found.setdefault((row.context.paper_id, row.quote), one)
    return list(found.values())


def _only_best(relevances: Sequence[float]) -> list[float]:
    """The relevances; 0 for rows clearly below the best one, which name something else of the same table."""
    best = max(relevances, default=0.0)
    return [one if one >= _BESIDE_BEST * best else 0.0 for one in relevances]


@dataclass(frozen=True)
class _Weights:
    """How rare each word is among the rows that were found: log(1 + N / (1 + df))."""

    n_rows: int
    occurrences: Mapping[str, int]

    @classmethod
    def of(cls, rows: Sequence["_Row"]) -> "_Weights":
        return cls(len(rows), Counter(term for row in rows for term in row.terms))

    def of_all(self, terms: Set[str]) -> float:
        return sum(math.log1p(self.n_rows / (1 + self.occurrences.get(term, 0))) for term in terms)

    def share(self, whole: Set[str], held: Set[str]) -> float:
        """Share of the weight of `whole` that `held` has; 0 where there is nothing to hold."""
        total = self.of_all(whole)
        return self.of_all(frozenset(term for term in whole if _holds(held, term))) / total if total else 0.0


def _holds(held: Set[str], term: str) -> bool:
    """Whether a stem, or one that begins alike, is among others."""
    if term in held or len(term) < _LEAST_COMMON_START:
        return term in held
    longer = (other for other in held if len(other) >= _LEAST_COMMON_START)
    return any(other.startswith(term) or term.startswith(other) for other in longer)


@dataclass(frozen=True)
class _Row:
    """A row of a table in a context, with the words that name it."""

    nth: int
    context: Context
    table: Table
    row: TableRow

    @property
    def quote(self) -> str:
        return self.context.text[self.row.start : self.row.end]

    @cached_property
    def names(self) -> tuple[frozenset[str], ...]:
        """The words of each cell that may name the row, and of all of them."""
        each = [terms_of(name) for name in self.row.names if len(name.split()) <= _MAX_NAME_WORDS]
        return tuple(name for name in (*each[:1], frozenset[str]().union(*each)) if name)

    @cached_property
    def columns(self) -> tuple[tuple[TableCell, frozenset[str]], ...]:
        """The cells that hold more than the row's name, each with the words that tell its column from the others."""
        cells = [cell for cell in self.row.cells if (cell.position or cell.is_value) and cell.text]
        headers = [terms_of(cell.column) for cell in cells]
        common = frozenset.intersection(*headers) if len(headers) > 1 else frozenset[str]()
        return tuple((cell, header - common) for cell, header in zip(cells, headers, strict=True))

    @cached_property
    def terms(self) -> frozenset[str]:
        """All words that say what the row is about: its own, its headers', headings', caption's, section's, paper's."""
        headers = " ".join(cell.column for cell in self.row.cells)
        place = f"{self.context.section_title} {self.context.paper_id.replace('_', ' ')}"
        return terms_of(" ".join((self.quote, headers, self.row.heading, self.table.caption, place)))

    def relevance(self, asked: Set[str], weights: _Weights) -> float:
        """Relevance to a question with these words, on the scale of sentences; 0 where the row does not match it."""
        name = max((weights.share(name, asked) for name in self.names), default=0.0)
        if not self.columns or name < _LEAST_NAMED:
            return 0.0
        column = max((weights.share(header, asked) for _, header in self.columns), default=0.0)
        match = weights.share(asked, self.terms) + _NAME_WEIGHT * name + _COLUMN_WEIGHT * column
        above = (match - _MATCH_FROM) / (_MOST_MATCH - _MATCH_FROM)
        return min(1.0, _LEAST_RELEVANCE + (1 - _LEAST_RELEVANCE) * above) if above >= 0 else 0.0

    def published(self, question: str, asked: Set[str], weights: _Weights) -> str:
        """The row; of a long one, its name and the columns that the question names best. The first of them that
        verification accepts; empty where it accepts none."""
        texts = [self.quote] if len(self.quote) <= _MAX_ROW_CHARS else [self._narrowed(asked, weights), self.quote]
        return next((text for text in texts if text and self._is_verified(text, question)), "")

    def _narrowed(self, asked: Set[str], weights: _Weights) -> str:
        """The row's name and the columns that the question names best; empty where it names none."""
        shares = [(cell, weights.share(header, asked)) for cell, header in self.columns]
        best = max((share for _, share in shares), default=0.0)
        chosen = {cell.position for cell, share in shares if share == best} | {0}
        cells = [cell for cell in self.row.cells if cell.position in chosen]
        texts = [self.context.text[cell.start : cell.end].strip() for cell in cells]
        return SEPARATOR.join(texts) if best >= _NAMED_FROM else ""

    def _is_verified(self, text: str, question: str) -> bool:
        rows = quoted_rows(self.context.text, self.row.start, self.row.end)
        return not contradicts_rows(text, rows, [], question)


def _rows_of(nth: int, context: Context) -> Iterator[_Row]:
    for table in tables_in(context.text):
        for row in table.rows:
            yield _Row(nth, context, table, row)
