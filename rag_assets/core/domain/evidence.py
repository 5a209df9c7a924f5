"""The queries for a question, and the results: hits with their relevance, and contexts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

from rag_assets.core.domain.answers import CitedWork, Usage
from rag_assets.core.domain.chunks import Chunk, Passage, Place
from rag_assets.core.domain.places import known_spans, page_label, spans_between
from rag_assets.core.domain.statements import StatementKind

STRONG_FROM, PARTIAL_FROM = 0.6, 0.3
SomePlace = TypeVar("SomePlace", bound=Place)


class QueryOrigin(StrEnum):
    """Where a query comes from."""

    QUESTION = "question"
    """The question as it was asked."""
    PART = "part"
    """One of the questions inside it, by rules."""
    MODEL_PART = "model part"
    """One of the questions inside it, as a model took it apart."""
    VARIANT = "variant"
    """Another wording, by a model."""
    PASSAGE = "passage"
    """A passage that might answer it, written by a model; only its vector is searched."""


@dataclass(frozen=True, slots=True)
class Query:
    """One thing that is searched for."""

    text: str
    origin: QueryOrigin


class Band(StrEnum):
    """A range of relevance; benchmarks/README.md has the share of the passages of each band that
    answer."""

    STRONG = "strong"
    PARTIAL = "partial"
    WEAK = "weak"


def band_of(relevance: float) -> Band:
    """The band of a relevance between 0 and 1."""
    if relevance >= STRONG_FROM:
        return Band.STRONG
    return Band.PARTIAL if relevance >= PARTIAL_FROM else Band.WEAK


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found for a question, scored by its best passage."""

    rank: int
    """1-based."""
    score: float
    """Fused score; higher is better. Comparable within one question and one fusion method only."""
    chunk: Chunk
    passage: Passage
    """The best passage of the chunk."""
    dense_score: float | None = None
    """Cosine of question and passage, -1 to 1; None when the vector index did not return it."""
    lexical_score: float | None = None
    """BM25 score, 0 or more; None when the lexical index did not return it."""
    relevance: float | None = None
    """The reranker's estimate that the passage answers the question, 0 to 1; comparable between
    questions. None where no reranker looked at it."""
    found_by: tuple[int, ...] = ()
    """Numbers of the queries that found the passage, in `Evidence.queries`."""

    @property
    def band(self) -> Band | None:
        """The band of its relevance; None if that is not known."""
        return None if self.relevance is None else band_of(self.relevance)

    @property
    def place(self) -> Place:
        """The place of the passage in its chunk."""
        return self.placed(Place)

    def placed(self, kind: type[SomePlace], **more: Any) -> SomePlace:
        """The place of the passage as an object of `kind`, see `Place.within`. Its pages are those
        of the passage, which are known even if only its first text, a title, has no page."""
        start, end = self.passage.chunk_start, self.passage.chunk_end
        spans = known_spans(spans_between(self.chunk.spans, start, end))
        return kind.within(
            self.chunk,
            start,
            end,
            page_start=self.passage.page_start,
            page_end=self.passage.page_end,
            page_label=page_label(spans[0], spans[-1]) if spans else None,
            **more,
        )


@dataclass(frozen=True, slots=True)
class ContextPassage:
    """A passage that a context is made of: its own words are `text[start:end]` of the context."""

    passage_id: str
    start: int
    end: int
    text: str
    """The text that is searched: the repeated title, if there is one, then its own words."""
    score: float = 0.0
    """Score of the search; a neighbour has the score of the hit that brought it."""

    @property
    def own_start(self) -> int:
        """Offset in `text` of its own words, after the repeated title."""
        return len(self.text) - (self.end - self.start)


@dataclass(frozen=True, slots=True)
class ContextUnit:
    """A sentence, row, item or line of a context: `text[start:end]` of the context."""

    start: int
    end: int
    kind: StatementKind
    block: int
    """Number of its block (paragraph, table, list, ...) among those of the context, 0-based."""
    chunk_start: int = 0
    """Where it begins in the text of its chunk."""


@dataclass(frozen=True, slots=True)
class PaperFacts:
    """What is known of the paper that a context comes from."""

    title: str = ""
    authors: tuple[str, ...] = ()
    """Names as "forename surname"; empty where they are not known."""
    year: str = ""
    """Four digits; empty where it is not known."""
    doi: str = ""
    """In lower case, without a resolver."""
    work: str = ""
    """Id of the first paper that is the same work, often this one: a preprint and its published
    version are one."""
    cited_as: str = ""
    """As a text cites it, "Lund & Moe (2019)"; the id of the paper where its authors are not
    known."""
    venue: str = ""
    """Journal, conference or series."""
    type: str = ""
    """As CSL names it: article-journal."""
    language: str = ""
    """Code of ISO 639."""
    is_retracted: bool = False
    """Whether a registry or a list says so."""


@dataclass(frozen=True, slots=True)
class Context:
    """A stretch of one chunk as it is given to an answerer."""

    paper_id: str
    chunk_id: str
    page_start: int | None
    page_end: int | None
    n_tokens: int
    text: str
    score: float = 0.0
    is_generated: bool = False
    section_title: str = ""
    passages: tuple[ContextPassage, ...] = ()
    """What it is made of, in order."""
    units: tuple[ContextUnit, ...] = ()
    """What its text consists of, in order, without the title that its first passage repeats."""
    sections: tuple[tuple[int, str], ...] = ()
    """Where the text of each section begins, and the titles above it as in `Chunk.section_path`."""
    paper: PaperFacts = PaperFacts()

    def words(self) -> "Context":
        """A copy with only the fields that stay the same when papers are added to the corpus: without
        score, passages, units and sections."""
        return replace(self, score=0.0, passages=(), units=(), sections=())

    def section_at(self, offset: int) -> str:
        """The titles above the character at `offset` of the text, outermost section first, joined
        with " > "."""
        return next(
            (path for start, path in reversed(self.sections) if start <= offset), self.section_title
        )


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """A sentence that tells what other works found or say: `text[start:end]` of its chunk."""

    start: int
    end: int
    works: tuple[CitedWork, ...]


@dataclass(frozen=True)
class Evidence:
    """The results of retrieval for a question."""

    contexts: tuple[Context, ...]
    """The texts for the answerer, best first."""
    chunks: Mapping[str, Chunk]
    """Id -> whole chunk of each context; quotes are searched there."""
    hits: tuple[Hit, ...] = ()
    """The best chunks. The contexts consist of their passages and of neighbouring ones."""
    queries: tuple[Query, ...] = ()
    """The queries: the question or its parts, and other wordings of them."""
    query_usage: Usage = field(default_factory=Usage)
    """Cost of writing the queries; zero if no model wrote any, or its replies were stored."""
    only_cited: tuple[tuple[str, str], ...] = ()
    """If the question asks about a work that is no paper of this corpus: each paper with this work
    in its reference list, as it is cited, and the entry of the list."""
    named_papers: tuple[str, ...] = ()
    """Ids of the papers that the question names."""
    reports: Mapping[str, tuple[ReportedFinding, ...]] = field(default_factory=dict)
    """Id of a chunk -> its sentences that report findings of other works."""
    absent: tuple[str, ...] = ()
    """Remarks on elements that the question names by a label which no paper has."""
