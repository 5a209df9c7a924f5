"""Runs that a server asks for: one after the other, each in a process of its own, followed through a file."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_assets.errors import NotFound, ReadOnlyFolder
from rag_assets.incremental import only_writer
from rag_assets.runs.journal import RunJournal, RunProgress, journals, remove_old
from rag_assets.runs.requests import RunRequests
from rag_assets.settings import Settings
from rag_assets_testing.world import TOKENIZER, World
from rag_assets_tests.end_to_end.conftest import built, world

__all__ = ["built", "world"]
DEADLINE_S = 240.0
DEAD = "5f0c7a52-0000-4000-8000-000000000000"


def settings_of(data: Path) -> Settings:
    return Settings.model_validate({"data_dir": str(data), **TOKENIZER})


def until(found: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not found():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so after {DEADLINE_S:g} s")
        time.sleep(0.1)


def ended(runs: RunRequests, run_id: str) -> RunProgress:
    until(lambda: runs.progress(run_id).is_over)
    return runs.progress(run_id)


def pid_of(settings: Settings, run_id: str) -> int:
    """The process of a run, once it is at work."""
    journal = RunJournal(settings.paths.requested_runs, run_id)

    def said() -> list[int]:
        lines = [json.loads(line) for line in journal.path.read_text("utf-8").splitlines()]
        return [line["pid"] for line in lines if line["event"] == "process"]

    until(lambda: bool(said()))
    return said()[0]


def test_requests_during_a_run_lead_to_one_more_run(world: World) -> None:
    """Twenty files dropped at once must not lead to twenty runs; and a run of the command line is waited for."""
    settings = settings_of(world.paths.data)
    runs = RunRequests(settings)
    with only_writer(settings.data_dir, patience_s=0):
        first, second, third = runs.ask(), runs.ask(), runs.ask()
        pid_of(settings, first)
        waiting = runs.progress(second)
        assert runs.progress(first).state == "queued"

    assert first != second == third
    assert (waiting.state, waiting.message) == ("queued", "Another run is under way; this one begins when it ends.")
    assert ended(runs, first).state == "succeeded"
    last = ended(runs, second)
    assert last.state == "succeeded"
    assert last.message == "Papers: 0 added, 0 changed, 0 removed."
    assert set(last.steps.values()) == {"succeeded"}
    assert next(iter(last.steps)) == "parsed_index"
    assert "qa" not in last.steps


def test_a_killed_run_is_told_and_the_next_one_ends_as_if_nothing_had_been(world: World) -> None:
    """If the killed run had published a part, questions would be answered from half a corpus."""
    settings = settings_of(world.paths.data)
    before = world.paths.chunks.read_bytes()
    runs = RunRequests(settings)
    world.write_paper("kelp", "Kelp and warm water", "Kelp forests lost 40% of their canopy in warm water.")
    killed = runs.ask()
    pid = pid_of(settings, killed)
    until(lambda: runs.progress(killed).state == "running")
    os.kill(pid, signal.SIGKILL)

    failed = ended(runs, killed)

    assert failed.state == "failed"
    assert failed.message.startswith("The run was killed; what it had published stays.")
    assert world.paths.chunks.read_bytes() == before
    assert ended(runs, runs.ask()).message == "Papers: 1 added, 0 changed, 0 removed."


def test_what_a_killed_server_left_waiting_is_asked_for_again(world: World) -> None:
    """A paper that was uploaded before the server stopped would never be indexed."""
    settings = settings_of(world.paths.data)
    settings.paths.requested_runs.mkdir(parents=True)
    RunJournal(settings.paths.requested_runs, DEAD).note("queued")
    runs = RunRequests(settings)

    resumed = runs.resume()

    assert resumed is not None
    assert runs.progress(DEAD).message == "The server was stopped meanwhile; another run goes on from there."
    assert ended(runs, resumed).state == "succeeded"
    assert runs.resume() is None


def test_a_run_of_the_last_server_is_followed_while_it_lives(tmp_path: Path) -> None:
    """A new server knows nothing of the process, only what it writes and that it holds its lock."""
    runs = RunRequests(settings_of(tmp_path))
    folder = runs_folder(tmp_path)
    journal = RunJournal(folder, DEAD)
    journal.note("planned", asset="chunks")
    journal.note("planned", asset="blocks")
    journal.note("began")
    journal.note("step", asset="blocks", state="running")
    with journal.path.open("a") as file:
        file.write('{"event": "ended", "sta')

    with journal.held():
        alive = runs.progress(DEAD)
        assert runs.resume() is None
    dead = runs.progress(DEAD)

    assert (alive.state, alive.steps) == ("running", {"blocks": "running", "chunks": "waiting"})
    assert dead.state == "failed"
    assert dead.message.startswith("The run was killed")


@pytest.mark.parametrize("run_id", ["", "..", "../secret", DEAD, DEAD.upper(), f"{DEAD}/.."])
def test_runs_that_were_not_asked_for_are_not_known(run_id: str, tmp_path: Path) -> None:
    """An id comes from a request, and becomes part of a path only when it is one."""
    (runs_folder(tmp_path).parent / "secret.jsonl").write_text("{}")

    with pytest.raises(NotFound, match="There is no such run"):
        RunRequests(settings_of(tmp_path)).progress(run_id)


def test_only_the_last_journals_are_kept(tmp_path: Path) -> None:
    """A server that runs for months must not fill the folder."""
    folder = runs_folder(tmp_path)
    for number in range(105):
        RunJournal(folder, f"{number:03}").note("ended", state="succeeded", message="")
        os.utime(folder / f"{number:03}.jsonl", (number, number))

    remove_old(folder)

    assert [journal.run_id for journal in journals(folder)] == [f"{number:03}" for number in range(5, 105)]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """The message must name the missing right to write."""
    (tmp_path / "logs").write_text("no folder")

    with pytest.raises(ReadOnlyFolder):
        RunRequests(settings_of(tmp_path)).ask()


def runs_folder(data: Path) -> Path:
    folder = settings_of(data).paths.requested_runs
    folder.mkdir(parents=True)
    return folder
