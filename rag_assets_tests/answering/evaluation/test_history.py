"""Floors and falls, and the past that evaluations are judged by."""

from pathlib import Path
from typing import Any

from rag_assets.answering.evaluation.smoke import EVALUATION_PROMISES, EvaluatedRun, append_history, read_history
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Floors


def entry(paper_mrr: float, *, accepted: bool = True, questions: str = "demo") -> dict[str, Any]:
    return {"accepted": accepted, "questions": questions, "metrics": {"paper_mrr": paper_mrr}}


def test_a_metric_below_its_floor_is_named_with_both_numbers() -> None:
    """The reader wants to know by how much."""
    floors = Floors(recall_at_k=0.9)
    metrics = {"paper_recall_at_k": 0.8, "paper_mrr": None, "page_recall_at_k": 0.1, "citation_coverage": 1.0}

    assert EvaluatedRun({"metrics": metrics}, [], floors).too_low == [
        {"metric": "paper_recall_at_k", "value": 0.8, "floor": 0.9}
    ]


def test_a_first_question_set_that_fails_names_the_floors_to_set() -> None:
    """The floors are those of the demo; whoever writes other questions must learn that they can be set, and where."""
    run = EvaluatedRun({"metrics": {"paper_mrr": 0.5, "page_accuracy": 0.2}}, [], Floors())

    (checked,) = check_all(EVALUATION_PROMISES[:1], run)

    assert "paper_mrr" in checked.finding
    assert "lower evaluation.floors.mrr, evaluation.floors.page_accuracy in rag_assets.toml" in checked.finding


def test_a_fall_is_judged_against_the_median_of_accepted_runs() -> None:
    """One lucky or one broken run must not move the bar."""
    history = [entry(value) for value in (0.2, 0.9, 0.9, 1.0, 0.9, 0.9)]
    history += [entry(0.1, accepted=False)] * 5

    assert EvaluatedRun(entry(0.85), history, Floors(max_drop=0.1)).fallen == []
    assert EvaluatedRun(entry(0.7), history, Floors(max_drop=0.1)).fallen == [
        {"metric": "paper_mrr", "value": 0.7, "median_of_last_runs": 0.9}
    ]
    assert EvaluatedRun(entry(0.1), [], Floors(max_drop=0.1)).fallen == []


def test_other_questions_have_another_past() -> None:
    """Who swaps the demo for papers of their own would be red for ever."""
    history = [entry(0.9)] * 5

    assert EvaluatedRun(entry(0.1, questions="mine"), history, Floors(max_drop=0.1)).fallen == []


def test_the_history_grows_by_one_line_an_evaluation(tmp_path: Path) -> None:
    """It is the past the next evaluation is judged by."""
    path = tmp_path / "eval" / "history.jsonl"

    append_history(path, {"accepted": True})
    append_history(path, {"accepted": False})

    assert read_history(path) == [{"accepted": True}, {"accepted": False}]
