"""A second look at the claims of an answer: judges tell how far the quotes of a claim support it.

A judge sees each claim and the places that it rests on, with what stands around them, and what the
rules found, as a question. What it finds unsupported is not published; of what it finds supported
in part it writes the sentence that is. Numbers, names and opposites need no model: see
`verify.objections`. Judges are models behind an API; nothing is sent before the first claim.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, Field

from rag_assets.answering.drafts import DraftClaim
from rag_assets.answering.model.replies import claim_text
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.verification import (
    ClaimOutcome,
    Scoring,
    SupportScorer,
    VerifiedClaims,
)
from rag_assets.core.domain import FULL_SUPPORT_FROM, Claim, Usage
from rag_assets.core.errors import BudgetExhausted, ModelFault
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile
from rag_assets.core.text.display import without_addresses
from rag_assets.core.text.sentences import REFERENCE_MARK
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, FaultPause, LazyModel
from rag_assets.hosted.prompts import load_prompt

MAX_QUOTE_CHARS, MAX_FRAME_CHARS, MAX_BESIDE_CHARS = 800, 200, 300
"""Limits of what a judge reads of one quote: some 400 tokens for a claim."""


@dataclass(frozen=True)
class ClaimVerdicts:
    """The verdicts on the claims of one draft, as they are kept."""

    supports: tuple[float | None, ...]
    """One per claim, 0 to 1; None for a claim that the judge passed over."""
    whys: tuple[str, ...]
    """What is wrong with each claim; empty for most supported ones."""
    usage: Usage
    seconds: float
    corrected: tuple[str, ...] = ()
    """The sentence that is carried, for each claim that is carried in part; empty for others."""


def presented(outcome: ClaimOutcome, number: int) -> str:
    """The claim with its number, the rules' question and its places."""
    doubt = outcome.objection.why if outcome.objection else ""
    return _JUDGED_CLAIM.filled(
        number=number,
        claim=on_one_line(outcome.proposed.text),
        question=f"Question: {on_one_line(doubt)}. Is that so?\n" if doubt else "",
        places="\n".join(line for one in outcome.quotes for line in _place(one, outcome.claim)),
    )


def _place(one: QuotedText, claim: Claim | None) -> Iterator[str]:
    """The lines of one quote."""
    yield f'- "{on_one_line(one.quote)[:MAX_QUOTE_CHARS]}"'
    before, behind = one.beside
    works = [work.text for work in claim.reported] if claim else []
    cited = [match[0] for match in REFERENCE_MARK.finditer(one.quote)]
    for label, text in (
        ("before", on_one_line(before)[-MAX_BESIDE_CHARS:]),
        ("behind", on_one_line(behind)[:MAX_BESIDE_CHARS]),
        ("paper", one.byline),
        ("in", " > ".join(on_one_line(text)[:MAX_FRAME_CHARS] for text in one.place)),
        ("headers and notes", "; ".join(text for text in one.frame if text not in one.place)),
        ("cites", "; ".join(works or cited)),
        ("studied", one.population),
    ):
        if said := on_one_line(text)[: 3 * MAX_FRAME_CHARS]:
            yield f"  {label}: {said}"


def on_one_line(text: str) -> str:
    """Puts a text on one line, so that it cannot begin a statement of its own."""
    return " ".join(text.split())


JUDGE_VERSION = 3
"""Raise it when the code asks a judge something else, or reads its verdicts in another way."""
MAX_WHY_CHARS = 200
_MAX_OUTPUT_TOKENS = 4096
_SUPPORT: Mapping[str, float] = {"carried": 1.0, "partly": 0.5, "not": 0.0}
_INSTRUCTIONS = load_prompt("rag_assets.answering.model", "judge", frozenset())
_JUDGED_CLAIM = load_prompt(
    "rag_assets.answering.model",
    "judged_claim",
    frozenset({"number", "claim", "question", "places"}),
)


class Verdict(BaseModel):
    """What is thought of one statement."""

    statement: int = Field(description="Number of the statement.")
    verdict: Literal["carried", "partly", "not"]
    reason: str = Field("", description="What is wrong, in at most 15 words; empty for nothing.")
    corrected: str = Field(
        "", description='For "partly", the sentence that the places carry; else empty.'
    )


class Verdicts(BaseModel):
    """One verdict per statement."""

    verdicts: list[Verdict]


