"""Runs that a server asks for: one after the other, each in a process of its own, followed in
Dagster's history."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from rag_assets.core.errors import NotFound
from rag_assets.core.incremental import only_writer
from rag_assets.core.settings import Settings
from rag_assets.pipeline.runs.requests import (
    RunProgress,
    RunRequests,
    RunStep,
    recorded_progress,
)
from rag_assets_testing.world import TOKENIZER, World
from rag_assets_tests.end_to_end.conftest import built, world
from rag_assets_tests.faces.cli.processes import wait_until

__all__ = ["built", "world"]
NO_RUN = "5f0c7a52-0000-4000-8000-000000000000"
QUEUED = ("queued", "It begins when no other run writes the data folder.")


@pytest.fixture
def runs(world: World) -> Iterator[RunRequests]:
    opened = RunRequests(settings_of(world.paths.data))
    yield opened
    opened.close()


def settings_of(data: Path) -> Settings:
    return Settings.model_validate({"data_dir": str(data), **TOKENIZER})


def ended(runs: RunRequests, run_id: str) -> RunProgress:
    wait_until(lambda: runs.progress(run_id).is_over, "its end")
    return runs.progress(run_id)


def is_locked(world: World, run_id: str) -> bool:
    return (world.paths.dagster / "living_runs" / f"{run_id}.lock").exists()


def test_requests_share_a_run_until_it_begins(world: World, runs: RunRequests) -> None:
    """Twenty files dropped at once must not lead to twenty runs; and a run of the command line is
    waited for."""
    world.write_paper(
        "kelp", "Kelp and warm water", "Kelp forests lost 40% of their canopy in warm water."
    )
    with only_writer(world.paths.data, patience_s=0):
        first, second = runs.ask(), runs.ask()
        waiting = runs.progress(first)
    wait_until(lambda: runs.progress(first).state == "running", "its beginning")
    third, fourth = runs.ask(), runs.ask()

    last = ended(runs, third)

    assert first == second != third == fourth
    assert (waiting.state, waiting.message) == QUEUED
    assert ended(runs, first).message == "Papers: 1 added, 0 changed, 0 removed."
    assert (last.state, last.message) == ("succeeded", "Papers: 0 added, 0 changed, 0 removed.")
    assert {step.state for step in last.steps} == {"succeeded"}
    assert last.steps[0].asset == "parsed_index"
    assert "qa" not in {step.asset for step in last.steps}
    assert last.seconds > 0
    with dg.DagsterInstance.from_config(str(world.paths.dagster)) as instance:
        history = {run.run_id: run.tags["rag_assets/started_by"] for run in instance.get_runs()}
    assert history == dict.fromkeys([first, third], "rag-assets serve"), "the one the UI shows"


def test_a_run_that_was_waiting_when_its_server_ended_goes_on_and_is_followed(
    world: World, runs: RunRequests
) -> None:
    """A paper that was uploaded before the server stopped would never be indexed."""
    with only_writer(world.paths.data, patience_s=0):
        waiting = runs.ask()
        wait_until(lambda: is_locked(world, waiting), "its lock")
        runs.close()
        next_server = RunRequests(settings_of(world.paths.data))
        queued = next_server.progress(waiting)

    assert (queued.state, queued.message) == QUEUED
    assert ended(next_server, waiting).state == "succeeded"
    next_server.close()


def test_a_run_that_cannot_begin_has_failed(world: World, runs: RunRequests) -> None:
    """The page would wait for it for ever."""
    with only_writer(world.paths.data, patience_s=0):
        run_id = runs.ask()
        wait_until(lambda: is_locked(world, run_id), "its lock")
        os.kill(runs._processes[run_id].pid, signal.SIGKILL)
        found = ended(runs, run_id)

    assert (found.state, found.message) == (
        "failed",
        "The run could not begin. The reason is in the Dagster UI (rag-assets ui).",
    )


def test_a_run_that_publishes_nothing_names_the_broken_promise() -> None:
    """ "The run failed" alone does not tell the reader of the page that a paper is wrong and not the
    program."""

    @dg.asset(
        check_specs=[dg.AssetCheckSpec("ids_unique", asset="papers", blocking=True)],
        output_required=False,
    )
    def papers() -> Iterator[dg.AssetCheckResult]:
        yield dg.AssetCheckResult(
            check_name="ids_unique", passed=False, metadata={"promise": "Every id occurs once."}
        )

    with dg.DagsterInstance.ephemeral() as instance:
        run = dg.materialize([papers], instance=instance, raise_on_error=False)
        found = recorded_progress(instance, run.run_id)

    assert (found.state, found.steps) == ("failed", (RunStep("papers", "failed"),))
    assert found.message == (
        "Nothing new was published: Every id occurs once. The reason is in the Dagster UI (rag-assets ui)."
    )


@pytest.mark.parametrize("run_id", ["", "..", "../secret", NO_RUN, NO_RUN.upper(), f"{NO_RUN}/.."])
def test_runs_that_were_not_asked_for_are_not_known(run_id: str, tmp_path: Path) -> None:
    """An id comes from a request, and must become no path."""
    runs = RunRequests(settings_of(tmp_path))

    with pytest.raises(NotFound, match="There is no such run"):
        runs.progress(run_id)
    runs.close()
