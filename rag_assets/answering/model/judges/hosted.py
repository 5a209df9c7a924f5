"""Models behind an API as judges: any model, or one that was trained to answer Yes or No."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from rag_assets.answering.model.judges.base import ClaimVerdicts, document_of, on_one_line, quote_in_place
from rag_assets.answering.verify.verification import Outcome
from rag_assets.core.domain import summed
from rag_assets.core.incremental import fingerprint
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, LazyModel
from rag_assets.hosted.prompts import load_prompt

JUDGE_VERSION = 2
"""Raise it when the code asks a judge something else, or reads its verdicts in another way."""
MAX_WHY_CHARS = 200
_MAX_OUTPUT_TOKENS = 4096
_SUPPORT: Mapping[str, float] = {"supported": 1.0, "partly": 0.5, "unsupported": 0.0}
_INSTRUCTIONS = load_prompt("rag_assets.answering.model", "judge", frozenset())
_JUDGED_CLAIM = load_prompt("rag_assets.answering.model", "judged_claim", frozenset({"number", "claim", "quotes"}))
_YES_OR_NO_MODELS = frozenset({("ollama", "bespoke-minicheck")})
"""Provider and name, without the tag."""
_YES_OR_NO_PROMPT = "Document: {document}\nClaim: {claim}"
_YES_OR_NO_VERSION = 1
"""Raise it when the code reads replies, or puts documents together, in another way."""
_YES_OR_NO_MAX_OUTPUT_TOKENS = 16
_YES_OR_NO = {"yes": 1.0, "no": 0.0}


class Verdict(BaseModel):
    """What is thought of one statement."""

    statement: int = Field(description="Number of the statement.")
    verdict: Literal["supported", "partly", "unsupported"]
    wrong: str = Field("", description='What is wrong, in at most 15 words; empty for "supported".')


class Verdicts(BaseModel):
    """One verdict per statement."""

    verdicts: list[Verdict]


class HostedJudge:
    """One request for all claims of a draft; verdicts of three kinds with reasons."""

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
        """The model, readably, and a hash of the prompts."""
        prompts = fingerprint(_INSTRUCTIONS.text, _JUDGED_CLAIM.text, JUDGE_VERSION)
        return f"{self._model.model_id} judge-{prompts[:8]}"

    def verdicts(self, outcomes: Sequence[Outcome]) -> ClaimVerdicts:
        reply = self._model.ask("\n".join(_judged_claim(nth, one) for nth, one in enumerate(outcomes, start=1)))
        if reply.output is None and reply.fault is not None:
            raise reply.fault
        found = {one.statement: one for one in reply.output.verdicts} if reply.output else {}
        verdicts = [found.get(number) for number in range(1, len(outcomes) + 1)]
        return ClaimVerdicts(
            tuple(_SUPPORT[one.verdict] if one else None for one in verdicts),
            tuple(on_one_line(one.wrong)[:MAX_WHY_CHARS] if one else "" for one in verdicts),
            reply.usage,
            reply.seconds,
        )


def _judged_claim(number: int, outcome: Outcome) -> str:
    quotes = "\n".join(f"- {quote_in_place(one)}" for one in outcome.quotes)
    return _JUDGED_CLAIM.filled(number=number, claim=on_one_line(outcome.proposed.text), quotes=quotes)


def answers_yes_or_no(name: ModelName) -> bool:
    """Whether `YesOrNoJudge` asks the model; `name:tag` is a size of the same model."""
    return (name.provider, name.name.partition(":")[0]) in _YES_OR_NO_MODELS


class YesOrNoJudge:
    """A model that was trained to judge: document and claim in, Yes or No out. It gives no reasons and no half support.

    One request per claim. Source: Tang, Laban and Durrett 2024, "MiniCheck: Efficient Fact-Checking of LLMs on
    Grounding Documents", and the card of bespoke-minicheck on Ollama, whose template brings the instructions.
    """

    def __init__(self, name: ModelName, connections: Connections) -> None:
        """Raises MissingKey, InvalidSettings as `require_access`."""
        self._model = LazyModel(name, connections, str, instructions="", max_output_tokens=_YES_OR_NO_MAX_OUTPUT_TOKENS)

    @property
    def identity(self) -> str:
        return f"{self._model.model_id} yes-or-no-{fingerprint(_YES_OR_NO_PROMPT, _YES_OR_NO_VERSION)[:8]}"

    def verdicts(self, outcomes: Sequence[Outcome]) -> ClaimVerdicts:
        """Raises the fault of any claim: a reader would take the verdicts of some claims for those of all."""
        replies = []
        for one in outcomes:
            document, claim = document_of(one), on_one_line(one.proposed.text)
            reply = self._model.ask(_YES_OR_NO_PROMPT.format(document=document, claim=claim))
            if reply.output is None and reply.fault is not None:
                raise reply.fault
            replies.append(reply)
        return ClaimVerdicts(
            tuple(_YES_OR_NO.get((reply.output or "").strip().rstrip(".").casefold()) for reply in replies),
            ("",) * len(replies),
            summed([reply.usage for reply in replies]),
            sum(reply.seconds for reply in replies),
        )
