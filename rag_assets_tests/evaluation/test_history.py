"""Floors and falls, and the past that evaluations are judged by."""

import tomllib
from pathlib import Path
from typing import Any

import pandas as pd

from rag_assets.answering.records import read_results
from rag_assets.core.incremental import read_sealed
from rag_assets.core.promises import check_all
from rag_assets.core.settings import EvaluationSettings, load_settings
from rag_assets.engine import Engine
from rag_assets.evaluation.history import (
    EVALUATION_AUDIT,
    EVALUATION_PROMISES,
    EvaluatedRun,
)
from rag_assets.evaluation.smoke import evaluated, worse
from rag_assets.questions import Question
from rag_assets_testing.world import QUESTIONS, TOKENIZER, World


def entry(paper_mrr: float, *, accepted: bool = True, questions: str = "demo") -> dict[str, Any]:
    return {"accepted": accepted, "questions": questions, "metrics": {"paper_mrr": paper_mrr}}


SETTINGS = EvaluationSettings()


def test_a_metric_below_its_floor_is_named_with_both_numbers() -> None:
    """The reader wants to know by how much."""
    metrics = {
        "paper_recall_at_k": 0.8,
        "paper_mrr": None,
        "page_recall_at_k": 0.1,
        "citation_coverage": 1.0,
    }

    assert EvaluatedRun({"metrics": metrics}, [], SETTINGS).too_low == [
        {"metric": "paper_recall_at_k", "value": 0.8, "floor": 0.9}
    ]


def test_the_audit_has_a_row_per_metric_and_none_twice(tmp_path: Path) -> None:
    """The trend of a metric is read in a spreadsheet, where the history is one line of JSON."""
    latest = {"question_file": "q.jsonl", "inputs": "a"}
    metrics = {"paper_recall_at_k": 0.8, "paper_mrr": None, "page_accuracy": 0.85}
    low = EvaluatedRun(latest | {"metrics": metrics}, [], SETTINGS)
    high = EvaluatedRun(
        latest | {"inputs": "b", "metrics": {"paper_recall_at_k": 1.0}}, [], SETTINGS
    )

    for run, run_id in ((low, "r1"), (low, "killed"), (high, "r2")):
        EVALUATION_AUDIT.append(tmp_path / "eval_audit.csv", run.audit_rows("now", run_id))

    columns = ["metric", "floor", "value", "verdict", "run_id"]
    assert pd.read_csv(tmp_path / "eval_audit.csv")[columns].to_numpy().tolist() == [
        ["paper_recall_at_k", 0.9, 0.8, "below its floor", "r1"],
        ["page_accuracy", 0.8, 0.85, "accepted", "r1"],
        ["paper_recall_at_k", 0.9, 1.0, "accepted", "r2"],
    ]


def test_a_first_question_set_that_misses_floors_says_why_and_which_to_set() -> None:
    """The floors are those of the demo: a first set of four questions must end with what they mean,
    not with a failed run."""
    metrics = {"paper_mrr": 2 / 3, "page_accuracy": 0.25}
    run = EvaluatedRun({"metrics": metrics, "n_judged": 4}, [], SETTINGS)

    (checked,) = check_all(EVALUATION_PROMISES[:1], run)

    assert not checked.withholds
    assert (
        "page_accuracy is 0.25, below its floor 0.8 (Share of citations of expected papers"
        in checked.finding
    )
    assert (
        "means over at most 4 questions: one answer more or less moves them by 0.25"
        in checked.finding
    )
    assert "below [evaluation], if it has that section" in checked.finding, (
        "TOML declares no section twice"
    )
    told = tomllib.loads(checked.finding.rpartition("): ")[2])
    assert told == {"evaluation": {"floors": {"paper_mrr": 0.66, "page_accuracy": 0.25}}}
    assert EvaluatedRun(run.latest, [], EvaluationSettings(**told["evaluation"])).too_low == [], (
        "they are reached"
    )


def test_what_got_worse_is_told_by_question_with_both_answers() -> None:
    """A mean that fell by 0.02 does not say which answer to read."""

    def row(text: str, outcome: str, got: str, **values: float | None) -> dict[str, Any]:
        return {"question": text, "outcome": outcome, "got": got, "values": values}

    before = [
        row("Which k?", "right", "60", paper_mrr=1.0),
        row("Why?", "right", "So.", tokens=5.0),
    ]
    now = [row("Which k?", "right", "600", paper_mrr=0.5), row("Why?", "right", "So.", tokens=1.0)]

    assert worse(now, before) == [
        {"question": "Which k?", "before": "60", "now": "600", "worse": "paper_mrr"}
    ]


def test_an_evaluation_stands_until_another_judge_is_set(built: World) -> None:
    """The figures of the judge before would be shown as those of the new one."""
    settings = load_settings({"data_dir": str(built.paths.data), **TOKENIZER})
    asked = [Question.model_validate(one) for one in QUESTIONS]
    published = read_sealed(built.paths.latest_evaluation)
    other = settings.model_copy(
        update={"evaluation": EvaluationSettings(judge="anthropic:claude-haiku-4-5")}
    )

    with Engine(settings) as engine:
        again, anew = (
            evaluated(one, asked, read_results(one.paths.qa), engine, judge=None)
            for one in (settings, other)
        )

    assert again == published
    assert anew["inputs"] != again["inputs"]


def test_a_fall_is_judged_against_the_median_of_accepted_runs() -> None:
    """One lucky or one broken run must not move the bar."""
    history = [entry(value) for value in (0.2, 0.9, 0.9, 1.0, 0.9, 0.9)]
    history += [entry(0.1, accepted=False)] * 5

    assert EvaluatedRun(entry(0.85), history, SETTINGS).fallen == []
    assert EvaluatedRun(entry(0.7), history, SETTINGS).fallen == [
        {"metric": "paper_mrr", "value": 0.7, "median_of_last_runs": 0.9}
    ]
    assert EvaluatedRun(entry(0.1), [], SETTINGS).fallen == []
