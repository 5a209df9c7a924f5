"""Intervals and tests of the benchmarks, where the truth is known."""

import numpy as np
import pytest

from rag_assets.evaluation.runs import difference, estimate


def test_an_interval_of_95_percent_holds_the_true_mean_in_about_95_of_100_samples() -> None:
    """Too narrow an interval sells noise as a gain."""
    draw = np.random.default_rng(1)
    samples = [draw.random(120) < 0.7 for _ in range(100)]
    groups = [str(number) for number in range(120)]

    estimates = [estimate(sample.astype(float).tolist(), groups) for sample in samples]

    n_covered = sum(one.low <= 0.7 <= one.high for one in estimates)
    assert 89 <= n_covered <= 100


def test_questions_about_one_document_count_as_one_draw() -> None:
    """Ten questions about one easy report are not ten independent successes."""
    values = [1.0] * 50 + [0.0] * 50
    alone = estimate(values, [str(number) for number in range(100)])
    grouped = estimate(values, [str(number // 10) for number in range(100)])

    assert alone.mean == grouped.mean == 0.5
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)


def test_a_difference_is_paired() -> None:
    """Hard questions are hard for both; unpaired, their spread hides a small sure gain."""
    draw = np.random.default_rng(2)
    old = draw.random(80)
    groups = [str(number) for number in range(80)]

    found = difference((old + 0.05).tolist(), old.tolist(), groups)

    assert found.mean == pytest.approx(0.05)
    assert (found.low, found.high) == pytest.approx((0.05, 0.05))
    assert found.p < 0.001
    assert (found.n_better, found.n_worse) == (80, 0)
