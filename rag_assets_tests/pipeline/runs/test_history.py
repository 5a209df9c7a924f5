"""Where the history of runs lies, and what tells its runs apart."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import dagster as dg
import pytest
import yaml
from typer.testing import CliRunner

import rag_assets
from rag_assets.core.errors import InvalidSettings, ReadOnlyFolder
from rag_assets.core.settings import Paths, Settings
from rag_assets.faces.cli import app
from rag_assets.library.verification import damages
from rag_assets.pipeline.assets.resources import STARTED_BY_TAG
from rag_assets.pipeline.definitions import build_defs
from rag_assets.pipeline.runs.locks import DATA_DIR_TAG, checks_of, dagster_home, opened_instance
from rag_assets_tests.end_to_end.damage import halved, zeroed

ROOT = Path(rag_assets.__file__).parents[1]
QUICK = {"RAG_ASSETS_CHUNKING__TOKENIZER": "wordpiece"}


def data_folder(path: Path) -> Path:
    """A data folder with one paper."""
    (path / "papers").mkdir(parents=True)
    (path / "papers" / "a.txt").write_text(
        "Ferritin fell by 12% in all groups of runners within a month."
    )
    return path


def rag_assets_run(*arguments: str, home: str = "") -> None:
    """Run assets in the working folder, without any Dagster home unless one is given."""
    done = CliRunner().invoke(app, ["run", *arguments], env={**QUICK, "DAGSTER_HOME": home})
    assert done.exit_code == 0, done.stderr


def runs_of(home: Path) -> list[dg.DagsterRun]:
    with dg.DagsterInstance.from_config(str(home)) as instance:
        return list(instance.get_runs())


def test_the_limits_of_the_root_are_those_of_the_ui(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`dg dev` ran two runs at once over one folder, and called home."""
    root, packaged = (
        yaml.safe_load((folder / "dagster.yaml").read_text("utf-8"))
        for folder in (ROOT, ROOT / "rag_assets")
    )
    monkeypatch.chdir(tmp_path)

    with dg.DagsterInstance.from_config(str(ROOT)) as instance:
        instance.get_run_ids()
        place = Path(instance.root_directory).absolute()

    assert place == tmp_path / "data" / ".dagster"
    assert (place / "history").is_dir()
    assert packaged == {
        name: part
        for name, part in root.items()
        if name not in ("storage", "local_artifact_storage")
    }


@pytest.mark.whole
def test_dagsters_commands_work_in_the_root_with_the_history_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Dagster user types these first; two minutes after a run, they said that nothing was run."""
    monkeypatch.chdir(tmp_path)
    data_folder(tmp_path / "data")
    for name in ("pyproject.toml", "dagster.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "rag_assets").symlink_to(ROOT / "rag_assets")
    rag_assets_run("--select", "parsed_index")

    for command in (
        "dg check defs",
        "dg list defs",
        "dg launch --assets parsed_index",
        "dagster asset materialize -m rag_assets.definitions --select parsed_index",
    ):
        name, *arguments = command.split()
        subprocess.run(
            [Path(sys.executable).with_name(name), *arguments],
            env={**os.environ, **QUICK, "DAGSTER_HOME": ""},
            check=True,
        )

    runs = runs_of(tmp_path / "data" / ".dagster")
    assert [run.tags[STARTED_BY_TAG] for run in runs] == ["dg", "dg", "rag-assets run"]
    assert not list(tmp_path.glob(".tmp_dagster_home_*"))


def test_each_data_folder_has_a_history_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One history for all: the plots and checks of a trial stand among those of the demo, and none
    can be read."""
    monkeypatch.chdir(tmp_path)
    demo, own = data_folder(tmp_path / "data"), data_folder(tmp_path / "elsewhere" / "own")
    rag_assets_run("--select", "parsed_index")
    before = [run.run_id for run in runs_of(demo / ".dagster")]

    rag_assets_run("--select", "parsed_index", "--data", "elsewhere/own")

    assert [run.run_id for run in runs_of(demo / ".dagster")] == before
    (run,) = runs_of(own / ".dagster")
    assert run.run_id not in before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "elsewhere"], (
        "no history beside them"
    )


def test_a_home_of_ones_own_wins_and_its_runs_name_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several folders may share one history on purpose; then only the tags tell their runs
    apart."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        data_folder(tmp_path / name)
        rag_assets_run("--select", "parsed_index", "--data", name, home=str(tmp_path / "home"))

    tags = [run.tags for run in runs_of(tmp_path / "home")]

    assert [tag[DATA_DIR_TAG] for tag in tags] == [str(tmp_path / "two"), str(tmp_path / "one")]
    assert {tag[STARTED_BY_TAG] for tag in tags} == {"rag-assets run"}
    assert not (tmp_path / "one" / ".dagster").exists()


