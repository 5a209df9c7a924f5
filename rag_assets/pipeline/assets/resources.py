"""What surrounds the assets of a run: it is alive and tagged, its inputs are looked at, the data
folder is its own, and Dagster knows which sources it reads. And the resources of a run: its
settings, connections to models behind an API, where papers are worked on, and the engine that asks
the corpus.

The fields of the launchpad are made from the settings classes. Dagster passes the default of every
field, as it was when the definitions loaded. So a run takes only the values that differ from these
defaults: they must not win over a file or an environment that has changed since.
"""

import types
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import dagster as dg
from opentelemetry import trace
from pydantic import BaseModel

from rag_assets.answering.opening import require_models
from rag_assets.core.errors import InvalidSettings, MissingInput
from rag_assets.core.settings import Settings, load_settings
from rag_assets.core.settings.addresses import value_at
from rag_assets.core.settings.paths import demand_writable
from rag_assets.core.settings.tree import CONFIG_FILE
from rag_assets.core.workforce.workforce import Workforce, open_workforce
from rag_assets.corpus.summaries import NO_MODEL, model_name
from rag_assets.engine import Engine, open_engine
from rag_assets.hosted.budget import require_model
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets.sources import known_versions, news, observed_versions
from rag_assets.pipeline.runs.locks import DATA_DIR_TAG, alive_until_its_end, only_run
from rag_assets.pipeline.runs.versions import take_over
from rag_assets.questions.files import configured_questions
from rag_assets.search.embedding.fastembed_model import open_sparse_vectors
from rag_assets.search.embedding.providers import require_embedder
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
        take_over(settings.paths)
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
    with closing(open_workforce(settings.execution, settings.paths.worker_log)) as workforce:
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


_SCALARS = {bool: dg.Bool, int: dg.Int, float: dg.Float, str: dg.String, Path: dg.String}
_ADDRESSES = ("parsing.grobid", "indexing.qdrant.url", "execution.cluster")
_NOT_OF_RUNS = {"data_dir", "server"}
"""Settings that a run cannot change: the UI shows the history of one folder, and no run uses the
HTTP server."""


def checked_at_launch(
    now: Settings, overrides: Mapping[str, Any] | None
) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """A function that refuses launchpad values that no run could use, and returns others as they
    are.

    Dagster's types know no bounds. It calls the function whenever it plans a run, so a number out
    of bounds is refused before the run is in the queue. Any error but Dagster's own would be shown
    behind a sentence about "an unexpected error".
    """
    shown = now.model_dump(mode="json")

    def checked(given: Mapping[str, Any]) -> Mapping[str, Any]:
        if changed(given, shown):
            try:
                settings_of_run(given, shown, overrides)
            except InvalidSettings as error:
                raise dg.DagsterInvalidConfigError(str(error), [], given) from error  # type: ignore[no-untyped-call]
        return given

    return checked


def settings_of_run(
    given: Mapping[str, Any], shown: Mapping[str, Any], overrides: Mapping[str, Any] | None
) -> Settings:
    """The settings of a run: what was changed in the launchpad, on top of `overrides` (group by
    group), file and environment. Raises InvalidSettings, also for an address: whoever reaches the
    UI, which asks for no password, would choose where keys and papers are sent."""
    change = changed(given, shown)
    for name in _ADDRESSES:
        if value_at(name, change):
            raise InvalidSettings(
                f"{name} cannot be changed in the launchpad: keys and papers are sent there. Write it into "
                f"{CONFIG_FILE}, or use rag-assets run --set {name}=ADDRESS."
            )
    return load_settings({**(overrides or {}), **change})


def launchpad_schema(now: Settings) -> dict[str, dg.Field]:
    """One field per setting of a run; its default is the value in `now`."""
    fields = _fields(now)
    return {name: field for name, field in fields.items() if name not in _NOT_OF_RUNS}


def launchpad_values(given: Mapping[str, Any], loaded: Settings) -> dict[str, Any]:
    """The values of the settings in `given` (texts of a command line, say) as `loaded` has them, in
    launchpad types."""
    of_runs = {name: value for name, value in given.items() if name not in _NOT_OF_RUNS}
    return _typed(of_runs, loaded.model_dump(mode="json"))


def changed(given: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The values in `given` that differ from `now`, the launchpad's defaults.

    Dagster passes the default of every field. The defaults were read when the definitions loaded,
    and must not win over a file or an environment that has changed since.
    """
    result = {}
    for name, value in given.items():
        old = now.get(name)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            if inner := changed(value, old):
                result[name] = inner
        elif value != old:
            result[name] = value
    return result


def _typed(given: Mapping[str, Any], loaded: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _typed(value, loaded[name]) if isinstance(value, Mapping) else loaded[name]
        for name, value in given.items()
    }


def _fields(group: BaseModel, above: str = "") -> dict[str, dg.Field]:
    fields, values = {}, group.model_dump(mode="json")
    for name, info in type(group).model_fields.items():
        inner, path = getattr(group, name), f"{above}{name}"
        if isinstance(inner, BaseModel):
            description = info.description or type(inner).__doc__
            fields[name] = dg.Field(_fields(inner, f"{path}."), description=description)
        else:
            config_type = _config_type(info.annotation, path)
            fields[name] = dg.Field(
                config_type, default_value=values[name], description=info.description
            )
    return fields


def _config_type(annotation: Any, path: str) -> Any:
    """Dagster's type for the annotation of a setting. path: names the type of an enumeration."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        (inner,) = (argument for argument in arguments if argument is not types.NoneType)
        return dg.Noneable(_config_type(inner, path))
    if origin is Annotated:
        return _config_type(arguments[0], path)
    if origin is tuple:
        return [_config_type(arguments[0], path)]
    if origin is dict:
        return dict
    if origin is Literal:
        return _enum(path, arguments)
    if issubclass(annotation, Enum):
        return _enum(path, [member.value for member in annotation])
    return _SCALARS[annotation]


def _enum(path: str, values: Any) -> dg.Enum:
    return dg.Enum(path.replace(".", "_"), [dg.EnumValue(value) for value in values])
