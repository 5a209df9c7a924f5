"""Two runs of the same questions over the same corpus, compared question by question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from rag_assets.core.errors import InvalidSettings
from rag_assets.evaluation.cases import Case
from rag_assets.evaluation.metrics import METRICS, RIGHT, Metric
from rag_assets.evaluation.runs import Run
from rag_assets.evaluation.statistics import Difference, Estimate, difference, estimate, mcnemar

_N_SHOWN = 8
SHOWN = (RIGHT, *METRICS)
"""What runs are shown and compared by: whether the answer is right, then every metric."""


@dataclass(frozen=True)
class Summary:
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
    change: Difference
    """now - before, over the questions that both runs measured."""
    p: float
    """Exact McNemar where each value is 0 or 1, else by random exchanges of the two runs."""


def summaries(run: Run) -> list[Summary]:
    """Every metric that at least one question says something about."""
    values = run.values()
    found = []
    for metric in SHOWN:
        told = {
            key: value for key, row in values.items() if (value := row[metric.name]) is not None
        }
        if told:
            found.append(
                Summary(
                    metric, estimate([*told.values()], _groups([run.cases[key] for key in told]))
                )
            )
    return found


def unmeasured(found: Sequence[Summary]) -> str:
    """A line with the other metrics."""
    known = {one.metric.name for one in found}
    missing = ", ".join(one.name for one in METRICS if one.name not in known) or "none"
    return f"Not measured here: {missing}. docs/evaluation.md says what each metric needs."


def compared(before: Run, now: Run) -> list[Compared]:
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


def changed_settings(before: Run, now: Run) -> list[tuple[str, str, str]]:
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