@pytest.mark.parametrize(
    ("tags", "started_by"),
    [
        ({}, "dg"),
        ({"dagster/sensor_name": "corpus_sensor"}, "sensor corpus_sensor"),
        ({"dagster/schedule_name": "nightly_schedule"}, "schedule nightly_schedule"),
        ({STARTED_BY_TAG: "rag-assets qa"}, "rag-assets qa"),
    ],
    ids=str,
)
def test_a_run_is_tagged_with_its_folder_and_with_who_started_it(
    tmp_path: Path, tags: dict[str, str], started_by: str
) -> None:
    """Without it nobody can tell the nightly run from a trial, nor one folder from another."""
    definitions = build_defs(overrides={"data_dir": str(data_folder(tmp_path / "data"))})
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        result = definitions.resolve_job_def("everything").execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey("parsed_index")], tags=tags
        )
        run = instance.get_run_by_id(result.run_id)

    assert run.tags[STARTED_BY_TAG] == started_by
    assert run.tags[DATA_DIR_TAG] == str(tmp_path / "data")


def test_a_new_history_is_without_telemetry_and_runs_one_at_a_time(tmp_path: Path) -> None:
    """With its defaults, Dagster calls home, and two runs of the UI wait for each other inside
    their first step."""
    home = dagster_home(Paths(tmp_path / "data"))

    assert home == tmp_path / "data" / ".dagster"
    with opened_instance(home) as instance:
        assert instance.telemetry_enabled is False
        assert instance.get_concurrency_config().run_queue_config.max_concurrent_runs == 1
        assert instance.managed_python_loggers == ["rag_assets"]


@pytest.mark.parametrize(
    "content", ["telemetry: [", "- telemetry", "telmetry: {}", "telemetry: 5", "\xff"]
)
def test_a_configuration_that_cannot_be_used_is_named(tmp_path: Path, content: str) -> None:
    """Dagster answers with a traceback."""
    home = dagster_home(Paths(tmp_path / "data"))
    (home / "dagster.yaml").write_text(content, "latin-1")

    with pytest.raises(
        InvalidSettings, match=r"Dagster cannot use .*dagster\.yaml\. Mend it, or delete it"
    ):
        opened_instance(home)


def test_a_history_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """Dagster would answer with a traceback of its database."""
    (tmp_path / "data").touch()

    with pytest.raises(ReadOnlyFolder, match=r"data/\.dagster cannot be written"):
        dagster_home(Paths(tmp_path / "data"))


@pytest.mark.parametrize("damage", [halved, zeroed])
@pytest.mark.parametrize("name", ["runs.db", "runs/index.db"])
def test_a_damaged_history_is_told_and_begun_anew(
    name: str,
    damage: Callable[[Path], None],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A run ended in a traceback of the database library, and `verify` found nothing."""
    settings = Settings(data_dir=tmp_path / "data")
    home = dagster_home(settings.paths)
    with opened_instance(home) as instance:
        instance.add_run(dg.DagsterRun("one", run_id=str(uuid4())))
    database = home / "history" / name
    damage(database)
    damaged = database.read_bytes()

    (told,) = damages(settings)
    with opened_instance(home) as instance:
        instance.add_run(dg.DagsterRun("two", run_id=str(uuid4())))

    assert (told.path, told.remedy[:19]) == (database, "Run: rag-assets run")
    assert told.problem.startswith("is damaged (")
    (aside,) = database.parent.glob(f"{database.name}.damaged-*")
    assert aside.read_bytes() == damaged
    assert f"It is kept as {aside.name}, and a new one is begun." in caplog.text
    assert list(damages(settings)) == []


def test_a_history_that_lacks_a_database_is_told(tmp_path: Path) -> None:
    """What the pages of the UI say is nowhere else."""
    settings = Settings(data_dir=tmp_path / "data")
    home = dagster_home(settings.paths)
    with opened_instance(home):
        pass
    (home / "history" / "runs" / "index.db").unlink()

    (told,) = damages(settings)

    assert (told.path.name, told.problem) == ("index.db", "is missing")


def test_damaged_events_of_a_run_are_told_and_count_as_unknown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The next run looks at the checks of the last one, and ended in a traceback."""
    settings = Settings(data_dir=tmp_path / "data")
    home, run_id = dagster_home(settings.paths), str(uuid4())
    with opened_instance(home) as instance:
        events = home / "history" / "runs" / f"{run_id}.db"
        events.write_bytes(bytes(4096))

        assert checks_of(instance, run_id) == []

    assert f"The events of run {run_id} cannot be read" in caplog.text
    (told,) = damages(settings)
    assert (told.path, told.remedy) == (events, "Delete it; only what that run logged is lost.")


def test_several_runs_may_begin_a_history_together(tmp_path: Path) -> None:
    """The nightly run and an impatient user; one of them was told that the folder cannot be
    written."""
    with ThreadPoolExecutor(8) as pool:
        for number in range(20):
            paths = Paths(tmp_path / str(number))
            homes = list(pool.map(dagster_home, [paths] * 8))
            assert set(homes) == {paths.dagster.absolute()}
