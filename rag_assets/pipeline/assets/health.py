"""Sensors that tell people of runs that failed, and of checks that failed in runs that did not: a missed floor of the
evaluation, quarantined papers, questions that a spent budget left.

They run with the other sensors, and do nothing while `automation.notify` is empty. A check that fails as it did in the
run before is not told again.
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg
from dagster import DagsterEventType

from rag_assets.core.settings import load_settings
from rag_assets.pipeline.notifications import Notice, tell

_MOST_LINES = 20
_MOST_CHARS = 500
_INTERVAL_S = 30
_TOLD = ("n_offenders", "finding")
"""Metadata of a check that say how it failed."""


def health_sensors(overrides: Mapping[str, Any] | None) -> list[dg.SensorDefinition]:
    """One sensor on runs that fail, one on runs that succeed with failed checks."""

    def told(context: dg.RunStatusSensorContext, status: str, title: str) -> dg.SkipReason | None:
        targets = load_settings(overrides).automation.notify
        if not targets:
            return dg.SkipReason("automation.notify is empty: nobody is told.")
        lines = failed_checks(context.instance, context.dagster_run.run_id)
        if status == "failed":
            lines = [_short(context.dagster_event.message or "The run failed."), *lines]
        if not lines:
            return dg.SkipReason("No check failed in another way than before.")
        notice = Notice(title, tuple(lines[:_MOST_LINES]), context.dagster_run.run_id, status)
        missed = tell(notice, targets)
        return dg.SkipReason(f"Not reached: {', '.join(missed)}") if missed else None

    @dg.run_status_sensor(
        run_status=dg.DagsterRunStatus.FAILURE,
        name="failed_runs_sensor",
        minimum_interval_seconds=_INTERVAL_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Tells the people of automation.notify when a run failed.",
    )
    def of_failures(context: dg.RunStatusSensorContext) -> dg.SkipReason | None:
        return told(context, "failed", f"rag_assets: the run of {context.dagster_run.job_name} failed")

    @dg.run_status_sensor(
        run_status=dg.DagsterRunStatus.SUCCESS,
        name="failed_checks_sensor",
        minimum_interval_seconds=_INTERVAL_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Tells the people of automation.notify of checks that failed in a run that succeeded.",
    )
    def of_checks(context: dg.RunStatusSensorContext) -> dg.SkipReason | None:
        return told(context, "warned", f"rag_assets: checks failed in the run of {context.dagster_run.job_name}")

    return [of_failures, of_checks]


def failed_checks(instance: dg.DagsterInstance, run_id: str) -> list[str]:
    """One line per check that failed in a run, without those that failed in the same way the time before."""
    lines = []
    for record in instance.all_logs(run_id, of_type=DagsterEventType.ASSET_CHECK_EVALUATION):
        event = record.get_dagster_event().asset_check_evaluation_data
        if event.passed or _failed_before(instance, event):
            continue
        told = event.metadata.get("finding") or event.metadata.get("promise")
        asset = event.asset_key.to_user_string()
        lines.append(_short(f"{asset} · {event.check_name}: {told.value if told else 'failed'}"))
    return lines


def _failed_before(instance: dg.DagsterInstance, event: dg.AssetCheckEvaluation) -> bool:
    history = instance.event_log_storage.get_asset_check_execution_history(event.asset_check_key, limit=2)
    earlier = [record.event.dagster_event for record in history[1:] if record.event and record.event.dagster_event]
    for one in earlier:
        evaluation = one.asset_check_evaluation_data
        return not evaluation.passed and _how(evaluation) == _how(event)
    return False


def _how(evaluation: dg.AssetCheckEvaluation) -> list[Any]:
    return [found.value if (found := evaluation.metadata.get(name)) else None for name in _TOLD]


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]} …"
