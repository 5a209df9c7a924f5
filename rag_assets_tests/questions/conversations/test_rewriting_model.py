"""Follow-up questions rewritten by a model behind a local server."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.settings import Settings
from rag_assets.hosted.connections import Connections
from rag_assets.questions.conversations import (
    RewritingModel,
    Rewritten,
    Turn,
    open_rewriting_model,
    standalone,
)
from rag_assets_testing.wire import BadKey, ProtocolName, Reply, WireServer, use_wire_environment
from rag_assets_tests.hosted.models import HURRIED, MODELS

ANSWER = {
    "answer": "ColBERT keeps 128 numbers per token.",
    "sources_used": ["late_interaction", "encoders"],
}
LAST = Turn("What is ColBERT?", Rewritten.as_it_stands("What is ColBERT?"), ANSWER)
FOLLOW_UP = "And how much memory does that take?"


def reply(question: str, *paper_ids: str) -> Reply:
    return Reply(json.dumps({"question": question, "paper_ids": paper_ids}))


@contextmanager
def rewriting(
    server: WireServer, monkeypatch: pytest.MonkeyPatch, data: Path
) -> Iterator[RewritingModel]:
    use_wire_environment(monkeypatch, server)
    values: dict[str, Any] = {"model": f"{server.protocol_name}:{MODELS[server.protocol_name]}"}
    settings = Settings.model_validate(
        {"data_dir": str(data), "answering": values, "model_access": HURRIED}
    )
    with Connections(settings.model_access) as connections:
        model = open_rewriting_model(settings, connections)
        assert model is not None
        yield model


@pytest.mark.parametrize("provider", list(MODELS))
def test_a_model_completes_a_follow_up_from_what_was_said(
    provider: ProtocolName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through every provider's real SDK; the model reads questions and answers as data."""
    with WireServer(provider) as server, rewriting(server, monkeypatch, tmp_path) as model:
        server.answer_with(
            reply(
                "How much memory do the 128 numbers per token of ColBERT take?", "late_interaction"
            )
        )

        read = standalone(FOLLOW_UP, [LAST], model)

    assert read.question == "How much memory do the 128 numbers per token of ColBERT take?"
    assert read.is_rewritten
    assert read.reason
    assert read.paper_ids == ("late_interaction",)
    (request,) = server.requests
    assert FOLLOW_UP in request.prompt
    assert "What is ColBERT?" in request.prompt


@pytest.mark.parametrize(
    "bad",
    [
        reply("How much memory does PLAID take?"),
        reply("How much memory do 4096 numbers take?"),
        reply("How much memory does ColBERT take?", "a_paper_that_was_not_cited"),
        reply(""),
        reply("ColBERT " * 500),
        Reply("I cannot do that."),
    ],
)
def test_a_rewriting_that_adds_to_what_was_said_is_not_used(
    bad: Reply, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer to a question with a foreign name or number in it would be right, and about
    something else."""
    with WireServer("openai") as server, rewriting(server, monkeypatch, tmp_path) as model:
        server.answer_with(bad, bad)

        assert standalone(FOLLOW_UP, [LAST], model) == standalone(FOLLOW_UP, [LAST])


def test_rules_decide_while_the_model_cannot_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A follow-up must not fail because of a model, and must not wait for it again and again."""
    with WireServer("openai") as server, rewriting(server, monkeypatch, tmp_path) as model:
        server.answer_with(BadKey())

        first = standalone("How does it score passages?", [LAST], model)
        second = standalone("How does it score passages?", [LAST], model)

    assert first.question == second.question == "How does it score passages? (What is ColBERT)"
    assert len(server.requests) == 1
