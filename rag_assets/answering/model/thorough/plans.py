"""What a planner says: the parts of a question, and other words for a part that nothing answered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rag_assets.core.domain import Context, Usage


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a question asks."""

    question: str
    enough: str = ""
    """What would count as an answer, in a model's words; empty where no model planned. It helps to search, and decides
    nothing."""

    @property
    def described(self) -> str:
        """For the record of the steps."""
        return f"{self.question} ({self.enough})" if self.enough else self.question


@dataclass(frozen=True)
class Plan:
    """The parts of a question, in order."""

    parts: tuple[Part, ...]
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class OtherWords:
    """What else to search for."""

    queries: tuple[str, ...]
    usage: Usage = field(default_factory=Usage)


class Planner(Protocol):
    """Plans the steps of an answer."""

    @property
    def identity(self) -> str:
        """Of the model and its prompts, or of the rules; joins the fingerprints of answers."""
        ...

    def plan(self, question: str) -> Plan:
        """At most `max_parts` parts; the question itself where it asks one thing."""
        ...

    def other_words(self, part: Part, read: Sequence[Context], searched: Sequence[str], /) -> OtherWords:
        """At most `MAX_QUERIES` texts to search for instead. read: what was read in vain, best first; searched:
        what was searched for beside the part itself."""
        ...
