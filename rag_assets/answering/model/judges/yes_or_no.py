"""Models that were trained for nothing but this: document and claim in, Yes or No out. One request per claim.

Source: Tang, Laban and Durrett 2024, "MiniCheck: Efficient Fact-Checking of LLMs on Grounding Documents", and the card
of bespoke-minicheck on Ollama, whose template brings the instructions: none are sent.
"""

from collections.abc import Sequence

from rag_assets.answering.model.judges.base import ClaimVerdicts, document_of, on_one_line
from rag_assets.answering.verify.verification import Outcome
from rag_assets.core.domain import summed
from rag_assets.core.incremental import fingerprint
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, LazyModel

_MODELS = frozenset({("ollama", "bespoke-minicheck")})
"""Provider and name, without the tag."""
_PROMPT = "Document: {document}\nClaim: {claim}"
_VERSION = 1
"""Raise it when the code reads replies, or puts documents together, in another way."""
_MAX_OUTPUT_TOKENS = 16
_SUPPORT = {"yes": 1.0, "no": 0.0}


def answers_yes_or_no(name: ModelName) -> bool:
    """Whether the model is asked in this form; `name:tag` is a size of the same model."""
    return (name.provider, name.name.partition(":")[0]) in _MODELS


class YesOrNoJudge:
    """See `ClaimJudge`. It gives no reasons, and no half support."""

    def __init__(self, name: ModelName, connections: Connections) -> None:
        """Raises MissingKey, InvalidSettings as `require_access`."""
        self._model = LazyModel(name, connections, str, instructions="", max_output_tokens=_MAX_OUTPUT_TOKENS)

    @property
    def identity(self) -> str:
        return f"{self._model.model_id} yes-or-no-{fingerprint(_PROMPT, _VERSION)[:8]}"

    def verdicts(self, outcomes: Sequence[Outcome]) -> ClaimVerdicts:
        """A fault at one claim is a fault of all: half a look would pass for a whole one."""
        replies = []
        for one in outcomes:
            document, claim = document_of(one), on_one_line(one.proposed.text)
            reply = self._model.ask(_PROMPT.format(document=document, claim=claim))
            if reply.output is None and reply.fault is not None:
                raise reply.fault
            replies.append(reply)
        return ClaimVerdicts(
            tuple(_support(reply.output or "") for reply in replies),
            ("",) * len(replies),
            summed([reply.usage for reply in replies]),
            sum(reply.seconds for reply in replies),
        )


def _support(reply: str) -> float | None:
    return _SUPPORT.get(reply.strip().rstrip(".").casefold())
