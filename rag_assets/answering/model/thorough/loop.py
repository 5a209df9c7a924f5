"""Answers part by part, and searches again, in other words, for the parts that no verified claim answers.

Each part goes through the same pipeline as a question: retrieval, draft, verification. A part is answered when one of
its claims was verified; no model is asked whether the evidence suffices. `union` merges the answers.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from time import monotonic

from rag_assets.answering.model.thorough.plans import PlannedPart, Planner
from rag_assets.answering.model.thorough.union import TriedPart, united
from rag_assets.answering.pipeline import AnswerPipeline, Retrieve
from rag_assets.answering.trace import (
    AnswerTrace,
    ClaimVerified,
    Event,
    Finished,
    PartBegun,
    Planned,
    Retrying,
    Step,
)
from rag_assets.core.errors import ModelFault, QuestionBudgetExhausted, RequestRejected
from rag_assets.core.settings import ThoroughSettings
from rag_assets.hosted.budget import Budget, question_budget
from rag_assets.questions import Question

_ANY_SOURCE, _NO_MORE = 1, 0
"""Values of `min_sources`. One paper is enough for one of several parts; the note on few sources is about the whole
answer. After a search in other words, further words are tried instead of reading more."""


@dataclass
class _Work:
    """A question on its way to an answer."""

    question: Question
    retrieve: Retrieve
    parts: tuple[PlannedPart, ...] = ()
    asked: list[TriedPart] = field(default_factory=list)
    """Parts that went through the pipeline, in order."""
    steps: list[Step] = field(default_factory=list)
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
    """Answers a question in several steps, with cached drafts where possible. Safe to use from several threads."""

    pipeline: AnswerPipeline
    planner: Planner
    settings: ThoroughSettings
    clock: Callable[[], float] = monotonic

    def answer(self, question: Question, retrieve: Retrieve) -> Iterator[Event]:
        """All events; the last one has the result. A claim is shown when its part is done.

        At a limit of the settings nothing more is asked, and the verified claims are the answer. Raises what planner
        and answerer raise, and QuestionBudgetExhausted or RequestRejected if they kept a part from being asked and no
        claim was verified; drafts made until then are in the cache.
        """
        budget = question_budget(self.settings, self.clock)
        events = self._events(_Work(question, retrieve), budget)
        while True:
            with budget.in_force():  # not while the caller looks at an event: its thread may do other work
                event = next(events, None)
            if event is None:
                return
            yield event

    def _events(self, work: _Work, budget: Budget) -> Iterator[Event]:
        try:
            yield from self._ask_parts(work, budget)
            yield from self._close_gaps(work, budget)
            yield from self._ask_whole(work, budget)
        except QuestionBudgetExhausted as limit:
            work.steps.append(Step("stop", str(limit)))
            work.hindrance = work.hindrance or limit
        if work.hindrance and not work.is_conclusive:
            raise work.hindrance
        yield Finished(united(work.question, work.parts, work.asked, tuple(work.steps), self.pipeline))

    def _ask_parts(self, work: _Work, budget: Budget) -> Iterator[Event]:
        plan = self.planner.plan(work.question.question)
        work.parts = plan.parts
        described = tuple(part.described for part in plan.parts)
        work.steps.append(Step("plan", work.question.question, described, plan.usage))
        yield Planned(tuple(part.question for part in plan.parts))
        for number, part in enumerate(plan.parts, start=1):
            budget.check()
            yield PartBegun(number, len(plan.parts), part.question)
            try:
                enough = _ANY_SOURCE if len(plan.parts) > 1 else None
                trace = yield from self._asked(work, part, work.retrieve, enough)
            except RequestRejected as fault:
                work.hindrance = work.hindrance or fault
            else:
                work.steps.append(_step(part, trace))
                work.asked.append(TriedPart(part, trace, [trace]))

    def _close_gaps(self, work: _Work, budget: Budget) -> Iterator[Event]:
        """Search for unanswered parts in other words."""
        tried: set[str] = set()
        for _iteration in range(self.settings.max_iterations):
            for one in (one for one in work.asked if not one.is_answered):
                budget.check()
                words = self.planner.other_words(one.part, one.traces[-1].final.contexts, one.searched)
                work.steps.append(Step("other words", one.part.question, words.queries, words.usage))
                for query in (query for query in words.queries if query not in tried):
                    budget.check()
                    tried.add(query)
                    yield from self._ask_again(work, one, query)
                    if one.is_answered:
                        break

    def _ask_again(self, work: _Work, one: TriedPart, query: str) -> Iterator[Event]:
        """Ask an unanswered part about the contexts of another search, unless all of them were read before."""
        one.searched.append(query)
        yield PartBegun(work.parts.index(one.part) + 1, len(work.parts), one.part.question, query)
        found = work.retrieve(work.question.model_copy(update={"question": query}), self.pipeline.settings.k)
        if one.has_read(found):
            work.steps.append(Step("nothing new", one.part.question, (query,), found.query_usage))
            return
        try:
            trace = yield from self._asked(work, one.part, lambda _question, _k: found, _NO_MORE)
        except RequestRejected:
            return
        work.steps.append(_step(one.part, trace, query))
        one.traces.append(trace)
        if not trace.result.refused:
            one.trace = trace

    def _ask_whole(self, work: _Work, budget: Budget) -> Iterator[Event]:
        """If no part is answered, ask the whole question: a plan may separate what belongs together."""
        if len(work.parts) == 1 or work.is_answered or not work.asked:
            return
        whole = PlannedPart(work.question.question)
        budget.check()
        yield PartBegun(1, 1, whole.question)
        trace = yield from self._asked(work, whole, work.retrieve, None)
        work.steps.append(_step(whole, trace))
        work.asked[0].traces.append(trace)  # its cost counts even if it is a refusal
        if not trace.result.refused:
            traces = [trace for one in work.asked for trace in one.traces]
            work.parts, work.asked = (whole,), [TriedPart(whole, trace, traces)]

    def _asked(
        self, work: _Work, part: PlannedPart, retrieve: Retrieve, min_sources: int | None
    ) -> Generator[Event, None, AnswerTrace]:
        """The events of asking the part as a question, and its trace."""
        own = work.question.model_copy(update={"question": part.question})
        for event in self.pipeline.answer(own, retrieve, min_sources):
            if isinstance(event, Finished):
                yield from (ClaimVerified(claim) for claim in event.trace.result.claims)
                return event.trace
            if not isinstance(event, (ClaimVerified, Retrying)):  # a retry would take back the claims of other parts
                yield event
        raise TypeError("the pipeline ended without a result")


def _step(part: PlannedPart, trace: AnswerTrace, searched: str | None = None) -> Step:
    words = (searched,) if searched else ()
    return Step("answer", part.question, words, trace.spent, n_claims=len(trace.result.claims))
