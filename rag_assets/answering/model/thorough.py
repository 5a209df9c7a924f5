"""Answers part by part, and searches again, in other words, for the parts that no verified claim
answers.

Each part goes through the same pipeline as a question: retrieval, draft, verification. A part is
answered when one of its claims was verified; no model is asked whether the evidence suffices. The
answers become one: each claim once, in the order of the parts and of their drafts; unanswered parts
are named.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from rag_assets.answering.drafts import MOST_NEAREST, UNVERIFIED
from rag_assets.answering.model.planning import PlannedPart, Planner
from rag_assets.answering.pipeline import AnswerContents, AnswerPipeline, Retrieve
from rag_assets.answering.trace import (
    PLANNER_STEPS,
    AnswerTrace,
    Attempt,
    ClaimVerified,
    Event,
    Finished,
    PartBegun,
    Planned,
    Retrying,
    Step,
)
from rag_assets.answering.verify.verification import VerifiedClaims
from rag_assets.answering.wording import not_asked_note
from rag_assets.core.domain import Claim, Evidence
from rag_assets.core.errors import ModelFault, QuestionBudgetExhausted, RequestRejected
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import ThoroughSettings
from rag_assets.hosted.budget import Budget, question_budget
from rag_assets.questions import Question, has_words

THOROUGH_VERSION = 7
"""Raise it when the code makes another answer of the same steps."""


@dataclass
class TriedPart:
    """A part that went through the pipeline."""

    part: PlannedPart
    trace: AnswerTrace
    """The first trace with an answer, else the first one."""
    traces: list[AnswerTrace] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)
    """Queries in other words than the part's own."""

    @property
    def is_answered(self) -> bool:
        return bool(self.trace.result.claims)

    def has_read(self, found: Evidence) -> bool:
        """Whether all contexts found were read for this part before."""
        attempts = (attempt for trace in self.traces for attempt in trace.attempts)
        read = {
            (context.chunk_id, context.text) for attempt in attempts for context in attempt.contexts
        }
        return all((context.chunk_id, context.text) in read for context in found.contexts)


def united(work: "_Work", pipeline: AnswerPipeline) -> AnswerTrace:
    """The trace of the whole answer; at least one part was asked."""
    question, parts, asked, steps = work.question, work.parts, work.asked, tuple(work.steps)
    traces = [trace for one in asked for trace in one.traces]
    results = [one.trace.result for one in asked]
    claims: dict[tuple[str, object], Claim] = {}
    for claim in (claim for result in results for claim in result.claims):
        claims.setdefault((" ".join(claim.text.casefold().split()), _place(claim)), claim)
    claimed = {place for _, place in claims}
    nearest: dict[object, Claim] = {}
    for claim in (
        claim
        for result in sorted(results, key=lambda result: not result.claims)
        for claim in result.nearest
    ):
        if _place(claim) not in claimed:
            nearest.setdefault(_place(claim), claim)
    limit = next((step.about for step in steps if step.kind == "stop"), "")
    tried = {one.part: one.is_answered for one in asked}
    unverified = {one.part for one in asked if one.trace.result.withheld}
    open_parts = [
        f"{UNVERIFIED}{part.question}"
        if part in unverified
        else not_asked_note(part.question, work.rejected.get(part, limit))
        if limit or part not in tried
        else part.question
        for part in parts
        if not tried.get(part) and (limit or len(parts) > 1)
    ]
    open_parts += [part for result in results for part in result.unanswered]
    contents = AnswerContents(
        tuple(claims.values()),
        tuple(dict.fromkeys(open_parts)),
        tuple(dict.fromkeys(name for result in results for name in result.missing_names)),
        tuple(nearest.values())[:MOST_NEAREST],
        tuple(dict.fromkeys(one for result in results for one in result.left_out)),
        next((result.unjudged for result in results if result.unjudged), ""),
        any(result.is_self_judged for result in results),
    )
    final = _merged([one.trace.final for one in asked])
    cost = [trace.result.usage for trace in traces] + [
        step.usage for step in steps if step.kind in PLANNER_STEPS
    ]
    result = pipeline.result(question, contents, final, cost)
    attempts = tuple(attempt for trace in traces for attempt in trace.attempts)
    seconds = {step: sum(trace.seconds[step] for trace in traces) for step in traces[0].seconds}
    retry_k = next((trace.retry_k for trace in traces if trace.retry_k is not None), None)
    return AnswerTrace(result, attempts, final, retry_k, seconds, steps=steps)


