"""Two runs of the same questions over the same corpus, compared question by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rag_assets.core.errors import InvalidSettings
from rag_assets.evaluation.cases import Case
from rag_assets.evaluation.metrics import METRICS, Metric
from rag_assets.evaluation.runs import Run
from rag_assets.evaluation.statistics import Difference, difference, estimate, mcnemar

RIGHT = Metric("right", "Share of the labelled questions whose answer is as expected.", lambda _: None)
SHOWN = (RIGHT, *METRICS)
"""What runs are shown and compared by: whether the answer is right, then every metric."""


@dataclass(frozen=True)
class Summary:
    """The mean of one metric in a run, with its 95 % bootstrap interval."""

    metric: Metric
    mean: float
    low: float
    high: float
    n: int
    """Questions that say something about it."""


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
        told = {key: value for key, row in values.items() if (value := row[metric.name]) is not None}
        if told:
            one = estimate([*told.values()], _groups([run.cases[key] for key in told]))
            found.append(Summary(metric, one.mean, one.low, one.high, one.n))
    return found


def compared(before: Run, now: Run) -> list[Compared]:
    """Every metric that both measured. Raises InvalidSettings unless corpus and questions are the same and both runs
    are complete."""
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
        keys = [key for key in old if _both(old[key][metric.name], new.get(key, {}).get(metric.name))]
        if not keys:
            continue
        a, b = ([float(rows[key][metric.name] or 0) for key in keys] for rows in (old, new))
        change = difference(b, a, _groups([now.cases[key] for key in keys]))
        p = mcnemar(change.n_better, change.n_worse) if {*a, *b} <= {0.0, 1.0} else change.p
        found.append(Compared(metric, fmean(a), fmean(b), change, p))
    return found


def changed_questions(before: Run, now: Run) -> list[tuple[str, Mapping[str, float]]]:
    """Ids of the questions with a metric that changed, worst first, with the gain of each; time and money left out."""
    old, new = before.values(), now.values()
    found = []
    for key in old:
        gains = {
            metric.name: b - a
            for metric in SHOWN
            if metric.direction == "higher"
            and (a := old[key][metric.name]) is not None
            and (b := new[key][metric.name]) is not None
            and a != b
        }
        if gains or before.cases[key].result.answer != now.cases[key].result.answer:
            found.append((key, gains))
    return sorted(found, key=lambda one: sum(one[1].values()))


def _both(*values: float | None) -> bool:
    return None not in values


def _groups(cases: Sequence[Case]) -> list[str]:
    """What each question shares its luck with: the one paper that it is about, else nothing but itself; all of them
    nothing but themselves where there is one paper."""
    papers = [{one.paper_id for one in case.question.expected} for case in cases]
    groups = [
        min(one) if len(one) == 1 else f"question {case.question.id}" for one, case in zip(papers, cases, strict=True)
    ]
    return groups if len(set(groups)) > 1 else [case.question.id for case in cases]
