"""A second model that says how well the quotes of each claim carry it. Its verdict is recorded; nothing is dropped.

What can be told without a model (numbers, names, likeness) is in `evidence.support`.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, Field

from rag_assets.answering.evidence.support import SupportScorer
from rag_assets.answering.hosted_identity import JUDGE_INSTRUCTIONS, JUDGED_CLAIM, judge_id
from rag_assets.answering.replies import ReplyCache
from rag_assets.errors import BudgetExhausted, ModelFault
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connection import Connection
from rag_assets.hosted.structured import StructuredModel
from rag_assets.incremental import fingerprint
from rag_assets.model import Claim, Support

logger = logging.getLogger(__name__)
_MAX_OUTPUT_TOKENS = 4096


class Verdict(BaseModel):
    """What is thought of one statement."""

    statement: int = Field(description="Number of the statement.")
    support: float = Field(ge=0, le=1, description="How well its quotations support it, 0 to 1.")


class Verdicts(BaseModel):
    """One verdict a statement."""

    verdicts: list[Verdict]


class JudgedSupport:
    """Another scorer's figures, with the verdict of a model beside them; one request for all claims of an answer."""

    def __init__(self, scorer: SupportScorer, model: StructuredModel[Verdicts], model_id: str, folder: Path) -> None:
        """`folder` keeps the verdicts by what was judged, a small file an answer: nothing is judged twice."""
        self._scorer = scorer
        self._model = model
        self._model_id = model_id
        self._cache = ReplyCache(folder, dict[int, float])

    def scores(self, claims: Sequence[Claim], question: str) -> list[Support]:
        """An answer does not wait for its judge: where it cannot be asked, `judged` stays None until
        the answer is made again."""
        supports = self._scorer.scores(claims, question)
        try:
            verdicts = self._verdicts(claims) if claims else {}
        except (ModelFault, BudgetExhausted) as fault:
            logger.warning("The claims of %r are not judged: %s", question, fault)
            verdicts = {}
        return [replace(support, judged=verdicts.get(number)) for number, support in enumerate(supports, start=1)]

    def _verdicts(self, claims: Sequence[Claim]) -> dict[int, float]:
        """By number of the claim, from 1; a claim the model passed over has none."""
        prompt = "\n".join(
            JUDGED_CLAIM.filled(
                number=number,
                claim=_on_one_line(claim.text),
                quotes="\n".join(f"- {_on_one_line(citation.quote)}" for citation in claim.citations),
            )
            for number, claim in enumerate(claims, start=1)
        )
        key = fingerprint(prompt, self._model_id)
        with self._cache.held(key):  # answers with the same claims are judged once
            known = self._cache.get(key)
            if known is None and (output := self._model.ask(prompt).output):
                known = {verdict.statement: verdict.support for verdict in output.verdicts}
                self._cache.put(key, known)
            return known or {}


def open_judge(name: ModelName, connection: Connection, scorer: SupportScorer, folder: Path) -> JudgedSupport:
    """A judge behind `connection`, beside `scorer`."""
    model = StructuredModel(
        name, connection, Verdicts, instructions=JUDGE_INSTRUCTIONS.filled(), max_output_tokens=_MAX_OUTPUT_TOKENS
    )
    return JudgedSupport(scorer, model, judge_id(name, connection.access), folder)


def _on_one_line(text: str) -> str:
    """So that no text can begin a statement of its own."""
    return " ".join(text.split())
