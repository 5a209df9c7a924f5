"""Merges the answers to the parts of a question into one answer and one trace.

Each claim is published once, in the order of the parts and, within a part, of its draft. Unanswered parts are named.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rag_assets.answering.drafts import MOST_NEAREST
from rag_assets.answering.model.thorough.plans import PlannedPart
from rag_assets.answering.pipeline import AnswerPipeline, Said
from rag_assets.answering.trace import PLANNER_STEPS, AnswerTrace, Attempt, Step
from rag_assets.answering.verify.verification import VerifiedClaims
from rag_assets.core.domain import Claim, Evidence, QAResult
from rag_assets.core.incremental import fingerprint
from rag_assets.questions import Question

THOROUGH_VERSION = 6
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
        return not self.trace.result.refused

    def has_read(self, found: Evidence) -> bool:
        """Whether all contexts found were read for this part before."""
        attempts = (attempt for trace in self.traces for attempt in trace.attempts)
        read = {(context.chunk_id, context.text) for attempt in attempts for context in attempt.contexts}
        return all((context.chunk_id, context.text) in read for context in found.contexts)


def united(
    question: Question,
    parts: Sequence[PlannedPart],
    asked: Sequence[TriedPart],
    steps: tuple[Step, ...],
    pipeline: AnswerPipeline,
) -> AnswerTrace:
    """The trace of the whole answer. parts: all parts of the question; asked: at least one of them."""
    traces = [trace for one in asked for trace in one.traces]
    used = [one.trace for one in asked]
    claims = [claim for trace in used for claim in trace.result.claims]
    keys = [(" ".join(claim.text.casefold().split()), _place(claim)) for claim in claims]
    claims = _first_of_each(keys, claims)
    final = _merged([trace.final for trace in used])
    cost = [trace.result.usage for trace in traces] + [step.usage for step in steps if step.kind in PLANNER_STEPS]
    result = pipeline.result(question, _said(parts, asked, tuple(claims)), final, cost)
    attempts = tuple(attempt for trace in traces for attempt in trace.attempts)
    seconds = {step: sum(trace.seconds[step] for trace in traces) for step in traces[0].seconds}
    retry_k = next((trace.retry_k for trace in traces if trace.retry_k is not None), None)
    return AnswerTrace(result, attempts, final, retry_k, seconds, steps=steps)


def _first_of_each(keys: Sequence[object], claims: Sequence[Claim]) -> list[Claim]:
    """The first claim of each key."""
    return list(dict(reversed(list(zip(keys, claims, strict=True)))).values())[::-1]


def _place(claim: Claim) -> tuple[object, ...]:
    """The positions of the quotes of a claim."""
    return tuple((one.chunk_id, one.start, one.end) for one in claim.citations)


def _said(parts: Sequence[PlannedPart], asked: Sequence[TriedPart], claims: tuple[Claim, ...]) -> Said:
    """The claims of all parts, and what is unanswered: whole parts if there are several, and parts of parts."""
    results = [one.trace.result for one in asked]
    answered = {one.part for one in asked if one.is_answered}
    open_parts = [part.question for part in parts if part not in answered] if len(parts) > 1 else []
    open_parts += [part for result in results for part in result.unanswered]
    missing_names = (name for result in results for name in result.missing_names)
    return Said(
        claims,
        tuple(dict.fromkeys(open_parts)),
        tuple(dict.fromkeys(missing_names)),
        _nearest(results, claims),
        tuple(dict.fromkeys(one for result in results for one in result.left_out)),
        next((result.unjudged for result in results if result.unjudged), ""),
    )


def _nearest(results: Sequence[QAResult], claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The nearest sentences that are not claimed anywhere, those of refused parts first."""
    said = {_place(claim) for claim in claims}
    near = [claim for one in sorted(results, key=lambda one: not one.refused) for claim in one.nearest]
    new = [one for one in _first_of_each([_place(claim) for claim in near], near) if _place(one) not in said]
    return tuple(new[:MOST_NEAREST])


def _merged(attempts: Sequence[Attempt]) -> Attempt:
    """The attempts that count merged into one."""
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
        ),
        is_cached=all(one.is_cached for one in attempts),
        verified=VerifiedClaims(tuple(outcome for one in attempts for outcome in one.verified.outcomes)),
        named_papers=tuple(dict.fromkeys(paper for one in attempts for paper in one.named_papers)),
        hits=tuple(hits.values()),
        queries=tuple(dict.fromkeys(query for one in attempts for query in one.queries)),
    )
