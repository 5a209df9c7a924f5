"""From a question to a verified result: contexts, draft, verification, the retry for a second source.

The order of the guardrails is that of docs/adr/0004-rag-qa-pipeline.md. Retrieval is handed in as a function, so
this module knows neither indexes nor embeddings.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from rag_assets.answering.citations.support import Scoring, SupportScorer, with_support
from rag_assets.answering.citations.verification import VerifiedClaims, sources_of, verify
from rag_assets.answering.drafts import (
    FEW_SOURCES_NOTE,
    INSUFFICIENT,
    REFUSAL,
    SINGLE_SOURCE_NOTE,
    Answerer,
    DraftAnswer,
)
from rag_assets.answering.replies import ReplyCache
from rag_assets.domain import Chunk, Citation, Claim, Context, QAResult, Usage, page_numbers, summed
from rag_assets.errors import RequestRejected
from rag_assets.incremental import fingerprint
from rag_assets.questions import Question
from rag_assets.settings import AnsweringSettings

ENGINE_VERSION = 3
"""Part of what published answers are recognised by: raise it, as those of search and answerer, when the code makes
another answer of the same contexts."""
UNANSWERED_NOTE = "No sentence was found for: {part}"
AI_WRITTEN = "AI-written"


@dataclass(frozen=True)
class Evidence:
    """What was retrieved for a question: packed contexts, and the whole chunk behind each."""

    contexts: tuple[Context, ...]
    chunks: Mapping[str, Chunk]


Retrieve = Callable[[Question, int], Evidence]
"""question, k -> evidence from the k best chunks (of the papers the question names, if it names any)."""


@dataclass(frozen=True)
class UsedDraft:
    """A draft that went into a result."""

    fingerprint: str
    """Of the question, the contexts, the answerer and its settings: what the draft is cached under."""
    draft: DraftAnswer
    is_cached: bool
    """It was made before: in an earlier run, or for another question in the same words."""


@dataclass(frozen=True)
class AnswerTrace:
    """A result and how it came about; one row of the audit."""

    result: QAResult
    initial_k: int
    n_sources_initial: int
    retry_k: int | None
    """k of the retry; None when the first attempt cited enough papers or there was nothing to say."""
    verified: VerifiedClaims
    """Of the attempt that became the result."""
    drafts: tuple[UsedDraft, ...]
    """Of all attempts."""
    scoring: Scoring

    @property
    def final_draft(self) -> DraftAnswer:
        """The one that became the result."""
        return next(used.draft for used in self.drafts if used.fingerprint == self.result.fingerprint)

    @property
    def n_cached(self) -> int:
        return sum(used.is_cached for used in self.drafts)

    @property
    def made(self) -> list[DraftAnswer]:
        """The drafts that were made for it, and not before."""
        return [used.draft for used in self.drafts if not used.is_cached]

    @property
    def spent(self) -> Usage:
        """On drafts and judge this time; `result.usage` is what its drafts cost, whenever they were made."""
        return summed([*(draft.usage for draft in self.made), self.scoring.usage])

    @property
    def seconds(self) -> float:
        """How long providers took over it this time."""
        return sum(draft.seconds for draft in self.made) + self.scoring.seconds


@dataclass(frozen=True)
class _Attempt:
    contexts: tuple[Context, ...]
    """Those that the answerer read."""
    used: UsedDraft
    verified: VerifiedClaims

    @property
    def n_sources(self) -> int:
        return len(sources_of(self.verified.claims))


class AnswerEngine:
    """Answers questions, from any thread; drafts are taken from the cache where it has them."""

    def __init__(
        self,
        answerer: Answerer,
        retrieve: Retrieve,
        cache: ReplyCache[DraftAnswer],
        scorer: SupportScorer,
        settings: AnsweringSettings,
    ) -> None:
        self._answerer = answerer
        self._retrieve = retrieve
        self._cache = cache
        self._scorer = scorer
        self._settings = settings

    def answer(self, question: Question) -> AnswerTrace:
        """Raises what the answerer raises; drafts made until then are in the cache."""
        attempts = [self._attempt(question, self._settings.k)]
        retry_k = None
        if attempts[0].n_sources < self._settings.min_sources:
            retry_k = self._settings.k + self._settings.retry_extra_k
            attempts += self._retried(question, retry_k, attempts[0])
        final = max(reversed(attempts), key=lambda attempt: (attempt.n_sources, len(attempt.verified.claims)))
        scoring = self._scorer.scores(final.verified.claims, question.question)
        return AnswerTrace(
            result=self._result(question, final, attempts, scoring),
            initial_k=self._settings.k,
            n_sources_initial=attempts[0].n_sources,
            retry_k=retry_k,
            verified=final.verified,
            drafts=tuple(attempt.used for attempt in attempts),
            scoring=scoring,
        )

    def _retried(self, question: Question, k: int, first: _Attempt) -> list[_Attempt]:
        """The retry; none when nothing more was found, or it is rejected and the first attempt has something to say."""
        try:
            retry = self._attempt(question, k)
        except RequestRejected:
            if not first.verified.claims:
                raise
            return []
        return [] if retry.used.fingerprint == first.used.fingerprint else [retry]

    def _attempt(self, question: Question, k: int) -> _Attempt:
        evidence = self._retrieve(question, k)
        used = self._drafted(question.question, evidence.contexts)
        read = evidence.contexts[: used.draft.n_contexts_read]
        given = {context.chunk_id: evidence.chunks[context.chunk_id] for context in read}
        return _Attempt(read, used, verify(used.draft, given, question.question))

    def _drafted(self, question: str, contexts: tuple[Context, ...]) -> UsedDraft:
        key = fingerprint(
            question,
            [asdict(replace(context, score=0.0)) for context in contexts],  # scores move with every new paper
            self._answerer.model_id,
            self._settings.fingerprint(),
        )
        with self._cache.held(key):  # two questions with the same words are asked once
            cached = self._cache.get(key)
            if cached is not None:
                return UsedDraft(key, cached, is_cached=True)
            draft = self._answerer.draft(question, contexts)
            self._cache.put(key, draft)
            return UsedDraft(key, draft, is_cached=False)

    def _result(self, question: Question, final: _Attempt, attempts: Sequence[_Attempt], scoring: Scoring) -> QAResult:
        claims = with_support(final.verified.claims, scoring)
        unanswered = final.used.draft.unanswered
        has_few_sources = bool(claims) and final.n_sources < self._settings.min_sources
        notes = _remarks(unanswered, final.n_sources if has_few_sources else None)
        return QAResult(
            question_id=question.id,
            question=question.question,
            answer=_worded(claims, notes) if claims else REFUSAL,
            claims=claims,
            refused=not claims,
            single_source=has_few_sources,
            sources_used=sources_of(claims),
            unanswered=unanswered,
            model=self._answerer.model_id,
            contexts=tuple(dict.fromkeys(context.chunk_id for context in final.contexts)),
            fingerprint=final.used.fingerprint,
            usage=summed([attempt.used.draft.usage for attempt in attempts]),
        )


def place_of(citation: Citation) -> str:
    """ "smith2020, p. 3", "smith2020, pp. 3-4", "smith2020, p. 2 (printed 118)"; without pages where none is known.

    ", AI-written" follows where the quote is no author's: a figure's description by a model.
    """
    numbers = page_numbers(citation.page_start, citation.page_end, citation.page_label)
    sign = "p." if citation.page_start == citation.page_end else "pp."
    pages = [f"{sign} {numbers}"] if numbers else []
    return ", ".join([citation.paper_id, *pages, *([AI_WRITTEN] if citation.is_generated else [])])


def remarks(result: QAResult) -> list[str]:
    """What the answer says besides its claims: what it leaves open, and that few papers support it."""
    return _remarks(result.unanswered, len(result.sources_used) if result.single_source else None)


def _worded(claims: Sequence[Claim], notes: Sequence[str]) -> str:
    """The claims with the places they come from, then what a reader must know about them."""
    sentences = [
        f"{claim.text} [{'; '.join(dict.fromkeys(place_of(citation) for citation in claim.citations))}]"
        for claim in claims
    ]
    return " ".join([*sentences, *notes])


def _remarks(unanswered: Sequence[str], too_few_sources: int | None) -> list[str]:
    notes = [part if INSUFFICIENT in part else UNANSWERED_NOTE.format(part=part) for part in unanswered]
    return notes if too_few_sources is None else [*notes, _sources_note(too_few_sources)]


def _sources_note(n_sources: int) -> str:
    return SINGLE_SOURCE_NOTE if n_sources == 1 else f"Only {n_sources} {FEW_SOURCES_NOTE}"
