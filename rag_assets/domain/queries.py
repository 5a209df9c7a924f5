"""What is searched for on behalf of a question."""

from dataclasses import dataclass
from enum import StrEnum


class QueryOrigin(StrEnum):
    """Where a query comes from."""

    QUESTION = "question"
    """The question as it was asked."""
    PART = "part"
    """One of the questions inside it, by rules."""
    MODEL_PART = "model part"
    """One of the questions inside it, as a model took it apart."""
    VARIANT = "variant"
    """Another wording, by a model."""
    PASSAGE = "passage"
    """A passage that might answer it, written by a model; only its vector is searched."""


@dataclass(frozen=True, slots=True)
class Query:
    """One thing that is searched for."""

    text: str
    origin: QueryOrigin