def _place(claim: Claim) -> tuple[object, ...]:
    return tuple((one.chunk_id, one.start, one.end) for one in claim.citations)


def _merged(attempts: Sequence[Attempt]) -> Attempt:
    first = attempts[0]
    contexts = {
        (context.chunk_id, context.text): context for one in attempts for context in one.contexts
    }
    hits = {hit.chunk_id: hit for one in reversed(attempts) for hit in one.hits}
    return replace(
        first,
        k=sum(one.k for one in attempts),
        contexts=tuple(contexts.values()),
        fingerprint=first.fingerprint
        if len(attempts) == 1
        else fingerprint([one.fingerprint for one in attempts], THOROUGH_VERSION),
        draft=replace(
            first.draft,
            claims=tuple(claim for one in attempts for claim in one.draft.claims),
            n_hallucinated=sum(one.draft.n_hallucinated for one in attempts),
        ),
        is_cached=all(one.is_cached for one in attempts),
        verified=VerifiedClaims(
            tuple(outcome for one in attempts for outcome in one.verified.outcomes)
        ),
        named_papers=tuple(dict.fromkeys(paper for one in attempts for paper in one.named_papers)),
        hits=tuple(hits.values()),
        queries=tuple(dict.fromkeys(query for one in attempts for query in one.queries)),
    )


_ANY_SOURCE, _NO_MORE = 1, 0
"""Values of `min_sources`. One paper is enough for one of several parts; the note on few sources is
about the whole answer. After a search in other words, further words are tried instead of reading
more."""


@dataclass
class _Work:
    """A question on its way to an answer."""

    question: Question
    retrieve: Retrieve
    budget: Budget
    parts: tuple[PlannedPart, ...] = ()
    asked: list[TriedPart] = field(default_factory=list)
    """Parts that went through the pipeline, in order."""
    steps: list[Step] = field(default_factory=list)
    rejected: dict[PlannedPart, str] = field(default_factory=dict)
    """What happened in place of an answer, by the part."""
    hindrance: ModelFault | None = None
    """The first fault that kept a part from being asked."""

    @property
    def is_answered(self) -> bool:
        """Whether a claim was verified."""
        return any(one.is_answered for one in self.asked)

    @property
    def is_conclusive(self) -> bool:
        """True if a claim was verified, or if all parts were asked and none could be answered."""
        return self.is_answered or len(self.asked) == len(self.parts) > 0


