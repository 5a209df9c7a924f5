"""How far a run is, read from Dagster's record of it. Dagster is imported when a run is looked at, not before."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # a server imports this module, and Dagster only when a run is asked for
    import dagster as dg

RunState = Literal["queued", "running", "succeeded", "failed"]
StepState = Literal["waiting", "running", "succeeded", "failed", "skipped"]
_RUN_STATES: dict[str, RunState] = {
    "STARTED": "running",
    "CANCELING": "running",
    "SUCCESS": "succeeded",
    "FAILURE": "failed",
    "CANCELED": "failed",
}
_STEP_STATES: dict[str, StepState] = {
    "STEP_START": "running",
    "STEP_SUCCESS": "succeeded",
    "STEP_FAILURE": "failed",
    "STEP_SKIPPED": "skipped",
}
SEE_UI = "The reason is in the Dagster UI (rag-assets ui)."


@dataclass(frozen=True)
class RunProgress:
    """How far a run is."""

    run_id: str
    state: RunState
    steps: dict[str, StepState] = field(default_factory=dict)
    """By asset: those that began, in that order, then those that wait; empty before the run begins."""
    message: str = ""
    """How it ended, or what it waits for; a sentence without paths."""
    seconds: float = 0.0
    """Since it began."""

    @property
    def is_over(self) -> bool:
        return self.state in ("succeeded", "failed")


def recorded_progress(instance: "dg.DagsterInstance", run_id: str) -> RunProgress | None:
    """The progress of a run that has begun; None for one that has not. Ends the run first if its process was killed."""
    from rag_assets.pipeline.assets.run_liveness import end_dead_runs

    run = instance.get_run_by_id(run_id)
    if run is None:
        return None
    if not run.is_finished:
        end_dead_runs(instance)
    record = instance.get_run_record_by_id(run_id)
    if record is None:
        return None
    events = [entry.dagster_event for entry in instance.all_logs(run_id) if entry.dagster_event]
    begun = {event.step_key: state for event in events if (state := _STEP_STATES.get(event.event_type_value))}
    planned = [event.asset_key for event in events if event.event_type_value == "ASSET_MATERIALIZATION_PLANNED"]
    waiting: dict[str, StepState] = {
        name: "waiting" for key in planned if key and (name := key.to_user_string()) not in begun
    }
    status = record.dagster_run.status.value
    return RunProgress(
        run_id,
        _RUN_STATES.get(status, "queued"),
        {asset: state for asset, state in begun.items() if asset} | waiting,
        _message(status, events) if record.dagster_run.is_finished else "",
        round((record.end_time or time()) - record.start_time, 1) if record.start_time else 0.0,
    )


def _message(status: str, events: Sequence["dg.DagsterEvent"]) -> str:
    """How the run ended, for readers who must not see paths."""
    from rag_assets.pipeline.assets.run_liveness import KILLED

    if status == "CANCELED":
        return "The run was ended by a signal; what was finished is kept."
    if status == "FAILURE":
        checks = [e.asset_check_evaluation_data for e in events if e.event_type_value == "ASSET_CHECK_EVALUATION"]
        withheld = [check.metadata["promise"].value for check in checks if check.blocking and not check.passed]
        if withheld:
            return f"Nothing new was published: {withheld[0]} {SEE_UI}"
        return KILLED if any(event.message == KILLED for event in events) else f"The run failed. {SEE_UI}"
    made = [e.step_materialization_data.materialization for e in events if e.is_step_materialization]
    facts = next((one.metadata for one in made if one.asset_key.to_user_string() == "parsed_index"), {})
    counts = {name: facts[f"n_{name}"].value if facts else 0 for name in ("added", "changed", "removed")}
    return "Papers: " + ", ".join(f"{n} {name}" for name, n in counts.items()) + "."
