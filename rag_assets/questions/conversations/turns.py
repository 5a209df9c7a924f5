"""One question of a conversation with its answer, and how the question was read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class Rewritten:
    """What is asked of the corpus on behalf of a question."""

    question: str
    """Can be understood without the conversation; the question itself where nothing was rewritten."""
    is_rewritten: bool
    """The question was changed, or restricted to papers."""
    reason: str = ""
    """Why, as a sentence for the user; empty where nothing was rewritten."""
    paper_ids: tuple[str, ...] = ()
    """Papers that the question means ("that paper"), to be searched alone; empty for no restriction."""

    @classmethod
    def as_it_stands(cls, question: str) -> "Rewritten":
        return cls(question, is_rewritten=False)


@dataclass(frozen=True)
class Turn:
    """A question and its answer."""

    question: str
    """As the user wrote it."""
    asked: Rewritten
    """What the corpus was asked."""
    answer: Mapping[str, Any]
    """The row of qa.jsonl, as JSON values."""
    contexts: Sequence[Mapping[str, Any]] = ()
    """What the answer was made from: chunk, place and band of each; empty in turns of before they were kept."""
    dropped: Sequence[Mapping[str, Any]] = ()
    """What was drafted and did not hold: reason, message and count; likewise."""
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    """When it was answered; ISO 8601 in UTC."""

    @property
    def cited_papers(self) -> tuple[str, ...]:
        """Distinct papers that the answer cites, in order of first citation."""
        return tuple(self.answer.get("sources_used") or ())

    @property
    def claims(self) -> tuple[str, ...]:
        """Texts of the answer's claims, in order."""
        return tuple(claim["text"] for claim in self.answer.get("claims") or ())
