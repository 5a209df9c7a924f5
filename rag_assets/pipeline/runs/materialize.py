"""Runs started from the command line: the same jobs, the same Dagster instance and the same history
as the UI; and how Ctrl-C or SIGTERM ends one.

The first signal lets a command tidy up, the second ends the process at once. Python's signal
handlers run only between two steps of the main thread, and Dagster installs its own while an asset
is made. They handle the first signal, which raises KeyboardInterrupt or Dagster's own exception. A
separate thread counts the signals and ends the process at the second one, even while the main
thread is inside a library.
"""

import logging
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import dagster as dg

from rag_assets.core.errors import (
    InvalidSelection,
    RagAssetsError,
    demand_room,
    disk_full,
    raising_disk_full,
    tells_full_disk,
)
from rag_assets.core.incremental import UpdatePlan, only_writer
from rag_assets.core.settings import Settings, load_settings
from rag_assets.core.settings.paths import demand_writable
from rag_assets.pipeline.assets.automation import EVERYTHING
from rag_assets.pipeline.assets.publishing import NOTICE
from rag_assets.pipeline.assets.resources import STARTED_BY_TAG, demand_inputs, launchpad_values
from rag_assets.pipeline.definitions import build_defs
from rag_assets.pipeline.runs.locks import (
    DATA_DIR_TAG,
    dagster_home,
    end_dead_runs,
    opened_instance,
    recorded_as_alive,
)

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_STOP = b"\0"
_EXIT_OF_SIGNAL = 128


