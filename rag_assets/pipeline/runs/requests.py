"""Runs that a server asks for after papers came or went, each in a process of its own, and how far
they are.

A run reads the papers when it begins, so all requests until then share it. It waits for the run
before it as a command does, and goes on when the server ends or is killed. How far it is, is read
from Dagster's record of it.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from rag_assets.core.errors import NotFound, ReadOnlyFolder
from rag_assets.core.incremental import make_folder
from rag_assets.core.settings import Settings
from rag_assets.pipeline.runs.locks import (
    KILLED,
    dagster_home,
    end_dead_runs,
    is_alive,
    opened_instance,
)

if TYPE_CHECKING:  # a server starts without Dagster, and imports it when a run is asked for
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
class RunStep:
    asset: str
    state: StepState


@dataclass(frozen=True)
class RunProgress:
    """How far a run is."""

    run_id: str
    state: RunState
    steps: tuple[RunStep, ...] = ()
    """Those that began, in that order, then those that wait; empty before the run begins."""
    message: str = ""
    """How it ended, or what it waits for; a sentence without paths."""
    seconds: float = 0.0
    """Since it began."""

    @property
    def is_over(self) -> bool:
        return self.state in ("succeeded", "failed")


def recorded_progress(instance: "dg.DagsterInstance", run_id: str) -> RunProgress | None:
    """The progress of a run that has begun; None for one that has not. Ends the run first if its
    process was killed."""
    run = instance.get_run_by_id(run_id)
    if run is None:
        return None
    if not run.is_finished:
        end_dead_runs(instance)
    record = instance.get_run_record_by_id(run_id)
    if record is None:
        return None
    events = [entry.dagster_event for entry in instance.all_logs(run_id) if entry.dagster_event]
    begun = {
        event.step_key: state
        for event in events
        if (state := _STEP_STATES.get(event.event_type_value))
    }
    planned: dict[str | None, StepState] = {
        event.asset_key.to_user_string(): "waiting"
        for event in events
        if event.event_type_value == "ASSET_MATERIALIZATION_PLANNED" and event.asset_key
    }
    status = record.dagster_run.status.value
    return RunProgress(
        run_id,
        _RUN_STATES.get(status, "queued"),
        tuple(RunStep(asset, state) for asset, state in (begun | planned | begun).items() if asset),
        _message(status, events) if record.dagster_run.is_finished else "",
        round((record.end_time or time()) - record.start_time, 1) if record.start_time else 0.0,
    )


def _message(status: str, events: Sequence["dg.DagsterEvent"]) -> str:
    """How the run ended, for readers who must not see paths."""
    if status == "CANCELED":
        return "The run was ended by a signal; what was finished is kept."
    if status == "FAILURE":
        withheld = [
            check.metadata["promise"].value
            for event in events
            if event.event_type_value == "ASSET_CHECK_EVALUATION"
            and (check := event.asset_check_evaluation_data).blocking
            and not check.passed
        ]
        if withheld:
            return f"Nothing new was published: {withheld[0]} {SEE_UI}"
        return (
            KILLED
            if any(event.message == KILLED for event in events)
            else f"The run failed. {SEE_UI}"
        )
    counts: dict[str, Any] = dict.fromkeys(("added", "changed", "removed"), 0)
    for event in events:
        if event.is_step_materialization and event.step_key == "parsed_index":
            facts = event.step_materialization_data.materialization.metadata
            counts |= {name: facts[f"n_{name}"].value for name in counts if f"n_{name}" in facts}
    return "Papers: " + ", ".join(f"{n} {name}" for name, n in counts.items()) + "."


_RUN_UP_TO_INDEX = """
import json, os, sys
os.nice(10)  # answers go first: the server runs on the same machine
from rag_assets.pipeline.runs.materialize import materialize
materialize("+examples or +chunk_stats", started_by="rag-assets serve", **json.load(sys.stdin))
"""
"""Answers nothing and evaluates nothing: that may cost money, and would fail for questions about
deleted papers."""
_NOT_BEGUN = "It begins when no other run writes the data folder."
_NEVER_BEGAN = f"The run could not begin. {SEE_UI}"


class RunRequests:
    """Asks for runs over one data folder and tells how far they are; safe to use from several
    threads. To be closed."""

    def __init__(self, settings: Settings) -> None:
        """settings: those of the server, which its runs use too."""
        self._settings = settings
        self._lock = threading.RLock()
        self._closing = ExitStack()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def ask(self) -> str:
        """Ask for a run that reads the papers as they are now. Returns its id, which it shares with
        earlier requests as long as it has not begun. Raises ReadOnlyFolder."""
        with self._lock:
            last = next(reversed(self._processes), None)
            if last and self._processes[last].poll() is None and self._recorded(last) is None:
                return last
            run_id = str(uuid4())
            self._processes[run_id] = _started(run_id, self._settings)
            return run_id

    def progress(self, run_id: str) -> RunProgress:
        """How far a run is. Raises NotFound for one that neither Dagster nor this server knows."""
        with self._lock:
            process = self._processes.get(run_id)
            is_waiting = process.poll() is None if process else is_alive(self._instance, run_id)
            if recorded := self._recorded(run_id):  # it may have begun between the two looks
                return recorded
        if is_waiting:
            return RunProgress(run_id, "queued", message=_NOT_BEGUN)
        if process:
            return RunProgress(run_id, "failed", message=_NEVER_BEGAN)
        raise NotFound("There is no such run. The Dagster UI (rag-assets ui) shows all runs.")

    def close(self) -> None:
        """Look at no more runs; those under way and those that wait go on."""
        self._closing.close()

    def _recorded(self, run_id: str) -> RunProgress | None:
        return recorded_progress(self._instance, run_id)

    @cached_property
    def _instance(self) -> "dg.DagsterInstance":
        return self._closing.enter_context(opened_instance(dagster_home(self._settings.paths)))


def _started(run_id: str, settings: Settings) -> "subprocess.Popen[bytes]":
    """The process of a run, in a session of its own: a Ctrl-C in the terminal of the server does
    not reach it."""
    dagster_home(settings.paths)
    request = {
        "run_id": run_id,
        "settings": settings.model_dump(mode="json", exclude_unset=True, exclude={"server"}),
    }
    search_path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    log = settings.paths.requested_runs
    try:
        make_folder(log.parent)
        messages = log.open("ab")
    except OSError as error:
        raise ReadOnlyFolder.at(log) from error
    with messages:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-P", "-c", _RUN_UP_TO_INDEX],
            stdin=subprocess.PIPE,
            stdout=messages,
            stderr=messages,
            env={**os.environ, "PYTHONPATH": search_path},
            start_new_session=True,
        )
    if process.stdin is None:
        raise ValueError("the process is started with a pipe")
    with process.stdin:
        process.stdin.write(json.dumps(request).encode())
    threading.Thread(target=process.wait, name="run", daemon=True).start()
    return process
