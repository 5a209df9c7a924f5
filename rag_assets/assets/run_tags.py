"""Tags that tell the runs of a history apart: which data folder a run wrote, and how it was started."""

from pathlib import Path

import dagster as dg

DATA_DIR_TAG = "rag_assets/data_dir"
STARTED_BY_TAG = "rag_assets/started_by"
_STARTERS = {"dagster/schedule_name": "schedule", "dagster/sensor_name": "sensor"}
"""Tags that Dagster gives the runs of schedules and sensors, and how we call them."""


def tag_run(context: dg.InitResourceContext, data_dir: Path) -> None:
    """Record with the run what it writes and who started it, once it is known; the command line has said so before.

    A run that is started again from the UI inherits the tags of the first one, which are not true of it.
    """
    if context.run is None or context.instance is None:
        return
    tags = {DATA_DIR_TAG: str(data_dir.absolute())}
    if STARTED_BY_TAG not in context.run.tags or context.run.parent_run_id:
        tags[STARTED_BY_TAG] = _starter(context.run)
    context.instance.add_run_tags(context.run.run_id, tags)


def _starter(run: dg.DagsterRun) -> str:
    named = [f"{kind} {run.tags[tag]}" for tag, kind in _STARTERS.items() if tag in run.tags]
    return named[0] if named and not run.parent_run_id else "ui"
