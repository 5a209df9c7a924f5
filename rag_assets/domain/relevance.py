"""How sure a hit is, in words."""

from enum import StrEnum

STRONG_FROM, PARTIAL_FROM = 0.6, 0.3


class Band(StrEnum):
    """A range of relevance. With the packaged model, of the passages of a band this share stood in a chunk that
    answers the question, on the checking halves of COVID-QA and OHR-Bench: see benchmarks/README.md."""

    STRONG = "strong"
    PARTIAL = "partial"
    WEAK = "weak"


def band_of(relevance: float) -> Band:
    """The band of a relevance between 0 and 1."""
    if relevance >= STRONG_FROM:
        return Band.STRONG
    return Band.PARTIAL if relevance >= PARTIAL_FROM else Band.WEAK
