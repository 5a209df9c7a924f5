"""A second look at the claims of an answer, by a model that sees nothing but each claim and its quotes.

What it finds unsupported is not published, what it finds half supported is marked. Numbers, names and opposites, which
are told without a model, are in `citations.objections`.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from rag_assets.answering.citations.quoted_text import QuotedText
from rag_assets.answering.citations.support import Scoring, SupportScorer
from rag_assets.answering.citations.verification import Outcome, VerifiedClaims
from rag_assets.domain import Usage
from rag_assets.errors import BudgetExhausted, ModelFault
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets.hosted.lazy_model import LazyModel
from rag_assets.hosted.pauses import FaultPause
from rag_assets.hosted.prompts import load_prompt
from rag_assets.hosted.replies import ReplyCache
from rag_assets.incremental import fingerprint

if TYPE_CHECKING:
    from rag_assets.hosted.structured import StructuredReply

logger = logging.getLogger(__name__)
JUDGE_VERSION = 2
"""Raise it when the code asks a judge something else, or reads its verdicts in another way."""
MAX_QUOTE_CHARS, MAX_FRAME_CHARS, MAX_WHY_CHARS = 800, 200, 200
"""Of what is sent for one quote, and of what is told of a verdict: some 300 tokens for a claim."""
_MAX_OUTPUT_TOKENS = 4096
_SUPPORT: Mapping[str, float] = {"supported": 1.0, "partly": 0.5, "unsupported": 0.0}
_INSTRUCTIONS = load_prompt("rag_assets.answering", "judge", frozenset())
_JUDGED_CLAIM = load_prompt("rag_assets.answering", "judged_claim", frozenset({"number", "claim", "quotes"}))


class Verdict(BaseModel):
    """What is thought of one statement."""

    statement: int = Field(description="Number of the statement.")
    verdict: Literal["supported", "partly", "unsupported"]
    wrong: str = Field("", description='What is wrong, in at most 15 words; empty for "supported".')


class Verdicts(BaseModel):
    """One verdict per statement."""

    verdicts: list[Verdict]


@dataclass(frozen=True)
class KeptVerdicts:
    """The verdicts on the claims of one draft, as they are kept."""

    supports: tuple[float | None, ...]
    """One per claim; None for one that the model passed over."""
    whys: tuple[str, ...]
    usage: Usage
    seconds: float


class JudgedSupport:
    """Another scorer's figures, with the verdicts of a model beside them; one request for all claims of a draft."""

    def __init__(
        self,
        name: ModelName,
        connections: Connections,
        scorer: SupportScorer,
        folder: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`folder` keeps the verdicts by what was judged: nothing is judged twice.

        Raises MissingKey, InvalidSettings as `require_access`; nothing is opened yet.
        """
        self._model = LazyModel(
            name,
            connections,
            Verdicts,
            instructions=_INSTRUCTIONS.filled(),
            max_output_tokens=_MAX_OUTPUT_TOKENS,
        )
        self._scorer = scorer
        self._folder = folder
        self._cache = ReplyCache(folder, KeptVerdicts)
        self._pause = FaultPause(clock)

    @property
    def identity(self) -> str:
        """The model, readably, and a hash of the prompts."""
        prompts = fingerprint(_INSTRUCTIONS.text, _JUDGED_CLAIM.text, JUDGE_VERSION)
        return f"{self._model.model_id} judge-{prompts[:8]}"

    def scores(self, verified: VerifiedClaims, question: str) -> Scoring:
        """An answer does not wait for its judge: where it cannot be asked, the rules alone decide, and the scoring says
        why. After a fault that is not this question's own, the judge is left alone for a while; once the budget is
        spent, for good. A claim that is a quote as it stands is not judged."""
        scoring = self._scorer.scores(verified, question)
        held = verified.candidates
        judged = [nth for nth, one in enumerate(held) if one.claim is not None and not one.claim.is_quote]
        if not judged:
            return scoring
        try:
            kept, is_cached = self._verdicts([held[nth] for nth in judged])
        except (ModelFault, BudgetExhausted) as fault:
            if self._pause.begins(fault):
                logger.warning("The claims of the answer to %r are not judged: %s", question, fault)
            return replace(scoring, unjudged=str(fault))
        supports, whys = list(scoring.supports), [""] * len(held)
        for nth, support, why in zip(judged, kept.supports, kept.whys, strict=True):
            supports[nth], whys[nth] = replace(supports[nth], judged=support), why
        is_silent = all(support is None for support in kept.supports)
        return replace(
            scoring,
            supports=tuple(supports),
            whys=tuple(whys),
            usage=kept.usage,
            is_cached=is_cached,
            seconds=0.0 if is_cached else kept.seconds,
            unjudged=f"Its reply held no verdict. Delete {self._folder} to ask it again." if is_silent else "",
        )

    def _verdicts(self, outcomes: Sequence[Outcome]) -> tuple[KeptVerdicts, bool]:
        """The verdicts, and whether they were kept from before."""
        prompt = "\n".join(_judged_claim(number, one) for number, one in enumerate(outcomes, start=1))
        key = fingerprint(prompt, self.identity)
        with self._cache.held(key):  # answers with the same claims are judged once
            kept = self._cache.get(key)
            if kept is not None:
                return kept, True
            reply = self._asked(prompt)
            found = {one.statement: one for one in reply.output.verdicts} if reply.output else {}
            verdicts = [found.get(number) for number in range(1, len(outcomes) + 1)]
            kept = KeptVerdicts(
                tuple(_SUPPORT[one.verdict] if one else None for one in verdicts),
                tuple(_on_one_line(one.wrong)[:MAX_WHY_CHARS] if one else "" for one in verdicts),
                reply.usage,
                reply.seconds,
            )
            self._cache.put(key, kept)
            return kept, False

    def _asked(self, prompt: str) -> "StructuredReply[Verdicts]":
        self._pause.check()
        reply = self._model.ask(prompt)
        if reply.output is None and reply.fault is not None:
            raise reply.fault
        return reply


def _judged_claim(number: int, outcome: Outcome) -> str:
    quotes = "\n".join(_quote(one) for one in outcome.quotes)
    return _JUDGED_CLAIM.filled(number=number, claim=_on_one_line(outcome.proposed.text), quotes=quotes)


def _quote(one: QuotedText) -> str:
    """The quote behind what stands around it, on one line each."""
    frame = " > ".join(_on_one_line(text)[:MAX_FRAME_CHARS] for text in one.place)
    quote = f'- "{_on_one_line(one.quote)[:MAX_QUOTE_CHARS]}"'
    return f"{quote} (in: {frame})" if frame else quote


def _on_one_line(text: str) -> str:
    """So that no text can begin a statement of its own."""
    return " ".join(text.split())
