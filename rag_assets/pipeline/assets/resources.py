"""The resources of a run: its settings, connections to models behind an API, where papers are worked
on, and the engine that asks the corpus."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from functools import cache
from typing import Any

import dagster as dg

from rag_assets.core.settings import Settings
from rag_assets.core.workforce.workforce import Workforce, open_workforce
from rag_assets.engine import Engine, open_engine
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets.launchpad import (
    checked_at_launch,
    launchpad_schema,
    settings_of_run,
)
from rag_assets.pipeline.runs.begun import COST_TAG, begun

OpenEngine = Callable[[], Engine]
"""Opens the engine of a run at the first call; the same one afterwards."""


def run_settings(
    now: Settings, overrides: Mapping[str, Any] | None = None
) -> dg.ResourceDefinition:
    """Settings with the launchpad's values on top of `overrides`, file and environment. Every run
    has them, so it begins and ends with them.

    now: the settings as they are when the definitions load, which the launchpad shows.
    """
    shown = now.model_dump(mode="json")

    @dg.resource(config_schema=dg.Field(dict))
    def settings(context: dg.InitResourceContext) -> Iterator[Settings]:
        loaded = settings_of_run(context.resource_config or {}, shown, overrides)
        with begun(context.instance, context.run, loaded):
            yield loaded

    return settings.configured(
        checked_at_launch(now, overrides),
        config_schema=launchpad_schema(now),
        description="Settings; what is given here wins for this run.",
    )


@dg.resource(
    required_resource_keys={"settings"},
    description="Connections to models behind an API; one budget.",
)
def run_models(context: dg.InitResourceContext) -> Iterator[Connections]:
    """The connections, and with them the budget, that all assets of a run share. What they spent is
    a tag of the run."""
    settings: Settings = context.resources.settings
    with Connections(settings.model_access) as connections:
        yield connections
        cost_usd = connections.budget.spent.cost_usd
    if cost_usd is not None and context.run and context.instance:
        context.instance.add_run_tags(context.run.run_id, {COST_TAG: f"{cost_usd:.4f}"})


@dg.resource(required_resource_keys={"settings"}, description="Where the work on papers is done.")
def run_workforce(context: dg.InitResourceContext) -> Iterator[Workforce]:
    """The processes, or the connection to a cluster, that all assets of a run share; opened when
    they are needed."""
    settings: Settings = context.resources.settings
    with closing(open_workforce(settings.execution)) as workforce:
        yield workforce


@dg.resource(
    required_resource_keys={"settings", "models"},
    description="Asks the corpus; opened once, when needed.",
)
def run_engine(context: dg.InitResourceContext) -> Iterator[OpenEngine]:
    """The engine that all assets of a run share; the first one that asks opens it, after the
    indexes are made."""
    settings, models = context.resources.settings, context.resources.models
    with ExitStack() as closing:
        yield cache(lambda: closing.enter_context(open_engine(settings, models)))
