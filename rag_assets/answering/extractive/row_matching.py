"""How well each row of the tables that were found matches a question: 0 to 1.

Four figures: the share of the question's words that a row covers with its header, headings, caption, section and paper;
whether the question names the row; whether it names one of the columns; and how near the row and what stands above it
come to each token of the question (MaxSim). Words choose between rows that are alike in meaning, vectors find the row
that the question names in other words: "Currently smoke" for "still smoked".
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.citations.table_quotes.rows import SEPARATOR, Table, TableCell, TableRow
from rag_assets.answering.drafts import PaperText, TokenReader
from rag_assets.answering.names.reading import NameKind, names_in
from rag_assets.domain import Context, ContextPassage
from rag_assets.text.terms import terms_of

_MAX_NAME_WORDS = 12
"""A longer cell is prose and names no row."""
_COVERED, _NAMED, _COLUMN, _NEAR = 0.5, 1.5, 0.4, 3.0
"""Weights of the four figures where it is decided whether a row answers."""
_NAMED_IN_WORDS, _COLUMN_IN_WORDS, _HEADING_IN_WORDS, _NEAR_TO_WORDS = 0.5, 0.4, 0.3, 2.0
"""Where the best row is chosen: the words of the question count once."""
_COLUMN_FROM, _COVERED_FROM = 0.5, 0.35
"""Of the words of a column and of the question, where the question has the whole name of a row."""
_READ_CLOSELY = 24
"""Rows of which the token vectors are compared, the best by their words."""
_MAX_HEADER_CHARS = 400
_LEAST_COMMON_START = 5
"""Stems that begin alike with so many letters are one word: "params" and "parameters"."""
_LEAST_DIGITS = 2
_BESIDE_NAME = re.compile(r"^\(?\d{1,2}[.):]\s+|\(\s*[nN]\s*=\s*[\d,.]+\s*\)")
"""What stands beside a name and is none: "2. Ferritin", "Age 21 (n = 759)"."""
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class FoundRow:
    """A row of a table in a context, with the words that name it."""

    nth: int
    """Number of its context."""
    context: Context
    table: Table
    row: TableRow

    @property
    def quote(self) -> str:
        return self.context.text[self.row.start : self.row.end]

    @property
    def heading(self) -> str:
        """The nearest one within the table above the row; the first may stand below the caption."""
        return self.row.heading or "".join(self.table.caption.split("\n")[1:][-1:])

    @property
    def passage(self) -> ContextPassage | None:
        """The one that it begins in."""
        start = self.row.start
        return next((one for one in self.context.passages if one.start <= start < one.end), None)

    def are_own(self, spans: NDArray[np.int32], passage: ContextPassage) -> NDArray[np.bool_]:
        """Which tokens of its passage belong to the row or stand above it: in the caption, in its heading.

        spans: of the tokens in the passage's text, shape (n, 2). Shape (n,).
        """
        starts, ends = spans[:, 0], spans[:, 1]
        shift = passage.own_start - passage.start
        own = (starts < self.row.end + shift) & (ends > self.row.start + shift)
        caption = starts < _end_of_caption(passage.text)
        heading_at = passage.text.rfind(self.heading, 0, self.row.start + shift) if self.heading else -1
        heading = (starts >= heading_at) & (ends <= heading_at + len(self.heading))
        return own | caption | heading

    @cached_property
    def names(self) -> tuple[frozenset[str], ...]:
        """The words of each cell that may name the row, and of all of them."""
        each = [terms_of(_bare(name)) for name in self.row.names if len(name.split()) <= _MAX_NAME_WORDS]
        return tuple(name for name in (*each[:1], frozenset[str]().union(*each)) if name)

    @cached_property
    def columns(self) -> tuple[tuple[TableCell, frozenset[str]], ...]:
        """The cells that hold more than the row's name, each with the words that tell its column from the others."""
        cells = [cell for cell in self.row.cells if (cell.position or cell.is_value) and cell.text]
        headers = [terms_of(_bare(cell.column)) for cell in cells]
        common = frozenset.intersection(*headers) if len(headers) > 1 else frozenset[str]()
        return tuple((cell, header - common) for cell, header in zip(cells, headers, strict=True))

    @cached_property
    def terms(self) -> frozenset[str]:
        """All words that say what the row is about: its own, its headers', headings', caption's, section's, paper's."""
        headers = " ".join(cell.column for cell in self.row.cells)
        place = f"{self.context.section_title} {self.context.paper_id.replace('_', ' ')}"
        return terms_of(" ".join((self.quote, headers, self.heading, self.table.caption, place)))


