"""From a question to a verified result: evidence, draft, verification, second look, and one more
request.

The order of the guardrails is that of docs/adr/0004-rag-qa-pipeline.md. Evidence is handed in as a
function, so this module knows neither indexes nor embeddings.

In the second request, claims that did not hold go back with the reason. Where too few papers are
cited, passages of papers not yet cited go with them; where the model found nothing about a part of
the question, passages found by its words. One request for all; there is no third. Where no claim of
a model's reply holds, nothing is known of the papers: the result is withheld and its drafts are not
kept.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from time import perf_counter

from rag_assets.answering.drafts import (
    NOT_READ,
    UNVERIFIED,
    Answerer,
    AnswerOptions,
    DraftAnswer,
    MendingAnswerer,
    MendRequest,
    ObjectedClaim,
)
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
from rag_assets.answering.verify.verification import (
    ClaimOutcome,
    SupportScorer,
    VerifiedClaims,
    n_works,
    sources_of,
    verify,
    with_paper_facts,
    with_reported_works,
    with_verdicts,
)
from rag_assets.answering.wording import answer_of, not_found_notes, only_cited_notes
from rag_assets.core.domain import (
    PARTIAL_FROM,
    Claim,
    Context,
    Evidence,
    LeftOut,
    QAResult,
    Usage,
    summed,
)
from rag_assets.core.errors import QuestionBudgetExhausted, RequestRejected, UnreadableReply
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import Kept
from rag_assets.core.settings import AnsweringSettings
from rag_assets.core.text.terms import terms_of
from rag_assets.questions import NO_WORDS, Question, has_words

_UNCITED_SOURCES = 3
"""Contexts that a claim is mended from which named no source that was given."""
_MOST_OF_OTHERS = 6
"""Contexts of papers not yet cited."""
_MOST_OF_A_PART = 3
"""Contexts for a part that was missing."""


@dataclass(frozen=True)
class SecondRequest:
    """The contexts that the model reads, and the request."""

    contexts: tuple[Context, ...]
    asked_to_mend: MendRequest
    objected: tuple[ClaimOutcome, ...]
    """The outcomes behind the objections, in their order."""


def passages_for(found: Evidence, read: Sequence[Context]) -> tuple[Context, ...]:
    """The best contexts of a search for a missing part that may answer it and were not read
    before."""
    may_answer = _may_answer(found)
    known = {(context.chunk_id, context.text) for context in read}
    new = (context for context in found.contexts if (context.chunk_id, context.text) not in known)
    return tuple(one for one in new if one.chunk_id in may_answer)[:_MOST_OF_A_PART]


def second_request(
    first: Attempt, evidence: Evidence, found: Mapping[str, Evidence], *, wants_papers: bool
) -> SecondRequest | None:
    """evidence: from more chunks, where other papers are wanted. found: what may answer a missing
    part, by the part. None where nothing is to be mended or answered and no other paper has a
    passage that may answer."""
    objected = tuple(first.verified.objected)
    cited = sources_of(first.verified.claims)
    # of papers that the question names, else of any with a passage that may answer
    may_answer, named = _may_answer(evidence), first.named_papers
    others = [
        context
        for context in evidence.contexts
        if wants_papers
        and context.paper_id not in cited
        and (context.paper_id in named if named else context.chunk_id in may_answer)
    ][:_MOST_OF_OTHERS]
    if not objected and not others and not found:
        return None
    of_parts = (context for one in found.values() for context in one.contexts)
    # the contexts that the objected claims cite, or the best ones where they cite none of these
    quoted = {citation.chunk_id for one in objected for citation in one.proposed.citations}
    read = [context for context in first.contexts if context.chunk_id in quoted]
    if objected and not read:
        read = list(first.contexts[:_UNCITED_SOURCES])
    contexts = dict.fromkeys([*read, *others, *of_parts])
    claims = tuple(
        ObjectedClaim(one.proposed, one.objection.why) for one in objected if one.objection
    )
    return SecondRequest(
        tuple(contexts), MendRequest(claims, cited if others else (), tuple(found)), objected
    )


def merged(first: Attempt, second: Attempt, request: SecondRequest) -> Attempt:
    """The first attempt with mended claims in the places of those objected to, and further claims
    behind them all.

    A part is missing no more where a further claim holds that shares a word with it, unless the
    model misses it still.
    """
    mending = {id(one): nth for nth, one in enumerate(request.objected, start=1)}
    outcomes: list[ClaimOutcome] = []
    for one in first.verified.outcomes:
        answers = [
            new
            for new in second.verified.outcomes
            if new.proposed.mends == mending.get(id(one), -1)
        ]
        held = [new for new in answers if new.holds]
        outcomes += held or ([one] if one.holds else answers[:1] or [one])
    known = {(one.proposed.text, one.proposed.citations) for one in outcomes}
    further: set[str] = set()
    for new in second.verified.outcomes:
        is_further = not 1 <= new.proposed.mends <= len(mending)
        if is_further and (new.proposed.text, new.proposed.citations) not in known:
            outcomes.append(new)
            further |= terms_of(new.proposed.text) if new.holds else set()
    still = second.draft.missing
    missing = (
        part for part in first.draft.missing if part in still or further.isdisjoint(terms_of(part))
    )
    draft = replace(first.draft, missing=tuple(missing))
    verified = VerifiedClaims(tuple(outcomes))
    contexts = dict.fromkeys([*first.contexts, *second.contexts])
    return replace(
        first,
        draft=draft,
        verified=verified,
        contexts=tuple(contexts),
        fingerprint=second.fingerprint,
    )


def _may_answer(evidence: Evidence) -> set[str]:
    """Ids of the chunks that are relevant enough, or whose relevance is not rated."""
    return {
        hit.chunk.chunk_id
        for hit in evidence.hits
        if hit.relevance is None or hit.relevance >= PARTIAL_FROM
    }


PIPELINE_VERSION = 18
"""Part of the key of published answers: raise it when the code makes another answer of the same
contexts. Search and answerers have versions of their own."""
_NONE_CARRIED = UNVERIFIED + "no statement of it is carried by the sources."
Retrieve = Callable[[Question, int], Evidence]
"""question, k -> evidence from the k best chunks (of the papers the question names, if it names
any)."""


@dataclass(frozen=True)
class AnswerContents:
    """The fields of a `QAResult` that its attempts decide."""

    claims: tuple[Claim, ...]
    """Verified, with their support; none for a refusal."""
    unanswered: tuple[str, ...]
    missing_names: tuple[str, ...]
    nearest: tuple[Claim, ...]
    left_out: tuple[LeftOut, ...]
    unjudged: str
    """See `AnswerTrace.unjudged`."""
    is_self_judged: bool


@dataclass(frozen=True)
class FailedReplies:
    """Replies to the same request that could not be used."""

    n: int
    why: str
    """What the last one was."""


@dataclass(frozen=True)
class AnswerPipeline:
    """Answers questions, from any thread; drafts that are kept are taken from there."""

    answerer: Answerer
    scorer: SupportScorer
    drafts: Kept[DraftAnswer]
    settings: AnsweringSettings
    again: bool = False
    """Drafts are made anew, also those that are kept."""
    max_tries: int | None = None
    """See `AnswerOptions.max_tries`."""

    def adapted(self, options: AnswerOptions) -> "AnswerPipeline":
        """The pipeline with these options; another background asks for other drafts."""
        answerer = self.answerer.within(options.background) if options.background else self.answerer
        settings = (
            self.settings
            if options.k is None
            else self.settings.model_copy(update={"k": options.k})
        )
        return replace(
            self,
            answerer=answerer,
            settings=settings,
            again=options.again,
            max_tries=options.max_tries,
        )

    def answer(
        self, question: Question, retrieve: Retrieve, min_sources: int | None = None
    ) -> Iterator[Event]:
        """Everything that happens; the last event has the result.

        min_sources: fewer cited papers than this start a second search; None:
        `answering.min_sources`. Raises what the answerer raises; drafts made until then are kept.
        """
        in_first: dict[str, float] = {}
        with _timed("retrieve", in_first):
            evidence = retrieve(question, self.settings.k)
        yield Retrieved(evidence)
        first = self._attempt(question, self.settings.k, evidence, in_first)
        yield from _checked(first)
        wanted = self.settings.min_sources if min_sources is None else min_sources
        lacks_papers = _lacks_papers(first, wanted)
        attempts, final, retry_k = [first], first, None
        # what a search by each missing part itself finds; no model is asked
        found: dict[str, Evidence] = {}
        for part in first.draft.missing:
            if isinstance(self.answerer, MendingAnswerer) and has_words(part):
                evidence = retrieve(question.model_copy(update={"question": part}), self.settings.k)
                if contexts := passages_for(evidence, first.contexts):
                    found[part] = replace(evidence, contexts=contexts)
        if (
            lacks_papers
            or found
            or (first.verified.objected and isinstance(self.answerer, MendingAnswerer))
        ):
            retry_k = self.settings.k + self.settings.retry_extra_k if lacks_papers else None
            second = yield from self._second(question, retry_k, retrieve, first, found)
            if second is not None:
                attempts.append(second[0])
                final = second[1]
                yield from _checked(final) if final is not first else ()
        seconds = {
            step: sum(attempt.seconds[step] for attempt in attempts) for step in first.seconds
        }
        result = self._result(question, final, attempts)
        if result.withheld:  # kept, the same reply would stand for the answer for good
            self.drafts.drop([attempt.fingerprint for attempt in attempts])
            self._note_failure(first.fingerprint, result.answer)
        yield Finished(AnswerTrace(result, tuple(attempts), final, retry_k, seconds))

    def _second(
        self,
        question: Question,
        retry_k: int | None,
        retrieve: Retrieve,
        first: Attempt,
        found: Mapping[str, Evidence],
    ) -> Generator[Event, None, tuple[Attempt, Attempt] | None]:
        """The second attempt, and what becomes the result; None where nothing else can be read or
        asked."""
        k = retry_k or self.settings.k
        yield Retrying(k, len(first.verified.objected))
        seconds: dict[str, float] = {}
        with _timed("retrieve", seconds):
            evidence = retrieve(question, k)
        try:
            if isinstance(self.answerer, MendingAnswerer):
                request = second_request(first, evidence, found, wants_papers=retry_k is not None)
                if request is None:
                    return None
                every = (*found.values(), evidence)
                chunks = {id_: chunk for one in every for id_, chunk in one.chunks.items()}
                reports = {id_: works for one in every for id_, works in one.reports.items()}
                read = replace(evidence, contexts=request.contexts, chunks=chunks, reports=reports)
                yield Retrieved(read)
                second = self._attempt(question, first.k, read, seconds, request.asked_to_mend)
                return second, merged(first, second, request)
            yield Retrieved(evidence)
            again = self._attempt(question, k, evidence, seconds)
        except (RequestRejected, QuestionBudgetExhausted) as fault:
            if first.verified.claims:
                return None
            if first.draft.claims and isinstance(fault, RequestRejected):
                self.drafts.drop([first.fingerprint])
                self._note_failure(first.fingerprint, fault.what or str(fault))
            raise
        if again.fingerprint == first.fingerprint:
            return None
        return again, again if again.n_sources > first.n_sources else first

    def _attempt(
        self,
        question: Question,
        k: int,
        evidence: Evidence,
        seconds: dict[str, float],
        asked_to_mend: MendRequest | None = None,
    ) -> Attempt:
        """asked_to_mend: what the model is asked to mend; None for a draft from the start."""

        def asked() -> DraftAnswer:
            if not has_words(question.question):
                return DraftAnswer(unanswered=(NO_WORDS,))
            if asked_to_mend is None:
                return self._first_draft(key, question.question, evidence.contexts)
            assert isinstance(self.answerer, MendingAnswerer)
            return self.answerer.mended(question.question, evidence.contexts, asked_to_mend)

        with _timed("draft", seconds):
            key = fingerprint(
                question.question,
                [asdict(self.answerer.read(context)) for context in evidence.contexts],
                self.answerer.identity,
                self.settings.fingerprint(),
                *([asdict(asked_to_mend)] if asked_to_mend else []),
            )
            if self.again:
                self.drafts.drop([key])
            draft, is_cached = self.drafts.once(key, asked)
            if not draft.claims:
                notes = (*only_cited_notes(evidence.only_cited), *evidence.absent)
                draft = replace(draft, unanswered=(*draft.unanswered, *notes))
        read = evidence.contexts[: draft.n_contexts_read]
        with _timed("verify", seconds):
            given = {context.chunk_id: evidence.chunks[context.chunk_id] for context in read}
            of_papers = {context.paper_id for context in read}
            beside = (hit.chunk for hit in evidence.hits if hit.chunk.paper_id in of_papers)
            given |= {one.chunk_id: one for one in beside if one.chunk_id not in given}
            papers = {context.paper_id: context.paper for context in evidence.contexts}
            verified = verify(draft, given, question.question, papers)
            nearest = verify(
                replace(draft, claims=draft.nearest), given, "", papers
            ).claims  # they need not answer it
            nearest = with_paper_facts(with_reported_works(nearest, evidence.reports), papers)
            found = [one.claim for one in verified.candidates if one.claim is not None]
            verified = verified.with_claims(
                with_paper_facts(with_reported_works(found, evidence.reports), papers)
            )
            scoring = self.scorer.scores(verified, question.question)
            verified = with_verdicts(verified, scoring, question.question)
        return Attempt(
            k,
            read,
            key,
            draft,
            is_cached,
            verified,
            scoring,
            tuple(FoundChunk.of(hit) for hit in evidence.hits),
            evidence.queries,
            evidence.query_usage,
            seconds,
            nearest,
            tuple(sorted(question.filter.papers or evidence.named_papers)),
        )

    def _first_draft(self, key: str, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        """Raises UnreadableReply without asking where that was in vain too often, else as the
        answerer."""
        failed = None if self.max_tries is None else self._failures.get(key)
        if failed and failed.n >= (self.max_tries or 0):
            raise UnreadableReply.too_often(failed.n, failed.why)
        try:
            return self.answerer.draft(question, contexts)
        except UnreadableReply as fault:
            self._note_failure(key, fault.what)
            raise

    def _note_failure(self, key: str, why: str) -> None:
        failed = self._failures.get(key) or FailedReplies(0, "")
        self._failures.put(key, FailedReplies(failed.n + 1, why))

    @property
    def _failures(self) -> Kept[FailedReplies]:
        """By the key of the first draft."""
        return self.drafts.file.replies("failures", FailedReplies)

    def _result(self, question: Question, final: Attempt, attempts: Sequence[Attempt]) -> QAResult:
        missing_names = tuple(
            name
            for name in final.draft.missing_names
            if all(name in one.draft.missing_names for one in attempts)
        )  # what one attempt found is not missing
        contents = AnswerContents(
            final.verified.claims,
            (*final.draft.unanswered, *not_found_notes(final.draft.missing, len(final.contexts))),
            missing_names,
            final.nearest,
            final.verified.left_out,
            next((one.scoring.unjudged for one in attempts if one.scoring.unjudged), ""),
            any(one.scoring.is_own for one in attempts),
        )
        cost = [
            usage for attempt in attempts for usage in (attempt.draft.usage, attempt.scoring.usage)
        ]
        return self.result(question, contents, final, cost)

    def result(
        self, question: Question, contents: AnswerContents, final: Attempt, cost: Sequence[Usage]
    ) -> QAResult:
        """The row of qa.jsonl. final: the attempt it comes from. cost: of every draft and second
        look it needed."""
        claims = contents.claims
        is_unverified = (
            not claims and bool(contents.left_out) and isinstance(self.answerer, MendingAnswerer)
        )
        answer = NOT_READ if final.draft.is_unread else _NONE_CARRIED if is_unverified else ""
        result = QAResult(
            question_id=question.id,
            question=question.question,
            answer=answer,
            refused=not claims and not is_unverified,
            withheld=is_unverified,
            single_source=bool(claims) and n_works(claims) < self.settings.min_sources,
            sources_used=sources_of(claims),
            model=self.answerer.identity,
            contexts=tuple(dict.fromkeys(context.chunk_id for context in final.contexts)),
            fingerprint=final.fingerprint,
            usage=summed(cost),
            named_papers=final.named_papers,
            **vars(contents),
        )
        return replace(result, answer=answer_of(result))


def _lacks_papers(attempt: Attempt, wanted: int) -> bool:
    """Whether papers are to be looked for that are not cited: those that the question names, where
    it names several; any other, where it names none and too few are cited."""
    if attempt.named_papers:
        is_left = not set(sources_of(attempt.verified.claims)).issuperset(attempt.named_papers)
        return len(attempt.named_papers) > 1 and attempt.n_sources < wanted and is_left
    return attempt.n_sources < wanted


def _checked(attempt: Attempt) -> Iterator[Event]:
    yield from (ClaimVerified(claim) for claim in attempt.verified.claims)
    for one in attempt.verified.objected:
        if one.objection is not None and not one.holds:
            yield ClaimDropped(one.objection.reason, one.proposed.text, one.objection.why)


@contextmanager
def _timed(step: str, seconds: dict[str, float]) -> Iterator[None]:
    started = perf_counter()
    yield
    seconds[step] = perf_counter() - started
