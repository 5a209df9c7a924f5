"""Telling runs of the command line and of the server that live from those whose process was killed.

A killed run stays "started" in Dagster's history, and an instance that lets one run at a time start would wait for it
for ever. Each of these runs therefore holds a lock of the operating system while it lives or waits to begin; the next
one, and the sensor, end the runs whose lock is free.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import dagster as dg
from filelock import FileLock, Timeout

KILLED = "The process of this run was killed; what it had published stays, and the next run goes on from there."
_FOLDER = "command_line_runs"


@contextmanager
def recorded_as_alive(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """The new run is locked while this process lives; ends the runs of dead processes first."""
    end_dead_runs(instance)
    folder = _folder(instance)
    folder.mkdir(exist_ok=True)
    lock = FileLock(folder / f"{run_id}.lock")
    with lock:
        yield
        Path(lock.lock_file).unlink(missing_ok=True)


def is_alive(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether a process is at work on a run or waits to begin it."""
    for file in _folder(instance).glob("*.lock"):
        if file.stem == run_id:
            try:
                with FileLock(file, timeout=0):
                    return False
            except Timeout:
                return True
    return False


def end_dead_runs(instance: dg.DagsterInstance) -> None:
    """Mark as failed what a killed process left "started"."""
    for file in _folder(instance).glob("*.lock"):
        with suppress(Timeout), FileLock(file, timeout=0):
            run = instance.get_run_by_id(file.stem)
            if run and not run.is_finished:
                instance.report_run_failed(run, KILLED)
            file.unlink(missing_ok=True)


def _folder(instance: dg.DagsterInstance) -> Path:
    return Path(instance.root_directory) / _FOLDER
