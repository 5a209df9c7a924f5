"""The judge model of an evaluation: what it is shown, what becomes of its reply, and whom it may
judge."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import load_settings
from rag_assets.evaluation.cases import AnswerVerdict, Judge
from rag_assets.evaluation.judge import open_judge
from rag_assets.hosted.connections import Connections
from rag_assets_testing.wire import BadKey, Reply, Wire, WireServer
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


@pytest.fixture
def server(wire: Wire) -> WireServer:
    return wire("google")


@pytest.fixture
def judge(server: WireServer, tmp_path: Path) -> Iterator[Judge]:
    settings = load_settings(
        {"data_dir": str(tmp_path), "evaluation": {"judge": "google:gemini-2.5-flash"}}
    )
    with Connections(HURRIED) as connections:
        opened = open_judge(settings, connections, WordEncoder().embed_query)
        assert opened is not None
        yield opened


def test_one_request_gives_every_verdict_and_what_it_cannot_tell_is_counted(
    server: WireServer, judge: Judge
) -> None:
    """A judge's silence that counts as agreement makes every figure too good; the same answer is
    paid for once."""
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


def test_an_evasive_answer_is_relevant_to_nothing(server: WireServer, judge: Judge) -> None:
    """The definition of RAGAS: a noncommittal answer scores zero, however near its words are."""
    server.answer_with(Reply(json.dumps({**REPLY, "evasive": True})))

    verdict = judge(good_case())

    assert verdict is not None
    assert verdict.relevance == 0.0


def test_a_judge_that_cannot_be_asked_leaves_its_metrics_empty(
    server: WireServer, judge: Judge
) -> None:
    """The evaluation of a night goes on without it."""
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
