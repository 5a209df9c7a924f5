"""What assets are handed: the settings of this run, with them the right to write the data folder, and connections to
models behind an API."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import dagster as dg

from rag_assets.answering.models import require_models
from rag_assets.assets.launchpad import launchpad_schema
from rag_assets.assets.sources import known_versions, news, observed_versions
from rag_assets.data_folder import demand_writable
from rag_assets.embedding.providers import require_embedder
from rag_assets.embedding.sparse_vectors import open_sparse_vectors
from rag_assets.errors import MissingInput
from rag_assets.hosted.connections import Connections
from rag_assets.hosted.prices import require_model
from rag_assets.incremental import only_writer
from rag_assets.paper_summaries.summarizers import model_name as paper_summary_model
from rag_assets.question_sets import check_questions
from rag_assets.retrieval.queries import require_query_model
from rag_assets.settings import Settings, load_settings
from rag_assets.summaries.summarizer import NO_MODEL, model_name

DATA_DIR_TAG = "rag_assets/data_dir"
STARTED_BY_TAG = "rag_assets/started_by"
_STARTERS = {"dagster/schedule_name": "schedule", "dagster/sensor_name": "sensor"}
"""Tags that Dagster gives the runs of schedules and sensors, and how we call them."""
_PATIENCE_S = 30
"""Runs of one instance are queued; only a run of another instance, or one that is just ending, can hold the folder."""
_EMBEDDING_ASSETS = {"passages", "embeddings", "chroma_index", "index_meta", "qa", "reports", "smoke_eval"}
_ANSWERING_ASSETS = {"qa", "reports"}


def run_settings(overrides: Mapping[str, Any] | None = None) -> dg.ResourceDefinition:
    """Settings with the launchpad's values on top of `overrides`, file and environment.

    Before the first asset of a run: what is wrong with settings, questions, keys or the data folder ends it; the
    papers, questions and templates are observed; the folder is locked against another writer.
    """

    @dg.resource(config_schema=launchpad_schema(), description="Settings; what is given here wins for this run.")
    def settings(context: dg.InitResourceContext) -> Iterator[Settings]:
        loaded = load_settings(_merged(overrides or {}, context.resource_config or {}))
        _tag_run(context, loaded.data_dir)
        check_questions(loaded, _selected(context))
        _check_models(loaded, _selected(context))
        demand_writable(loaded.paths)
        with only_writer(loaded.data_dir, patience_s=_PATIENCE_S):
            _observe_sources(context, loaded)
            yield loaded

    return settings


def run_models() -> dg.ResourceDefinition:
    """The connections to models behind an API that one run shares, and with them its budget."""

    @dg.resource(required_resource_keys={"settings"}, description="Connections to models behind an API; one budget.")
    def models(context: dg.InitResourceContext) -> Iterator[Connections]:
        settings: Settings = context.resources.settings
        with Connections(settings.model_access) as connections:
            yield connections

    return models


def _check_models(settings: Settings, assets: Collection[str] | None) -> None:
    """A missing key must end the run before its first asset, not after an hour of embedding."""
    if assets is None or _ANSWERING_ASSETS & set(assets):
        require_models(settings)
        require_query_model(settings)
    if settings.summaries.model != NO_MODEL and (assets is None or "summaries" in assets):
        require_model(model_name(settings.summaries), settings.model_access)
    if settings.paper_summaries.model != NO_MODEL and (assets is None or "paper_summaries" in assets):
        require_model(paper_summary_model(settings.paper_summaries), settings.model_access)
    if assets is None or _EMBEDDING_ASSETS & set(assets):
        require_embedder(settings.embedding, settings.paths.models, settings.model_access)
        open_sparse_vectors(settings)


def _selected(context: dg.InitResourceContext) -> Collection[str] | None:
    """The assets of this run; None is all of them. A selection is empty, or absent, where everything is meant."""
    if context.run is None:
        return None
    chosen = {key.to_user_string() for key in context.run.asset_selection or ()}
    return chosen or context.run.step_keys_to_execute


def _tag_run(context: dg.InitResourceContext, data_dir: Path) -> None:
    """Record with the run what it writes and who started it; the command line has said so before.

    A run that is started again from the UI inherits the tags of the first one, which are not true of it.
    """
    run = context.run
    if run is None or context.instance is None:
        return
    tags = {DATA_DIR_TAG: str(data_dir.absolute())}
    if STARTED_BY_TAG not in run.tags or run.parent_run_id:
        named = [f"{kind} {run.tags[tag]}" for tag, kind in _STARTERS.items() if tag in run.tags]
        tags[STARTED_BY_TAG] = named[0] if named and not run.parent_run_id else "ui"
    context.instance.add_run_tags(run.run_id, tags)


def _observe_sources(context: dg.InitResourceContext, settings: Settings) -> None:
    """Tell Dagster which papers and questions this run reads; that they are missing is said by the asset that reads
    them."""
    if context.instance is None:
        return
    with suppress(MissingInput):
        for event in news(settings, observed_versions(settings), known_versions(context.instance)):
            context.instance.report_runless_asset_event(event)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`above` wins; groups are merged field by field."""
    result = dict(below)
    for name, value in above.items():
        old = result.get(name)
        result[name] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result
