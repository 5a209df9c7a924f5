"""The past that evaluations are judged by."""

from pathlib import Path

from rag_assets.answering.evaluation.history import append_history, read_history


def test_the_history_grows_by_one_line_an_evaluation(tmp_path: Path) -> None:
    """It is the past the next evaluation is judged by."""
    path = tmp_path / "eval" / "history.jsonl"

    append_history(path, {"accepted": True})
    append_history(path, {"accepted": False})

    assert read_history(path) == [{"accepted": True}, {"accepted": False}]
