"""Whole runs with thorough answers."""

import csv
import json
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from rag_assets.answering.drafts import REFUSAL
from rag_assets_testing.wire import Reply, Slow, WireServer, use_wire_environment
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import quoting_model
from rag_assets_testing.world import Outcome, World
from rag_assets_tests.end_to_end.test_model_answers import HURRIED, MODELS
from rag_assets_tests.end_to_end.test_model_runs_as_processes import (
    DEADLINE_S,
    command,
    environment,
)
from rag_assets_tests.kept_entries import contents

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
    world: World, monkeypatch: pytest.MonkeyPatch, model: str | None
) -> None:
    """Effort that is paid for again each night, or that publishes what was not verified, is worse
    than none."""
    world.write_questions(
        [{"id": "q", "question": COMPOUND}, {"id": "r", "question": "Who composed the opera?"}]
    )
    with WireServer("openai") as server:
        use_wire_environment(monkeypatch, server)
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


def n_kept(world: World) -> int:
    return sum(
        len(contents(world.paths.kept, kind))
        for kind in ("answers", "plans/plans", "plans/other_words")
    )


@pytest.mark.whole
def test_a_run_killed_inside_a_thorough_question_asks_no_finished_step_again(
    world: World, tmp_path: Path
) -> None:
    """Plan, parts and other words are paid for one by one; a kill between them must lose only what
    is under way."""
    world.write_questions([{"id": "q", "question": COMPOUND}])
    arguments = ["run", "--select", "qa", "--set", "answering.effort=thorough"]
    n_before = n_kept(world)
    with WireServer("openai") as server:
        server.answer_by(lambda request: Slow(0.5, planning_model(request)))
        variables = environment(server, tmp_path / "home") | {"OPENAI_API_KEY": server.key}
        killed = subprocess.Popen(
            command(world, *arguments),
            env=variables,
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + DEADLINE_S
        while (
            len(server.requests) < 3 and time.monotonic() < deadline
        ):  # the plan and a part are done
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        n_finished = n_kept(world) - n_before

        done = subprocess.run(
            command(world, *arguments),
            env=variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

        assert done.returncode == 0, done.stderr
        asked = Counter(request.prompt for request in server.requests)
    assert 2 <= n_finished < len(asked), (
        "a run that was over, or had not begun, would prove nothing"
    )
    assert sum(count - 1 for count in asked.values()) <= 1, "only what was under way"
    assert world.answers()["q"]["unanswered"] == []
