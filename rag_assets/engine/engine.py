"""Questions put to the published corpus: retrieval, models and caches brought together.

What is retrieved is decided in `retrieval`, what becomes of it in `answering`; which publication is asked, and when it
is exchanged for a newer one, in `snapshots`.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from threading import BoundedSemaphore, RLock
from typing import Any, Self

from rag_assets.answering.drafts import AS_SET, Manner, Readers, kept_drafts
from rag_assets.answering.model.thorough import THOROUGH_VERSION, Planner, ThoroughPipeline, open_planner
from rag_assets.answering.models import n_at_once, open_answerer, open_scorer
from rag_assets.answering.pipeline import PIPELINE_VERSION, AnswerPipeline
from rag_assets.answering.promises import ANSWER_PROMISES, AnswersCandidate
from rag_assets.answering.trace import AnswerTrace, Event, Finished
from rag_assets.core.domain import EVERYTHING, Chunk, Evidence, Filter, Hit, QAResult
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import kept_file
from rag_assets.core.promises import check_all
from rag_assets.core.settings import EmbeddingSettings, Settings
from rag_assets.engine.kept_vectors import KeptVectors
from rag_assets.engine.snapshots import Snapshots
from rag_assets.hosted.connections import Connections
from rag_assets.questions import Question, asked
from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.hosted_models import is_hosted
from rag_assets.search.embedding.missing_tokens import stores_tokens
from rag_assets.search.embedding.providers import embedder_facts, open_embedder
from rag_assets.search.embedding.token_store import TokenStore
from rag_assets.search.embedding.token_vectors import PassageTokens, RotatedTokenEncoder, open_token_encoder
from rag_assets.search.reranking import Means, SkippingReranker, open_reranker, open_sentence_reader
from rag_assets.search.retrieval.opening import corpus_version, fit_together, open_searcher, published_files
from rag_assets.search.retrieval.queries import QueryPlanner, open_query_planner
from rag_assets.search.retrieval.search import SEARCH_VERSION, Searcher

logger = logging.getLogger(__name__)
CODE_VERSION = f"pipeline {PIPELINE_VERSION}, search {SEARCH_VERSION}"
"""Of the code that answers follow from."""
Where = Filter | str | None
"""A filter, its text, or no filter."""


class Engine:
    """Asks the published corpus; safe to use from any thread.

    Nothing is opened before the first question, which waits for indexes and models. When something is published anew,
    the next question is asked of that, and those under way end on what they began with. At most `n_at_once` questions
    are worked on at a time; others wait. Close it, or use it as a context manager.
    """

    def __init__(self, settings: Settings, connections: Connections | None = None) -> None:
        """connections: to models behind an API, of a run whose budget is shared; None for the engine's own."""
        self.n_at_once = n_at_once(settings)
        self._settings = settings
        self._closing = ExitStack()
        self._connections = connections or self._closing.enter_context(Connections(settings.model_access))
        self._snapshots = self._closing.enter_context(
            Snapshots(self._opened, published_files(settings), lambda: fit_together(settings))
        )
        self._slots = BoundedSemaphore(self.n_at_once)
        self._loading = RLock()
        self._kept_encoder: KeptVectors | None = None
        self._kept_planner: QueryPlanner | None = None
        self._kept_pipeline: AnswerPipeline | None = None
        self._kept_thorough_planner: Planner | None = None
        self._tokens = _passage_tokens(settings)
        self._kept_reranker: SkippingReranker | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the indexes once the last question is done, and the engine's own connections."""
        self._closing.close()

    def search(self, question: str | Question, k: int | None = None, where: Where = None) -> list[Hit]:
        """The best `k` chunks (default: `answering.k`), best first, each with its best passage.

        where: a filter, or its text ("paper:smith2020 section:results"), that must hold beside those of the question.
        Raises InvalidQuestions for a text that is no question, InvalidFilter for one that is no filter, and what
        `open_searcher` raises.
        """
        question = _question(question, where)
        with self._snapshots.newest() as searcher, self._slots:  # opening takes no slot
            return searcher.hits(searcher.rank(question.question, question.filter), self._depth(k))

    def evidence(
        self,
        question: str | Question,
        k: int | None = None,
        where: Where = None,
        *,
        budget_tokens: int | None = None,
    ) -> Evidence:
        """What an answerer would read of the best `k` chunks (default: `answering.k`); where: as for `search`.

        budget_tokens: pack so many tokens out of everything that was found instead. Raises as `search`.
        """
        question = _question(question, where)
        with self._snapshots.newest() as searcher, self._slots:  # opening takes no slot
            return searcher.evidence(question, self._depth(k), budget_tokens)

    def chunks(self, chunk_ids: Iterable[str]) -> Mapping[str, Chunk]:
        """The published chunks of those ids; one that does not exist is left out. Raises what opening raises."""
        with self._snapshots.newest() as searcher:
            return searcher.library.chunks(chunk_ids)

    def sharing_words(self, text: str, k: int, where: Where = None) -> list[Chunk]:
        """At most `k` chunks that share words with a text, best BM25 first; no model is asked.

        where: as for `search`. Raises MissingInput where there is no index of words.
        """
        with self._snapshots.newest() as searcher, self._slots:
            return searcher.sharing_words(text, k, _filter(where) or EVERYTHING)

    def answer(self, question: str | Question, where: Where = None, manner: Manner = AS_SET) -> Iterator[Event]:
        """Everything that happens on the way to an answer, as it happens; the last event has the result.

        where: as for `search`. manner: what differs from the settings for this answer. Raises MissingKey,
        InvalidSettings for a model that cannot be asked, else as `search` and as the models do.
        """
        question = _question(question, where)
        pipeline = self._adapted(manner)
        with self._snapshots.newest() as searcher:
            events = pipeline.answer(question, partial(searcher.evidence, rankings={}))
            while True:
                with self._slots:  # a slot is not held while the caller looks at an event
                    event = next(events, None)
                    if isinstance(event, Finished):
                        event = Finished(self._promised(event.trace, searcher))
                if event is None:
                    return
                yield event

    def trace(self, question: str | Question, where: Where = None, manner: Manner = AS_SET) -> AnswerTrace:
        """The record of an answer, when only that is wanted. Raises as `answer`."""
        *_, last = self.answer(question, where, manner)
        if not isinstance(last, Finished):
            raise TypeError(f"the last event of an answer is {type(last).__name__}")
        return last.trace

    def question_vector(self, text: str) -> Vectors:
        """The unit vector of a question, by the model that compares sentences; shape (dimension,)."""
        return self._encoder().embed_query(text)

    def broken_promises(self, result: QAResult) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The promises that an answer does not keep on the corpus as it is, each with the rows that break it."""
        with self._snapshots.newest() as searcher:
            return self._broken(result, searcher)

    def corpus_version(self) -> str:
        """Changes with anything that is published of the corpus, and with an index that is missing or damaged."""
        return corpus_version(self._settings)

    def answers_version(self) -> str:
        """Changes with anything that an answer follows from."""
        return fingerprint(self.corpus_version(), self.method_version())

    def method_version(self) -> str:
        """Changes with the settings, models and code that make an answer; no model is loaded to tell."""
        settings, pipeline = self._settings, self._pipeline()
        return fingerprint(
            settings.retrieval.fingerprint(),
            settings.answering.fingerprint(),
            pipeline.answerer.identity,
            pipeline.scorer.identity,
            embedder_facts(settings.embedding, settings.paths.models).identity,
            self._planner().identity,
            reranker.identity if (reranker := self._reranker()) else "",
            PIPELINE_VERSION,
            SEARCH_VERSION,
            self._effort_version(),
        )

    def _depth(self, k: int | None) -> int:
        return self._settings.answering.k if k is None else k

    def _promised(self, trace: AnswerTrace, searcher: Searcher) -> AnswerTrace:
        broken = self._broken(trace.result, searcher)
        if broken:
            logger.error("The answer to %r breaks a promise: %s", trace.result.question, ", ".join(broken))
        return replace(trace, broken=broken)

    def _broken(self, result: QAResult, searcher: Searcher) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        chunks, min_sources = searcher.library.chunks(result.quoted_chunk_ids), self._settings.answering.min_sources
        checked = check_all(ANSWER_PROMISES, AnswersCandidate((result,), chunks, min_sources))
        return {one.promise.name: one.offenders for one in checked if not one.is_kept}

    def _opened(self) -> Searcher:
        settings = self._settings
        shared = None if is_hosted(settings.embedding.model) else self._encoder()
        return open_searcher(settings, self._connections, shared, self._reranker(), self._planner())

    def _reranker(self) -> SkippingReranker | None:
        """Kept while publications come and go: what it warned of once holds for all of them."""
        with self._loading:
            if self._kept_reranker is None:
                settings = self._settings
                means = Means(
                    self._tokens,
                    self._connections,
                    settings.paths.models,
                    settings.execution.n_workers,
                )
                opened = open_reranker(settings.retrieval.reranker, means)
                self._kept_reranker = SkippingReranker(opened) if opened else None
            return self._kept_reranker

    def _planner(self) -> QueryPlanner:
        """Kept as the reranker is: after a fault, its model is left alone for a while."""
        with self._loading:
            if self._kept_planner is None:
                self._kept_planner = open_query_planner(self._settings, self._connections)
            return self._kept_planner

    def _pipeline(self) -> AnswerPipeline:
        with self._loading:
            if self._kept_pipeline is None:
                settings, encoder = self._settings, self._encoder()
                self._kept_pipeline = AnswerPipeline(
                    open_answerer(settings, Readers(self._tokens, open_sentence_reader(settings)), self._connections),
                    open_scorer(settings, encoder, self._connections),
                    kept_drafts(kept_file(settings)),
                    settings.answering,
                )
            return self._kept_pipeline

    def _adapted(self, manner: Manner) -> AnswerPipeline | ThoroughPipeline:
        """What answers in that manner."""
        answering, pipeline = self._settings.answering, self._pipeline().adapted(manner)
        if (manner.effort or answering.effort) == "quick":
            return pipeline
        return ThoroughPipeline(pipeline, self._thorough_planner(), answering.thorough)

    def _thorough_planner(self) -> Planner:
        with self._loading:
            if self._kept_thorough_planner is None:
                self._kept_thorough_planner = open_planner(self._settings, self._connections)
            return self._kept_thorough_planner

    def _effort_version(self) -> str:
        """Changes with what makes a thorough answer; empty while answers are quick."""
        answering = self._settings.answering
        if answering.effort == "quick":
            return ""
        return fingerprint(answering.thorough.fingerprint(), self._thorough_planner().identity, THOROUGH_VERSION)

    def _encoder(self) -> KeptVectors:
        """The model that compares sentences: that of the index where it runs here, else the embedded one, so that
        comparing costs no request."""
        with self._loading:
            if self._kept_encoder is None:
                settings = self._settings
                model = EmbeddingSettings() if is_hosted(settings.embedding.model) else settings.embedding
                n_threads = settings.execution.n_workers
                self._kept_encoder = KeptVectors(open_embedder(model, settings.paths.models, n_threads=n_threads))
            return self._kept_encoder


def _passage_tokens(settings: Settings) -> PassageTokens:
    encoder = open_token_encoder(settings.embedding, settings.paths.models, settings.execution.n_workers)
    if not stores_tokens(settings.embedding, settings.retrieval):
        return PassageTokens(encoder)
    return PassageTokens(RotatedTokenEncoder(encoder), TokenStore(settings.paths.token_vectors, encoder.identity))


def open_engine(settings: Settings, connections: Connections | None = None) -> Engine:
    """An engine over the data folder of `settings`; see `Engine`."""
    return Engine(settings, connections)


def _question(question: str | Question, where: Where) -> Question:
    question = asked(question) if isinstance(question, str) else question
    narrower = _filter(where)
    if narrower is None:
        return question
    return question.model_copy(update={"where": (question.where or EVERYTHING) & narrower})


def _filter(where: Where) -> Filter | None:
    return Filter.parse(where) if isinstance(where, str) else where
