"""A second model that says how well the quotes of each claim carry it. Its verdict is recorded; nothing is dropped.

What can be told without a model (numbers, names, likeness) is in `citations.support`.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from rag_assets.answering.citations.support import Scoring, SupportScorer
from rag_assets.domain import Claim
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
JUDGE_VERSION = 1
"""Raise it when the code asks a judge something else, or reads its verdicts in another way."""
_MAX_OUTPUT_TOKENS = 4096
_INSTRUCTIONS = load_prompt("rag_assets.answering", "judge", frozenset())
_JUDGED_CLAIM = load_prompt("rag_assets.answering", "judged_claim", frozenset({"number", "claim", "quotes"}))


class Verdict(BaseModel):
    """What is thought of one statement."""

    statement: int = Field(description="Number of the statement.")
    support: float = Field(ge=0, le=1, description="How well its quotations support it, 0 to 1.")


class Verdicts(BaseModel):
    """One verdict a statement."""

    verdicts: list[Verdict]


class JudgedSupport:
    """Another scorer's figures, with the verdict of a model beside them; one request for all claims of an answer."""

    def __init__(
        self,
        name: ModelName,
        connections: Connections,
        scorer: SupportScorer,
        folder: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`folder` keeps the verdicts by what was judged, one small file per answer: nothing is judged twice.

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
        self._cache = ReplyCache(folder, dict[int, float])
        self._pause = FaultPause(clock)

    @property
    def identity(self) -> str:
        """The model, readably, and a hash of the prompts."""
        prompts = fingerprint(_INSTRUCTIONS.text, _JUDGED_CLAIM.text, JUDGE_VERSION)
        return f"{self._model.model_id} judge-{prompts[:8]}"

    def scores(self, claims: Sequence[Claim], question: str) -> Scoring:
        """An answer does not wait for its judge: where it cannot be asked, `judged` stays None, and the scoring says
        why. After a fault that is not this question's own, the judge is left alone for a while; once the budget is
        spent, for good."""
        scoring = self._scorer.scores(claims, question)
        if not claims:
            return scoring
        try:
            return self._judged(scoring, claims)
        except (ModelFault, BudgetExhausted) as fault:
            if self._pause.begins(fault):
                logger.warning("The claims of the answer to %r are not judged: %s", question, fault)
            return replace(scoring, unjudged=str(fault))

    def _judged(self, scoring: Scoring, claims: Sequence[Claim]) -> Scoring:
        """The scoring with a verdict on each claim the model did not pass over."""
        prompt = "\n".join(
            _JUDGED_CLAIM.filled(
                number=number,
                claim=_on_one_line(claim.text),
                quotes="\n".join(f"- {_on_one_line(citation.quote)}" for citation in claim.citations),
            )
            for number, claim in enumerate(claims, start=1)
        )
        key = fingerprint(prompt, self.identity)
        with self._cache.held(key):  # answers with the same claims are judged once
            verdicts = self._cache.get(key)
            if verdicts is None:
                reply = self._asked(prompt)
                verdicts = {one.statement: one.support for one in reply.output.verdicts} if reply.output else {}
                self._cache.put(key, verdicts)
                scoring = replace(scoring, usage=reply.usage, seconds=reply.seconds)
        supports = enumerate(scoring.supports, start=1)
        return replace(
            scoring,
            supports=tuple(replace(support, judged=verdicts.get(number)) for number, support in supports),
            unjudged="" if verdicts else f"Its reply held no verdict. Delete {self._folder} to ask it again.",
        )

    def _asked(self, prompt: str) -> "StructuredReply[Verdicts]":
        self._pause.check()
        reply = self._model.ask(prompt)
        if reply.output is None and reply.fault is not None:
            raise reply.fault
        return reply


def _on_one_line(text: str) -> str:
    """So that no text can begin a statement of its own."""
    return " ".join(text.split())
