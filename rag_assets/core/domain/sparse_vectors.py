"""Vectors of which nearly all numbers are 0."""

from typing import NamedTuple


class SparseVector(NamedTuple):
    """Weights of some terms; all others have none."""

    places: tuple[int, ...]
    """Numbers of the terms, 0 to 2^32 - 1, ascending, each once."""
    weights: tuple[float, ...]
    """One for each place."""
