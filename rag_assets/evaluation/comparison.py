"""Two runs of the same questions over the same corpus, compared question by question.

Intervals and tests draw questions in groups: questions about one document share its luck, so a
group is drawn whole. Sources: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapter
13 (percentile intervals); Smucker, Allan and Carterette 2007, "A Comparison of Statistical
Significance Tests for Information Retrieval Evaluation" (randomisation test over paired
differences); McNemar 1947, "Note on the Sampling Error of the Difference Between Correlated
Proportions", in its exact binomial form.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
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
    """Questions."""


@dataclass(frozen=True)
class PairedDifference(Estimate):
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


def difference(
    new: Sequence[float], old: Sequence[float], groups: Sequence[str]
) -> PairedDifference:
    """new - old, question by question."""
    deltas = np.asarray(new, np.float64) - np.asarray(old, np.float64)
    sums, counts = _by_group(deltas, groups)
    low, high = _interval(sums, counts)
    draw = np.random.default_rng(SEED)
    signs = draw.choice([-1.0, 1.0], (N_DRAWS, len(sums)))
    as_much = np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9
    p = float((1 + as_much.sum()) / (1 + N_DRAWS))
    return PairedDifference(
        float(deltas.mean()),
        low,
        high,
        len(deltas),
        p,
        int((deltas > 0).sum()),
        int((deltas < 0).sum()),
    )


def mcnemar(n_better: int, n_worse: int) -> float:
    """Exact two-sided p-value that so many of the questions that changed between right and wrong
    did it by chance."""
    n = n_better + n_worse
    tail = sum(comb(n, i) for i in range(min(n_better, n_worse) + 1)) / 2**n
    return float(min(1.0, 2 * tail))


def _by_group(values: _Numbers, groups: Sequence[str]) -> tuple[_Numbers, _Numbers]:
    """Sum of the values and number of questions of each group."""
    _, number = np.unique(np.asarray(groups), return_inverse=True)
    return np.bincount(number, values).astype(np.float64), np.bincount(number).astype(np.float64)


def _interval(sums: _Numbers, counts: _Numbers) -> tuple[float, float]:
    draw = np.random.default_rng(SEED)
    drawn = draw.integers(0, len(sums), (N_DRAWS, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


_N_SHOWN = 8
SHOWN = (RIGHT, *METRICS)
"""What runs are shown and compared by: whether the answer is right, then every metric."""


@dataclass(frozen=True)
class MetricSummary:
    """The mean of one metric in a run, with its 95 % bootstrap interval."""

    metric: Metric
    told: Estimate
    """Over the questions that say something about it."""


@dataclass(frozen=True)
class Compared:
    """One metric in two runs."""

    metric: Metric
    before: float
    now: float
    change: PairedDifference
    """now - before, over the questions that both runs measured."""
    p: float
    """Exact McNemar where each value is 0 or 1, else by random exchanges of the two runs."""


def summaries(run: EvaluationRun) -> list[MetricSummary]:
    """Every metric that at least one question says something about."""
    values = run.values()
    found = []
    for metric in SHOWN:
        told = {
            key: value for key, row in values.items() if (value := row[metric.name]) is not None
        }
        if told:
            found.append(
                MetricSummary(
                    metric, estimate([*told.values()], _groups([run.cases[key] for key in told]))
                )
            )
    return found


def unmeasured(found: Sequence[MetricSummary]) -> str:
    """A line with the other metrics."""
    known = {one.metric.name for one in found}
    missing = ", ".join(one.name for one in METRICS if one.name not in known) or "none"
    return f"Not measured here: {missing}. docs/evaluation.md says what each metric needs."


def compared(before: EvaluationRun, now: EvaluationRun) -> list[Compared]:
    """Every metric that both measured. Raises InvalidSettings unless corpus and questions are the
    same and both runs are complete."""
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
        a, b = ([float(rows[key][metric.name] or 0) for key in keys] for rows in (old, new))
        change = difference(b, a, _groups([now.cases[key] for key in keys]))
        p = mcnemar(change.n_better, change.n_worse) if {*a, *b} <= {0.0, 1.0} else change.p
        found.append(Compared(metric, fmean(a), fmean(b), change, p))
    return found


def changed_settings(before: EvaluationRun, now: EvaluationRun) -> list[tuple[str, str, str]]:
    """Name and both values of every setting that differs, or what else does, if anything."""
    old, new = (dict(_flat(run.header.settings)) for run in (before, now))
    found = [
        (name, old.get(name, ""), new.get(name, ""))
        for name in {**old, **new}
        if old.get(name) != new.get(name)
    ]
    methods = before.header.method[:_N_SHOWN], now.header.method[:_N_SHOWN]
    return found or ([("code or models", *methods)] if methods[0] != methods[1] else [])


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)


def _groups(cases: Sequence[Case]) -> list[str]:
    """What each question shares its luck with: the one paper that it is about, else nothing but
    itself; all of them nothing but themselves where there is one paper."""
    papers = [{one.paper_id for one in case.question.expected} for case in cases]
    groups = [
        min(one) if len(one) == 1 else f"question {case.question.id}"
        for one, case in zip(papers, cases, strict=True)
    ]
    return groups if len(set(groups)) > 1 else [case.question.id for case in cases]
