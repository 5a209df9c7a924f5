"""What runs by itself: sensor ticks, schedule ticks and automation conditions, one by one."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rag_assets.assets.automation import look_for_changes
from rag_assets.assets.conditions import on_new_content
from rag_assets.definitions import build_defs
from rag_assets.settings import Settings, load_settings
from rag_assets.table_files import write_table
from rag_assets.tables import PARSED_INDEX


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A data folder with one paper and one question."""
    loaded = load_settings({"data_dir": str(tmp_path / "data")})
    loaded.paths.papers.mkdir(parents=True)
    loaded.paths.questions.mkdir()
    (loaded.paths.papers / "a.txt").write_text("A paper.")
    loaded.question_file.write_text('{"id": "q", "question": "Why?"}\n')
    return loaded


def test_the_first_sweep_asks_for_a_run_and_the_second_does_not(settings: Settings) -> None:
    """A sensor that asks at every tick fills the run list overnight."""
    first = look_for_changes(settings, None)
    second = look_for_changes(settings, first.cursor)

    assert len(first.run_requests or []) == 1
    assert not second.run_requests
    assert "No paper and no question changed" in str(second.skip_reason)


@pytest.mark.parametrize("change", ["added", "changed", "deleted", "question"])
def test_every_kind_of_change_asks_for_one_run(settings: Settings, change: str) -> None:
    """A deleted paper must leave the answers, too."""
    cursor = look_for_changes(settings, None).cursor
    if change == "added":
        (settings.paths.papers / "b.txt").write_text("Another paper.")
    elif change == "changed":
        (settings.paths.papers / "a.txt").write_text("A longer paper.")
    elif change == "deleted":
        (settings.paths.papers / "a.txt").unlink()
    else:
        settings.question_file.write_text('{"id": "q", "question": "How?"}\n{"id": "r", "question": "Who?"}\n')

    found = look_for_changes(settings, cursor)

    assert len(found.run_requests or []) == 1


def test_a_new_list_of_papers_at_the_place_of_the_index_asks_for_one_run(settings: Settings) -> None:
    """ADR 0004 puts the list there; the published index, at the same place, must ask for nothing."""
    paths = settings.paths
    cursor = look_for_changes(settings, None).cursor
    paths.cache.mkdir()
    pq.write_table(
        pa.table({name: ["a.txt"] for name in ("paper_id", "parsed_xml_path", "parsed_txt_path")}), paths.parsed_index
    )

    found = look_for_changes(settings, cursor)
    write_table(PARSED_INDEX.empty_table(), paths.parsed_index, {})

    assert len(found.run_requests or []) == 1
    assert not look_for_changes(settings, cursor).run_requests


def test_a_change_that_is_taken_back_runs_again(settings: Settings) -> None:
    """Dagster drops a run key it has seen, and the manifest of the first state was seen before."""
    paper = settings.paths.papers / "a.txt"
    times = (paper.stat().st_atime_ns, paper.stat().st_mtime_ns)
    keys, cursor = [], None
    for text in ("A paper.", "B paper!!", "A paper.", "B paper!!"):
        paper.write_text(text)
        os.utime(paper, ns=times)
        found = look_for_changes(settings, cursor)
        keys += [request.run_key for request in found.run_requests or []]
        cursor = found.cursor

    assert len(set(keys)) == 4
    assert json.loads(cursor or "")["n_changes"] == 4


def test_an_unmounted_papers_folder_asks_for_nothing(settings: Settings) -> None:
    """And keeps the cursor, so that mounting it again is no change."""
    cursor = look_for_changes(settings, None).cursor
    settings.paths.papers.rename(settings.data_dir / "away")

    found = look_for_changes(settings, cursor)

    assert not found.run_requests
    assert found.cursor == cursor


