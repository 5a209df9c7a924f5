"""The past of the smoke evaluation, and how the newest one is judged by it: `history.jsonl`, floors
and falls."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rag_assets.core.audit_log import AuditLog
from rag_assets.core.incremental import (
    damaged_lines,
    keep_aside,
    log_lines,
    sealed,
    unsealed,
    write_atomically,
)
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.settings import EvaluationSettings
from rag_assets.evaluation.metrics import METRICS, METRICS_BY_NAME, SHARES, floors

_N_DECIMALS, _N_RECENT = 4, 5
MAX_DROP = 0.1
"""Most a metric may fall against the median of its last five runs."""


def read_history(path: Path) -> list[dict[str, Any]]:
    """All undamaged evaluations, oldest first; an empty list before the first one."""
    return [entry for line in log_lines(path) if (entry := unsealed(line)) is not None]


def append_history(path: Path, entry: Mapping[str, Any]) -> None:
    """Add one evaluation with its checksum; a reader, or a kill, sees all of it or nothing."""
    earlier = path.read_bytes() if path.exists() else b""
    write_atomically(path, earlier + json.dumps(sealed(entry), sort_keys=True).encode() + b"\n")


def set_damaged_aside(path: Path) -> None:
    """Move damaged lines to a file beside the history."""
    if damaged := damaged_lines(path):
        keep_aside(
            path, damaged, kept=[line for line in log_lines(path) if unsealed(line) is not None]
        )


def before(history: Sequence[Mapping[str, Any]], inputs: str) -> list[Mapping[str, Any]]:
    """The entries before the newest evaluation, which was made from `inputs` and may already be in
    the history."""
    earlier = list(history)
    while earlier and earlier[-1]["inputs"] == inputs:
        earlier.pop()
    return earlier


def is_recorded(entry: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the newest entry was made from the same inputs, with the same verdict."""
    return bool(history) and all(
        history[-1].get(key) == entry[key] for key in ("inputs", "accepted")
    )


EVALUATION_AUDIT = AuditLog(
    ("timestamp", "metric", "floor", "value", "verdict", "question_file", "run_id", "inputs"),
    subject=("question_file", "metric"),
    statement=("floor", "verdict", "inputs"),
)
"""data/logs/eval_audit.csv."""


@dataclass(frozen=True)
class EvaluatedRun:
    """An evaluation, and what it is compared with."""

    latest: Mapping[str, Any]
    history: Sequence[Mapping[str, Any]]
    """Earlier evaluations, oldest first."""
    settings: EvaluationSettings

    @property
    def too_low(self) -> list[dict[str, Any]]:
        """Metrics that miss their floor; a metric that no question contributes to is not judged."""
        wanted, means = floors(self.settings.floors), self.latest["metrics"]
        return [
            {"metric": metric.name, "value": means[metric.name], "floor": wanted[metric.name]}
            for metric in METRICS
            if metric.misses(means.get(metric.name), wanted[metric.name])
        ]

    @property
    def fallen(self) -> list[dict[str, Any]]:
        """Metrics more than `MAX_DROP` below the median of their last five accepted values on the
        same questions; time, tokens and money have no scale for it."""
        past = [
            one
            for one in self.history
            if one["accepted"] and one["questions"] == self.latest["questions"]
        ]
        offenders = []
        for name, value in self.latest["metrics"].items():
            recent = [found for one in past if (found := one["metrics"].get(name)) is not None][
                -_N_RECENT:
            ]
            is_judged = name in SHARES and value is not None and recent
            if is_judged and value < median(recent) - MAX_DROP:
                offenders.append(
                    {"metric": name, "value": value, "median_of_last_runs": median(recent)}
                )
        return offenders

    def audit_rows(self, timestamp: str, run_id: str) -> list[dict[str, Any]]:
        """A row of the audit for each metric that was measured."""
        too_low = {row["metric"] for row in self.too_low}
        fallen = {row["metric"] for row in self.fallen}
        wanted, values = floors(self.settings.floors), self.latest["metrics"]
        return [
            {
                "timestamp": timestamp,
                "metric": name,
                "floor": wanted[name],
                "value": value,
                "verdict": "below its floor"
                if name in too_low
                else "fallen"
                if name in fallen
                else "accepted",
                "question_file": self.latest["question_file"],
                "run_id": run_id,
                "inputs": self.latest["inputs"],
            }
            for name, value in values.items()
            if value is not None
        ]