@dataclass(frozen=True)
class TermWeights:
    """How rare each word is among the rows that were found: log(1 + N / (1 + df))."""

    n_rows: int
    occurrences: Mapping[str, int]

    @classmethod
    def of(cls, rows: Sequence[FoundRow]) -> "TermWeights":
        return cls(len(rows), Counter(term for row in rows for term in row.terms))

    def of_all(self, terms: Set[str]) -> float:
        return sum(math.log1p(self.n_rows / (1 + self.occurrences.get(term, 0))) for term in terms)

    def share(self, whole: Set[str], held: Set[str]) -> float:
        """Share of the weight of `whole` that `held` has; 0 where there is nothing to hold."""
        total = self.of_all(whole)
        return self.of_all(frozenset(term for term in whole if holds(held, term))) / total if total else 0.0


def holds(held: Set[str], term: str) -> bool:
    """Whether a stem, or one that begins alike, is among others."""
    if term in held or len(term) < _LEAST_COMMON_START:
        return term in held
    longer = (other for other in held if len(other) >= _LEAST_COMMON_START)
    return any(other.startswith(term) or term.startswith(other) for other in longer)


@dataclass(frozen=True)
class RowMatch:
    """How well a row matches a question; every figure 0 to 1."""

    row: FoundRow
    covered: float
    """Share of the question's words."""
    named: float
    """How far the question names the row."""
    column: float
    """How far it names one of its columns."""
    heading: float
    """How far it names the heading above the row."""
    near: float = 0.0
    is_named_in_words: bool = False
    """The question has the whole name of the row and much of a column's, and the row covers much of the question."""

    @property
    def rank(self) -> float:
        """What the best row has most of."""
        named = _NAMED_IN_WORDS * self.named + _COLUMN_IN_WORDS * self.column + _HEADING_IN_WORDS * self.heading
        return self.covered + named + _NEAR_TO_WORDS * self.near

    @property
    def score(self) -> float:
        """How sure it is that the row answers, 0 to 1."""
        figures = _COVERED * self.covered + _NAMED * self.named + _COLUMN * self.column + _NEAR * self.near
        return figures / (_COVERED + _NAMED + _COLUMN + _NEAR)


