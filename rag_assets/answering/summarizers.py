"""Summarises one paper: a model is asked about each point and reads the sections that usually tell it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from rag_assets.answering.drafts import Answerer, DraftAnswer
from rag_assets.answering.model.answerer import HostedAnswerer
from rag_assets.answering.models import second_look
from rag_assets.answering.verify.verification import SupportScorer, Unscored, looked_at, verify
from rag_assets.core.domain import Chunk, Context, PaperPoint, Point, SectionKind
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import Kept, kept_file
from rag_assets.core.settings import PaperSummarySettings, Settings
from rag_assets.core.text.section_names import section_kinds
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections

NO_MODEL = "none"
_CONTEXT_TOKENS = 2500
"""About how much of a paper a model reads for each point: the sections that usually tell it first."""
PAPER_SUMMARIES_VERSION = 7
"""Raise it when the code asks a model something else about the same paper."""
QUESTIONS = {
    Point.ASKED: "What did this paper set out to find out, to show or to build?",
    Point.DONE: "What was done in this paper: its design, its data or participants, its method?",
    Point.FOUND: "What did this paper find or conclude?",
    Point.LIMITS: "What limits this paper, in the words of its authors?",
}
_CHARS_PER_TOKEN = 4
"""For English; only the size of a request depends on it."""
_SECTIONS: Mapping[Point, tuple[SectionKind, ...]] = {
    Point.ASKED: (SectionKind.ABSTRACT, SectionKind.INTRODUCTION),
    Point.DONE: (SectionKind.METHODS, SectionKind.ABSTRACT),
    Point.FOUND: (SectionKind.ABSTRACT, SectionKind.CONCLUSION, SectionKind.DISCUSSION, SectionKind.RESULTS),
    Point.LIMITS: (SectionKind.DISCUSSION, SectionKind.CONCLUSION),
}
"""The sections that usually tell a point, in the order in which a model reads them."""


class PaperSummarizer:
    """Asks a model one question for each point, once for the same sections; drops claims that do not hold. Safe to use
    from several threads."""

    def __init__(
        self,
        answerer: Answerer,
        replies: Kept[DraftAnswer],
        scorer: SupportScorer,
    ) -> None:
        """scorer: withholds what a second look does not find supported."""
        self._scorer = scorer
        self._answerer = answerer
        self._replies = replies

    @property
    def identity(self) -> str:
        """Names the model and what else its words depend on; no model is opened to tell."""
        return f"{self._answerer.identity} points-v{PAPER_SUMMARIES_VERSION} looked at by {self._scorer.identity}"

    def points(self, chunks: Sequence[Chunk]) -> list[PaperPoint]:
        """All points of the paper whose chunks these are, in reading order. Raises what `Connection.guarded` raises."""
        given = contexts_for(paper_contexts(chunks), _CONTEXT_TOKENS)
        return [self._point(point, chunks, given[point]) for point in Point]

    def _point(self, point: Point, chunks: Sequence[Chunk], contexts: Sequence[Context]) -> PaperPoint:
        question = QUESTIONS[point]
        read = [asdict(self._answerer.read(context)) for context in contexts]
        key = fingerprint(question, read, self.identity)
        draft, _ = self._replies.once(key, lambda: self._answerer.draft(question, contexts))
        verified = verify(draft, {chunk.chunk_id: chunk for chunk in chunks}, question)
        claims = looked_at(verified, self._scorer.scores(verified, question)).claims
        return PaperPoint(chunks[0].paper_id, point, claims, self.identity)


def open_summarizer(settings: Settings, connections: Connections) -> PaperSummarizer:
    """The model that `paper_summaries.model` names. Raises InvalidSettings for one that does not exist, MissingKey."""
    one_paper = settings.answering.model_copy(update={"min_sources": 1})
    answerer = HostedAnswerer(model_name(settings.paper_summaries), connections, one_paper)
    replies = kept_file(settings).replies("paper_summaries", DraftAnswer)
    scorer = second_look(settings, settings.paper_summaries.model, Unscored(), connections)
    return PaperSummarizer(answerer, replies, scorer)


def model_name(settings: PaperSummarySettings) -> ModelName:
    """The model that `paper_summaries.model` names. Raises InvalidSettings for an invalid name."""
    return ModelName.parse(settings.model, setting="paper_summaries.model", instead=NO_MODEL)


def paper_contexts(chunks: Sequence[Chunk]) -> list[Context]:
    """One context per section of each chunk, in order, without headings and text repeated from an earlier chunk.

    chunks: all chunks of one paper, in reading order.
    """
    return [context for chunk in chunks for context in _sections(chunk) if context.text.strip()]


def contexts_for(contexts: Sequence[Context], max_tokens: int) -> Mapping[Point, tuple[Context, ...]]:
    """The contexts that a model reads for each point, about `max_tokens` each: first the sections that usually tell it,
    then the paper from its beginning, or from its end for its limits."""
    return {point: _up_to(_in_turn(point, contexts), max_tokens) for point in Point}


def _sections(chunk: Chunk) -> Iterator[Context]:
    for part in chunk.sections:
        start = max(part.body_start, chunk.own_start)
        yield Context(
            paper_id=chunk.paper_id,
            chunk_id=chunk.chunk_id,
            page_start=chunk.page_start,
            page_end=chunk.page_end,
            n_tokens=max(0, part.end - start) // _CHARS_PER_TOKEN,
            text=chunk.text[start : part.end],
            is_generated=chunk.is_generated,
            section_title=part.section_path,
        )


def _in_turn(point: Point, contexts: Sequence[Context]) -> Iterator[Context]:
    for kind in _SECTIONS[point]:
        yield from (one for one in contexts if kind in section_kinds(one.section_title.split(" > ")))
    yield from reversed(contexts) if point is Point.LIMITS else contexts


def _up_to(contexts: Iterator[Context], max_tokens: int) -> tuple[Context, ...]:
    chosen: dict[Context, None] = {}
    n_tokens = 0
    for context in contexts:
        if context in chosen or context.is_generated:
            continue
        n_tokens += context.n_tokens
        if chosen and n_tokens > max_tokens:
            break
        chosen[context] = None
    return tuple(chosen)
