"""Intervals and tests over questions, in groups: questions about one document share its luck, so a
group is drawn whole.

Sources: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13 (percentile
intervals); Smucker, Allan and Carterette 2007, "A Comparison of Statistical Significance Tests for
Information Retrieval Evaluation" (randomisation test over paired differences); McNemar 1947, "Note
on the Sampling Error of the Difference Between Correlated Proportions", in its exact binomial form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt

N_DRAWS = 5000
SEED = 12
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int
    """Questions."""


@dataclass(frozen=True)
class Difference(Estimate):
    """Mean of paired differences."""

    p: float
    """Share of random exchanges of the two runs, group by group, that differ as much or more."""
    n_better: int
    n_worse: int


def estimate(values: Sequence[float], groups: Sequence[str]) -> Estimate:
    """Mean over questions and its bootstrap interval. Both arguments have one entry per question;
    at least one."""
    sums, counts = _by_group(np.asarray(values, np.float64), groups)
    low, high = _interval(sums, counts)
    return Estimate(float(sums.sum() / counts.sum()), low, high, len(values))


def difference(new: Sequence[float], old: Sequence[float], groups: Sequence[str]) -> Difference:
    """new - old, question by question."""
    deltas = np.asarray(new, np.float64) - np.asarray(old, np.float64)
    sums, counts = _by_group(deltas, groups)
    low, high = _interval(sums, counts)
    return Difference(
        float(deltas.mean()),
        low,
        high,
        len(deltas),
        _p_value(sums),
        int((deltas > 0).sum()),
        int((deltas < 0).sum()),
    )


def mcnemar(n_better: int, n_worse: int) -> float:
    """Exact two-sided p-value that so many of the questions that changed between right and wrong
    did it by chance."""
    n = n_better + n_worse
    tail = sum(comb(n, i) for i in range(min(n_better, n_worse) + 1)) / 2**n
    return float(min(1.0, 2 * tail))


def _by_group(values: Values, groups: Sequence[str]) -> tuple[Values, Values]:
    """Sum of the values and number of questions of each group."""
    _, number = np.unique(np.asarray(groups), return_inverse=True)
    return np.bincount(number, values).astype(np.float64), np.bincount(number).astype(np.float64)


def _interval(sums: Values, counts: Values) -> tuple[float, float]:
    draw = np.random.default_rng(SEED)
    drawn = draw.integers(0, len(sums), (N_DRAWS, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def _p_value(sums: Values) -> float:
    draw = np.random.default_rng(SEED)
    signs = draw.choice([-1.0, 1.0], (N_DRAWS, len(sums)))
    as_much = np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9
    return float((1 + as_much.sum()) / (1 + N_DRAWS))
