"""From a question to a verified result: evidence, draft, verification, the retry for a second source.

The order of the guardrails is that of docs/adr/0004-rag-qa-pipeline.md. Evidence is handed in as a function, so this
module knows neither indexes nor embeddings.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from time import perf_counter

from rag_assets.answering.citations.support import Scoring, SupportScorer, with_support
from rag_assets.answering.citations.verification import sources_of, verify
from rag_assets.answering.drafts import REFUSAL, Answerer, DraftAnswer
from rag_assets.answering.manner import Manner
from rag_assets.answering.trace import (
    AnswerTrace,
    Attempt,
    ClaimDropped,
    ClaimVerified,
    Event,
    Finished,
    FoundChunk,
    Retrieved,
    Retrying,
)
from rag_assets.answering.wording import missing_notes, notes, worded
from rag_assets.domain import Claim, Context, Evidence, QAResult, Usage, summed
from rag_assets.errors import QuestionBudgetExhausted, RequestRejected
from rag_assets.hosted.replies import ReplyCache
from rag_assets.incremental import fingerprint
from rag_assets.questions import Question
from rag_assets.settings import AnsweringSettings

PIPELINE_VERSION = 5
"""Part of the key of published answers: raise it when the code makes another answer of the same contexts. Search and
answerers have versions of their own."""
Retrieve = Callable[[Question, int], Evidence]
"""question, k -> evidence from the k best chunks (of the papers the question names, if it names any)."""


@dataclass(frozen=True, slots=True)
class Said:
    """What an answer says."""

    claims: tuple[Claim, ...]
    """Verified, with their support; none for a refusal."""
    unanswered: tuple[str, ...]
    missing_names: tuple[str, ...]
    missing_words: tuple[str, ...]
    nearest: tuple[Claim, ...]


@dataclass(frozen=True)
class AnswerPipeline:
    """Answers questions, from any thread; drafts are taken from the cache where it has them."""

    answerer: Answerer
    scorer: SupportScorer
    cache: ReplyCache[DraftAnswer]
    settings: AnsweringSettings

    def adapted(self, manner: Manner) -> "AnswerPipeline":
        """The pipeline that answers in that manner; drafts of other manners are other drafts."""
        answerer = self.answerer.within(manner.background) if manner.background else self.answerer
        settings = self.settings if manner.k is None else self.settings.model_copy(update={"k": manner.k})
        return replace(self, answerer=answerer, settings=settings)

    def answer(self, question: Question, retrieve: Retrieve, min_sources: int | None = None) -> Iterator[Event]:
        """Everything that happens; the last event has the result.

        min_sources: papers that must be cited lest more is read; None: `answering.min_sources`. Raises what the
        answerer raises; drafts made until then are in the cache.
        """
        first = yield from self._attempt(question, self.settings.k, retrieve)
        yield from _checked(first)
        attempts, final, retry_k = [first], first, None
        wanted = self.settings.min_sources if min_sources is None else min_sources
        if first.n_sources < wanted and not _has_cited_all(question, first):
            retry_k = self.settings.k + self.settings.retry_extra_k
            yield Retrying(retry_k)
            retry = yield from self._retried(question, retry_k, retrieve, first)
            if retry is not None:
                attempts.append(retry)
                if retry.n_sources > first.n_sources:
                    final = retry
                    yield from _checked(retry)
        seconds = _summed_seconds(attempts)
        with _timed("score", seconds):
            scoring = self.scorer.scores(final.verified.claims, question.question)
        result = self._result(question, final, attempts, scoring)
        yield Finished(AnswerTrace(result, tuple(attempts), final, scoring, retry_k, seconds))

    def _retried(
        self, question: Question, k: int, retrieve: Retrieve, first: Attempt
    ) -> Generator[Event, None, Attempt | None]:
        """The retry; None when it reads nothing else, or cannot be made and the first attempt has something to say."""
        try:
            retry = yield from self._attempt(question, k, retrieve)
        except (RequestRejected, QuestionBudgetExhausted):
            if not first.verified.claims:
                raise
            return None
        return None if retry.fingerprint == first.fingerprint else retry

    def _attempt(self, question: Question, k: int, retrieve: Retrieve) -> Generator[Event, None, Attempt]:
        seconds: dict[str, float] = {}
        with _timed("retrieve", seconds):
            evidence = retrieve(question, k)
        yield Retrieved(evidence)
        with _timed("draft", seconds):
            key, draft, is_cached = self._drafted(question.question, evidence.contexts)
        read = evidence.contexts[: draft.n_contexts_read]
        with _timed("verify", seconds):
            given = {context.chunk_id: evidence.chunks[context.chunk_id] for context in read}
            verified = verify(draft, given, question.question)
            nearest = verify(replace(draft, claims=draft.nearest), given, question.question).claims
            cited = sources_of(verified.claims)
            missing_words = evidence.lacking(draft.missing_words, cited) if cited else ()
        hits = tuple(FoundChunk.of(hit) for hit in evidence.hits)
        queries, usage = evidence.queries, evidence.query_usage
        return Attempt(k, read, key, draft, is_cached, verified, hits, queries, usage, seconds, missing_words, nearest)

    def _drafted(self, question: str, contexts: tuple[Context, ...]) -> tuple[str, DraftAnswer, bool]:
        """The draft, what it is cached under, and whether it was there."""
        key = fingerprint(
            question,
            [asdict(self.answerer.read(context)) for context in contexts],
            self.answerer.identity,
            self.settings.fingerprint(),
        )
        with self.cache.held(key):  # two questions with the same words are asked once
            cached = self.cache.get(key)
            if cached is not None:
                return key, cached, True
            draft = self.answerer.draft(question, contexts)
            self.cache.put(key, draft)
            return key, draft, False

    def _result(self, question: Question, final: Attempt, attempts: Sequence[Attempt], scoring: Scoring) -> QAResult:
        missing_names = tuple(
            name for name in final.draft.missing_names if all(name in one.draft.missing_names for one in attempts)
        )  # what one attempt found is not missing
        claims = with_support(final.verified.claims, scoring)
        said = Said(claims, final.draft.unanswered, missing_names, final.missing_words, final.nearest)
        return self.result(question, said, final, [attempt.draft.usage for attempt in attempts])

    def result(self, question: Question, said: Said, final: Attempt, cost: Sequence[Usage]) -> QAResult:
        """The row of qa.jsonl. final: the attempt it comes from. cost: of every draft that was written for it."""
        sources = sources_of(said.claims)
        has_few_sources = bool(said.claims) and len(sources) < self.settings.min_sources
        missing = missing_notes(said.missing_names, said.missing_words)
        remarks = notes(said.unanswered, missing, len(sources) if has_few_sources else None)
        return QAResult(
            question_id=question.id,
            question=question.question,
            answer=worded(said.claims, remarks) if said.claims else REFUSAL,
            claims=said.claims,
            refused=not said.claims,
            single_source=has_few_sources,
            sources_used=sources,
            unanswered=said.unanswered,
            model=self.answerer.identity,
            contexts=tuple(dict.fromkeys(context.chunk_id for context in final.contexts)),
            fingerprint=final.fingerprint,
            usage=summed(cost),
            missing_names=said.missing_names,
            missing_words=said.missing_words,
            nearest=said.nearest,
        )


def _has_cited_all(question: Question, attempt: Attempt) -> bool:
    """Whether every paper that the question was asked of is cited, so that reading more finds no other."""
    papers = question.filter.papers
    return papers is not None and attempt.n_sources >= len(papers) > 0


def _checked(attempt: Attempt) -> Iterator[Event]:
    """What verification made of the claims of an attempt."""
    yield from (ClaimVerified(claim) for claim in attempt.verified.claims)
    yield from (ClaimDropped(one.reason) for one in attempt.verified.dropped if one.quote is None)


@contextmanager
def _timed(step: str, seconds: dict[str, float]) -> Iterator[None]:
    started = perf_counter()
    yield
    seconds[step] = perf_counter() - started


def _summed_seconds(attempts: Sequence[Attempt]) -> dict[str, float]:
    return {step: sum(attempt.seconds[step] for attempt in attempts) for step in attempts[0].seconds}
