"""Judges tell how far the quotes of a claim support it: their interface, the texts they read, and
models behind an API.

The judge that runs here is in `cross_encoder_judge`; which one is opened, and when it is asked,
decides `second_look`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import BaseModel, Field

from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.verification import Outcome
from rag_assets.core.domain import Usage, summed
from rag_assets.core.incremental import fingerprint
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, LazyModel
from rag_assets.hosted.prompts import load_prompt

MAX_QUOTE_CHARS, MAX_FRAME_CHARS = 800, 200
"""Limits of what a judge reads of one quote: some 300 tokens for a claim."""


@dataclass(frozen=True)
class ClaimVerdicts:
    """The verdicts on the claims of one draft, as they are kept."""

    supports: tuple[float | None, ...]
    """One per claim, 0 to 1; None for a claim that the judge passed over."""
    whys: tuple[str, ...]
    """What is wrong with each claim; empty for a supported one, and from judges that give no
    reasons."""
    usage: Usage
    seconds: float


class ClaimJudge(Protocol):
    """Judges claims by their quotes alone. Opening one loads nothing. Safe to use from several
    threads."""

    @property
    def identity(self) -> str:
        """The judge and how it is asked; part of the key of its verdicts and of published
        answers."""
        ...

    def verdicts(self, outcomes: Sequence[Outcome]) -> ClaimVerdicts:
        """One verdict for each claim, in order.

        Raises ModelFault, BudgetExhausted or MissingModel when it cannot tell.
        """
        ...


def quote_in_place(one: QuotedText) -> str:
    """The quote and its place in the paper, on one line."""
    frame = " > ".join(on_one_line(text)[:MAX_FRAME_CHARS] for text in one.place)
    quote = f'"{on_one_line(one.quote)[:MAX_QUOTE_CHARS]}"'
    return f"{quote} (in: {frame})" if frame else quote


def document_of(outcome: Outcome) -> str:
    """The quotes of a claim as one text, for models trained on a document and a claim: places
    first, as headings."""
    parts = [
        (" > ".join(one.place)[:MAX_FRAME_CHARS], one.quote[:MAX_QUOTE_CHARS])
        for one in outcome.quotes
    ]
    return " ".join(on_one_line(f"{place}: {quote}" if place else quote) for place, quote in parts)


def on_one_line(text: str) -> str:
    """Puts a text on one line, so that it cannot begin a statement of its own."""
    return " ".join(text.split())


JUDGE_VERSION = 2
"""Raise it when the code asks a judge something else, or reads its verdicts in another way."""
MAX_WHY_CHARS = 200
_MAX_OUTPUT_TOKENS = 4096
_SUPPORT: Mapping[str, float] = {"supported": 1.0, "partly": 0.5, "unsupported": 0.0}
_INSTRUCTIONS = load_prompt("rag_assets.answering.model", "judge", frozenset())
_JUDGED_CLAIM = load_prompt(
    "rag_assets.answering.model", "judged_claim", frozenset({"number", "claim", "quotes"})
)
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
        reply = self._model.ask(
            "\n".join(_judged_claim(nth, one) for nth, one in enumerate(outcomes, start=1))
        )
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
    return _JUDGED_CLAIM.filled(
        number=number, claim=on_one_line(outcome.proposed.text), quotes=quotes
    )


def answers_yes_or_no(name: ModelName) -> bool:
    """Whether `YesOrNoJudge` asks the model; `name:tag` is a size of the same model."""
    return (name.provider, name.name.partition(":")[0]) in _YES_OR_NO_MODELS


class YesOrNoJudge:
    """A model that was trained to judge: document and claim in, Yes or No out. It gives no reasons
    and no half support.

    One request per claim. Source: Tang, Laban and Durrett 2024, "MiniCheck: Efficient Fact-Checking
    of LLMs on Grounding Documents", and the card of bespoke-minicheck on Ollama, whose template
    brings the instructions.
    """

    def __init__(self, name: ModelName, connections: Connections) -> None:
        """Raises MissingKey, InvalidSettings as `require_access`."""
        self._model = LazyModel(
            name, connections, str, instructions="", max_output_tokens=_YES_OR_NO_MAX_OUTPUT_TOKENS
        )

    @property
    def identity(self) -> str:
        return f"{self._model.model_id} yes-or-no-{fingerprint(_YES_OR_NO_PROMPT, _YES_OR_NO_VERSION)[:8]}"

    def verdicts(self, outcomes: Sequence[Outcome]) -> ClaimVerdicts:
        """Raises the fault of any claim: a reader would take the verdicts of some claims for those
        of all."""
        replies = []
        for one in outcomes:
            document, claim = document_of(one), on_one_line(one.proposed.text)
            reply = self._model.ask(_YES_OR_NO_PROMPT.format(document=document, claim=claim))
            if reply.output is None and reply.fault is not None:
                raise reply.fault
            replies.append(reply)
        return ClaimVerdicts(
            tuple(
                _YES_OR_NO.get((reply.output or "").strip().rstrip(".").casefold())
                for reply in replies
            ),
            ("",) * len(replies),
            summed([reply.usage for reply in replies]),
            sum(reply.seconds for reply in replies),
        )
