"""When assets run by themselves: the jobs, the sensor for papers and questions, the nightly schedule.

They need no declarative automation; that is in `assets.conditions`.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import dagster as dg

from rag_assets.assets.run_liveness import end_dead_runs
from rag_assets.errors import MissingInput
from rag_assets.parsing.discovery import INDEX_NAME, manifest_hash, manifest_of
from rag_assets.parsing.paper_lists import find_papers, list_to_adopt
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


def corpus_sensor(overrides: Mapping[str, Any] | None) -> dg.SensorDefinition:
    """The sensor that looks for new, changed and deleted papers and questions, on from the start.

    Settings are read at every sweep, so that it looks where the next run will look.
    """

    @dg.sensor(
        name="corpus_sensor",
        job=everything_job,
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=load_settings(overrides).automation.sensor_interval_s,
        description="Asks for one run when papers or questions are added, changed or deleted.",
    )
    def sweep(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        end_dead_runs(context.instance)
        return look_for_changes(load_settings(overrides), context.cursor)

    return sweep


def look_for_changes(settings: Settings, cursor: str | None) -> dg.SensorResult:
    """One sweep of the data folder, at most one run request.

    The run key holds a counter besides the manifest's hash: a corpus that is changed and changed back shows a
    manifest Dagster has seen before, and must run again all the same.
    """
    try:
        manifest = _manifest(settings)
    except MissingInput as error:
        return dg.SensorResult(skip_reason=str(error), cursor=cursor)
    seen = _Seen(**json.loads(cursor)) if cursor else _Seen(None, 0)
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
    """State of the papers and the questions. A list of papers may name files anywhere, so those are looked at."""
    paths, named = settings.paths, settings.paper_list_file
    if waiting := list_to_adopt(paths.parsed_index, paths.papers, named):
        return manifest_of([settings.question_file, waiting])
    listing = named or paths.papers / INDEX_NAME
    if named is None and not listing.exists():
        return manifest_hash(paths.papers, listed=[settings.question_file])
    papers = find_papers(paths.papers, named, settings.parsing.limits)
    listed = [file.path for paper in papers for file in paper.files]
    return manifest_of([settings.question_file, listing, *listed])
