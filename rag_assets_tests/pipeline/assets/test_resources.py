"""The settings of a run: which of four sources wins, and that one run at a time writes a data
folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from filelock import FileLock, Timeout

from rag_assets.core.domain import Usage
from rag_assets.core.errors import MissingKey
from rag_assets.core.incremental import LOCK_NAME
from rag_assets.core.settings import Settings, load_settings
from rag_assets.engine import Engine
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets import resources
from rag_assets.pipeline.assets.resources import demand_inputs, run_engine, run_models, run_settings
from rag_assets.pipeline.definitions import build_defs
from rag_assets_testing.wire import use_wire_environment


def settings_of_a_run(*, overrides: Mapping[str, Any], launchpad: Mapping[str, Any]) -> Settings:
    """What an asset is handed when a run starts with this launchpad."""
    resource = run_settings(load_settings(overrides), overrides)
    with dg.build_resources(
        {"settings": resource}, resource_config={"settings": {"config": dict(launchpad)}}
    ) as built:
        settings: Settings = built.settings
        return settings


def test_the_launchpad_wins_field_by_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever changes one field for one run must not lose the others to their defaults."""
    (tmp_path / "rag_assets.toml").write_text(
        "[chunking]\nmin_tokens = 1\ntarget_tokens = 901\n[answering]\nk = 5\n"
    )
    monkeypatch.setenv("RAG_ASSETS_CONFIG", str(tmp_path / "rag_assets.toml"))
    monkeypatch.setenv("RAG_ASSETS_CHUNKING__TARGET_TOKENS", "902")
    monkeypatch.setenv("RAG_ASSETS_CHUNKING__MIN_CHARS", "2")
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"id": "q", "question": "Why?"}')

    settings = settings_of_a_run(
        overrides={
            "data_dir": str(tmp_path),
            "questions": "replaced",
            "answering": {"min_sources": 3},
        },
        launchpad={"chunking": {"max_tokens": 1104}, "questions": str(questions)},
    )

    chunking = settings.chunking
    assert (chunking.max_tokens, settings.answering.min_sources) == (1104, 3), (
        "launchpad, overrides"
    )
    assert (chunking.target_tokens, chunking.min_chars) == (902, 2), "environment"
    assert (chunking.min_tokens, settings.answering.k) == (1, 5), "file"
    assert settings.data_dir == tmp_path
    assert settings.questions == questions


SOME_ASSETS = {
    "passages",
    "embeddings",
    "chroma_index",
    "index_meta",
    "examples",
    "qa",
    "reports",
    "smoke_eval",
}
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        (
            {"embedding": {"model": "openai:text-embedding-3-small"}},
            SOME_ASSETS,
        ),
        ({"answering": {"model": "openai:gpt-5-mini"}}, {"qa", "reports"}),
    ],
    ids=["vectors", "answers"],
)
def test_a_missing_key_is_met_before_the_first_step_by_what_needs_it_only(
    settings: dict[str, Any], refused: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an hour of work it is too late, and who parses papers needs no key."""
    use_wire_environment(monkeypatch)
    monkeypatch.chdir(tmp_path)
    overrides = {"data_dir": str(tmp_path), **settings}
    met = set()
    for asset in ("parsed_index", "bm25_index", *SOME_ASSETS):
        try:
            demand_inputs(load_settings(overrides), {asset})
        except MissingKey:
            met.add(asset)

    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        run = build_defs(overrides=overrides).resolve_job_def("everything")
        result = run.execute_in_process(
            instance=instance,
            asset_selection=[dg.AssetKey("qa")],
            raise_on_error=False,
            run_config=QUIET,
        )

    assert met == refused
    assert not any(event.is_step_start for event in result.all_events)


def test_the_data_folder_is_locked_while_a_run_has_its_settings(tmp_path: Path) -> None:
    """Two runs that write at once leave an index that fits the passages of neither."""
    lock = FileLock(tmp_path / LOCK_NAME)
    overrides = {"data_dir": str(tmp_path)}
    resource = run_settings(load_settings(overrides), overrides)

    with dg.build_resources({"settings": resource}), pytest.raises(Timeout):
        lock.acquire(timeout=0)

    with lock.acquire(timeout=0):
        assert lock.is_locked, "free again after the run"


def test_the_engine_is_opened_once_and_only_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three assets ask the corpus; each opening loads the vectors and the models again."""
    opened: list[Settings] = []

    def counting(settings: Settings, connections: Connections) -> Engine:
        opened.append(settings)
        return Engine(settings, connections)

    monkeypatch.setattr(resources, "open_engine", counting)
    overrides = {"data_dir": str(tmp_path)}
    settings = run_settings(load_settings(overrides), overrides)
    with dg.build_resources(
        {"settings": settings, "models": run_models, "engine": run_engine}
    ) as built:
        n_before = len(opened)
        engines = {id(built.engine()) for _ in range(3)}

    assert (n_before, len(opened), len(engines)) == (0, 1, 1)


def test_a_run_is_tagged_with_what_its_models_cost(tmp_path: Path) -> None:
    """What the last night cost would have to be added up from the pages of four assets."""

    @dg.asset(required_resource_keys={"models"})
    def asks(context: dg.AssetExecutionContext) -> None:
        context.resources.models.budget.charge(Usage(1, 10, 5, 0.25))

    overrides = {"data_dir": str(tmp_path)}
    resources = {
        "settings": run_settings(load_settings(overrides), overrides),
        "models": run_models,
    }
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        made = dg.materialize([asks], resources=resources, instance=instance)
        run = instance.get_run_by_id(made.run_id)

    assert run.tags["rag_assets/cost_usd"] == "0.2500"
