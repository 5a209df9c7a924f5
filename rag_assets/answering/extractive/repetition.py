"""Whether a candidate would say again what is said already."""

from collections.abc import Sequence
from decimal import Decimal

from rag_assets.answering.extractive.candidates import Candidate
from rag_assets.text.numbers.quantities import quantities

_NEAR_DUPLICATE = 0.8
"""Share of the content words of two sentences that they have in common."""


def is_new(one: Candidate, said: Sequence[Candidate]) -> bool:
    """Whether it stands in none of them, nor says nearly the same as one."""
    return not any(_is_shown(one, other) or _is_repetition(one, other) for other in said)


def likeness(one: Candidate, other: Candidate) -> float:
    """Share of the content words of both that they have in common."""
    return len(one.terms & other.terms) / max(1, len(one.terms | other.terms))


def _is_shown(one: Candidate, other: Candidate) -> bool:
    """Whether it is published together with the other one."""
    return one.context == other.context and other.shown[0] <= one.start and one.end <= other.shown[1]


def _is_repetition(one: Candidate, other: Candidate) -> bool:
    """Whether both say it in nearly the same words. Another paper's other figures are none: they are the other side."""
    is_alike = likeness(one, other) >= _NEAR_DUPLICATE
    return is_alike and (one.paper_id == other.paper_id or _figures(one.text) == _figures(other.text))


def _figures(text: str) -> set[tuple[str, Decimal]]:
    return {(quantity.kind, quantity.value) for quantity in quantities(text)}
