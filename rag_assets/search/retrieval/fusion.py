"""Two rankings become one. Arrays in, arrays out; `search` fetches the candidates.

NaN means "the index did not return this passage", in scores and in ranks alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rag_assets.core.settings import RetrievalSettings
from rag_assets.search.indexing.protocols import RRF_K

Scores = npt.NDArray[np.float64]
_OF_OTHER_WORDINGS = 0.5


@dataclass(frozen=True)
class CandidateScores:
    """Scores of n candidate passages in the two indexes; every array has shape (n,)."""

    dense: Scores
    """Cosine, NaN where it is not known."""
    dense_rank: Scores
    """0-based rank in the vector index's own list, NaN where the passage is not in it."""
    lexical: Scores
    """BM25, NaN where the passage is not in the lexical index's list."""
    lexical_rank: Scores
    fused: Scores | None = None
    """Scores by a store that fuses by itself; 0 to 1."""


def fused(candidates: CandidateScores, settings: RetrievalSettings, dense_weight: float) -> Scores:
    """Score the candidates with the fusion that `settings` name; shape (n,), higher is better.

    dense_weight: weight of the vectors in the "convex" fusion; other fusions ignore it.
    """
    if candidates.fused is not None:
        return candidates.fused
    dense_rank, lexical_rank = candidates.dense_rank, candidates.lexical_rank
    if settings.fusion == "rrf":
        return reciprocal_rank(dense_rank, lexical_rank)
    if settings.fusion == "rank_blend":
        return rank_blend(dense_rank, lexical_rank, settings.rank_weights)
    return min_max_blend(candidates.dense, candidates.lexical, dense_weight=dense_weight)


def index_weights(settings: RetrievalSettings, dense_weight: float) -> tuple[float, float]:
    """Weight of the vector index and of the word index in the fusion that `settings` name.

    An index with weight 0 need not be asked, because a passage that only it finds cannot be among
    the first.
    """
    if settings.is_fused_by_server:  # the server searches the words as well
        return 1.0, 0.0
    if settings.fusion == "rrf":
        return 1.0, 1.0
    if settings.fusion == "rank_blend":
        return settings.rank_weights
    return dense_weight, 1.0 - dense_weight


def min_max_blend(dense: Scores, lexical: Scores, *, dense_weight: float) -> Scores:
    """Blend two score arrays after stretching each to 0-1 over its own candidates.

    dense: cosine, shape (n,), -1 to 1; NaN (not known) counts as the lowest that is. lexical: BM25,
    shape (n,), 0 or more; NaN (not found by words) counts as 0. Candidates that all score alike all
    get 1, or 0 if none was found. Returns shape (n,), 0 to 1, higher is better. Raises ValueError
    when the shapes differ. Source: Bruch, Gai and Ingber 2023, "An Analysis of Fusion Functions for
    Hybrid Retrieval".
    """
    _demand_same_shape(dense, lexical)
    known = dense[~np.isnan(dense)]
    stretched_dense = (
        _stretched(np.nan_to_num(dense, nan=known.min())) if known.size else np.zeros_like(dense)
    )
    stretched_lexical = _stretched(np.nan_to_num(lexical, nan=0.0))
    return dense_weight * stretched_dense + (1.0 - dense_weight) * stretched_lexical


def reciprocal_rank(dense_rank: Scores, lexical_rank: Scores) -> Scores:
    """Sum of 1 / (RRF_K + rank) over the lists, ranks counted from 1; a list without the passage
    adds nothing.

    Ranks as given are 0-based, shape (n,). Returns shape (n,), above 0. Raises ValueError when the
    shapes differ. Source: Cormack, Clarke and Buettcher 2009, "Reciprocal Rank Fusion outperforms
    Condorcet and individual Rank Learning Methods".
    """
    _demand_same_shape(dense_rank, lexical_rank)
    return np.nan_to_num(1.0 / (RRF_K + 1 + dense_rank)) + np.nan_to_num(
        1.0 / (RRF_K + 1 + lexical_rank)
    )


def with_other_wordings(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Merge the hits of a question and of its other wordings into one score per id, 0 to 1.

    The scores of each search are stretched to 0-1; those of other wordings then count half. So the
    best hit of another wording comes below the question's own strong hits, and above its weak ones.
    An id that several searches found keeps its best score.

    found: score by id for each search; the first one is that of the question itself.
    """
    best: dict[str, float] = {}
    for number, scores in enumerate(found):
        weight = _OF_OTHER_WORDINGS if number else 1.0
        for id_, score in zip(
            scores, _stretched(np.array(list(scores.values()), np.float64)).tolist(), strict=True
        ):
            best[id_] = max(best.get(id_, 0.0), weight * score)
    return best


def rank_blend(dense_rank: Scores, lexical_rank: Scores, weights: tuple[float, float]) -> Scores:
    """Minus the weighted sum of the two 0-based ranks (ADR 0004).

    weights: of `dense_rank`, then of `lexical_rank`. A passage that is missing in a list is ranked
    just behind the last one of this list. Returns shape (n,), 0 or less. Raises ValueError when the
    shapes differ.
    """
    _demand_same_shape(dense_rank, lexical_rank)
    dense_weight, lexical_weight = weights
    return -dense_weight * _behind_last(dense_rank) - lexical_weight * _behind_last(lexical_rank)


def raised(scores: Scores, shares: Scores) -> Scores:
    """Add to each score its share (0 or more) of the difference between the highest and the lowest
    score; shape (n,).

    Because of this difference, the same share works for all fusions, although their scores are of
    different sizes.
    """
    if scores.size == 0 or not shares.any():
        return scores
    span = float(scores.max() - scores.min()) or 1.0
    return scores + span * shares


def weighted_down(scores: Scores, factors: Scores) -> Scores:
    """Lower each score by multiplying its distance from the floor with its factor (0-1); shape
    (n,).

    The floor is 0, or the lowest score if that is negative. A negative score itself is not
    multiplied, because a factor below 1 would raise it.
    """
    if scores.size == 0:
        return scores
    floor = min(0.0, float(scores.min()))
    return floor + (scores - floor) * factors


def _stretched(scores: Scores) -> Scores:
    """Scores moved to 0-1: the lowest becomes 0, the highest 1. Equal ones all become 1, or 0 if
    they are not above 0."""
    if scores.size == 0:
        return scores
    low, high = scores.min(), scores.max()
    if high > low:
        return np.asarray((scores - low) / (high - low), np.float64)
    return np.full_like(scores, 1.0 if high > 0 else 0.0)


def _behind_last(ranks: Scores) -> Scores:
    """The 0-based ranks, with the number of ranked passages in place of NaN."""
    n_ranked = np.count_nonzero(~np.isnan(ranks))
    return np.nan_to_num(ranks, nan=float(n_ranked))


def _demand_same_shape(one: Scores, other: Scores) -> None:
    if one.shape != other.shape:
        raise ValueError(f"scores of {one.shape} and {other.shape} candidates cannot be fused")