@dataclass
class Interruption:
    """Whether the user has asked for the end of a command."""

    numbers: list[int] = field(default_factory=list)
    """The signals that came, in order."""

    @property
    def number(self) -> int:
        """The first of them; Ctrl-C while it has raised KeyboardInterrupt and is not counted
        yet."""
        return self.numbers[0] if self.numbers else signal.SIGINT

    @property
    def exit_code(self) -> int:
        """The exit code that shells use: 130 after Ctrl-C, 143 after SIGTERM."""
        return _EXIT_OF_SIGNAL + self.number


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Within the block SIGINT and SIGTERM raise KeyboardInterrupt, and a second one ends the
    process at once.

    Outside the main thread, where signals do not arrive, nothing is changed.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = {number: signal.signal(number, signal.default_int_handler) for number in _SIGNALS}
    watcher = threading.Thread(target=_watch, args=(reading, interruption), daemon=True)
    watcher.start()
    former_wakeup = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield interruption
    finally:
        signal.set_wakeup_fd(former_wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.write(writing, _STOP)
        watcher.join()
        os.close(reading)
        os.close(writing)


def _watch(reading: int, interruption: Interruption) -> None:
    """Count the signals that arrive in the pipe, until the block ends."""
    while (received := os.read(reading, 1)) != _STOP:
        if received[0] not in _SIGNALS:
            continue
        interruption.numbers.append(received[0])
        if len(interruption.numbers) == 1:
            sys.stderr.write("\nEnding, and keeping what is done. Once more ends it at once.\n")
            sys.stderr.flush()
        else:
            os._exit(interruption.exit_code)


_REPORTED_OTHERWISE = {
    "DagsterAssetCheckFailedError",
    "Failure",
    "DagsterExecutionInterruptedError",
    "KeyboardInterrupt",
}
PATIENCE_S = 6 * 3600
"""Seconds to wait for another run over the same folder. This run has not begun then, so Dagster's
queue goes on."""
_BARE_NAME = re.compile(r'(?<![\w:"])(?!(?:and|or|not)\b)\w+(?![\w:"(])')


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
    offenders: tuple[Mapping[str, Any], ...]
    """The first rows that break the promise, as short texts by column."""
    finding: str = ""
    """What was found, in a sentence; empty where the check has none."""


@dataclass(frozen=True)
class RunReport:
    run_id: str
    is_success: bool
    assets: tuple[AssetReport, ...]
    broken: tuple[CheckReport, ...]
    errors: tuple[str, ...]
    notices: tuple[str, ...] = ()
    """Why assets were skipped."""
    signal: int | None = None
    """The signal that ended the run early, if one did."""
    left: tuple[str, ...] = ()
    """Assets that an ended run had not finished, the one under way first."""


def materialize(
    selection: str | None,
    settings: Mapping[str, Any],
    *,
    started_by: str = "python",
    run_id: str | None = None,
    demand: Callable[[], object] = lambda: None,
) -> RunReport:
    """Materialize a selection of assets (Dagster's selection syntax; None = everything) in this
    process.

    settings: values that win over file and environment; texts are read as the types of their
    settings. started_by: the command, for the run's tags. run_id: default a new one. demand: raises
    what else must hold before any work. Waits while another run writes the data folder.

    Raises InvalidSelection when the selection names no asset, ReadOnlyFolder when the history of
    the data folder cannot be written, DiskFull, BusyDataFolder after six hours; and, after
    recording a failed run, what is wrong with questions, models and keys that will be needed.
    """
    loaded = load_settings(settings)
    definitions = build_defs(overrides={**settings, "data_dir": str(loaded.data_dir)})
    keys = _selected(definitions, selection) if selection else None
    demand_room(loaded.data_dir)
    demand_writable(loaded.paths)

    def demand_all() -> None:
        demand()
        demand_inputs(loaded, [key.to_user_string() for key in keys] if keys else None)

    result, signal = executed(
        definitions.resolve_job_def(EVERYTHING),
        loaded,
        run_id=run_id or str(uuid4()),
        started_by=started_by,
        asset_selection=keys,
        resources={"settings": {"config": launchpad_values(settings, loaded)}},
        demand=demand_all,
    )
    if result is None:
        return RunReport("", False, (), (), (), signal=signal, left=_left(definitions, keys, []))
    return RunReport(
        run_id=result.run_id,
        is_success=result.success,
        assets=tuple(_asset_reports(result)),
        broken=tuple(_broken_checks(result)),
        errors=tuple(errors_of(result, loaded.data_dir)),
        notices=tuple(_notices(result)),
        signal=signal,
        left=() if signal is None else _left(definitions, keys, result.all_events),
    )


def executed(
    job: dg.JobDefinition,
    settings: Settings,
    *,
    run_id: str,
    started_by: str,
    asset_selection: Sequence[dg.AssetKey] | None = None,
    resources: Mapping[str, Any] | None = None,
    demand: Callable[[], object] = lambda: None,
) -> tuple[dg.ExecuteInProcessResult | None, int | None]:
    """Execute a job in this process, as a run in the history of the data folder, while no other run
    writes the folder.

    Returns its result, None for one that did not begin, and the signal that ended it early, if one
    did. What `demand` raises is raised again, and is the message of a failed run.
    """
    tags = {DATA_DIR_TAG: str(settings.data_dir.absolute()), STARTED_BY_TAG: started_by}
    config = {
        "resources": dict(resources or {}),
        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
    }
    with (
        raising_disk_full(settings.data_dir),
        opened_instance(dagster_home(settings.paths)) as instance,
        interruptible() as interruption,
        ExitStack() as held,
    ):
        try:
            demand()
        except RagAssetsError as error:
            run = instance.create_run_for_job(
                job,
                run_id=run_id,
                run_config=config,
                tags=tags,
                asset_selection=frozenset(asset_selection or ()) or None,
            )
            instance.report_run_failed(run, str(error))
            raise
        end_dead_runs(instance)
        held.enter_context(recorded_as_alive(instance, run_id))
        try:
            held.enter_context(only_writer(settings.data_dir, patience_s=PATIENCE_S))
        except KeyboardInterrupt:
            return None, interruption.number
        held.enter_context(_quiet_database())
        _canceled_by(interruption, instance, run_id)
        result = job.execute_in_process(
            instance=instance,
            run_id=run_id,
            asset_selection=asset_selection,
            tags=tags,
            raise_on_error=False,
            run_config=config,
        )
        if not interruption.numbers or result.success:
            return result, None
        _demand_canceled(instance, run_id)
        return result, interruption.number


@contextmanager
def _quiet_database() -> Iterator[None]:
    """Silence the database library, which prints a signal that arrives while Dagster writes an
    event as an error."""
    logger = logging.getLogger("sqlalchemy.pool")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _canceled_by(interruption: Interruption, instance: dg.DagsterInstance, run_id: str) -> None:
    """Have Dagster record a run that a signal ends as canceled.

    Dagster does so for runs marked as canceling. The step that the signal reaches fails; the
    listener marks the run at that event, before Dagster decides how the run has ended.
    """

    def mark(entry: dg.EventLogEntry) -> None:
        run = (
            instance.get_run_by_id(run_id)
            if entry.dagster_event and entry.dagster_event.is_step_failure
            else None
        )
        if run and interruption.numbers and run.status is dg.DagsterRunStatus.STARTED:
            instance.report_run_canceling(run)

    instance.add_event_listener(run_id, mark)


def _demand_canceled(instance: dg.DagsterInstance, run_id: str) -> None:
    """Record the run as canceled after a signal that came between two steps, or before the
    first."""
    run = instance.get_run_by_id(run_id)
    if run and run.status is not dg.DagsterRunStatus.CANCELED:
        instance.report_run_canceled(run)


def _left(
    definitions: dg.Definitions,
    keys: Sequence[dg.AssetKey] | None,
    events: Sequence[dg.DagsterEvent],
) -> tuple[str, ...]:
    """The assets that were not finished: the one under way first, the others in the order of the
    graph."""
    graph = definitions.resolve_asset_graph()
    wanted = graph.materializable_asset_keys if keys is None else set(keys)
    names = [key.to_user_string() for key in graph.toposorted_asset_keys if key in wanted]
    done = {event.step_key for event in events if event.is_step_success}
    begun = {event.step_key for event in events if event.is_step_start}
    return tuple(
        sorted((name for name in names if name not in done), key=lambda name: name not in begun)
    )


def _selected(definitions: dg.Definitions, selection: str) -> list[dg.AssetKey]:
    graph = definitions.resolve_asset_graph()
    names = {key.to_user_string() for key in graph.materializable_asset_keys}
    try:
        chosen: set[dg.AssetKey] = set()
        with warnings.catch_warnings(
            action="ignore", category=dg.BetaWarning
        ):  # Dagster's own, about its own call
            for part in selection.split(","):
                chosen |= dg.AssetSelection.from_string(_spelled_out(part.strip())).resolve(graph)
    except dg.DagsterError as error:
        raise InvalidSelection(
            f'The selection "{selection}" cannot be used: {error}. Example: "chunks+"'
        ) from error
    if not chosen:
        raise InvalidSelection(
            f'The selection "{selection}" names no asset. Assets: {", ".join(sorted(names))}. Example: "chunks+"'
        )
    return sorted(chosen)


def _spelled_out(selection: str) -> str:
    """`+chunks` becomes `+key:"chunks"`: only then does Dagster read a plus as in its UI, as all
    levels."""
    return _BARE_NAME.sub(r'key:"\g<0>"', selection)


def _asset_reports(result: dg.ExecuteInProcessResult) -> list[AssetReport]:
    seconds = {
        event.step_key: event.step_success_data.duration_ms / 1000
        for event in result.all_events
        if event.is_step_success
    }
    reports = []
    for event in result.get_asset_materialization_events():
        materialization = event.materialization
        facts = UpdatePlan().counts() | {
            name: value.value
            for name, value in materialization.metadata.items()
            if isinstance(value.value, (int, float, str))
            and not isinstance(value, dg.MarkdownMetadataValue)
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
            offenders=_rows(evaluation.metadata["offenders"]),
            finding=_text(evaluation.metadata.get("finding")),
        )
        for evaluation in result.get_asset_check_evaluations()
        if not evaluation.passed
    ]


def _notices(result: dg.ExecuteInProcessResult) -> list[str]:
    observed = [
        event.asset_observation_data.asset_observation
        for event in result.all_events
        if event.event_type is dg.DagsterEventType.ASSET_OBSERVATION
    ]
    return [
        _text(observation.metadata[NOTICE])
        for observation in observed
        if NOTICE in observation.metadata
    ]


def errors_of(result: dg.ExecuteInProcessResult, data_dir: Path) -> list[str]:
    """The messages of failed steps, or of a run that failed before any; a failed guardrail is
    reported as a check."""
    messages: list[str] = []
    for event in result.all_events:
        error = event.step_failure_data.error if event.is_step_failure else None
        if event.is_run_failure and not messages:
            error = event.job_failure_data.error
        if error is None:
            continue
        cause = error.cause or error
        if cause.cls_name not in _REPORTED_OTHERWISE:
            message = (
                str(disk_full(data_dir))
                if tells_full_disk(cause.message)
                else cause.message.strip()
            )
            messages.append(f"{event.step_key or 'run'}: {message}")
    return messages


def _text(value: Any) -> str:
    return "" if value is None else str(value.value)


def _rows(value: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple(record.data for record in value.records)
