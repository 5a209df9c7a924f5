"""What assets are handed: the settings of this run, connections to models behind an API, and the engine that asks the
corpus."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from typing import Any

import dagster as dg

from rag_assets.core.incremental import only_writer
from rag_assets.core.settings import Settings, load_settings
from rag_assets.core.settings.paths import demand_writable
from rag_assets.engine import Engine, open_engine
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets.launchpad import changed, launchpad_schema
from rag_assets.pipeline.assets.run_start import demand_inputs, observe_sources, selected_assets, tag_run

OpenEngine = Callable[[], Engine]
"""Opens the engine of a run at the first call; the same one afterwards."""
_PATIENCE_S = 30
"""Runs of one instance are queued; only a run of another instance, or one that is just ending, can hold the folder."""


def run_settings(now: Settings, overrides: Mapping[str, Any] | None = None) -> dg.ResourceDefinition:
    """Settings with the launchpad's values on top of `overrides`, file and environment.

    now: the settings as they are when the definitions load, which the launchpad shows. The data folder is locked
    against another writer for as long as the run has its settings.
    """
    shown = now.model_dump(mode="json")

    @dg.resource(config_schema=launchpad_schema(now), description="Settings; what is given here wins for this run.")
    def settings(context: dg.InitResourceContext) -> Iterator[Settings]:
        loaded = load_settings(_merged(overrides or {}, changed(context.resource_config or {}, shown)))
        if context.run and context.instance:
            tag_run(context.instance, context.run, loaded.data_dir)
        demand_inputs(loaded, selected_assets(context.run))
        demand_writable(loaded.paths)
        with only_writer(loaded.data_dir, patience_s=_PATIENCE_S):
            if context.instance:
                observe_sources(context.instance, loaded)
            yield loaded

    return settings


@dg.resource(required_resource_keys={"settings"}, description="Connections to models behind an API; one budget.")
def run_models(context: dg.InitResourceContext) -> Iterator[Connections]:
    """The connections to models behind an API that one run shares, and with them its budget."""
    settings: Settings = context.resources.settings
    with Connections(settings.model_access) as connections:
        yield connections


@dg.resource(required_resource_keys={"settings", "models"}, description="Asks the corpus; opened once, when needed.")
def run_engine(context: dg.InitResourceContext) -> Iterator[OpenEngine]:
    """The engine that the assets of one run share. The first of them opens it, when the indexes are made."""
    settings, models = context.resources.settings, context.resources.models
    with ExitStack() as closing:
        yield cache(lambda: closing.enter_context(open_engine(settings, models)))


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`above` wins; groups are merged field by field."""
    result = dict(below)
    for name, value in above.items():
        old = result.get(name)
        result[name] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result
