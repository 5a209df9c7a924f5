"""What happens before the first asset of a run: it is tagged, its inputs are checked, its sources are observed."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import dagster as dg

from rag_assets.answering.models import require_models
from rag_assets.answering.paper_summaries.summarizers import model_name as paper_summary_model
from rag_assets.core.errors import MissingInput
from rag_assets.core.settings import Settings
from rag_assets.corpus.summaries.update import NO_MODEL, model_name
from rag_assets.hosted.prices import require_model
from rag_assets.pipeline.assets.sources import known_versions, news, observed_versions
from rag_assets.questions.sets import configured_questions
from rag_assets.search.embedding.providers import require_embedder
from rag_assets.search.embedding.sparse_vectors import open_sparse_vectors
from rag_assets.search.retrieval.queries import require_query_model

DATA_DIR_TAG = "rag_assets/data_dir"
STARTED_BY_TAG = "rag_assets/started_by"
_STARTERS = {"dagster/schedule_name": "schedule", "dagster/sensor_name": "sensor"}
"""Tags that Dagster gives the runs of schedules and sensors, and how we call them."""
_EMBEDDING_ASSETS = {"passages", "embeddings", "chroma_index", "index_meta", "qa", "reports", "smoke_eval"}
_ANSWERING_ASSETS = {"qa", "reports"}


def selected_assets(run: dg.DagsterRun | None) -> Collection[str] | None:
    """The assets of a run; None is all of them. A selection is empty, or absent, where everything is meant."""
    if run is None:
        return None
    chosen = {key.to_user_string() for key in run.asset_selection or ()}
    return chosen or run.step_keys_to_execute


def tag_run(instance: dg.DagsterInstance, run: dg.DagsterRun, data_dir: Path) -> None:
    """Record with the run what it writes and who started it; the command line has said so before.

    A run that is started again from the UI inherits the tags of the first one, which are not true of it.
    """
    tags = {DATA_DIR_TAG: str(data_dir.absolute())}
    if STARTED_BY_TAG not in run.tags or run.parent_run_id:
        named = [f"{kind} {run.tags[tag]}" for tag, kind in _STARTERS.items() if tag in run.tags]
        tags[STARTED_BY_TAG] = named[0] if named and not run.parent_run_id else "ui"
    instance.add_run_tags(run.run_id, tags)


def demand_inputs(settings: Settings, assets: Collection[str] | None) -> None:
    """Raise what is wrong with the questions, models and keys that these assets (None: all) will need.

    A missing key must end the run before its first asset, not after an hour of embedding.
    """
    if assets is None or {"qa", "smoke_eval"} & set(assets):
        configured_questions(settings)
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


def observe_sources(instance: dg.DagsterInstance, settings: Settings) -> None:
    """Tell Dagster which papers, questions and templates the run reads; that they are missing is said by the asset that
    reads them."""
    with suppress(MissingInput):
        for event in news(settings, observed_versions(settings), known_versions(instance)):
            instance.report_runless_asset_event(event)
