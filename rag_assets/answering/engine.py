"""From a question to a verified result: contexts, draft, verification, the retry for a second source.

The order of the guardrails is that of docs/adr/0004-rag-qa-pipeline.md. Retrieval is handed in as a function, so
this module knows neither indexes nor embeddings.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from rag_assets.answering.drafts import Answerer
from rag_assets.answering.replies import ReplyCache
from rag_assets.answering.verification import VerifiedClaims, sources_of, verify
from rag_assets.incremental import fingerprint
from rag_assets.model import Chunk, Citation, Claim, Context, QAResult, Usage
from rag_assets.questions import Question
from rag_assets.settings import AnsweringSettings

ENGINE_VERSION = 1
"""Part of what published answers are recognised by: raise it, as those of search and answerer, when the code makes
another answer of the same contexts."""
REFUSAL = "The papers in this corpus do not contain enough information to answer this question."
UNANSWERED_NOTE = "Nothing was found that answers: {part}"
SINGLE_SOURCE_NOTE = "Only one paper of the corpus supports this answer."


@dataclass(frozen=True)
class Evidence:
    """What was retrieved for a question: packed contexts, and the whole chunk behind each."""

    contexts: tuple[Context, ...]
    chunks: Mapping[str, Chunk]


Retrieve = Callable[[Question, int], Evidence]
"""question, k -> evidence from the k best chunks (of the papers the question names, if it names any)."""


@dataclass(frozen=True)
class QAAttempts:
    """A result and how it came about; one row of the audit."""

    result: QAResult
    initial_k: int
    n_sources_initial: int
    retry_k: int | None
    """k of the retry; None when the first attempt cited enough papers or there was nothing to say."""
    n_dropped_citations: int
    replies: tuple[str, ...]
    """Fingerprints of the drafts that were used."""


@dataclass(frozen=True)
class _Attempt:
    k: int
    reply: str
    contexts: tuple[Context, ...]
    verified: VerifiedClaims
    unanswered: tuple[str, ...]
    usage: Usage

    @property
    def n_sources(self) -> int:
        return len(sources_of(self.verified.claims))


class AnswerEngine:
    """Answers questions one at a time; drafts are taken from the cache where it has them."""

    def __init__(self, answerer: Answerer, retrieve: Retrieve, cache: ReplyCache, settings: AnsweringSettings) -> None:
        self._answerer = answerer
        self._retrieve = retrieve
        self._cache = cache
        self._settings = settings

    def answer(self, question: Question) -> QAAttempts:
        attempts = [self._attempt(question, self._settings.k)]
        if attempts[0].n_sources < self._settings.min_sources:
            attempts.append(self._attempt(question, self._settings.k + self._settings.retry_extra_k))
        final = attempts[-1] if attempts[-1].n_sources >= attempts[0].n_sources else attempts[0]
        return QAAttempts(
            result=self._result(question, final, attempts),
            initial_k=self._settings.k,
            n_sources_initial=attempts[0].n_sources,
            retry_k=attempts[1].k if len(attempts) > 1 else None,
            n_dropped_citations=final.verified.n_dropped_citations,
            replies=tuple(attempt.reply for attempt in attempts),
        )

    def _attempt(self, question: Question, k: int) -> _Attempt:
        evidence = self._retrieve(question, k)
        reply = fingerprint(
            question.question,
            [asdict(replace(context, score=0.0)) for context in evidence.contexts],  # scores move with every new paper
            self._answerer.model_id,
            self._settings.fingerprint(),
        )
        draft = self._cache.get(reply)
        if draft is None:
            draft = self._answerer.draft(question.question, evidence.contexts)
            self._cache.put(reply, draft)
        given = {context.chunk_id: evidence.chunks[context.chunk_id] for context in evidence.contexts}
        return _Attempt(k, reply, evidence.contexts, verify(draft, given), draft.unanswered, draft.usage)

    def _result(self, question: Question, final: _Attempt, attempts: Sequence[_Attempt]) -> QAResult:
        claims = final.verified.claims
        is_single_source = bool(claims) and final.n_sources < self._settings.min_sources
        return QAResult(
            question_id=question.id,
            question=question.question,
            answer=_worded(claims, _notes(final.unanswered, is_single_source)) if claims else REFUSAL,
            claims=claims,
            refused=not claims,
            single_source=is_single_source,
            sources_used=sources_of(claims),
            unanswered=final.unanswered if claims else (),
            model=self._answerer.model_id,
            contexts=tuple(dict.fromkeys(context.chunk_id for context in final.contexts)),
            fingerprint=final.reply,
            usage=_summed([attempt.usage for attempt in attempts]),
        )


def place_of(citation: Citation) -> str:
    """ "smith2020, p. 3" or "smith2020, pp. 3-4"; the paper alone where no page is known."""
    first, last = citation.page_start, citation.page_end
    if first is None or last is None:
        return citation.paper_id
    return f"{citation.paper_id}, p. {first}" if first == last else f"{citation.paper_id}, pp. {first}-{last}"


def _worded(claims: Sequence[Claim], notes: Sequence[str]) -> str:
    """The claims with the places they come from, then what a reader must know about them."""
    sentences = [
        f"{claim.text} [{'; '.join(dict.fromkeys(place_of(citation) for citation in claim.citations))}]"
        for claim in claims
    ]
    return " ".join([*sentences, *notes])


def _notes(unanswered: Sequence[str], is_single_source: bool) -> list[str]:
    notes = [UNANSWERED_NOTE.format(part=part) for part in unanswered]
    return [*notes, SINGLE_SOURCE_NOTE] if is_single_source else notes


def _summed(usages: Sequence[Usage]) -> Usage:
    return Usage(
        n_requests=sum(usage.n_requests for usage in usages),
        n_input_tokens=sum(usage.n_input_tokens for usage in usages),
        n_output_tokens=sum(usage.n_output_tokens for usage in usages),
        cost_usd=sum(usage.cost_usd for usage in usages),
    )
