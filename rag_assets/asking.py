"""Questions put to the published index: retrieval and answering brought together.

The `qa` asset, the smoke evaluation and the command line all ask through here, so they get the same contexts. What
is retrieved is decided in `retrieval`, what becomes of it in `answering`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rag_assets.answering.engine import AnswerEngine, Evidence, Retrieve
from rag_assets.answering.extractive import EXTRACTIVE, EXTRACTIVE_VERSION, ExtractiveAnswerer
from rag_assets.answering.replies import ReplyCache
from rag_assets.embedding.base import Embedder
from rag_assets.embedding.providers import embedder_facts, open_embedder
from rag_assets.errors import InvalidSettings
from rag_assets.incremental import fingerprint
from rag_assets.model import QAResult
from rag_assets.questions import Question, question_parts
from rag_assets.retrieval.opening import open_searcher
from rag_assets.retrieval.search import RankedPassage, Searcher
from rag_assets.settings import Settings


@dataclass(frozen=True)
class Asking:
    """An open index, an answer engine over it, and the parts they are made of."""

    searcher: Searcher
    engine: AnswerEngine
    retrieve: Retrieve
    encoder: Embedder


@contextmanager
def asking(settings: Settings, replies: Path) -> Iterator[Asking]:
    """Open what questions need; `replies` is the folder of cached drafts.

    Raises InvalidSettings for an answerer that does not exist, and what `open_searcher` raises.
    """
    if settings.answering.answerer != EXTRACTIVE:
        raise InvalidSettings(
            f'answering.answerer = "{settings.answering.answerer}" does not exist. It can be: {EXTRACTIVE}.'
        )
    with open_searcher(settings) as searcher:
        embedder = open_embedder(settings.embedding, settings.paths.models, n_threads=settings.execution.n_workers)

        def evidence(question: Question, k: int) -> Evidence:
            ranking = _ranked_by_parts(searcher, question)
            best = {hit.chunk.chunk_id for hit in searcher.hits(ranking, k)}
            contexts = searcher.contexts([one for one in ranking if one.passage.chunk_id in best])
            chunks = searcher.library.chunks
            return Evidence(tuple(contexts), {context.chunk_id: chunks[context.chunk_id] for context in contexts})

        answerer = ExtractiveAnswerer(embedder, settings.answering)
        engine = AnswerEngine(answerer, evidence, ReplyCache(replies), settings.answering)
        yield Asking(searcher, engine, evidence, embedder)


def _ranked_by_parts(searcher: Searcher, question: Question) -> list[RankedPassage]:
    """The ranking of a question; for a compound one, each passage with its best score over the question's parts."""
    best: dict[str, RankedPassage] = {}
    for part in question_parts(question.question):
        for one in searcher.rank(part, question.paper_ids):
            known = best.get(one.passage.passage_id)
            if known is None or one.score > known.score:
                best[one.passage.passage_id] = one
    return sorted(best.values(), key=lambda one: (-one.score, one.passage.passage_id))


def answerer_fingerprint(settings: Settings) -> str:
    """Changes with anything but the index that an answer follows from; opens no model."""
    return fingerprint(
        settings.retrieval.fingerprint(),
        settings.answering.fingerprint(),
        embedder_facts(settings.embedding, settings.paths.models).model_id,
        EXTRACTIVE_VERSION,
    )


def ask(settings: Settings, question: str) -> QAResult:
    """Answer one question from the published index; nothing is written to the data folder."""
    with TemporaryDirectory() as replies, asking(settings, Path(replies)) as opened:
        return opened.engine.answer(Question(id="ask", question=question)).result
