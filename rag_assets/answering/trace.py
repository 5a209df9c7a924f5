"""The course of an answer: events as they occur, and the record of all of them.

qa.jsonl, the audit, the figures of a run and what is printed are views of one `AnswerTrace`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rag_assets.answering.drafts import DraftAnswer
from rag_assets.answering.verify.objections import Reason
from rag_assets.answering.verify.verification import Scoring, VerifiedClaims, n_works
from rag_assets.core.domain import (
    Claim,
    Context,
    Evidence,
    Hit,
    LeadSentence,
    QAResult,
    Query,
    Usage,
    summed,
)


@dataclass(frozen=True)
class FoundChunk:
    """A hit, without the text of its chunk."""

    chunk_id: str
    passage_id: str
    score: float
    dense_score: float | None
    lexical_score: float | None
    found_by: tuple[int, ...] = ()
    """Numbers of the queries that found it, in `Attempt.queries`."""

    @classmethod
    def of(cls, hit: Hit) -> "FoundChunk":
        return cls(
            hit.chunk.chunk_id,
            hit.passage.passage_id,
            hit.score,
            hit.dense_score,
            hit.lexical_score,
            hit.found_by,
        )


PLANNER_STEPS = ("plan", "other words")
"""Kinds of steps that may ask the planner's model."""
PLANNING = (*PLANNER_STEPS, "nothing new")
"""Kinds of steps that may ask a model of their own; what an answer's step costs is counted with its
drafts."""


@dataclass(frozen=True)
class Attempt:
    """One draft, from what was retrieved for it to what held of it."""

    k: int
    """Chunks that were retrieved."""
    contexts: tuple[Context, ...]
    """The contexts that the answerer read."""
    fingerprint: str
    """Hash of question, contexts, answerer and settings: the key under which the draft is
    cached."""
    draft: DraftAnswer
    is_cached: bool
    """The draft was made before: in an earlier run, or for another question in the same words."""
    verified: VerifiedClaims
    """The outcomes of its claims; claims that hold have their support."""
    scoring: Scoring = field(default_factory=Scoring)
    hits: tuple[FoundChunk, ...] = ()
    queries: tuple[Query, ...] = ()
    """The texts that were searched for, and the origin of each."""
    query_usage: Usage = field(default_factory=Usage)
    """Cost of writing the queries this time."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """How long each step took: retrieve, draft, verify (the second look included)."""
    nearest: tuple[Claim, ...] = ()
    """The draft's nearest sentences whose quotes were found."""
    named_papers: tuple[str, ...] = ()
    """Papers that the question names, or is restricted to."""

    @property
    def n_sources(self) -> int:
        return n_works(self.verified.claims)


@dataclass(frozen=True)
class Step:
    """One step of an answer that takes several."""

    kind: str
    """plan, answer, other words, nothing new (another search found only what was read before) or
    stop."""
    about: str
    """The part of the question; of a stop, the limit that was reached."""
    words: tuple[str, ...] = ()
    """Result of the step: parts, or other words; for an answer, the text searched for in place of
    the part."""
    usage: Usage = field(default_factory=Usage)
    """Cost of the step this time."""
    n_claims: int = 0
    """Claims that were verified."""


@dataclass(frozen=True)
class Lead:
    """The paragraph that opens an answer: the sentences of it that hold."""

    sentences: tuple[LeadSentence, ...] = ()
    usage: Usage = field(default_factory=Usage)
    """Cost of writing and judging it, now or earlier."""
    spent: Usage = field(default_factory=Usage)
    """The part of it that was spent this time."""
    seconds: float = 0.0
    """How long providers took over it this time."""


@dataclass(frozen=True)
class AnswerTrace:
    """A result and how it came about."""

    result: QAResult
    attempts: tuple[Attempt, ...]
    """The first, then the second where one was made."""
    final: Attempt
    """The attempt behind the result: one of the two, or the first merged with the second."""
    retry_k: int | None = None
    """k of the search for a second paper; None where enough were cited or the question names the
    papers it asks."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """How long each step took, over all attempts: retrieve, draft, verify."""
    steps: tuple[Step, ...] = ()
    """The steps of a thorough answer; empty for a quick one."""
    lead: Lead = field(default_factory=Lead)

    @property
    def queries(self) -> tuple[Query, ...]:
        """The texts that were searched for, and the origin of each."""
        return self.final.queries

    @property
    def n_cached(self) -> int:
        return sum(attempt.is_cached for attempt in self.attempts)

    @property
    def made(self) -> list[DraftAnswer]:
        """The drafts that were made for it, and not before."""
        return [attempt.draft for attempt in self.attempts if not attempt.is_cached]

    @property
    def spent(self) -> Usage:
        """On planning, queries, drafts, second looks and the lead this time; `result.usage` is what its
        drafts and second looks cost, whenever they were made, and its planning this time."""
        queries = [attempt.query_usage for attempt in self.attempts]
        steps = [step.usage for step in self.steps if step.kind in PLANNING]
        judged = [
            attempt.scoring.usage for attempt in self.attempts if not attempt.scoring.is_cached
        ]
        drafts = (draft.usage for draft in self.made)
        return summed([*drafts, *queries, *steps, *judged, self.lead.spent])

    @property
    def model_seconds(self) -> float:
        """How long providers took over it this time."""
        drafts = sum(draft.seconds for draft in self.made)
        return drafts + sum(one.scoring.seconds for one in self.attempts) + self.lead.seconds

    @property
    def n_mended(self) -> int:
        """Claims that were objected to at first and hold now."""
        return sum(one.holds and one.proposed.mends > 0 for one in self.final.verified.outcomes)

    @property
    def unjudged(self) -> str:
        """Why no model could take the second look at one of the drafts; empty where none is
        missing."""
        return next((one.scoring.unjudged for one in self.attempts if one.scoring.unjudged), "")


@dataclass(frozen=True)
class Planned:
    """The parts that a thorough answer searches for; the question itself if it asks one thing."""

    parts: tuple[str, ...]


@dataclass(frozen=True)
class PartBegun:
    """A part is searched, by a thorough answer."""

    number: int
    """In `Planned.parts`, from 1."""
    n_parts: int
    part: str
    other_words: str = ""
    """The text searched for in place of the part; empty the first time."""


@dataclass(frozen=True)
class Retrieved:
    """The evidence of an attempt; its draft is written next."""

    evidence: Evidence


@dataclass(frozen=True)
class ClaimVerified:
    """A claim that holds. No claim of a draft is shown before it is verified."""

    claim: Claim


@dataclass(frozen=True)
class ClaimDropped:
    """A claim that did not hold."""

    reason: Reason
    claim: str
    why: str


@dataclass(frozen=True)
class Retrying:
    """The model is asked once more: claims that did not hold go back to it, or too few papers are
    cited and more chunks are read. Claims that follow replace those before; if none follow, those
    before stand."""

    k: int
    n_objections: int = 0
    """Claims that go back."""


@dataclass(frozen=True)
class Finished:
    """The last event."""

    trace: AnswerTrace


Event = Planned | PartBegun | Retrieved | ClaimVerified | ClaimDropped | Retrying | Finished