def _below_floors(run: EvaluatedRun, offenders: Offenders) -> str:
    told = [
        f"{row['metric']} is {_short(row['value'])}, below its floor {_short(row['floor'])} "
        f"({METRICS_BY_NAME[row['metric']].meaning.rstrip('.')})"
        for row in offenders
    ]
    wanted = ", ".join(
        f"{row['metric']} = {_reached(row['value'], row['floor'])}" for row in offenders
    )
    n = run.latest.get("n_judged", 0)
    few = (
        f" They are means over at most {n} questions: one answer more or less moves them by {1 / n:.2f}."
        if n
        else ""
    )
    return (
        f"{'; '.join(told)}.{few} The answers are published all the same. Look at the failing questions first, in the "
        "UI at smoke_eval or in output/eval/latest.json; if that is as good as your questions and papers get, set "
        "floors of your own, as the first line of rag_assets.toml (below [evaluation], if it has that section, and "
        f"without `evaluation.`): evaluation.floors = {{{wanted}}}"
    )


def _fallen(_run: EvaluatedRun, offenders: Offenders) -> str:
    return "; ".join(
        f"{row['metric']} is {_short(row['value'])}, below the median of the last runs, "
        f"{_short(row['median_of_last_runs'])}"
        for row in offenders
    )


def _reached(value: float, floor: float) -> float:
    """A floor of two decimals that a value keeps which misses `floor`."""
    return (math.floor if value < floor else math.ceil)(value * 100) / 100


def _short(value: float) -> float:
    return round(value, _N_DECIMALS)


def _open_questions(run: EvaluatedRun, offenders: Offenders) -> str:
    n_judged = run.latest["n_judged"]
    named = ", ".join(f"{row['question_id']} ({row['why']})" for row in offenders)
    return f"{n_judged - len(offenders)} of {n_judged} judged questions are answered as expected. Open: {named}"


def _not_judged(run: EvaluatedRun, offenders: Offenders) -> str:
    why = "; ".join(sorted({row["why"] for row in offenders}))
    return (
        f"{len(offenders)} of {len(run.latest['results'])} questions are not judged ({why}). Put questions about your "
        f"own papers into {run.latest['question_file']}."
    )


def _with(outcome: str, run: EvaluatedRun) -> list[dict[str, Any]]:
    columns = ("question_id", "question", "why", "expected", "got")
    return [
        {name: row[name] for name in columns}
        for row in run.latest["results"]
        if row["outcome"] == outcome
    ]


EVALUATION_PROMISES: list[Promise[EvaluatedRun]] = [
    Promise(
        "above_floors",
        "Every metric reaches its floor (evaluation.floors). The failing questions are listed in the evaluation.",
        lambda run: run.too_low,
        "warning",
        _below_floors,
    ),
    Promise(
        "not_fallen",
        "No metric falls more than 0.1 below the median of its last five accepted runs on the same "
        "questions. If the new level is right, delete data/output/eval/history.jsonl.",
        lambda run: run.fallen,
        "warning",
        _fallen,
    ),
    Promise(
        "questions_right",
        "Every judged question is answered as expected.",
        lambda run: _with("wrong", run),
        "warning",
        _open_questions,
    ),
    Promise(
        "questions_judged",
        "The labelled questions are about papers of the corpus and have an answer; the others are left out of the "
        "figures.",
        lambda run: _with("not judged", run),
        "warning",
        _not_judged,
    ),
]
