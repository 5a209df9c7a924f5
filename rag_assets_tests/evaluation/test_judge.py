"""The judge model of an evaluation: what it is shown, what becomes of its reply, and whom it may
judge."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import load_settings
from rag_assets.evaluation.cases import AnswerVerdict, Judge
from rag_assets.evaluation.judge import open_judge
from rag_assets.hosted.connections import Connections
from rag_assets_testing.wire import BadKey, Reply, WireServer, use_wire_environment
from rag_assets_tests.answering.builders import WordEncoder
from rag_assets_tests.evaluation.cases import QUOTE, good_case
from rag_assets_tests.hosted.models import HURRIED

REPLY: dict[str, Any] = {
    "statements": [{"number": 1, "told": "yes"}],
    "sources": [{"number": 1, "told": "no"}],
    "reference": [{"number": 1, "told": "cannot_tell"}],
    "correctness": "partly",
    "questions": ["Which k?", "Which dose?"],
    "evasive": False,
}


@contextmanager
def judging(
    server: WireServer, data: Path, monkeypatch: pytest.MonkeyPatch, writer: str = "extractive"
) -> Iterator[Judge]:
    use_wire_environment(monkeypatch, server)
    settings = load_settings(
        {
            "data_dir": str(data),
            "answering": {"model": writer},
            "evaluation": {"judge": "google:gemini-2.5-flash"},
        }
    )
    with Connections(HURRIED) as connections:
        judge = open_judge(settings, connections, WordEncoder().embed_query)
        assert judge is not None
        yield judge


def test_one_request_gives_every_verdict_and_what_it_cannot_tell_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge's silence that counts as agreement makes every figure too good; the same answer is
    paid for once."""
    with WireServer("google") as server, judging(server, tmp_path, monkeypatch) as judge:
        server.answer_with(Reply(json.dumps(REPLY)))

        first, again = judge(good_case()), judge(good_case())

        assert (
            first
            == again
            == AnswerVerdict((True,), (False,), (None,), 0.5, first.relevance if first else None, 1)
        )
        assert first.relevance == pytest.approx(0.5, abs=0.26), (
            "one of its two questions is the one that was asked"
        )
        (request,) = server.requests
    for shown in ("Question: Which k?", f"1. {QUOTE}", "Reference:\n1. It is 60.", "<<<"):
        assert shown in request.prompt


def test_an_evasive_answer_is_relevant_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The definition of RAGAS: a noncommittal answer scores zero, however near its words are."""
    with WireServer("google") as server, judging(server, tmp_path, monkeypatch) as judge:
        server.answer_with(Reply(json.dumps({**REPLY, "evasive": True})))

        verdict = judge(good_case())

    assert verdict is not None
    assert verdict.relevance == 0.0


def test_a_judge_that_cannot_be_asked_leaves_its_metrics_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The evaluation of a night goes on without it."""
    with WireServer("google") as server, judging(server, tmp_path, monkeypatch) as judge:
        server.answer_with(BadKey())

        assert judge(good_case()) is None


@pytest.mark.parametrize(
    ("writer", "judge", "is_refused"),
    [
        ("google:gemini-2.5-pro", "google:gemini-2.5-flash", True),
        ("ollama:llama3.2", "ollama:llama3.1:70b", True),
        ("ollama:llama3.2", "ollama:qwen3", False),
        ("extractive", "ollama:qwen3", False),
    ],
)
def test_a_model_is_not_judged_by_its_own_family(
    tmp_path: Path, writer: str, judge: str, is_refused: bool
) -> None:
    """It would pass its own errors."""
    settings = load_settings(
        {"data_dir": str(tmp_path), "answering": {"model": writer}, "evaluation": {"judge": judge}}
    )
    with Connections(HURRIED) as connections:
        if is_refused:
            with pytest.raises(InvalidSettings, match="is of the family that answers"):
                open_judge(settings, connections, WordEncoder().embed_query)
        else:
            assert open_judge(settings, connections, WordEncoder().embed_query) is not None
