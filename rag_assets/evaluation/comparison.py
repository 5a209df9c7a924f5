"""Compares two runs of the same questions over the same corpus, question by question.

For intervals and tests, questions are drawn at random in groups: questions about the same document
are not independent, so such a group is drawn as a whole. Sources: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapter
13 (percentile intervals); Smucker, Allan and Carterette 2007, "A Comparison of Statistical
Significance Tests for Information Retrieval Evaluation" (randomisation test over paired
differences).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from rag_assets.core.errors import InvalidSettings
from rag_assets.evaluation.cases import Case
from rag_assets.evaluation.metrics import METRICS, RIGHT, Metric
from rag_assets.evaluation.runs import EvaluationRun

N_DRAWS = 5000
SEED = 12
_Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int
    """Number of questions."""


@dataclass(frozen=True)
class PairedDifference(Estimate):
    """The mean of the differences between two runs."""

    p: float
    """P-value of a randomisation test: the share of random exchanges of the two runs in some groups
    that give at least this difference."""
    n_better: int
    n_worse: int


def estimate(values: Sequence[float], groups: Sequence[str]) -> Estimate:
    """The mean of the values with its bootstrap interval. Both arguments have one entry per
    question, and at least one."""
    sums, counts = _by_group(np.asarray(values, np.float64), groups)
    low, high = _interval(sums, counts)
    return Estimate(float(sums.sum() / counts.sum()), low, high, len(values))


def difference(
    new: Sequence[float], old: Sequence[float], groups: Sequence[str]
) -> PairedDifference:
    """The differences new - old. All arguments have one entry per question, in the same order."""
    deltas = np.asarray(new, np.float64) - np.asarray(old, np.float64)
    sums, counts = _by_group(deltas, groups)
    low, high = _interval(sums, counts)
    random = np.random.default_rng(SEED)
    signs = random.choice([-1.0, 1.0], (N_DRAWS, len(sums)))  # -1: the runs are exchanged
    is_as_large = np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9
    p = float((1 + is_as_large.sum()) / (1 + N_DRAWS))
    return PairedDifference(
        float(deltas.mean()),
        low,
        high,
        len(deltas),
        p,
        int((deltas > 0).sum()),
        int((deltas < 0).sum()),
    )


def _by_group(values: _Numbers, groups: Sequence[str]) -> tuple[_Numbers, _Numbers]:
    """The sum of the values and the number of questions, for each group."""
    _, number = np.unique(np.asarray(groups), return_inverse=True)
    return np.bincount(number, values).astype(np.float64), np.bincount(number).astype(np.float64)


def _interval(sums: _Numbers, counts: _Numbers) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean: groups are drawn with replacement, 5,000 times."""
    random = np.random.default_rng(SEED)
    drawn = random.integers(0, len(sums), (N_DRAWS, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


_N_SHOWN = 8
SHOWN = (RIGHT, *METRICS)
"""The metrics by which runs are shown and compared: whether the answer is right, then all
others."""


@dataclass(frozen=True)
class MetricSummary:
    """The mean of one metric in a run, with its 95 % bootstrap interval."""

    metric: Metric
    estimate: Estimate
    """Estimated from the questions that have a value of the metric."""


@dataclass(frozen=True)
class Compared:
    """One metric in two runs, by the questions that have a value in both."""

    metric: Metric
    before: float
    now: float
    change: PairedDifference
    """now - before."""


def summaries(run: EvaluationRun) -> list[MetricSummary]:
    """Every metric for which at least one question has a value."""
    values = run.values()
    found = []
    for metric in SHOWN:
        known = {
            key: value for key, row in values.items() if (value := row[metric.name]) is not None
        }
        if known:
            groups = _groups([run.cases[key] for key in known])
            found.append(MetricSummary(metric, estimate([*known.values()], groups)))
    return found


def unmeasured(found: Sequence[MetricSummary]) -> str:
    """A line with the metrics that are not in `found`."""
    known = {summary.metric.name for summary in found}
    missing = ", ".join(metric.name for metric in METRICS if metric.name not in known) or "none"
    return f"Not measured here: {missing}. docs/evaluation.md says what each metric needs."


def compared(before: EvaluationRun, now: EvaluationRun) -> list[Compared]:
    """Every metric that both runs measured. Raises InvalidSettings unless corpus and questions are
    the same and both runs are complete."""
    for what in ("corpus", "questions", "metrics_version"):
        if getattr(before.header, what) != getattr(now.header, what):
            raise InvalidSettings(
                f"{before.header.name} and {now.header.name} cannot be compared: their {what.replace('_', ' ')} "
                "differ, so a difference would say nothing about the settings."
            )
    for run in (before, now):
        if not run.is_complete:
            raise InvalidSettings(
                f"{run.header.name} has {len(run.cases)} of {run.header.n_questions} questions. Go on with it first."
            )
    old, new = before.values(), now.values()
    found = []
    for metric in SHOWN:
        keys = [key for key in old if None not in (old[key][metric.name], new[key][metric.name])]
        if not keys:
            continue
        old_values, new_values = (
            [float(rows[key][metric.name] or 0) for key in keys] for rows in (old, new)
        )
        change = difference(new_values, old_values, _groups([now.cases[key] for key in keys]))
        found.append(Compared(metric, fmean(old_values), fmean(new_values), change))
    return found


def changed_settings(before: EvaluationRun, now: EvaluationRun) -> list[tuple[str, str, str]]:
    """Name, old and new value of every setting that differs. If none does but the method, that is
    returned as "code or models"."""
    old, new = (dict(_flat(run.header.settings)) for run in (before, now))
    found = [
        (name, old.get(name, ""), new.get(name, ""))
        for name in {**old, **new}
        if old.get(name) != new.get(name)
    ]
    methods = before.header.method[:_N_SHOWN], now.header.method[:_N_SHOWN]
    return found or ([("code or models", *methods)] if methods[0] != methods[1] else [])


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Name ("retrieval.reranker") and value of each setting in nested mappings."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)


def _groups(cases: Sequence[Case]) -> list[str]:
    """The group of each question: questions about one and the same paper are a group, any other
    question is a group by itself. If that gives only one group, each question is one."""
    groups = []
    for case in cases:
        papers = {paper.paper_id for paper in case.question.expected}
        groups.append(papers.pop() if len(papers) == 1 else f"question {case.question.id}")
    return groups if len(set(groups)) > 1 else [case.question.id for case in cases]
