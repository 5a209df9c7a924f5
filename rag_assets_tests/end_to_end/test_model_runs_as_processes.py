"""Runs with a model, as the processes a user starts: killed half-way, and searched for the key
afterwards."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import dagster as dg
import pytest
from typer.testing import CliRunner

from rag_assets.faces.cli import app
from rag_assets_testing.wire import BadKey, ProtocolName, Reply, Slow, Status, Step, WireServer
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import Prompt, quoting_model
from rag_assets_testing.world import World
from rag_assets_tests.end_to_end.test_model_answers import MODELS, TEN_QUESTIONS
from rag_assets_tests.kept_entries import contents
from rag_assets_tests.rounds import first_of

DEADLINE_S = 600.0
"""Ends what hangs; far beyond what a run takes on a busy machine."""


def command(world: World, *arguments: str) -> list[str]:
    start = "from rag_assets.faces.cli import app; app(prog_name='rag-assets')"
    return [sys.executable, "-c", start, *arguments, "--data", str(world.paths.data)]


def environment(server: WireServer, home: Path) -> dict[str, str]:
    """As a user would set it; `.env` is read from the working folder."""
    providers = tuple(f"{name.upper()}_" for name in (*MODELS, "GEMINI"))
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("RAG_ASSETS_", *providers))
    }
    return kept | {
        "DAGSTER_HOME": str(home),
        server.protocol.base_url_variable: server.base_url,
        "RAG_ASSETS_ANSWER_MODEL": MODELS[server.protocol_name],
        "RAG_ASSETS_CHUNKING__TOKENIZER": "wordpiece",
        f"RAG_ASSETS_MODEL_ACCESS__{server.protocol_name.upper()}__REQUESTS_PER_MINUTE": "6000",
        "RAG_ASSETS_MODEL_ACCESS__MAX_ATTEMPTS": "2",
        "RAG_ASSETS_MODEL_ACCESS__MAX_WAIT_S": "0.1",
    }


def test_a_killed_run_asks_no_finished_question_again(world: World, tmp_path: Path) -> None:
    """Every question asked twice is paid for twice; every question lost is an answer missing in the
    morning."""
    world.write_questions(TEN_QUESTIONS)
    with WireServer("openai") as server:
        server.answer_by(lambda request: Slow(0.2, quoting_model(request)))
        process = subprocess.Popen(
            command(world, "run", "--select", "qa"),
            env=environment(server, tmp_path / "home") | {"OPENAI_API_KEY": server.key},
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + DEADLINE_S
        n_before = len(contents(world.paths.kept, "answers"))
        while (
            len(contents(world.paths.kept, "answers")) < n_before + 4
            and time.monotonic() < deadline
        ):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        n_finished = len(contents(world.paths.kept, "answers")) - n_before
        n_sent = len(server.requests)

        done = subprocess.run(
            command(world, "run", "--select", "qa"),
            env=environment(server, tmp_path / "home") | {"OPENAI_API_KEY": server.key},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

        assert done.returncode == 0, done.stderr
        n_all = len({request.prompt for request in server.requests})
        asked_again = Counter(request.prompt for request in server.requests)
    assert 4 <= n_finished < n_all, "a run that was over, or had not begun, would prove nothing"
    assert len(world.answers()) == 10
    assert {Prompt.of(request).question for request in server.requests} == {
        q["question"] for q in TEN_QUESTIONS
    }
    assert sum(count - 1 for count in asked_again.values()) == n_sent - n_finished, (
        "only what was under way"
    )


@pytest.mark.parametrize(
    ("ending", "wanted"), first_of([(signal.SIGINT, 130), (signal.SIGTERM, 143)])
)
def test_a_run_that_is_told_to_end_does_not_wait_for_the_model(
    ending: signal.Signals, wanted: int, world: World, tmp_path: Path
) -> None:
    """Whoever waits a minute for Ctrl-C kills the process, and a container is killed after ten
    seconds."""
    world.write_questions(TEN_QUESTIONS)
    with WireServer("openai") as server:
        server.answer_by(lambda request: Slow(2 * DEADLINE_S, quoting_model(request)))
        process = subprocess.Popen(
            command(world, "run", "--select", "qa"),
            env=environment(server, tmp_path / "home")
            | {
                "OPENAI_API_KEY": server.key,
                "RAG_ASSETS_MODEL_ACCESS__TIMEOUT_S": str(2 * DEADLINE_S),
            },
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + DEADLINE_S
        while not server.requests and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(ending)
        try:
            _, said = process.communicate(timeout=DEADLINE_S)
        finally:
            process.kill()
        n_sent = len(server.requests)

    assert process.returncode == wanted, said
    assert "Traceback" not in said
    assert "Ended before qa was finished. Done: nothing yet." in said
    with dg.DagsterInstance.from_config(str(tmp_path / "home")) as instance:
        assert [run.status for run in instance.get_runs()] == [dg.DagsterRunStatus.CANCELED]
    assert 0 < n_sent < len(TEN_QUESTIONS), "the questions that wait for their turn are not asked"


def echoing(server: WireServer) -> Callable[[WireRequest], Step]:
    """A server that repeats the key wherever it can, and fails in between."""
    errors: list[Step] = [
        Status(
            400,
            {"error": {"message": f"header was Bearer {server.key}", "type": "x", "code": None}},
        ),
        Status(500, f"<html>Authorization: Bearer {server.key}</html>".encode()),
        Reply(f"The key is {server.key}."),
        BadKey(),
    ]

    def echo(request: WireRequest) -> Step:
        turn = len(server.requests) % 6
        return errors[turn] if turn < len(errors) else quoting_model(request)

    return echo


@pytest.mark.parametrize(
    ("provider", "key_is_in"),
    first_of([("google", ".env"), ("anthropic", "environment"), ("openai", ".env")]),
)
def test_the_key_reaches_no_file_and_no_output(
    provider: ProtocolName, key_is_in: Literal[".env", "environment"], world: World, tmp_path: Path
) -> None:
    """Logs are mailed around, run histories are shown to everybody who can open the UI."""
    world.write_questions(TEN_QUESTIONS)
    home, folder = tmp_path / "home", tmp_path / "project"
    folder.mkdir()
    with WireServer(provider) as server:
        server.answer_by(echoing(server))
        variables = environment(server, home)
        if key_is_in == ".env":
            (folder / ".env").write_text(f"{server.protocol.key_variable}={server.key}\n")
        else:
            variables[server.protocol.key_variable] = server.key
        done = subprocess.run(
            command(world, "run", "--select", "qa"),
            env=variables,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        secret, fragment = server.key, server.key[-6:]
        assert {request.key for request in server.requests} == {secret}

    output = done.stdout + done.stderr
    written = [
        path for root in (world.paths.data, home) for path in root.rglob("*") if path.is_file()
    ]
    assert any(path.suffix == ".db" for path in written), "the run history lies elsewhere"
    assert provider in output, "nothing was reported"
    assert not [path.name for path in written if fragment.encode() in path.read_bytes()]
    assert fragment not in output


def test_chunks_are_made_without_the_key_that_answers_need(world: World, tmp_path: Path) -> None:
    """Who only wants chunks must not be asked for a key."""
    with WireServer("openai") as server:
        variables: dict[str, str | None] = dict(environment(server, tmp_path / "home"))
        variables |= {"OPENAI_BASE_URL": None, "OPENAI_API_KEY": None}
        chunks, answers = (
            CliRunner().invoke(
                app, ["run", "--select", select, "--data", str(world.paths.data)], env=variables
            )
            for select in ("+chunks", "qa")
        )

    assert chunks.exit_code == 0, chunks.stderr
    assert answers.exit_code == 1
    assert (
        "Models of openai need a key. Set OPENAI_API_KEY in the environment or in .env"
        in answers.stderr
    )
