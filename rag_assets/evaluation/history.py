"""The history of the smoke evaluation (`history.jsonl`), and the checks of the newest evaluation:
no metric may be below its floor, or fall too much."""

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
"""Largest accepted fall of a metric below the median of its last five runs."""


def read_history(path: Path) -> list[dict[str, Any]]:
    """All undamaged entries of the history, oldest first; empty if there is no history yet."""
    return [entry for line in log_lines(path) if (entry := unsealed(line)) is not None]


def append_history(path: Path, entry: Mapping[str, Any]) -> None:
    """Add one evaluation with its checksum, in whole or not at all."""
    earlier = path.read_bytes() if path.exists() else b""
    write_atomically(path, earlier + json.dumps(sealed(entry), sort_keys=True).encode() + b"\n")


def set_damaged_aside(path: Path) -> None:
    """Move damaged lines to a file beside the history."""
    if damaged := damaged_lines(path):
        keep_aside(
            path, damaged, kept=[line for line in log_lines(path) if unsealed(line) is not None]
        )


def before(history: Sequence[Mapping[str, Any]], inputs: str) -> list[Mapping[str, Any]]:
    """The entries before the newest evaluation, which was made from `inputs` and may be in the
    history already."""
    earlier = list(history)
    while earlier and earlier[-1]["inputs"] == inputs:
        earlier.pop()
    return earlier


def is_recorded(entry: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the newest entry of the history has the same inputs and the same verdict."""
    return bool(history) and all(
        history[-1].get(key) == entry[key] for key in ("inputs", "accepted")
    )


EVALUATION_AUDIT = AuditLog(
    ("timestamp", "metric", "floor", "value", "verdict", "question_file", "run_id", "inputs"),
    subject=("question_file", "metric"),
    statement=("floor", "verdict", "inputs"),
)
"""The columns of data/logs/eval_audit.csv."""


@dataclass(frozen=True)
class EvaluatedRun:
    """The newest evaluation, and the earlier ones with which it is compared."""

    latest: Mapping[str, Any]
    history: Sequence[Mapping[str, Any]]
    """Earlier evaluations, oldest first."""
    settings: EvaluationSettings

    @property
    def too_low(self) -> list[dict[str, Any]]:
        """The metrics that miss their floor; a metric without a value is not judged."""
        wanted, means = floors(self.settings.floors), self.latest["metrics"]
        return [
            {"metric": metric.name, "value": means[metric.name], "floor": wanted[metric.name]}
            for metric in METRICS
            if metric.misses(means.get(metric.name), wanted[metric.name])
        ]

    @property
    def fallen(self) -> list[dict[str, Any]]:
        """The metrics that are more than `MAX_DROP` below the median of their last five accepted
        values on the same questions. Time, tokens and money are not judged, because they are not
        between 0 and 1."""
        comparable = [
            entry
            for entry in self.history
            if entry["accepted"] and entry["questions"] == self.latest["questions"]
        ]
        offenders = []
        for name, value in self.latest["metrics"].items():
            past = [entry["metrics"].get(name) for entry in comparable]
            recent = [known for known in past if known is not None][-_N_RECENT:]
            is_judged = name in SHARES and value is not None and recent
            if is_judged and value < median(recent) - MAX_DROP:
                offenders.append(
                    {"metric": name, "value": value, "median_of_last_runs": median(recent)}
                )
        return offenders

    def audit_rows(self, timestamp: str, run_id: str) -> list[dict[str, Any]]:
        """One row of the audit for each metric that has a value."""
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
    misses = [
        f"{row['metric']} is {_short(row['value'])}, below its floor {_short(row['floor'])} "
        f"({METRICS_BY_NAME[row['metric']].meaning.rstrip('.')})"
        for row in offenders
    ]
    reachable = ", ".join(
        f"{row['metric']} = {_reachable(row['value'], row['floor'])}" for row in offenders
    )
    n = run.latest.get("n_judged", 0)
    few = (
        f" They are means over at most {n} questions: one answer more or less moves them by {1 / n:.2f}."
        if n
        else ""
    )
    return (
        f"{'; '.join(misses)}.{few} The answers are published all the same. Look at the failing questions first, in the "
        "UI at smoke_eval or in output/eval/latest.json; if that is as good as your questions and papers get, set "
        "floors of your own, as the first line of rag_assets.toml (below [evaluation], if it has that section, and "
        f"without `evaluation.`): evaluation.floors = {{{reachable}}}"
    )


def _fallen(_run: EvaluatedRun, offenders: Offenders) -> str:
    return "; ".join(
        f"{row['metric']} is {_short(row['value'])}, below the median of the last runs, "
        f"{_short(row['median_of_last_runs'])}"
        for row in offenders
    )


def _reachable(value: float, floor: float) -> float:
    """The nearest floor with two decimals that the value reaches, for a value that misses `floor`:
    rounded down if lower values are worse, else up."""
    rounded = math.floor(value * 100) if value < floor else math.ceil(value * 100)
    return rounded / 100


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


def _rows_with(outcome: str, run: EvaluatedRun) -> list[dict[str, Any]]:
    """The questions of a run with this outcome."""
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
        lambda run: _rows_with("wrong", run),
        "warning",
        _open_questions,
    ),
    Promise(
        "questions_judged",
        "The labelled questions are about papers of the corpus and have an answer; the others are left out of the "
        "figures.",
        lambda run: _rows_with("not judged", run),
        "warning",
        _not_judged,
    ),
]
