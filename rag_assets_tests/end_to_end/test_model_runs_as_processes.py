"""Runs with a model, as the processes a user starts: killed half-way, and searched for the key
afterwards."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import dagster as dg
import pytest

from rag_assets_testing.wire import BadKey, ProtocolName, Reply, Slow, Status, Step, WireServer
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import quoting_model
from rag_assets_testing.world import World
from rag_assets_tests.end_to_end.test_model_answers import MODELS, TEN_QUESTIONS
from rag_assets_tests.faces.cli.processes import COMMAND, DEADLINE_S, wait_until
from rag_assets_tests.rounds import first_of


def command(world: World, *arguments: str) -> list[str]:
    return [*COMMAND, *arguments, "--data", str(world.paths.data)]


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
        "RAG_ASSETS_MODEL_ACCESS__MAX_ATTEMPTS": "2",
        "RAG_ASSETS_MODEL_ACCESS__MAX_WAIT_S": "0.1",
    }


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
        wait_until(lambda: server.requests or process.poll() is not None, "the first request")
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