@dataclass(frozen=True)
class ThoroughPipeline:
    """Answers a question in several steps, with cached drafts where possible. Safe to use from
    several threads."""

    pipeline: AnswerPipeline
    planner: Planner
    settings: ThoroughSettings
    clock: Callable[[], float] = monotonic

    def answer(
        self, question: Question, retrieve: Retrieve, budget: Budget | None = None
    ) -> Iterator[Event]:
        """All events; the last one has the result. A claim is shown when its part is done.

        budget: of the question, where more than this is asked for it; None: made from the settings.
        At a limit of the settings nothing more is asked, and the verified claims are the answer.
        Raises what planner and answerer raise, and QuestionBudgetExhausted or RequestRejected if
        they kept a part from being asked and no claim was verified; drafts made until then are in
        the cache.
        """
        if not has_words(question.question):
            yield from self.pipeline.answer(question, retrieve)
            return
        budget = budget or question_budget(self.settings, self.clock)
        events = self._events(_Work(question, retrieve, budget))
        while True:
            # not while the caller looks at an event: its thread may do other work
            with budget.in_force():
                event = next(events, None)
            if event is None:
                return
            yield event

    def _events(self, work: _Work) -> Iterator[Event]:
        try:
            yield from self._ask_parts(work)
            yield from self._close_gaps(work)
            yield from self._ask_whole(work)
        except QuestionBudgetExhausted as limit:
            work.steps.append(Step("stop", str(limit)))
            work.hindrance = work.hindrance or limit
        if work.hindrance and not work.is_conclusive:
            raise work.hindrance
        yield Finished(united(work, self.pipeline))

    def _ask_parts(self, work: _Work) -> Iterator[Event]:
        plan = self.planner.plan(work.question.question)
        work.parts = plan.parts
        described = tuple(part.described for part in plan.parts)
        work.steps.append(Step("plan", work.question.question, described, plan.usage))
        yield Planned(tuple(part.question for part in plan.parts))
        for number, part in enumerate(plan.parts, start=1):
            work.budget.check()
            yield PartBegun(number, len(plan.parts), part.question)
            try:
                enough = _ANY_SOURCE if len(plan.parts) > 1 else None
                trace = yield from self._asked(work, part, work.retrieve, enough)
            except RequestRejected as fault:
                work.rejected[part] = fault.what
                work.hindrance = work.hindrance or fault
            else:
                work.steps.append(_step(part, trace))
                work.asked.append(TriedPart(part, trace, [trace]))

    def _close_gaps(self, work: _Work) -> Iterator[Event]:
        tried: set[str] = set()
        for _iteration in range(self.settings.max_iterations):
            for one in (one for one in work.asked if not one.is_answered):
                work.budget.check()
                words = self.planner.other_words(
                    one.part, one.traces[-1].final.contexts, one.searched
                )
                work.steps.append(
                    Step("other words", one.part.question, words.queries, words.usage)
                )
                for query in (query for query in words.queries if query not in tried):
                    work.budget.check()
                    tried.add(query)
                    yield from self._ask_again(work, one, query)
                    if one.is_answered:
                        break

    def _ask_again(self, work: _Work, one: TriedPart, query: str) -> Iterator[Event]:
        """Ask an unanswered part about the contexts of another search, unless all of them were read
        before."""
        one.searched.append(query)
        yield PartBegun(work.parts.index(one.part) + 1, len(work.parts), one.part.question, query)
        found = work.retrieve(
            work.question.model_copy(update={"question": query}), self.pipeline.settings.k
        )
        if one.has_read(found):
            work.steps.append(Step("nothing new", one.part.question, (query,), found.query_usage))
            return
        try:
            trace = yield from self._asked(work, one.part, lambda _question, _k: found, _NO_MORE)
        except RequestRejected:
            return
        work.steps.append(_step(one.part, trace, query))
        one.traces.append(trace)
        if trace.result.claims:
            one.trace = trace

    def _ask_whole(self, work: _Work) -> Iterator[Event]:
        if len(work.parts) == 1 or work.is_answered or not work.asked:
            return
        whole = PlannedPart(work.question.question)
        work.budget.check()
        yield PartBegun(1, 1, whole.question)
        trace = yield from self._asked(work, whole, work.retrieve, None)
        work.steps.append(_step(whole, trace))
        work.asked[0].traces.append(trace)  # its cost counts even if it is a refusal
        if trace.result.claims:
            traces = [trace for one in work.asked for trace in one.traces]
            work.parts, work.asked = (whole,), [TriedPart(whole, trace, traces)]

    def _asked(
        self, work: _Work, part: PlannedPart, retrieve: Retrieve, min_sources: int | None
    ) -> Generator[Event, None, AnswerTrace]:
        own = work.question.model_copy(update={"question": part.question})
        for event in self.pipeline.answer(own, retrieve, min_sources):
            if isinstance(event, Finished):
                yield from (ClaimVerified(claim) for claim in event.trace.result.claims)
                return event.trace
            # a retry would take back the claims of other parts
            if not isinstance(event, (ClaimVerified, Retrying)):
                yield event
        raise TypeError("the pipeline ended without a result")


def _step(part: PlannedPart, trace: AnswerTrace, searched: str | None = None) -> Step:
    words = (searched,) if searched else ()
    return Step("answer", part.question, words, trace.spent, n_claims=len(trace.result.claims))
