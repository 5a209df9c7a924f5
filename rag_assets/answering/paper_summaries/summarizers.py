"""Summarise one paper by a model that is asked about each point; what it says is verified."""

from collections.abc import Sequence
from dataclasses import asdict

from rag_assets.answering.drafts import Answerer, DraftAnswer
from rag_assets.answering.model.answerer import HostedAnswerer
from rag_assets.answering.models import second_look
from rag_assets.answering.paper_summaries.contexts import contexts_for, paper_contexts
from rag_assets.answering.verify.support import SupportScorer, Unscored, looked_at
from rag_assets.answering.verify.verification import verify
from rag_assets.core.domain import Chunk, Context, PaperPoint, Point
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import Kept, kept_file
from rag_assets.core.settings import PaperSummarySettings, Settings
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


class PaperSummarizer:
    """Asks a model one question for each point, once for the same sections; what does not hold is dropped. May be
    called from several threads."""

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
        verified = verify(self._draft(point, contexts), {chunk.chunk_id: chunk for chunk in chunks}, QUESTIONS[point])
        claims = looked_at(verified, self._scorer.scores(verified, QUESTIONS[point])).claims
        return PaperPoint(chunks[0].paper_id, point, claims, self.identity)

    def _draft(self, point: Point, contexts: Sequence[Context]) -> DraftAnswer:
        question = QUESTIONS[point]
        read = [asdict(self._answerer.read(context)) for context in contexts]
        key = fingerprint(question, read, self.identity)
        return self._replies.once(key, lambda: self._answerer.draft(question, contexts))[0]


def open_summarizer(settings: Settings, connections: Connections) -> PaperSummarizer:
    """The model that `paper_summaries.model` names. Raises InvalidSettings for one that does not exist, MissingKey."""
    one_paper = settings.answering.model_copy(update={"min_sources": 1})
    answerer = HostedAnswerer(model_name(settings.paper_summaries), connections, one_paper)
    replies = kept_file(settings).replies("paper_summaries", DraftAnswer)
    scorer = second_look(settings, settings.paper_summaries.model, Unscored(), connections)
    return PaperSummarizer(answerer, replies, scorer)


def model_name(settings: PaperSummarySettings) -> ModelName:
    """Raises InvalidSettings for a model that does not exist."""
    return ModelName.parse(settings.model, setting="paper_summaries.model", instead=NO_MODEL)
