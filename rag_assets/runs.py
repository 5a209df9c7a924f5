"""Runs started from the command line: the same jobs, the same Dagster instance and the same history as the UI."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from rag_assets.automation import EVERYTHING
from rag_assets.definitions import build_defs
from rag_assets.errors import InvalidSettings

HOME_VARIABLE = "DAGSTER_HOME"
_BARE = re.compile(r"^(\+?)([\w/]+)(\+?)$")
_INSTANCE_CONFIG = (
    "telemetry:\n  enabled: false\n\nnux:\n  enabled: false\n\nconcurrency:\n  runs:\n    max_concurrent_runs: 1\n"
)


@dataclass(frozen=True)
class AssetReport:
    """What one asset did in a run."""

    asset: str
    facts: Mapping[str, Any]
    """The numbers of its materialization: rows, n_added, n_changed, n_removed, n_unchanged, ..."""
    seconds: float


@dataclass(frozen=True)
class CheckReport:
    """A check that did not pass."""

    asset: str
    check: str
    promise: str
    is_blocking: bool
    n_offenders: int
    offenders: str
    """Markdown table of the first offending rows."""


@dataclass(frozen=True)
class RunReport:
    """How a run ended."""

    run_id: str
    is_success: bool
    assets: tuple[AssetReport, ...]
    broken: tuple[CheckReport, ...]
    errors: tuple[str, ...]


def dagster_home() -> Path:
    """The instance folder: DAGSTER_HOME, or `.dagster` below the working folder, made when it is missing."""
    home = Path(os.environ.get(HOME_VARIABLE) or ".dagster").absolute()
    home.mkdir(parents=True, exist_ok=True)
    config = home / "dagster.yaml"
    if not config.exists():
        config.write_text(_INSTANCE_CONFIG, "utf-8")
    os.environ[HOME_VARIABLE] = str(home)
    return home


def materialize(selection: str | None, settings: Mapping[str, Any]) -> RunReport:
    """Materialize a selection of assets (Dagster's selection syntax; None = everything) in this process.

    settings: values that win over file and environment, as a launchpad would give them. Raises InvalidSettings when
    the selection names no asset.
    """
    dagster_home()
    definitions = build_defs()
    keys = _selected(definitions, selection) if selection else None
    with dg.DagsterInstance.get() as instance:
        result = definitions.resolve_job_def(EVERYTHING).execute_in_process(
            instance=instance,
            asset_selection=keys,
            raise_on_error=False,
            run_config={
                "resources": {"settings": {"config": dict(settings)}},
                "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
            },
        )
    return RunReport(
        run_id=result.run_id,
        is_success=result.success,
        assets=tuple(_asset_reports(result)),
        broken=tuple(_broken_checks(result)),
        errors=tuple(_errors(result)),
    )


def _selected(definitions: dg.Definitions, selection: str) -> list[dg.AssetKey]:
    graph = definitions.resolve_asset_graph()
    try:
        chosen: set[dg.AssetKey] = set()
        for part in selection.split(","):
            chosen |= dg.AssetSelection.from_string(_spelled_out(part.strip())).resolve(graph)
    except (dg.DagsterInvalidAssetSelectionError, dg.DagsterInvalidSubsetError) as error:
        raise InvalidSettings(str(error)) from error
    if not chosen:
        known = ", ".join(sorted(key.to_user_string() for key in graph.get_all_asset_keys()))
        raise InvalidSettings(f'The selection "{selection}" names no asset. Assets: {known}. Example: "chunks+"')
    return sorted(chosen)


def _spelled_out(selection: str) -> str:
    """`+chunks` as `+key:chunks`: only so does Dagster read a plus as "all of them", as in its UI, not as one step."""
    return _BARE.sub(r'\1key:"\2"\3', selection)


def _asset_reports(result: dg.ExecuteInProcessResult) -> list[AssetReport]:
    seconds = {
        event.step_key: event.step_success_data.duration_ms / 1000
        for event in result.all_events
        if event.is_step_success
    }
    reports = []
    for event in result.get_asset_materialization_events():
        materialization = event.materialization
        facts = {
            name: value.value
            for name, value in materialization.metadata.items()
            if isinstance(value.value, (int, float, str)) and not isinstance(value, dg.MarkdownMetadataValue)
        }
        name = materialization.asset_key.to_user_string()
        reports.append(AssetReport(name, facts, seconds.get(event.step_key, 0.0)))
    return reports


def _broken_checks(result: dg.ExecuteInProcessResult) -> list[CheckReport]:
    return [
        CheckReport(
            asset=evaluation.asset_key.to_user_string(),
            check=evaluation.check_name,
            promise=_text(evaluation.metadata.get("promise")),
            is_blocking=evaluation.severity is dg.AssetCheckSeverity.ERROR,
            n_offenders=int(_text(evaluation.metadata.get("n_offenders")) or 0),
            offenders=_text(evaluation.metadata.get("offenders")),
        )
        for evaluation in result.get_asset_check_evaluations()
        if not evaluation.passed
    ]


def _errors(result: dg.ExecuteInProcessResult) -> list[str]:
    """The messages of failed steps; a failed guardrail is reported as a check, not here."""
    messages = []
    for event in result.all_events:
        if not event.is_step_failure or event.step_failure_data.error is None:
            continue
        error = event.step_failure_data.error
        cause = error.cause or error
        if cause.cls_name != "DagsterAssetCheckFailedError":
            messages.append(f"{event.step_key}: {cause.message.strip()}")
    return messages


def _text(value: Any) -> str:
    return "" if value is None else str(value.value)
