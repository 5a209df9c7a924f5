"""What surrounds the assets of every run: it is alive and tagged, its inputs are looked at, the data
folder is its own, and Dagster knows which sources it reads."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import dagster as dg
from opentelemetry import trace

from rag_assets.answering.opening import require_models
from rag_assets.core.errors import MissingInput
from rag_assets.core.settings import Settings
from rag_assets.core.settings.paths import demand_writable
from rag_assets.corpus.summaries.update import NO_MODEL, model_name
from rag_assets.hosted.budget import require_model
from rag_assets.pipeline.assets.sources import known_versions, news, observed_versions
from rag_assets.pipeline.runs.locks import DATA_DIR_TAG, alive_until_its_end, only_run
from rag_assets.questions.files import configured_questions
from rag_assets.search.embedding.providers import require_embedder
from rag_assets.search.embedding.sparse_vectors import open_sparse_vectors
from rag_assets.search.retrieval.queries import require_query_model

STARTED_BY_TAG = "rag_assets/started_by"
COST_TAG = "rag_assets/cost_usd"
"""What the models of a run cost; no run without requests has it."""
_STARTERS = {"dagster/schedule_name": "schedule", "dagster/sensor_name": "sensor"}
"""Tags that Dagster gives the runs of schedules and sensors, and the word for each in our tag."""
_IN_PROCESS = "dg"
"""What starts a run in its own process, past our command line: `dg launch`, or Python."""
_PATIENCE_S = 30
"""Seconds to wait for the data folder. Runs of one instance are queued: only a run of another
instance can hold it, or one that is just ending."""
_tracer = trace.get_tracer("rag_assets")


@contextmanager
def begun(
    instance: dg.DagsterInstance | None, run: dg.DagsterRun | None, settings: Settings
) -> Iterator[None]:
    """What a run does before its first asset, and the lock of the data folder until its last one
    is over.

    Raises what is wrong with the inputs, ReadOnlyFolder, and BusyDataFolder.
    """
    if run and instance:
        alive_until_its_end(instance, run.run_id)
        tag_run(instance, run, settings.data_dir)
    demand_inputs(settings, selected_assets(run))
    demand_writable(settings.paths)
    with (
        only_run(instance, settings.data_dir, patience_s=_PATIENCE_S),
        _tracer.start_span("rag_assets.run"),
    ):
        if instance:
            observe_sources(instance, settings)
        yield


_EMBEDDING_ASSETS = {
    "passages",
    "embeddings",
    "chroma_index",
    "index_meta",
    "examples",
    "qa",
    "reports",
    "smoke_eval",
}
_ANSWERING_ASSETS = {"qa", "reports"}


def selected_assets(run: dg.DagsterRun | None) -> Collection[str] | None:
    """The assets of a run; None means all. Dagster leaves the selection empty or out where all are
    meant."""
    if run is None:
        return None
    chosen = {key.to_user_string() for key in run.asset_selection or ()}
    return chosen or run.step_keys_to_execute


def tag_run(instance: dg.DagsterInstance, run: dg.DagsterRun, data_dir: Path) -> None:
    """Tag a run with the folder it writes and with who started it, unless the command line has done
    so.

    A run that is repeated from the UI inherits the tags of the first run, so it is tagged again.
    """
    tags = {DATA_DIR_TAG: str(data_dir.absolute())}
    if STARTED_BY_TAG not in run.tags or run.parent_run_id:
        named = [f"{kind} {run.tags[tag]}" for tag, kind in _STARTERS.items() if tag in run.tags]
        by_hand = "ui" if run.remote_job_origin else _IN_PROCESS
        tags[STARTED_BY_TAG] = named[0] if named and not run.parent_run_id else by_hand
    instance.add_run_tags(run.run_id, tags)


def demand_inputs(settings: Settings, assets: Collection[str] | None) -> None:
    """Raise what is wrong with the questions, models and keys that these assets (None: all) will
    need.

    A missing key must end the run before its first asset, not after an hour of embedding.
    """
    if assets is None or {"qa", "smoke_eval"} & set(assets):
        configured_questions(settings)
    if assets is None or _ANSWERING_ASSETS & set(assets):
        require_models(settings)
        require_query_model(settings)
    if settings.summaries.model != NO_MODEL and (assets is None or "summaries" in assets):
        require_model(model_name(settings.summaries), settings.model_access)
    if assets is None or _EMBEDDING_ASSETS & set(assets):
        require_embedder(settings.embedding, settings.paths.models, settings.model_access)
        open_sparse_vectors(settings)


def observe_sources(instance: dg.DagsterInstance, settings: Settings) -> None:
    """Tell Dagster which papers, questions and templates the run reads. Missing ones are reported
    by their asset."""
    with suppress(MissingInput):
        for event in news(
            settings, observed_versions(settings), known_versions(instance, settings.data_dir)
        ):
            instance.report_runless_asset_event(event)
