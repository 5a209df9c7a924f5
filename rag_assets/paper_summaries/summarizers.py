"""Summarise one paper: by its own sentences, or by a model that is asked about each point and checked."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Protocol

from rag_assets.answering.citations.support import SupportScorer, Unscored, looked_at
from rag_assets.answering.citations.verification import VerifiedClaims, verify
from rag_assets.answering.drafts import EXTRACTIVE, Answerer, DraftAnswer
from rag_assets.answering.extractive.points import told_points
from rag_assets.answering.hosted_answerer import HostedAnswerer
from rag_assets.answering.models import second_look
from rag_assets.domain import Chunk, Context, PaperPoint, Point
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets.incremental import fingerprint
from rag_assets.kept import Kept, kept_file
from rag_assets.paper_summaries.contexts import contexts_for, paper_contexts
from rag_assets.settings import PaperSummarySettings, Settings

PAPER_SUMMARIES_VERSION = 6
"""Raise it when the code chooses other sentences of the same paper, or asks a model something else."""
QUESTIONS = {
    Point.ASKED: "What did this paper set out to find out, to show or to build?",
    Point.DONE: "What was done in this paper: its design, its data or participants, its method?",
    Point.FOUND: "What did this paper find or conclude?",
    Point.LIMITS: "What limits this paper, in the words of its authors?",
}


class PaperSummarizer(Protocol):
    """Summarises papers, one at a time; may be called from several threads."""

    @property
    def identity(self) -> str:
        """Of what chooses or writes; no model is opened to tell."""
        ...

    def points(self, chunks: Sequence[Chunk]) -> list[PaperPoint]:
        """All points of the paper whose chunks these are, in reading order. Raises what `Connection.guarded` raises."""
        ...


class SentenceSummarizer:
    """Chooses sentences of the paper; no model is asked."""

    @property
    def identity(self) -> str:
        return f"{EXTRACTIVE}-points-v{PAPER_SUMMARIES_VERSION}"

    def points(self, chunks: Sequence[Chunk]) -> list[PaperPoint]:
        told = told_points(paper_contexts(chunks), in_order=True)
        drafts = {point: DraftAnswer(tuple(claims)) for point, claims in told.items()}
        paper = chunks[0].paper_id
        return [
            PaperPoint(paper, point, _verify(point, draft, chunks).claims, self.identity)
            for point, draft in drafts.items()
        ]


class ModelSummarizer:
    """Asks a model one question for each point, once for the same sections; what does not hold is dropped."""

    def __init__(
        self,
        answerer: Answerer,
        replies: Kept[DraftAnswer],
        settings: PaperSummarySettings,
        scorer: SupportScorer,
    ) -> None:
        """scorer: withholds what a second look does not find supported."""
        self._scorer = scorer
        self._answerer = answerer
        self._replies = replies
        self._settings = settings

    @property
    def identity(self) -> str:
        return f"{self._answerer.identity} points-v{PAPER_SUMMARIES_VERSION} looked at by {self._scorer.identity}"

    def points(self, chunks: Sequence[Chunk]) -> list[PaperPoint]:
        given = contexts_for(paper_contexts(chunks), self._settings.context_tokens)
        return [self._point(point, chunks, given[point]) for point in Point]

    def _point(self, point: Point, chunks: Sequence[Chunk], contexts: Sequence[Context]) -> PaperPoint:
        verified = _verify(point, self._draft(point, contexts), chunks)
        claims = looked_at(verified, self._scorer.scores(verified, QUESTIONS[point])).claims
        return PaperPoint(chunks[0].paper_id, point, claims, self.identity)

    def _draft(self, point: Point, contexts: Sequence[Context]) -> DraftAnswer:
        question = QUESTIONS[point]
        read = [asdict(self._answerer.read(context)) for context in contexts]
        key = fingerprint(question, read, self.identity, self._settings.fingerprint())
        return self._replies.once(key, lambda: self._answerer.draft(question, contexts))[0]


def open_summarizer(settings: Settings, connections: Connections) -> PaperSummarizer:
    """What `paper_summaries.model` names. Raises InvalidSettings for a model that does not exist, MissingKey."""
    if settings.paper_summaries.model == EXTRACTIVE:
        return SentenceSummarizer()
    one_paper = settings.answering.model_copy(update={"min_sources": 1})
    answerer = HostedAnswerer(model_name(settings.paper_summaries), connections, one_paper)
    replies = kept_file(settings).replies("paper_summaries", DraftAnswer)
    scorer = second_look(settings, settings.paper_summaries.model, Unscored(), connections)
    return ModelSummarizer(answerer, replies, settings.paper_summaries, scorer)


def model_name(settings: PaperSummarySettings) -> ModelName:
    """Raises InvalidSettings for a model that does not exist."""
    return ModelName.parse(settings.model, setting="paper_summaries.model", instead=EXTRACTIVE)


def _verify(point: Point, draft: DraftAnswer, chunks: Sequence[Chunk]) -> VerifiedClaims:
    return verify(draft, {chunk.chunk_id: chunk for chunk in chunks}, QUESTIONS[point])
