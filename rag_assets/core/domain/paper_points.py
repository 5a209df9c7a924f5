"""What a model's summary says of a paper: four points, each told by claims with their quotes."""

from dataclasses import dataclass
from enum import StrEnum

from rag_assets.core.domain.answers import Claim


class Point(StrEnum):
    """One thing that a summary says of a paper."""

    ASKED = "asked"
    DONE = "done"
    FOUND = "found"
    LIMITS = "limits"

    @property
    def in_words(self) -> str:
        """As it is named before what is told, and where nothing is."""
        return "what limits it" if self is Point.LIMITS else f"what was {self}"


@dataclass(frozen=True, slots=True)
class PaperPoint:
    """What one paper says of one point."""

    paper_id: str
    point: Point
    claims: tuple[Claim, ...]
    """Verified; none where the model found nothing that says it."""
    model: str
    """What wrote the claims."""