class ClaimJudge:
    """One request for all claims of a draft; verdicts of three kinds with reasons. Safe to use from
    several threads."""

    def __init__(self, name: ModelName, connections: Connections) -> None:
        """Raises MissingKey, InvalidSettings as `require_access`."""
        self._model = LazyModel(
            name,
            connections,
            Verdicts,
            instructions=_INSTRUCTIONS.filled(),
            max_output_tokens=_MAX_OUTPUT_TOKENS,
        )

    @property
    def identity(self) -> str:
        """The model, readably, and a hash of the prompts; part of the key of its verdicts and of
        published answers."""
        prompts = fingerprint(_INSTRUCTIONS.text, _JUDGED_CLAIM.text, JUDGE_VERSION)
        return f"{self._model.model_id} judge-{prompts[:8]}"

    def verdicts(self, outcomes: Sequence[ClaimOutcome]) -> ClaimVerdicts:
        """One verdict for each claim, in order. Raises ModelFault, BudgetExhausted."""
        claims = [presented(one, number) for number, one in enumerate(outcomes, start=1)]
        reply = self._model.ask("\n".join(claims))
        if reply.output is None and reply.fault is not None:
            raise reply.fault
        found = {one.statement: one for one in reply.output.verdicts} if reply.output else {}
        verdicts = [found.get(number) for number in range(1, len(outcomes) + 1)]
        return ClaimVerdicts(
            tuple(_SUPPORT[one.verdict] if one else None for one in verdicts),
            tuple(
                without_addresses(on_one_line(one.reason))[:MAX_WHY_CHARS] if one else ""
                for one in verdicts
            ),
            reply.usage,
            reply.seconds,
            tuple(claim_text(one.corrected) if one else "" for one in verdicts),
        )


logger = logging.getLogger(__name__)


class JudgedSupport:
    """The figures of another scorer, with the verdicts of a judge."""

    def __init__(
        self,
        judge: ClaimJudge,
        scorer: SupportScorer,
        kept: KeptFile,
        *,
        is_own: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """kept: keeps the verdicts, so that nothing is judged twice. is_own: the model that writes
        the claims judges them; it is tried with a statement that is false."""
        self._judge = judge
        self._is_own = is_own
        self._scorer = scorer
        self._kept = kept.replies("verdicts", ClaimVerdicts)
        self._pause = FaultPause(clock)

    @property
    def identity(self) -> str:
        return self._judge.identity

    def scores(self, verified: VerifiedClaims, question: str) -> Scoring:
        """Judges every claim that is not simply a quote. If the judge cannot be asked, the rules
        alone decide, and `unjudged` has the reason; see `FaultPause` for when it is asked again."""
        scoring = self._scorer.scores(verified, question)
        held = verified.candidates
        judged = [
            nth for nth, one in enumerate(held) if one.claim is not None and not one.claim.is_quote
        ]
        if not judged:
            return scoring
        outcomes = [held[nth] for nth in judged]
        trial = [_false_statement(outcomes)] if self._is_own else []
        try:
            kept, is_cached = self._verdicts([*outcomes, *trial])
        except (ModelFault, BudgetExhausted) as fault:
            if self._pause.failed(fault):
                logger.warning("The claims of the answer to %r are not judged: %s", question, fault)
            return replace(scoring, unjudged=str(fault))
        supports, corrected = list(scoring.supports), [""] * len(held)
        said = kept.supports[: len(judged)]
        is_lazy = bool(trial) and (kept.supports[-1] or 0.0) >= FULL_SUPPORT_FROM
        for number, nth in enumerate(judged):
            verdict, why = (None, _LAZY) if is_lazy else (said[number], kept.whys[number])
            supports[nth] = replace(supports[nth], judged=verdict, why=why)
            corrected[nth] = kept.corrected[number] if kept.corrected and not is_lazy else ""
        n_silent = said.count(None)
        silence = f"Its reply held no verdict on {n_silent} of {len(judged)} statements."
        if n_silent:  # the next run asks it again
            self._kept.drop([verdicts_key(self._judge, [*outcomes, *trial])])
        return replace(
            scoring,
            supports=tuple(supports),
            corrected=tuple(corrected),
            is_own=self._is_own,
            usage=kept.usage,
            is_cached=is_cached,
            seconds=0.0 if is_cached else kept.seconds,
            unjudged=_LAZY if is_lazy else silence if n_silent else "",
        )

    def _verdicts(self, outcomes: Sequence[ClaimOutcome]) -> tuple[ClaimVerdicts, bool]:
        def judged() -> ClaimVerdicts:
            self._pause.check()
            return self._judge.verdicts(outcomes)

        return self._kept.once(verdicts_key(self._judge, outcomes), judged)


def verdicts_key(judge: ClaimJudge, outcomes: Sequence[ClaimOutcome]) -> str:
    """Changes with the judge, the claims and what is shown of their places."""
    claims = [presented(one, number) for number, one in enumerate(outcomes, start=1)]
    return fingerprint(claims, judge.identity)


_LAZY = "the model that judges it calls a false statement carried, too"
_FALSE = "It is not true that the following holds: {sentence}"
_LEAST_QUOTE_CHARS = 20


def _false_statement(outcomes: Sequence[ClaimOutcome]) -> ClaimOutcome:
    """The denial of one of the quotes, the shortest that is long enough: a judge that calls it
    carried by this quote reads nothing."""
    quotes = sorted(
        (one for each in outcomes for one in each.quotes), key=lambda one: len(one.quote)
    )
    quote = next((one for one in quotes if len(one.quote) >= _LEAST_QUOTE_CHARS), quotes[-1])
    denied = _FALSE.format(sentence=quote.quote[:MAX_QUOTE_CHARS])
    return ClaimOutcome(DraftClaim(denied, ()), None, quotes=(quote,))


def judge_name(named: str) -> ModelName:
    """The name of a judge behind an API. Raises InvalidSettings."""
    return ModelName.parse(named, setting="answering.judge.model", instead="same, none")
