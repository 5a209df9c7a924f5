"""Runs from Python: which assets a selection means, what a report says."""

import re
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from filelock import FileLock

from rag_assets.core.errors import InvalidSettings, RagAssetsError
from rag_assets.pipeline.definitions import build_defs
from rag_assets.pipeline.runs.materialize import materialize


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with one paper, and a Dagster home beside it."""
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    return data_folder(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for several runs, with what the assets of the corpus follow from."""
    data = data_folder(tmp_path_factory.mktemp("shared"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(data.parent / "home"))
        assert materialize("+blocks", settings_over(data)).is_success
    return data


def data_folder(root: Path) -> Path:
    (root / "data" / "papers").mkdir(parents=True)
    (root / "data" / "papers" / "a.txt").write_text("Ferritin fell in runners.")
    return root / "data"


def settings_over(data: Path) -> dict[str, Any]:
    return {"data_dir": str(data), "chunking": {"tokenizer": "wordpiece"}}


@pytest.mark.parametrize(
    ("selection", "assets"),
    [
        ("parsed_index", {"parsed_index"}),
        (
            "+passages",
            {"parsed_index", "papers", "blocks", "statements", "chunks", "summaries", "passages"},
        ),
        ("group:corpus", {"parsed_index", "papers", "blocks", "statements"}),
        ("parsed_index, blocks", {"parsed_index", "blocks"}),
        ("+key:chunks and group:corpus", {"parsed_index", "papers", "blocks", "statements"}),
    ],
)
def test_a_selection_means_what_it_means_in_the_ui(
    shared: Path, selection: str, assets: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A selection of the UI must mean the same on the command line; a plus takes everything above,
    not one step."""
    monkeypatch.setenv("DAGSTER_HOME", str(shared.parent / "home"))
    report = materialize(selection, settings_over(shared))

    assert report.is_success
    assert {asset.asset for asset in report.assets} == assets
    assert all(asset.seconds > 0 for asset in report.assets)


@pytest.mark.parametrize(
    ("selection", "problem"),
    [
        ("chunkz", 'The selection "chunkz"'),
        ("group:nothing", "names no asset. Assets: blocks, bm25_index, chroma_index, chunk_stats,"),
        ("blocks,", "cannot be used"),
        ("++(", "cannot be used"),
    ],
)
def test_a_selection_without_assets_starts_no_run(data: Path, selection: str, problem: str) -> None:
    """A run without assets that succeeds looks as if everything had been made."""
    with pytest.raises(InvalidSettings) as caught:
        materialize(selection, {"data_dir": str(data)})

    assert problem in str(caught.value)
    assert "Example:" in str(caught.value)
    assert not (data.parent / "home").exists(), "no run, so no history of one"


def test_what_stopped_a_run_is_in_its_report(data: Path) -> None:
    """The user needs the message of the step that failed, not that of Dagster's executor around
    it."""
    report = materialize("blocks", {"data_dir": str(data)})

    (message,) = report.errors
    assert not report.is_success
    assert report.assets == ()
    assert message.startswith("blocks: ")
    assert "parsed_index.parquet does not exist. Materialize `parsed_index`: " in message


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"answering": {"model": "openai:gpt-5-mini"}}, "Models of openai need a key."),
        ({"questions": "typo.jsonl"}, "typo.jsonl, line 1: question: Field required"),
    ],
    ids=["a missing key", "a wrong question file"],
)
def test_a_command_that_is_refused_is_a_failed_run_with_its_reason(
    data: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], reason: str
) -> None:
    """Dagster's list showed no run, so who looks there in the morning thought that nothing was
    started."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (data / "typo.jsonl").write_text('{"id": "m1"}')
    monkeypatch.chdir(data)

    with pytest.raises(RagAssetsError, match=re.escape(reason)):
        materialize("qa", {"data_dir": str(data), **settings})

    with dg.DagsterInstance.from_config(str(data.parent / "home")) as instance:
        (run,) = instance.get_runs()
        (failure,) = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
    assert run.status is dg.DagsterRunStatus.FAILURE
    assert reason in failure.message.splitlines()[0]


def test_a_killed_run_is_ended_in_the_history_by_the_next(data: Path, tmp_path: Path) -> None:
    """Left as "started", it would keep the nightly run of the UI waiting for good: one run at a
    time may start."""
    folder = tmp_path / "home" / "living_runs"
    materialize("parsed_index", {"data_dir": str(data)})
    with dg.DagsterInstance.get() as instance:
        job = build_defs().resolve_job_def("everything")
        run_id = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED).run_id
    with FileLock(folder / f"{run_id}.lock"):  # as its process holds it
        materialize("parsed_index", {"data_dir": str(data_folder(tmp_path / "other"))})
        status_alive = status_of(run_id)
    (folder / f"{run_id}.lock").touch()  # a killed process leaves the file, and no lock

    materialize("parsed_index", {"data_dir": str(data)})

    assert status_alive is dg.DagsterRunStatus.STARTED, "a run that is alive is left alone"
    assert status_of(run_id) is dg.DagsterRunStatus.FAILURE


def status_of(run_id: str) -> dg.DagsterRunStatus:
    with dg.DagsterInstance.get() as instance:
        run = instance.get_run_by_id(run_id)
    return run.status
