"""Answers part by part, and looks again, in other words, for the parts that no verified claim answers.

Each part goes through the same pipeline as a question of its own: retrieval, draft, verification. A part is answered
when a claim of it was verified; no model is asked whether the evidence suffices. Claims of all parts are published once
each, those nearest to the whole question first; parts that stay open are named.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rag_assets.answering.citations.support import Scoring
from rag_assets.answering.citations.verification import VerifiedClaims
from rag_assets.answering.drafts import SentenceEncoder
from rag_assets.answering.pipeline import AnswerPipeline, Retrieve, Said
from rag_assets.answering.thorough.budget import StepBudget
from rag_assets.answering.thorough.planner import Part, Planner
from rag_assets.answering.trace import (
    AnswerTrace,
    Attempt,
    ClaimVerified,
    Event,
    Finished,
    Retrying,
    Step,
)
from rag_assets.domain import Claim, Evidence, summed
from rag_assets.incremental import fingerprint
from rag_assets.questions import Question
from rag_assets.settings import ThoroughSettings

THOROUGH_VERSION = 1
"""Raise it when the code makes another answer of the same steps."""


@dataclass
class _Open:
    """A part on its way to an answer."""

    part: Part
    trace: AnswerTrace
    """Of the attempt that counts: the first, or the first that was answered."""
    traces: list[AnswerTrace] = field(default_factory=list)

    @property
    def is_answered(self) -> bool:
        return not self.trace.result.refused


@dataclass(frozen=True)
class ThoroughPipeline:
    """Answers a question in several steps, from any thread; drafts are taken from the cache where it has them."""

    pipeline: AnswerPipeline
    planner: Planner
    encoder: SentenceEncoder
    settings: ThoroughSettings

    def answer(self, question: Question, retrieve: Retrieve) -> Iterator[Event]:
        """Everything that happens; the last event has the result. A claim is shown when its part is done.

        Raises what planner and answerer raise; drafts made until then are in the cache.
        """
        budget, steps = StepBudget(self.settings), list[Step]()
        plan = self.planner.plan(question.question)
        budget.spend(plan.usage)
        steps.append(Step("plan", question.question, tuple(part.question for part in plan.parts), plan.usage))
        found: list[_Open] = []
        for part in plan.parts:
            trace = yield from self._asked(question, part, part.question, retrieve)
            budget.spend(trace.spent)
            steps.append(_step("answer", part, trace))
            found.append(_Open(part, trace, [trace]))
        stopped_by = yield from self._close_gaps(question, found, retrieve, budget, steps)
        if stopped_by:
            steps.append(Step("stop", stopped_by))
        trace = self._finished(question, found, tuple(steps))
        yield Finished(trace)

    def _close_gaps(
        self, question: Question, found: Sequence[_Open], retrieve: Retrieve, budget: StepBudget, steps: list[Step]
    ) -> Generator[Event, None, str]:
        """Search for open parts in other words. Returns the limit that ended it; empty where none did."""
        tried: set[str] = set()
        for _iteration in range(self.settings.max_iterations):
            for one in (one for one in found if not one.is_answered):
                if limit := budget.exhausted_by():
                    return limit
                words = self.planner.other_words(one.part, one.traces[-1].final.contexts)
                budget.spend(words.usage)
                steps.append(Step("other words", one.part.question, words.queries, words.usage))
                for query in (query for query in words.queries if query not in tried):
                    if limit := budget.exhausted_by():
                        return limit
                    tried.add(query)
                    trace = yield from self._asked(question, one.part, query, retrieve)
                    budget.spend(trace.spent)
                    steps.append(_step("answer", one.part, trace, query))
                    one.traces.append(trace)
                    if not trace.result.refused:
                        one.trace = trace
                        break
        return ""

    def _asked(
        self, question: Question, part: Part, searched: str, retrieve: Retrieve
    ) -> Generator[Event, None, AnswerTrace]:
        """The part put to the pipeline, with what was found for `searched`."""

        def found(asked: Question, k: int) -> Evidence:
            return retrieve(asked.model_copy(update={"question": searched}), k)

        own = question.model_copy(update={"question": part.question})
        for event in self.pipeline.answer(own, found):
            if isinstance(event, Finished):
                yield from (ClaimVerified(claim) for claim in event.trace.result.claims)
                return event.trace
            if not isinstance(event, (ClaimVerified, Retrying)):  # a retry would take back the claims of other parts
                yield event
        raise TypeError("the pipeline ended without a result")

    def _finished(self, question: Question, found: Sequence[_Open], steps: tuple[Step, ...]) -> AnswerTrace:
        traces = [trace for one in found for trace in one.traces]
        attempts = tuple(attempt for trace in traces for attempt in trace.attempts)
        used = [one.trace for one in found]
        claims = self._ranked(question.question, [claim for trace in used for claim in trace.result.claims])
        final = _merged([trace.final for trace in used], claims)
        scoring = Scoring(
            tuple(claim.support for claim in claims if claim.support),
            summed([trace.scoring.usage for trace in traces]),
            sum(trace.scoring.seconds for trace in traces),
            next((trace.scoring.unjudged for trace in traces if trace.scoring.unjudged), ""),
        )
        cost = [trace.result.usage for trace in traces]
        result = self.pipeline.result(question, _said(found, claims), final, cost)
        seconds = {step: sum(trace.seconds[step] for trace in traces) for step in traces[0].seconds}
        retry_k = next((trace.retry_k for trace in traces if trace.retry_k is not None), None)
        return AnswerTrace(result, attempts, final, scoring, retry_k, seconds, steps=steps)

    def _ranked(self, question: str, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """Each claim once, the nearest to the question first (cosine of the whole texts)."""
        different = list({_place(claim): claim for claim in reversed(claims)}.values())[::-1]
        if len(different) < 2:
            return tuple(different)
        near = self.encoder.embed_passages([claim.text for claim in different]) @ self.encoder.embed_query(question)
        order = sorted(range(len(different)), key=lambda at: (-round(float(near[at]), 4), at))
        return tuple(different[at] for at in order)


def _said(found: Sequence[_Open], claims: tuple[Claim, ...]) -> Said:
    """The claims of all parts, and what stays open: whole parts where there are several, and parts of parts."""
    results = [one.trace.result for one in found]
    open_parts = [one.part.question for one in found if not one.is_answered] if len(found) > 1 else []
    open_parts += [part for result in results for part in result.unanswered]
    missing_names = (name for result in results for name in result.missing_names)
    return Said(claims, tuple(dict.fromkeys(open_parts)), tuple(dict.fromkeys(missing_names)))


def _place(claim: Claim) -> tuple[object, ...]:
    """Claims that rest on the same words of the same chunk say the same."""
    return tuple((one.chunk_id, one.start, one.end) for one in claim.citations)


def _step(kind: str, part: Part, trace: AnswerTrace, searched: str | None = None) -> Step:
    words = (searched,) if searched else ()
    return Step(kind, part.question, words, trace.spent, n_claims=len(trace.result.claims))


def _merged(attempts: Sequence[Attempt], claims: tuple[Claim, ...]) -> Attempt:
    """The attempts that count, as one: what was read and dropped in all of them."""
    first = attempts[0]
    contexts = {(context.chunk_id, context.text): context for one in attempts for context in one.contexts}
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
            n_left_out=sum(one.draft.n_left_out for one in attempts),
        ),
        is_cached=all(one.is_cached for one in attempts),
        verified=VerifiedClaims(claims, tuple(dropped for one in attempts for dropped in one.verified.dropped)),
        hits=tuple(hits.values()),
        queries=tuple(dict.fromkeys(query for one in attempts for query in one.queries)),
    )
