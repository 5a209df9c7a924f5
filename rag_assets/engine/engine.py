"""Answers questions from the published corpus, with the retrieval, models and caches that the
settings name.

`search.retrieval` finds the evidence, `answering` makes the answer, and `snapshots` decides which
publication is used and when a newer one replaces it.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from functools import partial, wraps
from threading import BoundedSemaphore, RLock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self, TypeVar

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
from rag_assets.core.errors import RagAssetsError, Unanswered
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import kept_file
from rag_assets.core.settings import EmbeddingSettings, Settings
from rag_assets.core.settings.paths import close_to_others
from rag_assets.engine.snapshots import Snapshots
from rag_assets.hosted.budget import Budget, question_budget, unlimited
from rag_assets.hosted.connections import Connections
from rag_assets.questions import Question, asked, read
from rag_assets.questions.conversations import after_conversation, open_rewriting_model
from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.hosted_models import is_hosted
from rag_assets.search.embedding.providers import KeptVectors, embedder_facts, open_embedder
from rag_assets.search.embedding.token_vectors import (
    open_token_encoder,
    passage_tokens,
)
from rag_assets.search.indexing.published_set import published_stamp
from rag_assets.search.reranking.base import SkippingReranker
from rag_assets.search.reranking.rerankers import RerankerResources, open_reranker
from rag_assets.search.reranking.trained_reader import open_sentence_reader
from rag_assets.search.retrieval.named_works import Offer, offered_filter
from rag_assets.search.retrieval.opening import (
    corpus_version,
    open_searcher,
)
from rag_assets.search.retrieval.queries import QueryPlanner, open_query_planner
from rag_assets.search.retrieval.question_reader import open_question_reader
from rag_assets.search.retrieval.search import SEARCH_VERSION, Searcher

if TYPE_CHECKING:
    from rag_assets.answering.model.synthesis import Synthesis

logger = logging.getLogger(__name__)
CODE_VERSION = f"pipeline {PIPELINE_VERSION}, search {SEARCH_VERSION}"
"""Version of the code that produces answers."""
Where = Filter | str | None
"""A filter, its text, or no filter."""
Part = TypeVar("Part")


def _opened_once(open_: "Callable[[Engine], Part]") -> "Callable[[Engine], Part]":
    """Decorator of a method that opens a part of the engine, such as a model: it is opened by the
    first call and kept. Other threads wait until it is open."""

    @wraps(open_)
    def opened(engine: "Engine") -> Part:
        with engine._loading:
            if open_.__name__ not in engine._parts:
                engine._parts[open_.__name__] = open_(engine)
            part: Part = engine._parts[open_.__name__]
            return part

    return opened


class Engine:
    """Answers questions from the published corpus; safe for several threads.

    The first question waits until indexes and models are open. After a new publication, new
    questions use it, and questions in progress finish on the earlier one. At most `n_at_once`
    questions are processed at the same time; others wait. Close it, or use it as a context manager.
    """

    def __init__(
        self,
        settings: Settings,
        connections: Connections | None = None,
        answerer: Answerer | None = None,
    ) -> None:
        """connections: connections to models behind an API, from a run that shares its budget;
        None: the engine opens its own. answerer: used in place of the model that the settings name.
        Raises the errors of `CitationStyle`."""
        close_to_others(settings.paths)
        self._answerer = answerer
        self.n_at_once = n_at_once(settings)
        self._settings = settings
        self.style = CitationStyle(settings)
        self._closing = ExitStack()
        self._connections = connections or self._closing.enter_context(
            Connections(settings.model_access)
        )
        self._snapshots = self._closing.enter_context(
            Snapshots(self._opened, lambda: published_stamp(settings))
        )
        self._slots = BoundedSemaphore(self.n_at_once)
        self._loading = RLock()
        self._parts: dict[str, Any] = {}
        """Name of the method that opened a part -> the part; see `_opened_once`."""
        encoder = open_token_encoder(
            settings.embedding, settings.paths.models, settings.execution.n_workers
        )
        self._tokens = passage_tokens(settings, encoder)
        self._read = partial(read, model=open_question_reader(settings.paths.models).asked)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the engine's own connections, and the indexes as soon as the last question is
        done."""
        self._closing.close()

    def search(
        self, question: str | Question, k: int | None = None, where: Where = None
    ) -> list[Hit]:
        """The best `k` chunks (default: `answering.k`), best first, each with its best passage.

        where: a filter, or its text ("paper:smith2020 section:results"), in addition to the filter
        of the question. Raises InvalidQuestions for an invalid question, InvalidFilter for an
        invalid filter, and the errors of `open_searcher`.
        """
        question = _question(question, where)
        with self._snapshots.newest() as searcher, self._slots:  # no slot is used while opening
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
        """The contexts of the best `k` chunks (default: `answering.k`), in the form for answerers.
        where: see `search`. budget_tokens: instead of `k` chunks, select contexts with this number
        of tokens from all results. Raises the errors of `search`."""
        question = _question(question, where)
        with self._snapshots.newest() as searcher, self._slots:  # no slot is used while opening
            question = searcher.as_read(question)
            return searcher.evidence(
                question,
                self._settings.answering.k if k is None else k,
                budget_tokens,
                for_model=self._is_read_by_model,
            )

    def papers(self, where: Where = None) -> list[str]:
        """The sorted ids of the papers with a passage that passes the filter. Raises the errors of
        `search`."""
        with self._snapshots.newest() as searcher:
            return searcher.papers(_filter(where) or EVERYTHING)

    def offered(self, question: Question) -> Offer | None:
        """A filter for the authors and years by which a question names papers; see
        `named_works.offered_filter`. Raises the errors of `search`."""
        return offered_filter(question, self._read(question.question).asked, self.papers)

    def chunks(self, chunk_ids: Iterable[str]) -> Mapping[str, Chunk]:
        """Id -> published chunk; ids that do not exist are left out. Raises the errors of
        `open_searcher`."""
        with self._snapshots.newest() as searcher:
            return searcher.library.chunks(chunk_ids)

    def sharing_words(self, text: str, k: int, where: Where = None) -> list[Chunk]:
        """At most `k` chunks that share words with a text, sorted by BM25, best first; no model is
        used. where: see `search`. Raises MissingInput if there is no word index."""
        with self._snapshots.newest() as searcher, self._slots:
            return searcher.sharing_words(text, k, _filter(where) or EVERYTHING)

    def answer(
        self,
        question: str | Question,
        where: Where = None,
        options: AnswerOptions = DEFAULT_OPTIONS,
    ) -> Iterator[Event]:
        """The events while a question is answered, as they happen; the last one has the answer.

        A claim is not shown if it breaks a promise about answers. where: see `search`. options:
        deviations from the settings for this answer. Raises MissingKey, InvalidSettings for a model
        that cannot be used, and the errors of `search` and of the models.
        """
        question = self.standalone(_question(question, where))
        answering = self._settings.answering
        quick = self._pipeline().adapted(options)
        answer_events, budget = quick.answer, unlimited()
        if (options.effort or answering.effort) != "quick":
            thorough = ThoroughPipeline(quick, self._thorough_planner(), answering.thorough)
            budget = question_budget(answering.thorough)
            answer_events = partial(thorough.answer, budget=budget)
        with self._snapshots.newest() as searcher, _with_cost_in_errors(budget):
            retrieve = partial(searcher.evidence, rankings={}, for_model=self._is_read_by_model)
            events = answer_events(searcher.as_read(question), retrieve)
            asked_so_far = question.question
            parts: tuple[str, ...] = ()
            while True:
                # neither the slot nor the budget is held while the caller processes an event
                with self._slots, budget.in_force():
                    event = next(events, None)
                    if isinstance(event, Planned):
                        parts = event.parts
                    if isinstance(event, PartBegun):
                        asked_so_far = f"{asked_so_far} {event.part}"
                    is_hidden = False
                    if isinstance(event, ClaimVerified):
                        corpus = self._published([event.claim], searcher)
                        is_hidden = broken(event.claim, asked_so_far, corpus) is not None
                    if isinstance(event, Finished):
                        result = replace(event.trace.result, question=question.question)
                        trace = replace(event.trace, result=result)
                        trace = self._without_broken_promises(trace, asked_so_far, searcher)
                        event = Finished(self._with_lead(trace, parts) if options.is_led else trace)
                if event is None:
                    return
                if not is_hidden:
                    yield event

    def trace(
        self,
        question: str | Question,
        where: Where = None,
        options: AnswerOptions = DEFAULT_OPTIONS,
    ) -> AnswerTrace:
        """The answer and the record of how it was made, without the events before. Raises the errors
        of `answer`."""
        *_, last = self.answer(question, where, options)
        if not isinstance(last, Finished):
            raise TypeError(f"the last event of an answer is {type(last).__name__}")
        return last.trace

    def standalone(self, question: Question) -> Question:
        """The question rewritten so that it is understood without its `conversation`. The earlier
        questions of the conversation are answered first."""
        model = partial(open_rewriting_model, self._settings, self._connections)
        return after_conversation(
            question, lambda earlier: asdict(self.trace(earlier).result), model
        )

    def question_vector(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimension,), by the model that compares
        sentences."""
        return self._encoder().embed_query(text)

    def keeps_promises(self, result: QAResult) -> bool:
        """Whether an answer keeps the promises about answers on the published corpus, so that it may
        be shown as it is."""
        with self._snapshots.newest() as searcher:
            return self._shown(result, result.question, searcher) == result

    @property
    def _is_read_by_model(self) -> bool:
        return self._answerer is None and self._settings.answering.model != EXTRACTIVE

    @property
    def is_ready(self) -> bool:
        """Whether questions can be asked; opens what is published if nothing is open yet."""
        try:
            with self._snapshots.newest():
                return True
        except (RagAssetsError, OSError):
            return False

    def corpus_version(self) -> str:
        """The version of the published corpus. It changes with every publication, and when an index
        is missing or damaged."""
        return corpus_version(self._settings)

    def answers_version(self) -> str:
        """Fingerprint of the corpus, and of the settings, models and code that make an answer."""
        return fingerprint(self.corpus_version(), self.method_version())

    def method_version(self) -> str:
        """Fingerprint of the settings, models and code that make an answer; loads no model."""
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

    def _with_lead(self, trace: AnswerTrace, parts: Sequence[str]) -> AnswerTrace:
        """The trace with a lead paragraph at the beginning of its answer, if a model writes it.
        parts: parts of the question, if they were answered one by one."""
        result, synthesis = trace.result, self._synthesis()
        if synthesis is None:
            return trace
        lead = synthesis.lead(result.question, parts, result.claims)
        usage = summed([result.usage, lead.usage])
        result = replace(result, lead=lead.sentences, usage=usage)
        return replace(trace, result=replace(result, answer=answer_of(result)), lead=lead)

    def _without_broken_promises(
        self, trace: AnswerTrace, asked_so_far: str, searcher: Searcher
    ) -> AnswerTrace:
        """The trace without the claims that break promises about answers; each is logged.
        asked_so_far: the question and its parts, whose words claims may repeat."""
        result = self._shown(trace.result, asked_so_far, searcher)
        for left_out in result.left_out:
            if left_out.promise:
                logger.error(
                    "Left out of the answer to %r (%s): %r: %s.",
                    result.question,
                    left_out.promise,
                    left_out.claim,
                    left_out.why,
                )
        return replace(trace, result=result)

    def _shown(self, result: QAResult, asked_so_far: str, searcher: Searcher) -> QAResult:
        """The answer as it may be shown."""
        corpus = self._published((*result.claims, *result.nearest), searcher)
        return promised(result, asked_so_far, corpus)

    def _published(self, claims: Iterable[Claim], searcher: Searcher) -> PublishedCorpus:
        """The published chunks and papers that the claims cite."""
        chunks = searcher.library.chunks(
            {citation.chunk_id for claim in claims for citation in claim.citations}
        )
        papers = {
            chunk.paper_id: searcher.library.facts_of(chunk.paper_id) for chunk in chunks.values()
        }
        return PublishedCorpus(chunks, papers, self._settings.answering.min_sources)

    def _opened(self) -> Searcher:
        """A searcher of what is published now."""
        settings = self._settings
        shared = None if is_hosted(settings.embedding.model) else self._encoder()
        return open_searcher(
            settings, self._connections, shared, self._reranker(), self._planner(), self._read
        )

    @_opened_once
    def _reranker(self) -> SkippingReranker | None:
        """One reranker for all publications, so that it warns only once."""
        settings = self._settings
        means = RerankerResources(self._tokens, settings.paths.models, settings.execution.n_workers)
        opened = open_reranker(settings.retrieval.reranker, means)
        return SkippingReranker(opened) if opened else None

    @_opened_once
    def _planner(self) -> QueryPlanner:
        """One planner for all publications, so that its model is not used for some time after an
        error."""
        return open_query_planner(self._settings, self._connections, self._read)

    @_opened_once
    def _pipeline(self) -> AnswerPipeline:
        settings = self._settings
        return AnswerPipeline(
            self._answerer
            or open_answerer(
                settings,
                Readers(self._tokens, open_sentence_reader(settings)),
                self._connections,
                self._read,
            ),
            open_scorer(settings, self._encoder(), self._connections),
            kept_drafts(kept_file(settings)),
            settings.answering,
        )

    @_opened_once
    def _synthesis(self) -> "Synthesis | None":
        return open_synthesis(self._settings, self._pipeline().scorer, self._connections)

    @_opened_once
    def _thorough_planner(self) -> Planner:
        return open_planner(self._settings, self._connections)

    @_opened_once
    def _encoder(self) -> KeptVectors:
        """The model that compares sentences: the embedding model of the index if it runs locally,
        else the packaged one, so that comparing costs no request."""
        settings = self._settings
        model = EmbeddingSettings() if is_hosted(settings.embedding.model) else settings.embedding
        return KeptVectors(
            open_embedder(model, settings.paths.models, n_threads=settings.execution.n_workers)
        )


@contextmanager
def _with_cost_in_errors(budget: Budget) -> Iterator[None]:
    """An Unanswered error that is raised within the block gets the cost and the time spent on the
    question."""
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
    """The question with its filter and the filter `where`."""
    question = asked(question) if isinstance(question, str) else question
    further = _filter(where)
    if further is None:
        return question
    return question.model_copy(update={"where": (question.where or EVERYTHING) & further})


def _filter(where: Where) -> Filter | None:
    return Filter.parse(where) if isinstance(where, str) else where
