"""What an answerer proposes, before anything in it is believed.

Answerers are adapters: they see a question and contexts, and return claims that point at contexts. Whether a quote
really stands there, and on which page, is decided in `verification`, never by the answerer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rag_assets.model import Context, Usage


@dataclass(frozen=True, slots=True)
class DraftCitation:
    """A quote that is said to stand in a context."""

    chunk_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """A statement with the citations that are said to carry it."""

    text: str
    citations: tuple[DraftCitation, ...]


@dataclass(frozen=True, slots=True)
class DraftAnswer:
    """An answerer's proposal; without claims it is a refusal."""

    claims: tuple[DraftClaim, ...] = ()
    unanswered: tuple[str, ...] = ()
    """Parts of a compound question that no claim answers."""
    usage: Usage = field(default_factory=Usage)


class Answerer(Protocol):
    """Writes a draft answer from contexts."""

    @property
    def model_id(self) -> str:
        """Identity of what writes: model, prompt and settings; an answer is reused while it stays the same."""
        ...

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer: ...
