"""Runs that a server asks for after papers came or went, each in a process of its own.

A run that has not begun will read the papers as they are when it begins, so requests share it. It waits for the run
before it as a command does, and goes on when the server ends or is killed: it publishes whole files only. How far a run
is stands in Dagster's record of it.
"""

import json
import os
import subprocess
import sys
import threading
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from rag_assets.core.errors import NotFound, ReadOnlyFolder
from rag_assets.core.settings import Settings
from rag_assets.pipeline.runs.history import dagster_home, opened_instance
from rag_assets.pipeline.runs.progress import SEE_UI, RunProgress

if TYPE_CHECKING:  # a server starts without Dagster, and imports it when a run is asked for
    import dagster as dg

_RUN_UP_TO_INDEX = """
import json, os, sys
os.nice(10)  # answers go first: the server runs on the same machine
from rag_assets.pipeline.runs.materialize import materialize
materialize("+index_meta", started_by="rag-assets serve", **json.load(sys.stdin))
"""
"""Questions are not answered and nothing is evaluated: that may cost money, and would fail here for questions about
papers that were just deleted."""
_NOT_BEGUN = "It begins when no other run writes the data folder."
_NEVER_BEGAN = f"The run could not begin. {SEE_UI}"


class RunRequests:
    """Asks for runs over one data folder and tells how far they are; safe to use from several threads. To be closed."""

    def __init__(self, settings: Settings) -> None:
        """settings: those of the server, which its runs use too."""
        self._settings = settings
        self._lock = threading.RLock()
        self._closing = ExitStack()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def ask(self) -> str:
        """Ask for a run that reads the papers as they are now. Returns its id, which it shares with earlier requests
        as long as it has not begun. Raises ReadOnlyFolder."""
        with self._lock:
            last = next(reversed(self._processes), None)
            if last and self._processes[last].poll() is None and self._recorded(last) is None:
                return last
            run_id = str(uuid4())
            self._processes[run_id] = _started(run_id, self._settings)
            return run_id

    def progress(self, run_id: str) -> RunProgress:
        """How far a run is. Raises NotFound for one that neither Dagster nor this server knows."""
        from rag_assets.pipeline.assets.run_liveness import is_alive

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
        from rag_assets.pipeline.runs.progress import recorded_progress

        return recorded_progress(self._instance, run_id)

    @cached_property
    def _instance(self) -> "dg.DagsterInstance":
        return self._closing.enter_context(opened_instance(dagster_home(self._settings.paths)))


def _started(run_id: str, settings: Settings) -> "subprocess.Popen[bytes]":
    """The process of a run, in a session of its own: a Ctrl-C in the terminal of the server does not reach it."""
    dagster_home(settings.paths)
    request = {
        "run_id": run_id,
        "settings": settings.model_dump(mode="json", exclude_unset=True, exclude={"server"}),
    }
    search_path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    log = settings.paths.requested_runs
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
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
