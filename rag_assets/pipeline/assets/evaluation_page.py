"""The evaluation as Markdown, for the page of the asset in the Dagster UI."""

from collections.abc import Mapping, Sequence
from typing import Any

from rag_assets.answering.evaluation.metrics import METRICS
from rag_assets.pipeline.assets.reporting import markdown_table

N_RESULTS_SHOWN = 200
N_RUNS_SHOWN = 10
_ORDER = ("wrong", "not judged", "unlabelled", "right")


def results_table(results: Sequence[Mapping[str, Any]]) -> str:
    """One row per question, those that need a look first."""
    question_first = [{"question": row["question"], **row} for row in results]
    ordered = sorted(question_first, key=lambda row: _ORDER.index(row["outcome"]))
    return markdown_table(ordered, n_shown=N_RESULTS_SHOWN)


def history_table(history: Sequence[Mapping[str, Any]]) -> str:
    """The last evaluations, newest first; the Plots tab draws the same figures."""
    rows = [
        {
            "evaluated": f"{entry.get('timestamp', 'time not recorded')}{'' if age else ' (newest)'}",
            "run": str(entry.get("run_id", ""))[:8],
            "verdict": "accepted" if entry["accepted"] else "not accepted",
            **{name: _short(entry["metrics"].get(name)) for name in METRICS},
        }
        for age, entry in enumerate(reversed(history[-N_RUNS_SHOWN:]))
    ]
    return markdown_table(rows, n_shown=N_RUNS_SHOWN)


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
