"""Asks questions of the published corpus with the retrieval, models and caches that the settings
name.

What is retrieved is decided in `search.retrieval`, what becomes of it in `answering`; which
publication is asked, and when a newer one takes its place, in `snapshots`.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from functools import partial, wraps
from threading import BoundedSemaphore, Lock, RLock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from rag_assets.answering.drafts import (
    DEFAULT_OPTIONS,
    EXTRACTIVE,
    Answerer,
    AnswerOptions,
    Readers,
    kept_drafts,
)
from rag_assets.answering.model.planning import Planner, open_planner
from rag_assets.answering.model.thorough import THOROUGH_VERSION, ThoroughPipeline
from rag_assets.answering.opening import n_at_once, open_answerer, open_scorer, open_synthesis
from rag_assets.answering.pipeline import PIPELINE_VERSION, AnswerPipeline
from rag_assets.answering.promises import PublishedCorpus, broken, promised
from rag_assets.answering.trace import (
    AnswerTrace,
    ClaimVerified,
    Event,
    Finished,
    PartBegun,
    Planned,
)
from rag_assets.answering.wording import CitationStyle, answer_of
from rag_assets.core.domain import (
    EVERYTHING,
    Chunk,
    Claim,
    Evidence,
    Filter,
    Hit,
    QAResult,
    summed,
)
from rag_assets.core.errors import Unanswered
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile, kept_file
from rag_assets.core.settings import EmbeddingSettings, Settings
from rag_assets.engine.snapshots import Snapshots
from rag_assets.hosted.budget import Budget, question_budget, unlimited
from rag_assets.hosted.connections import Connections
from rag_assets.questions import Question, asked
from rag_assets.questions.conversations import after_conversation, open_rewriting_model
from rag_assets.search.embedding.base import Embedder, EmbedderFacts, Vectors
from rag_assets.search.embedding.hosted_models import is_hosted
from rag_assets.search.embedding.missing_vectors import stores_tokens
from rag_assets.search.embedding.providers import embedder_facts, open_embedder
from rag_assets.search.embedding.token_store import TokenStore
from rag_assets.search.embedding.token_vectors import PassageTokens, open_token_encoder
from rag_assets.search.reranking.base import SkippingReranker
from rag_assets.search.reranking.rerankers import RerankerResources, open_reranker
from rag_assets.search.reranking.trained_reader import open_sentence_reader
from rag_assets.search.retrieval.opening import (
    corpus_version,
    fit_together,
    is_built,
    open_searcher,
    published_files,
)
from rag_assets.search.retrieval.queries import QueryPlanner, open_query_planner
from rag_assets.search.retrieval.search import SEARCH_VERSION, Searcher

if TYPE_CHECKING:
    from rag_assets.answering.model.synthesis import Synthesis

MAX_VECTORS = 10_000
"""About 20 MB with 384 numbers each; the least recently used go first."""


class KeptVectors:
    """An Embedder that keeps the vectors of recent texts. Safe to use from several threads."""

    def __init__(self, embedder: Embedder, *, max_vectors: int = MAX_VECTORS) -> None:
        self._embedder = embedder
        self._max_vectors = max_vectors
        self._lock = Lock()
        self._vectors: OrderedDict[tuple[str, str], Vectors] = OrderedDict()

    @property
    def identity(self) -> str:
        return self._embedder.identity

    @property
    def facts(self) -> EmbedderFacts:
        return self._embedder.facts

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.count_tokens(texts)

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.request_sizes(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = self._kept("passage", texts, self._embedder.embed_passages)
        return np.stack(vectors) if texts else np.empty((0, self.facts.dimension), np.float32)

    def embed_query(self, text: str) -> Vectors:
        return self._kept("query", [text], lambda _: [self._embedder.embed_query(text)])[0]

    def _kept(
        self, kind: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Iterable[Vectors]]
    ) -> list[Vectors]:
        with self._lock:
            found = {
                text: self._vectors[kind, text] for text in texts if (kind, text) in self._vectors
            }
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            # copies, because a view would keep the whole batch
            found |= {
                text: vector.copy() for text, vector in zip(missing, embed(missing), strict=True)
            }
        with self._lock:
            for text, vector in found.items():
                self._vectors[kind, text] = vector
                self._vectors.move_to_end((kind, text))
            while len(self._vectors) > self._max_vectors:
                self._vectors.popitem(last=False)
        return [found[text] for text in texts]


def passage_tokens(settings: Settings) -> PassageTokens:
    """The token vectors of passages, with those that are stored."""
    encoder = open_token_encoder(
        settings.embedding, settings.paths.models, settings.execution.n_workers
    )
    if not stores_tokens(settings.embedding):
        return PassageTokens(encoder)
    return PassageTokens(encoder, TokenStore(KeptFile(settings.paths.vectors), encoder.identity))


logger = logging.getLogger(__name__)
CODE_VERSION = f"pipeline {PIPELINE_VERSION}, search {SEARCH_VERSION}"
"""Version of the code that produces answers."""
Where = Filter | str | None
"""A filter, its text, or no filter."""
Made = TypeVar("Made")


def _made_once(make: "Callable[[Engine], Made]") -> "Callable[[Engine], Made]":
    """Keeps what the method returned for the first thread that called it; other threads wait for
    that."""

    @wraps(make)
    def kept(engine: "Engine") -> Made:
        with engine._loading:
            if make.__name__ not in engine._made:
                engine._made[make.__name__] = make(engine)
            made: Made = engine._made[make.__name__]
            return made

    return kept


class Engine:
    """Asks the published corpus; safe to use from any thread.

    The first question waits until indexes and models are opened. After a new publication the next
    question is asked of that one, and questions under way end on the earlier one. At most
    `n_at_once` questions are worked on at a time; others wait. Close it, or use it as a context
    manager.
    """

    def __init__(
        self,
        settings: Settings,
        connections: Connections | None = None,
        answerer: Answerer | None = None,
    ) -> None:
        """connections: to models behind an API, of a run that shares its budget; None: the engine's
        own. answerer: writes in place of the model that the settings name. Raises as
        `CitationStyle`."""
        self._answerer = answerer
        self.n_at_once = n_at_once(settings)
        self._settings = settings
        self.style = CitationStyle(settings)
        self._closing = ExitStack()
        self._connections = connections or self._closing.enter_context(
            Connections(settings.model_access)
        )
        self._snapshots = self._closing.enter_context(
            Snapshots(
                self._opened,
                published_files(settings),
                fit=lambda: fit_together(settings),
                is_built=lambda: is_built(settings),
            )
        )
        self._slots = BoundedSemaphore(self.n_at_once)
        self._loading = RLock()
        self._made: dict[str, Any] = {}
        self._tokens = passage_tokens(settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the indexes once the last question is done, and the engine's own connections."""
        self._closing.close()

    def search(
        self, question: str | Question, k: int | None = None, where: Where = None
    ) -> list[Hit]:
        """The best `k` chunks (default: `answering.k`), best first, each with its best passage.

        where: a filter, or its text ("paper:smith2020 section:results"), that must hold as well as
        the question's own. Raises InvalidQuestions for an invalid question, InvalidFilter for an
        invalid filter, and what `open_searcher` raises.
        """
        question = _question(question, where)
        with self._snapshots.newest() as searcher, self._slots:  # opening takes no slot
            question = searcher.as_read(question)
            return searcher.hits(
                searcher.rank(question.question, question.filter),
                self._settings.answering.k if k is None else k,
            )

    def evidence(
        self,
        question: str | Question,
        k: int | None = None,
        where: Where = None,
        *,
        budget_tokens: int | None = None,
    ) -> Evidence:
        """The contexts of the best `k` chunks (default: `answering.k`), as an answerer reads them;
        where: see `search`. budget_tokens: pack so many tokens out of everything that was found
        instead. Raises as `search`."""
        question = _question(question, where)
        with self._snapshots.newest() as searcher, self._slots:  # opening takes no slot
            question = searcher.as_read(question)
            return searcher.evidence(
                question,
                self._settings.answering.k if k is None else k,
                budget_tokens,
                for_model=self._is_read_by_model,
            )

    def papers(self, where: Where = None) -> list[str]:
        """The ids of the papers with a passage that passes the filter, sorted. Raises as
        `search`."""
        with self._snapshots.newest() as searcher:
            return searcher.papers(_filter(where) or EVERYTHING)

    def chunks(self, chunk_ids: Iterable[str]) -> Mapping[str, Chunk]:
        """The published chunks by id, without ids that do not exist. Raises what opening raises."""
        with self._snapshots.newest() as searcher:
            return searcher.library.chunks(chunk_ids)

    def sharing_words(self, text: str, k: int, where: Where = None) -> list[Chunk]:
        """At most `k` chunks that share words with a text, best BM25 first; no model is asked.
        where: see `search`. Raises MissingInput if there is no index of words."""
        with self._snapshots.newest() as searcher, self._slots:
            return searcher.sharing_words(text, k, _filter(where) or EVERYTHING)

    def answer(
        self,
        question: str | Question,
        where: Where = None,
        options: AnswerOptions = DEFAULT_OPTIONS,
    ) -> Iterator[Event]:
        """Everything that happens on the way to an answer, as it happens; the last event has the
        result.

        where: as for `search`. options: what differs from the settings for this answer. Raises
        MissingKey, InvalidSettings for a model that cannot be asked, else as `search` and as the
        models do.
        """
        question = self.standalone(_question(question, where))
        answering = self._settings.answering
        quick = self._pipeline().adapted(options)
        answered, budget = quick.answer, unlimited()
        if (options.effort or answering.effort) != "quick":
            thorough = ThoroughPipeline(quick, self._thorough_planner(), answering.thorough)
            budget = question_budget(answering.thorough)
            answered = partial(thorough.answer, budget=budget)
        with self._snapshots.newest() as searcher, _costed(budget):
            retrieve = partial(searcher.evidence, rankings={}, for_model=self._is_read_by_model)
            events = answered(searcher.as_read(question), retrieve)
            asked = question.question
            parts: tuple[str, ...] = ()
            while True:
                # neither is held while the caller looks at an event
                with self._slots, budget.in_force():
                    event = next(events, None)
                    if isinstance(event, Planned):
                        parts = event.parts
                    if isinstance(event, PartBegun):
                        asked = f"{asked} {event.part}"
                    is_unseen = isinstance(event, ClaimVerified) and (
                        broken(event.claim, asked, self._published([event.claim], searcher))
                        is not None
                    )
                    if isinstance(event, Finished):
                        result = replace(event.trace.result, question=question.question)
                        seen = self._promised(replace(event.trace, result=result), asked, searcher)
                        event = Finished(self._led(seen, parts) if options.is_led else seen)
                if event is None:
                    return
                if not is_unseen:
                    yield event

    def trace(
        self,
        question: str | Question,
        where: Where = None,
        options: AnswerOptions = DEFAULT_OPTIONS,
    ) -> AnswerTrace:
        """The record of an answer, without the events before it. Raises as `answer`."""
        *_, last = self.answer(question, where, options)
        if not isinstance(last, Finished):
            raise TypeError(f"the last event of an answer is {type(last).__name__}")
        return last.trace

    def standalone(self, question: Question) -> Question:
        """The question as it is understood after its `conversation`, whose questions are answered
        first."""
        model = partial(open_rewriting_model, self._settings, self._connections)
        return after_conversation(
            question, lambda earlier: asdict(self.trace(earlier).result), model
        )

    def question_vector(self, text: str) -> Vectors:
        """The unit vector of a question, by the model that compares sentences; shape
        (dimension,)."""
        return self._encoder().embed_query(text)

    def keeps_promises(self, result: QAResult) -> bool:
        """Whether an answer may be seen as it is, on the published corpus."""
        with self._snapshots.newest() as searcher:
            return self._as_seen(result, result.question, searcher) == result

    @property
    def _is_read_by_model(self) -> bool:
        return self._answerer is None and self._settings.answering.model != EXTRACTIVE

    @property
    def is_built(self) -> bool:
        """Whether there is anything to ask; looks at names of files only."""
        return is_built(self._settings)

    def corpus_version(self) -> str:
        """Changes with every publication, and with an index that is missing or damaged."""
        return corpus_version(self._settings)

    def answers_version(self) -> str:
        """Changes with the corpus, and with the settings, models and code that make an answer."""
        return fingerprint(self.corpus_version(), self.method_version())

    def method_version(self) -> str:
        """Changes with the settings, models and code that make an answer; loads no model."""
        settings, pipeline = self._settings, self._pipeline()
        answering, thorough = settings.answering, ""
        if answering.effort != "quick":
            thorough = fingerprint(
                answering.thorough.fingerprint(),
                self._thorough_planner().identity,
                THOROUGH_VERSION,
            )
        return fingerprint(
            settings.retrieval.fingerprint(),
            answering.fingerprint(),
            pipeline.answerer.identity,
            pipeline.scorer.identity,
            embedder_facts(settings.embedding, settings.paths.models).identity,
            self._planner().identity,
            reranker.identity if (reranker := self._reranker()) else "",
            synthesis.identity if (synthesis := self._synthesis()) else "",
            PIPELINE_VERSION,
            SEARCH_VERSION,
            thorough,
        )

    def _led(self, trace: AnswerTrace, parts: Sequence[str]) -> AnswerTrace:
        """The trace with the paragraph that opens its answer. parts: of the question, where they
        were answered one by one."""
        result, synthesis = trace.result, self._synthesis()
        if synthesis is None:
            return trace
        lead = synthesis.lead(result.question, parts, result.claims)
        usage = summed([result.usage, lead.usage])
        result = replace(result, lead=lead.sentences, usage=usage)
        return replace(trace, result=replace(result, answer=answer_of(result)), lead=lead)

    def _promised(self, trace: AnswerTrace, asked: str, searcher: Searcher) -> AnswerTrace:
        """The trace with the answer as it may be seen."""
        result = self._as_seen(trace.result, asked, searcher)
        for one in result.left_out:
            if one.promise:
                logger.error(
                    "Left out of the answer to %r (%s): %r: %s.",
                    result.question,
                    one.promise,
                    one.claim,
                    one.why,
                )
        return replace(trace, result=result)

    def _as_seen(self, result: QAResult, asked: str, searcher: Searcher) -> QAResult:
        return promised(result, asked, self._published((*result.claims, *result.nearest), searcher))

    def _published(self, claims: Iterable[Claim], searcher: Searcher) -> PublishedCorpus:
        chunks = searcher.library.chunks(
            {one.chunk_id for claim in claims for one in claim.citations}
        )
        papers = {one.paper_id: searcher.library.facts_of(one.paper_id) for one in chunks.values()}
        return PublishedCorpus(chunks, papers, self._settings.answering.min_sources)

    def _opened(self) -> Searcher:
        settings = self._settings
        shared = None if is_hosted(settings.embedding.model) else self._encoder()
        return open_searcher(settings, self._connections, shared, self._reranker(), self._planner())

    @_made_once
    def _reranker(self) -> SkippingReranker | None:
        """The same for all publications, so that it warns only once."""
        settings = self._settings
        means = RerankerResources(self._tokens, settings.paths.models, settings.execution.n_workers)
        opened = open_reranker(settings.retrieval.reranker, means)
        return SkippingReranker(opened) if opened else None

    @_made_once
    def _planner(self) -> QueryPlanner:
        """The same for all publications: after a fault, its model is not asked for a while."""
        return open_query_planner(self._settings, self._connections)

    @_made_once
    def _pipeline(self) -> AnswerPipeline:
        settings = self._settings
        return AnswerPipeline(
            self._answerer
            or open_answerer(
                settings, Readers(self._tokens, open_sentence_reader(settings)), self._connections
            ),
            open_scorer(settings, self._encoder(), self._connections),
            kept_drafts(kept_file(settings)),
            settings.answering,
        )

    @_made_once
    def _synthesis(self) -> "Synthesis | None":
        return open_synthesis(self._settings, self._pipeline().scorer, self._connections)

    @_made_once
    def _thorough_planner(self) -> Planner:
        return open_planner(self._settings, self._connections)

    @_made_once
    def _encoder(self) -> KeptVectors:
        """The model that compares sentences: that of the index if it runs here, else the embedded
        one, so that comparing costs no request."""
        settings = self._settings
        model = EmbeddingSettings() if is_hosted(settings.embedding.model) else settings.embedding
        return KeptVectors(
            open_embedder(model, settings.paths.models, n_threads=settings.execution.n_workers)
        )


@contextmanager
def _costed(budget: Budget) -> Iterator[None]:
    """Notes on a fault that leaves the question without an answer what was spent on it."""
    started = perf_counter()
    try:
        yield
    except Unanswered as fault:
        fault.spent, fault.seconds = budget.spent, perf_counter() - started
        raise


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