def test_a_tick_of_the_sensor_starts_the_job_that_makes_everything(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sensor reads the same settings as everything else."""
    monkeypatch.setenv("RAG_ASSETS_DATA_DIR", str(settings.data_dir))
    definitions = build_defs()
    sensor = definitions.resolve_sensor_def("corpus_sensor")

    with dg.instance_for_test() as instance:
        tick = sensor.evaluate_tick(dg.build_sensor_context(instance=instance, definitions=definitions))

    assert len(tick.run_requests or []) == 1
    assert sensor.job_name == "everything"
    assert sensor.default_status is dg.DefaultSensorStatus.RUNNING


def test_the_nightly_schedule_is_on_and_asks_for_the_nightly_job_in_its_time_zone(tmp_path: Path) -> None:
    """Nobody switches on a schedule they do not know of."""
    definitions = build_defs(
        overrides={"automation": {"nightly_cron": "30 3 * * *", "timezone": "Europe/Berlin"}, "data_dir": str(tmp_path)}
    )
    schedule = definitions.resolve_schedule_def("nightly_schedule")

    due = datetime(2026, 1, 1, 2, 30, tzinfo=UTC)
    with (
        dg.instance_for_test() as instance,
        dg.build_schedule_context(instance=instance, scheduled_execution_time=due) as context,
    ):
        tick = schedule.evaluate_tick(context)

    assert len(tick.run_requests or []) == 1
    assert schedule.job_name == "nightly"
    assert schedule.execution_timezone == "Europe/Berlin"
    assert schedule.cron_schedule == "30 3 * * *"
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING


class Versions:
    """The data version each asset reports at its next materialization."""

    def __init__(self) -> None:
        self.parent = "1"


def harness(versions: Versions) -> dg.Definitions:
    @dg.asset
    def parent() -> dg.MaterializeResult[None]:
        return dg.MaterializeResult(data_version=dg.DataVersion(versions.parent))

    @dg.asset(deps=[parent], automation_condition=on_new_content())
    def child() -> dg.MaterializeResult[None]:
        return dg.MaterializeResult(data_version=dg.DataVersion("child"))

    return dg.Definitions(assets=[parent, child])


def test_automation_fires_on_changed_content_and_on_nothing_else() -> None:
    """Dagster's eager() runs everything below an asset that found nothing to do."""
    versions = Versions()
    definitions = harness(versions)
    everything = definitions.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:

        def execute(*assets: str) -> None:
            everything.execute_in_process(instance=instance, asset_selection=[dg.AssetKey(name) for name in assets])

        def tick(cursor: Any) -> tuple[int, Any]:
            result = dg.evaluate_automation_conditions(
                defs=definitions, instance=instance, cursor=cursor, asset_selection=dg.AssetSelection.assets("child")
            )
            return result.total_requested, result.cursor

        execute("parent", "child")
        n_first, cursor = tick(None)
        execute("parent")
        n_same_version, cursor = tick(cursor)
        versions.parent = "2"
        execute("parent")
        n_new_version, cursor = tick(cursor)
        execute("child")
        n_handled, cursor = tick(cursor)
        versions.parent = "3"
        execute("parent", "child")
        n_together, cursor = tick(cursor)

    assert n_first == 0, "everything is there"
    assert n_same_version == 0, "the parent found nothing to do"
    assert n_new_version == 1, "the parent changed"
    assert n_handled == 0, "the child has run since"
    assert n_together <= 1, "at most one run that finds nothing to do"


def test_every_asset_below_the_corpus_runs_by_itself_when_its_inputs_change(tmp_path: Path) -> None:
    """An asset without the condition would stay stale when automation is switched on."""
    graph = build_defs(overrides={"data_dir": str(tmp_path)}).resolve_asset_graph()

    without = {key.to_user_string() for key in graph.get_all_asset_keys() if not graph.get(key).automation_condition}

    assert without == {"parsed_index"}, "only the sensor knows of new files"


def test_a_sweep_ends_the_run_of_a_killed_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The UI lets one run at a time start and would wait for the dead one for ever."""
    monkeypatch.setenv("RAG_ASSETS_DATA_DIR", str(tmp_path / "data"))
    definitions = build_defs()
    sensor = definitions.resolve_sensor_def("corpus_sensor")
    with dg.instance_for_test() as instance:
        job = definitions.resolve_job_def("everything")
        run = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
        folder = Path(instance.root_directory) / "command_line_runs"
        folder.mkdir()
        (folder / f"{run.run_id}.lock").touch()

        sensor.evaluate_tick(dg.build_sensor_context(instance=instance, definitions=definitions))

        assert instance.get_run_by_id(run.run_id).status is dg.DagsterRunStatus.FAILURE
        assert not list(folder.iterdir())
