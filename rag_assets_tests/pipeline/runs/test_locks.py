"""Which runs are alive: real processes, killed without a chance to tidy up."""

import subprocess
import sys
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Self

import dagster as dg
import pytest

from rag_assets.core.incremental import only_writer
from rag_assets.pipeline.definitions import build_defs
from rag_assets.pipeline.runs import locks
from rag_assets.pipeline.runs.locks import (
    DATA_DIR_TAG,
    end_dead_runs,
    living_runs,
    recorded_as_alive,
)
from rag_assets_tests.faces.cli.processes import wait_until

PAST_OUR_COMMAND_LINE = """
import sys
import dagster as dg
from rag_assets.pipeline.definitions import build_defs
job = build_defs(overrides={"data_dir": sys.argv[1]}).resolve_job_def("everything")
with dg.DagsterInstance.from_config(sys.argv[2]) as instance:
    job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey("parsed_index")])
"""
STATUS = dg.DagsterRunStatus


def status_of(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRunStatus:
    run = instance.get_run_by_id(run_id)
    return run.status


def test_a_run_that_dagster_started_holds_the_queue_no_longer_than_its_process_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """After a power cut during a run of the UI, no later night ran: the dead run stayed "started",
    and one run at a time may begin."""
    data, home = tmp_path / "data", tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("RAG_ASSETS_DATA_DIR", str(data))
    (data / "papers").mkdir(parents=True)
    definitions = build_defs()
    with dg.DagsterInstance.from_config(str(home)) as instance, only_writer(data, patience_s=0):
        instance.get_run_ids()
        process = subprocess.Popen(
            [sys.executable, "-c", PAST_OUR_COMMAND_LINE, str(data), str(home)],
            stderr=subprocess.DEVNULL,
        )
        request.addfinalizer(process.kill)
        wait_until(lambda: living_runs(instance), "a run that waits for the data folder")
        (run_id,) = living_runs(instance)
        end_dead_runs(instance)
        while_alive = status_of(instance, run_id)

        process.kill()
        process.wait()
        sensor = definitions.resolve_sensor_def("corpus_sensor")
        sensor.evaluate_tick(dg.build_sensor_context(instance=instance, definitions=definitions))

        assert while_alive is STATUS.STARTED
        assert status_of(instance, run_id) is STATUS.FAILURE
        assert not list((home / "living_runs").iterdir())


@pytest.mark.parametrize(
    ("before", "tags", "after"),
    [
        (STATUS.STARTING, {DATA_DIR_TAG: "data"}, STATUS.FAILURE),
        (STATUS.CANCELING, {DATA_DIR_TAG: "data"}, STATUS.CANCELED),
        (STATUS.STARTED, {}, STATUS.STARTED),
    ],
)
def test_a_run_that_never_took_its_lock_is_dead_when_it_should_have_begun_long_ago(
    before: dg.DagsterRunStatus,
    tags: dict[str, str],
    after: dg.DagsterRunStatus,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process may be killed before its first step; runs of other projects that share the history
    take no lock."""
    with dg.instance_for_test() as instance:
        job = build_defs().resolve_job_def("everything")
        run_id = instance.create_run_for_job(job, status=before, tags=tags).run_id

        end_dead_runs(instance)
        at_once = status_of(instance, run_id)
        monkeypatch.setattr(locks, "_BEGINS_WITHIN", timedelta(0))
        with recorded_as_alive(instance, run_id):
            end_dead_runs(instance)
            while_alive = status_of(instance, run_id)
        (Path(instance.root_directory) / "living_runs" / f"{run_id}.lock").unlink()
        end_dead_runs(instance)

        assert (at_once, while_alive) == (before, before)
        assert status_of(instance, run_id) is after


def test_a_clock_that_was_set_back_lets_no_dead_run_hold_up_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A run that was killed before its first step would keep the queue waiting for a day."""

    class YesterdaysClock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return super().now(tz) - timedelta(days=1)

    with dg.instance_for_test() as instance:
        job = build_defs().resolve_job_def("everything")
        tags = {DATA_DIR_TAG: "data"}
        run_id = instance.create_run_for_job(job, status=STATUS.STARTING, tags=tags).run_id
        monkeypatch.setattr(locks, "datetime", YesterdaysClock)

        end_dead_runs(instance)

        assert status_of(instance, run_id) is STATUS.FAILURE
