"""Dagster's history of a data folder, which of its runs are alive, and which may write the folder.

The history is inside the data folder, so that the plots and checks of two folders never mix. A run
whose process was killed stays "started" in it, and an instance that starts one run at a time would
wait for it for ever. So each run of the command line and of the server holds a lock of the
operating system while it lives or waits to begin. The next run, and the sensor, end the runs whose
lock is free.

The right to write is `core.incremental.only_writer` on a folder that one machine writes. Locks of
files are not reliable on disks that machines share; where Dagster keeps its history in Postgres,
that database decides as well.
"""

import hashlib
import logging
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from rag_assets.core.errors import BusyDataFolder, InvalidSettings, ReadOnlyFolder
from rag_assets.core.full_disk import full_disk_told
from rag_assets.core.incremental import only_writer, write_atomically
from rag_assets.core.settings import Paths

if TYPE_CHECKING:  # finding the folder needs no Dagster, and importing it takes a second
    import dagster as dg


logger = logging.getLogger(__name__)
HOME_VARIABLE = "DAGSTER_HOME"
_CONFIG_NAME = "dagster.yaml"
_OPENING_LOCK = "opening.lock"
_READERS = ("dagster", "dagster_shared", "yaml")
"""Packages whose errors, of many classes, tell that the configuration cannot be used."""


def dagster_home(paths: Paths) -> Path:
    """The folder of the Dagster instance, absolute, made when it is missing: DAGSTER_HOME, else
    inside the data folder.

    Raises ReadOnlyFolder when it cannot be made or written, and DiskFull.
    """
    chosen = os.environ.get(HOME_VARIABLE)
    home = (Path(chosen) if chosen else paths.dagster).absolute()
    config = home / _CONFIG_NAME
    ours = files("rag_assets").joinpath(_CONFIG_NAME).read_bytes()
    with full_disk_told(home):
        try:
            home.mkdir(parents=True, exist_ok=True)
            with FileLock(home / _OPENING_LOCK):  # two processes may begin together
                if not config.exists() or (not chosen and _is_cut_short(config.read_bytes(), ours)):
                    write_atomically(config, ours)
        except OSError as error:
            raise ReadOnlyFolder.at(home) from error
    if not os.access(home, os.W_OK):
        raise ReadOnlyFolder.at(home)
    return home


def _is_cut_short(content: bytes, whole: bytes) -> bool:
    """Whether a full disk left a part of the file, or nothing: with its defaults, Dagster calls
    home."""
    return len(content) < len(whole) and whole.startswith(content.rstrip(b"\0"))


def opened_instance(home: Path) -> "dg.DagsterInstance":
    """The instance. Raises InvalidSettings for a dagster.yaml that cannot be used, DiskFull.

    At the first opening Dagster makes its tables, which two processes must not do at once.
    """
    import dagster as dg

    with full_disk_told(home), FileLock(home / _OPENING_LOCK):
        try:
            instance = dg.DagsterInstance.from_config(str(home))
        except Exception as error:
            is_of_reader = type(error).__module__.partition(".")[0] in _READERS
            if not (is_of_reader or isinstance(error, UnicodeDecodeError)):
                raise  # of the database
            raise InvalidSettings(
                f"Dagster cannot use {home / _CONFIG_NAME}. Mend it, or delete it to have it made anew: {error}"
            ) from error
        instance.get_run_ids(limit=1)
    return instance


KILLED = "The process of this run was killed; what it had published stays, and the next run goes on from there."
_FOLDER = "command_line_runs"


@contextmanager
def recorded_as_alive(instance: "dg.DagsterInstance", run_id: str) -> Iterator[None]:
    """Hold the lock of a new run within the block; the runs of dead processes are ended first."""
    end_dead_runs(instance)
    folder = _folder(instance)
    folder.mkdir(exist_ok=True)
    lock = FileLock(folder / f"{run_id}.lock")
    with lock:
        yield
        Path(lock.lock_file).unlink(missing_ok=True)


def is_alive(instance: "dg.DagsterInstance", run_id: str) -> bool:
    """Whether a process works on a run or waits to begin it."""
    for file in _folder(instance).glob("*.lock"):
        if file.stem == run_id:
            try:
                with FileLock(file, timeout=0):
                    return False
            except Timeout:
                return True
    return False


def has_living_runs(instance: "dg.DagsterInstance") -> bool:
    """Whether a process of the command line or of the server runs, or waits to begin."""
    return any(is_alive(instance, file.stem) for file in _folder(instance).glob("*.lock"))


def end_dead_runs(instance: "dg.DagsterInstance") -> None:
    """Mark as failed the runs that killed processes left "started"."""
    for file in _folder(instance).glob("*.lock"):
        with suppress(Timeout), FileLock(file, timeout=0):
            run = instance.get_run_by_id(file.stem)
            if run and not run.is_finished:
                instance.report_run_failed(run, KILLED)
            file.unlink(missing_ok=True)


def _folder(instance: "dg.DagsterInstance") -> Path:
    return Path(instance.root_directory) / _FOLDER


_LOOK_EVERY_S = 0.5


@contextmanager
def only_run(
    instance: "dg.DagsterInstance | None", data_dir: Path, *, patience_s: float
) -> Iterator[None]:
    """Hold the right to write a data folder within the block, waiting up to `patience_s` for the
    run that has it.

    Runs of several machines must have the folder at the same path. A killed run holds nothing.
    Raises BusyDataFolder.
    """
    with ExitStack() as held:
        if instance and hasattr(
            instance.run_storage, "postgres_url"
        ):  # dagster_postgres is an optional dependency
            connection = held.enter_context(instance.run_storage.connect())  # type: ignore[attr-defined]
            _lock(connection, data_dir, patience_s)
        held.enter_context(only_writer(data_dir, patience_s=patience_s))
        yield


def _lock(connection: Any, data_dir: Path, patience_s: float) -> None:
    """Take an advisory lock, which PostgreSQL gives back when the connection ends, however it ends.

    Source: PostgreSQL documentation, 13.3.5 "Advisory Locks" and 9.28.10 for
    `pg_try_advisory_lock`: a signed number of 64 bits.
    """
    name = hashlib.sha256(f"rag_assets {data_dir.resolve()}".encode()).digest()[:8]
    key = int.from_bytes(name, "big", signed=True)
    deadline = time.monotonic() + patience_s
    while not connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({key})").scalar():
        if time.monotonic() >= deadline:
            raise BusyDataFolder.at(data_dir)
        time.sleep(_LOOK_EVERY_S)
    # the lock is the session's; an open transaction would hold back the database's cleaning
    connection.commit()
