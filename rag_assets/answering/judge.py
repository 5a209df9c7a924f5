"""A second model that says how well the quotes of each claim carry it. Its verdict is recorded; nothing is dropped.

What can be told without a model (numbers, names, likeness) is in `support`.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from rag_assets.answering.prompts import load_prompt
from rag_assets.answering.support import SupportScorer
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connection import Connection
from rag_assets.hosted.structured import StructuredModel
from rag_assets.incremental import fingerprint, write_atomically
from rag_assets.model import Claim, Support

logger = logging.getLogger(__name__)
JUDGE_VERSION = 1
_INSTRUCTIONS = load_prompt("judge", frozenset())
_CLAIM = load_prompt("judged_claim", frozenset({"number", "claim", "quotes"}))
_MAX_OUTPUT_TOKENS = 4096
_VERDICTS = TypeAdapter(dict[int, float])


class Verdict(BaseModel):
    """What is thought of one statement."""

    statement: int = Field(description="Number of the statement.")
    support: float = Field(ge=0, le=1, description="How well its quotations support it, 0 to 1.")


class Verdicts(BaseModel):
    """One verdict a statement."""

    verdicts: list[Verdict]


@dataclass(frozen=True)
class JudgedSupport:
    """Another scorer's figures, with the verdict of a model beside them; one request for all claims of an answer."""

    scorer: SupportScorer
    model: StructuredModel[Verdicts]
    model_id: str
    folder: Path
    """Verdicts by what was judged, one small file an answer: nothing is judged twice."""

    def scores(self, claims: Sequence[Claim], question: str) -> list[Support]:
        supports = self.scorer.scores(claims, question)
        verdicts = self._verdicts(claims) if claims else {}
        return [replace(support, judged=verdicts.get(number)) for number, support in enumerate(supports, start=1)]

    def _verdicts(self, claims: Sequence[Claim]) -> dict[int, float]:
        """By number of the claim, from 1; a claim the model passed over has none."""
        prompt = "\n".join(
            _CLAIM.filled(
                number=number,
                claim=_on_one_line(claim.text),
                quotes="\n".join(f"- {_on_one_line(citation.quote)}" for citation in claim.citations),
            )
            for number, claim in enumerate(claims, start=1)
        )
        path = self.folder / f"{fingerprint(prompt, self.model_id, _INSTRUCTIONS.text, JUDGE_VERSION)}.json"
        if path.exists():
            try:
                return _VERDICTS.validate_json(path.read_bytes())
            except ValidationError:
                logger.warning("%s is damaged; its claims are judged again.", path)
        output = self.model.ask(prompt).output
        verdicts = {verdict.statement: verdict.support for verdict in output.verdicts} if output else {}
        write_atomically(path, _VERDICTS.dump_json(verdicts) + b"\n")
        return verdicts


def open_judge(name: ModelName, connection: Connection, scorer: SupportScorer, folder: Path) -> JudgedSupport:
    """A judge behind `connection`, beside `scorer`."""
    model = StructuredModel(
        name, connection, Verdicts, instructions=_INSTRUCTIONS.filled(), max_output_tokens=_MAX_OUTPUT_TOKENS
    )
    return JudgedSupport(scorer, model, connection.access.model_id(name), folder)


def _on_one_line(text: str) -> str:
    """So that no text can begin a statement of its own."""
    return " ".join(text.split())
