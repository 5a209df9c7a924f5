"""Whole runs with thorough answers."""

import csv
import json

import pytest

from rag_assets.answering.drafts import REFUSAL
from rag_assets_testing.wire import Reply, Wire
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import quoting_model
from rag_assets_testing.world import Outcome, World
from rag_assets_tests.end_to_end.test_model_answers import HURRIED, MODELS

COMPOUND = "How much did ferritin fall in runners within a month, and what does basalt take up along the cracks?"
PARTS = (
    "How much did ferritin fall in runners within a month?",
    "What does basalt take up along the cracks?",
)


def planning_model(request: WireRequest) -> Reply:
    """Takes the question apart, and else quotes."""
    if "what an answer must hold" in request.prompt or json.dumps(COMPOUND) == request.prompt:
        return Reply(
            json.dumps({"parts": [{"question": part, "enough": "a fact"} for part in PARTS]})
        )
    if '"enough"' in request.prompt:
        return Reply(json.dumps({"queries": ["basalt cracks", "burial"]}))
    if request.prompt.startswith('"'):
        return Reply(
            json.dumps({"parts": [{"question": json.loads(request.prompt), "enough": ""}]})
        )
    return quoting_model(request)


def run(world: World, model: str | None) -> Outcome:
    answering = {"effort": "thorough"} | ({"model": model} if model else {})
    return world.run("qa", answering=answering, model_access=HURRIED)


@pytest.mark.parametrize("model", [None, MODELS["openai"]], ids=["keyless", "model"])
def test_both_parts_of_a_question_are_answered_and_an_unchanged_run_asks_nothing(
    world: World, model: str | None, wire: Wire
) -> None:
    """Effort that is paid for again each night, or that publishes what was not verified, is worse
    than none."""
    world.write_questions(
        [{"id": "q", "question": COMPOUND}, {"id": "r", "question": "Who composed the opera?"}]
    )
    server = wire()
    server.answer_by(planning_model)

    outcome = run(world, model)
    n_asked, before = len(server.requests), world.bytes_of(world.paths.qa, world.paths.qa_audit)
    again = run(world, model)

    assert len(server.requests) == n_asked
    assert (n_asked > 0) == (model is not None)
    assert outcome.is_success, outcome.failures or outcome.broken
    quotes = [claim["citations"][0]["quote"] for claim in world.answers()["q"]["claims"]]
    assert any("12%" in quote for quote in quotes)
    assert any("cracks" in quote for quote in quotes)
    assert world.answers()["r"]["answer"] == REFUSAL
    assert world.bytes_of(world.paths.qa, world.paths.qa_audit) == before
    assert again.counts["qa"] == (0, 0, 0, 2)
    with world.paths.qa_audit.open(encoding="utf-8-sig", newline="") as file:
        steps = {row["question_id"]: row["steps"] for row in csv.DictReader(file)}
    assert steps["q"].split("; ")[:3] == ["plan", "answer", "answer"]
    assert "other words" in steps["r"], "what nothing answered was searched for again"