class RowMatcher:
    """Matches rows with questions. reader: gives the token vectors."""

    def __init__(self, contexts: Sequence[Context], rows: Sequence[FoundRow], reader: TokenReader) -> None:
        self._rows = rows
        self._reader = reader
        self._weights = TermWeights.of(rows)
        self._terms_of_papers: dict[str, frozenset[str]] = {}
        for one in contexts:
            known = self._terms_of_papers.get(one.paper_id, frozenset())
            self._terms_of_papers[one.paper_id] = known | terms_of(f"{one.text} {one.section_title}")

    def best(self, question: str, within: float) -> Iterator[RowMatch]:
        """The rows that match best, best first: those whose rank is at least `within` of the first one's, with figures
        that count how near the names of rows and columns come to the question in meaning; found as they are taken."""
        asked = terms_of(question)
        told = [row for row in self._rows if row.columns and not self._lacks(row, question)]
        in_words = [self._in_words(row, asked) for row in told]
        likely = sorted(in_words, key=lambda one: -one.rank)[:_READ_CLOSELY]
        if not likely:
            return
        (tokens,) = self._reader.of_texts([question])
        vectors = np.asarray(tokens.vectors, np.float32)
        near = self._nearness(vectors, [one.row for one in likely])
        read = sorted(
            (replace(one, near=value) for one, value in zip(likely, near, strict=True)), key=lambda one: -one.rank
        )
        yield from (self._in_meaning(one, vectors) for one in read if one.rank >= within * read[0].rank)

    def share(self, whole: Set[str], held: Set[str]) -> float:
        return self._weights.share(whole, held)

    def _lacks(self, row: FoundRow, question: str) -> bool:
        """Whether the question names a number, code or acronym that neither the row nor its paper has: the values are
        of something else."""
        known = row.terms | self._terms_of_papers[row.context.paper_id]
        numbers = {term for term in terms_of(question) if term.isdigit() and len(term) >= _LEAST_DIGITS}
        exact = {NameKind.CODE, NameKind.ACRONYM}
        codes = [terms_of(name.text) for name in names_in(question) if name.kind in exact]
        return not numbers <= known or any(code.isdisjoint(known) for code in codes)

    def _in_words(self, row: FoundRow, asked: Set[str]) -> RowMatch:
        named = max((self.share(name, asked) for name in row.names), default=0.0)
        own = row.names[0] if row.names else frozenset[str]()
        column = max((self.share(header - own, asked) for _, header in row.columns), default=0.0)
        heading = self.share(terms_of(row.heading), asked)
        covered = self.share(asked, row.terms)
        is_named_in_words = named == 1 and column >= _COLUMN_FROM and covered >= _COVERED_FROM
        return RowMatch(row, covered, named, column, heading, is_named_in_words=is_named_in_words)

    def _nearness(self, asked: Vectors, rows: Sequence[FoundRow]) -> list[float]:
        """The mean over the question's tokens of the best cosine among those of the row and of what stands above it, as
        the model sees them within their passage."""
        passages = [row.passage for row in rows]
        texts = [PaperText(row.context.paper_id, one.text) for row, one in zip(rows, passages, strict=True) if one]
        wanted = list(dict.fromkeys(texts))
        read = dict(zip(wanted, self._reader.of(wanted), strict=True))
        found: list[float] = []
        for row, passage in zip(rows, passages, strict=True):
            if passage is None:
                found.append(0.0)
                continue
            tokens = read[PaperText(row.context.paper_id, passage.text)]
            cosines = _best_cosines(asked, tokens.vectors[row.are_own(tokens.spans, passage)])
            found.append(float(np.clip(cosines.mean(), 0, 1)))
        return found

    def _in_meaning(self, match: RowMatch, asked: Vectors) -> RowMatch:
        """The match with the row and the column that the question names in other words."""
        headers = dict.fromkeys(cell.column for cell, _ in match.row.columns if cell.column)
        names, header = match.row.row.names[:1], SEPARATOR.join(headers)[:_MAX_HEADER_CHARS]
        name, columns = self._reader.of_texts([names[0] if names else "", header])
        of_name = _best_cosines(name.vectors, asked)
        of_columns = _best_cosines(columns.vectors, asked)
        cuts = np.cumsum([0, *(len(one) + len(SEPARATOR) for one in headers)])
        by_column = [
            of_columns[(columns.spans[:, 0] >= start) & (columns.spans[:, 0] < end)]
            for start, end in pairwise(cuts.tolist())
        ]
        column = max((float(one.mean()) for one in by_column if len(one)), default=0.0)
        return replace(
            match,
            named=max(match.named, float(of_name.mean()) if len(of_name) else 0.0),
            column=max(match.column, column),
        )


def _bare(name: str) -> str:
    return _BESIDE_NAME.sub("", name)


def _end_of_caption(text: str) -> int:
    """Where the first row begins in the text of a passage."""
    first = text.find(SEPARATOR)
    return text.rfind("\n", 0, first) + 1 if first >= 0 else 0


def _best_cosines(asked: Vectors, vectors: Vectors) -> Vectors:
    """For each vector of the first the best cosine among the second, shape (n,); 0 without any."""
    return (asked @ vectors.T).max(axis=1) if len(vectors) else np.zeros(len(asked), np.float32)
