"""When assets run by themselves: the jobs, the sensor for papers and questions, the nightly schedule.

They need no declarative automation; that is in `assets.conditions`.
"""

import json
from typing import NamedTuple

import dagster as dg

from rag_assets.parsing.discovery import manifest_hash
from rag_assets.settings import AutomationSettings, Settings, load_settings

EVERYTHING = "everything"
NIGHTLY = "nightly"


everything_job = dg.define_asset_job(
    EVERYTHING,
    selection=dg.AssetSelection.all(),
    description="Bring every asset up to date; what did not change costs nothing.",
)
nightly_job = dg.define_asset_job(
    NIGHTLY,
    selection=dg.AssetSelection.all(),
    description="Bring every asset up to date and run the smoke evaluation.",
)


def corpus_sensor(settings: AutomationSettings) -> dg.SensorDefinition:
    """The sensor that looks for new, changed and deleted papers and questions, on from the start."""

    @dg.sensor(
        name="corpus_sensor",
        job=everything_job,
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=settings.sweep_interval_s,
        description="Asks for one run when papers or questions are added, changed or deleted.",
    )
    def sweep(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        return look_for_changes(load_settings(), context.cursor)

    return sweep


def look_for_changes(settings: Settings, cursor: str | None) -> dg.SensorResult:
    """One sweep of the data folder, at most one run request.

    The run key holds a counter besides the manifest's hash: a corpus that is changed and changed back shows a
    manifest Dagster has seen before, and must run again all the same.
    """
    if not settings.paths.papers.is_dir():
        return dg.SensorResult(skip_reason=f"{settings.paths.papers} is not there; mounted?", cursor=cursor)
    seen = _Seen(**json.loads(cursor)) if cursor else _Seen(None, 0)
    manifest = _manifest(settings)
    if manifest == seen.manifest:
        return dg.SensorResult(skip_reason="No paper and no question changed.", cursor=cursor)
    n_changes = seen.n_changes + 1
    return dg.SensorResult(
        run_requests=[dg.RunRequest(run_key=f"{n_changes}-{manifest}", tags={"rag_assets/manifest": manifest})],
        cursor=json.dumps(_Seen(manifest, n_changes)._asdict()),
    )


class _Seen(NamedTuple):
    """What the last sweep found; the sensor's cursor."""

    manifest: str | None
    n_changes: int


def nightly_schedule(settings: AutomationSettings) -> dg.ScheduleDefinition:
    """The schedule of the nightly job, on from the start."""
    return dg.ScheduleDefinition(
        name="nightly_schedule",
        job=nightly_job,
        cron_schedule=settings.nightly_cron,
        execution_timezone=settings.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )


def _manifest(settings: Settings) -> str:
    beside = [settings.question_file, *([settings.parsed_index] if settings.parsed_index else [])]
    return manifest_hash(settings.paths.papers, listed=beside)
