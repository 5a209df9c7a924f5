"""When assets run by themselves: the jobs, the sensor for papers and questions, and the nightly schedule.

Both start the job `everything`; no asset has an automation condition. They read the settings at every tick, so wrong
settings fail the tick with the reason, while the definitions still load.
"""

import json
import logging
from collections.abc import Mapping
from typing import Any

import dagster as dg

from rag_assets.core.errors import MissingInput
from rag_assets.core.settings import AutomationSettings, Settings, load_settings
from rag_assets.pipeline.assets.sources import known_versions, news, observed_versions
from rag_assets.pipeline.runs.history import end_dead_runs

logger = logging.getLogger(__name__)
EVERYTHING = "everything"
_SENSOR_INTERVAL_S = 60
NOTHING_RAN = (
    "Nothing was run over this data folder yet. Materialize everything once, here or with `rag-assets run`; from then "
    "on, a paper or a question that is added, changed or deleted starts a run."
)

everything_job = dg.define_asset_job(
    EVERYTHING,
    selection=dg.AssetSelection.all(),
    description="Bring every asset up to date, the smoke evaluation included; what did not change costs nothing.",
)
JOBS = [
    everything_job,
    dg.define_asset_job(
        "build_index",
        selection=dg.AssetSelection.assets("index_meta").upstream(),
        description="Bring the indexes and what they are made of up to date: papers can be asked about afterwards.",
    ),
    dg.define_asset_job(
        "nightly_qa",
        selection=dg.AssetSelection.assets("smoke_eval").upstream(),
        description="Answer and judge the questions of the question file, as each night does; write no reports.",
    ),
]


def corpus_sensor(overrides: Mapping[str, Any] | None) -> dg.SensorDefinition:
    """The sensor that looks for new, changed and deleted papers and questions, on from the start."""

    @dg.sensor(
        name="corpus_sensor",
        job=everything_job,
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=_SENSOR_INTERVAL_S,
        description="Asks for one run when papers or questions are added, changed or deleted.",
    )
    def look(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        end_dead_runs(context.instance)
        return look_for_changes(load_settings(overrides), known_versions(context.instance), context.cursor)

    return look


def look_for_changes(settings: Settings, known: Mapping[str, str], cursor: str | None) -> dg.SensorResult:
    """One look at the data folder, at most one run request.

    known: the versions reported to Dagster last, by the sensor or by a run. cursor: the versions that the last look
    found. A run is requested if the versions found are neither. The first look at a folder without any run
    requests none, since a whole build may take long and cost money.
    """
    try:
        found = observed_versions(settings)
    except MissingInput as error:
        return dg.SensorResult(skip_reason=str(error), cursor=cursor)
    seen = json.loads(cursor) if cursor else None
    if found in (seen, known):
        return dg.SensorResult(skip_reason="No paper and no question changed.", cursor=json.dumps(found))
    events = news(settings, found, known)
    if seen is None and not known:
        return dg.SensorResult(skip_reason=NOTHING_RAN, cursor=json.dumps(found), asset_events=events)
    return dg.SensorResult(run_requests=[dg.RunRequest()], cursor=json.dumps(found), asset_events=events)


def nightly_schedule(when: AutomationSettings, overrides: Mapping[str, Any] | None) -> dg.ScheduleDefinition:
    """The schedule that brings everything up to date each night, on from the start."""
    try:
        return _schedule(when, overrides)
    except dg.DagsterInvalidDefinitionError as error:
        logger.warning("The nightly schedule runs at its default time: %s", error)
        return _schedule(AutomationSettings(), overrides)


def _schedule(when: AutomationSettings, overrides: Mapping[str, Any] | None) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="nightly_schedule",
        job=everything_job,
        cron_schedule=when.nightly_cron,
        execution_timezone=when.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Brings every asset up to date; on an unchanged corpus no model is called.",
    )
    def nightly() -> dg.RunRequest:
        wanted = load_settings(overrides).automation
        if (wanted.nightly_cron, wanted.timezone) != (when.nightly_cron, when.timezone):
            logger.warning("automation.nightly_cron or its timezone has changed or is wrong; reload the definitions.")
        return dg.RunRequest()

    return nightly
