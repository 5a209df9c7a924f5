"""What assets are handed: the settings of this run, with them the right to write the data folder, and connections to
models behind an API."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import dagster as dg

from rag_assets.answering.models import require_models
from rag_assets.assets.run_tags import tag_run
from rag_assets.data_folder import demand_writable
from rag_assets.embedding.providers import require_embedder
from rag_assets.hosted.connections import Connections
from rag_assets.incremental import only_writer
from rag_assets.question_sets import check_questions
from rag_assets.settings import Settings, StageSettings, load_settings

_PATIENCE_S = 6 * 3600
_EMBEDDING_ASSETS = {"passages", "embeddings", "chroma_index", "index_meta", "qa", "smoke_eval"}


def run_settings(overrides: Mapping[str, Any] | None = None) -> dg.ResourceDefinition:
    """Settings with the launchpad's values on top of `overrides`, file and environment.

    One run at a time writes a data folder, whoever started it.
    """

    @dg.resource(config_schema=_launchpad_schema(), description="Settings; what is given here wins for this run.")
    def settings(context: dg.InitResourceContext) -> Iterator[Settings]:
        loaded = load_settings(_merged(overrides or {}, context.resource_config or {}))
        tag_run(context, loaded.data_dir)
        check_questions(loaded, _selected(context))
        _check_models(loaded, _selected(context))
        demand_writable(loaded.paths)
        with only_writer(loaded.data_dir, patience_s=_PATIENCE_S):
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
    if assets is None or "qa" in assets:
        require_models(settings)
    if assets is None or _EMBEDDING_ASSETS & set(assets):
        require_embedder(settings.embedding, settings.paths.models, settings.model_access)


def _selected(context: dg.InitResourceContext) -> Collection[str] | None:
    """The assets of this run; None is all of them. A selection is empty, or absent, where everything is meant."""
    if context.run is None:
        return None
    chosen = {key.to_user_string() for key in context.run.asset_selection or ()}
    return chosen or context.run.step_keys_to_execute


def _launchpad_schema() -> dict[str, dg.Field]:
    """One permissive field per group of settings; the values are checked by the settings themselves.

    The data folder cannot be set here: the history that the UI shows belongs to one folder.
    """
    fields: dict[str, dg.Field] = {}
    for name, info in Settings.model_fields.items():
        if name == "data_dir":
            continue
        is_group = isinstance(info.annotation, type) and issubclass(info.annotation, StageSettings)
        described = info.description or (info.annotation.__doc__ if is_group and info.annotation else None)
        fields[name] = dg.Field(dict if is_group else dg.StringSource, is_required=False, description=described)
    return fields


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`above` wins; groups are merged field by field."""
    result = dict(below)
    for name, value in above.items():
        old = result.get(name)
        result[name] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result
