"""Dagster's history of a data folder: where it is kept, how it is opened, which of its runs are
alive, and which may write the folder (locks that a killed process gives back).

The history is inside the data folder, so that the plots and checks of two folders never mix.

A run whose process was killed stays "started" in Dagster's history, and a history that starts one
run at a time would wait for it for ever. So each run, whoever starts it, holds a lock until its end
is recorded: a file beside the history. The UI when it starts, each tick of the sensor and of the
nightly schedule, and each run of the command line end the runs whose lock is free.

The right to write is `core.incremental.only_writer` on a folder that one machine writes. Locks of
files are not reliable on disks that machines share; where Dagster keeps its history in Postgres,
that database decides about both as well.
"""

import hashlib
import logging
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from rag_assets.core.databases import history_databases, set_aside_if_damaged
from rag_assets.core.errors import (
    BusyDataFolder,
    InvalidSettings,
    ReadOnlyFolder,
    raising_disk_full,
)
from rag_assets.core.incremental import make_folder, only_writer, write_atomically
from rag_assets.core.settings import Paths
from rag_assets.core.settings.paths import OPENING_LOCK, says_nothing

if TYPE_CHECKING:  # finding the folder needs no Dagster, and importing it takes a second
    import dagster as dg


logger = logging.getLogger(__name__)
HOME_VARIABLE = "DAGSTER_HOME"
_CONFIG_NAME = "dagster.yaml"
_READERS = ("dagster", "dagster_shared", "yaml")
"""Packages whose errors, of many classes, tell that the configuration cannot be used."""


def dagster_home(paths: Paths) -> Path:
    """The folder of the Dagster instance, absolute, made when it is missing: DAGSTER_HOME, else
    inside the data folder. A dagster.yaml that says nothing is written anew: Dagster would take
    all its defaults, telemetry among them.

    Raises ReadOnlyFolder when it cannot be made or written, and DiskFull.
    """
    chosen = os.environ.get(HOME_VARIABLE)
    home = (Path(chosen) if chosen else paths.dagster).absolute()
    config = home / _CONFIG_NAME
    ours = files("rag_assets").joinpath(_CONFIG_NAME).read_bytes()
    with raising_disk_full(home):
        try:
            make_folder(home)
            with FileLock(home / OPENING_LOCK):  # two processes may begin together
                if says_nothing(config):
                    write_atomically(config, ours)
        except OSError as error:
            raise ReadOnlyFolder.at(home) from error
    if not os.access(home, os.W_OK):
        raise ReadOnlyFolder.at(home)
    return home


def opened_instance(home: Path) -> "dg.DagsterInstance":
    """The instance. Raises InvalidSettings for a dagster.yaml that cannot be used, DiskFull. In
    place of a damaged database a new one is begun, with a warning.

    At the first opening Dagster makes its tables, which two processes must not do at once.
    """
    import dagster as dg

    with raising_disk_full(home), FileLock(home / OPENING_LOCK):
        for database in history_databases(home):
            set_aside_if_damaged(database)
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


def checks_of(instance: "dg.DagsterInstance", run_id: str) -> "list[dg.AssetCheckEvaluation]":
    """The outcomes of the asset checks of a run; none, with a warning, if the file with its events
    is damaged."""
    import dagster as dg
    from sqlalchemy.exc import DatabaseError

    try:
        logged = instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    except DatabaseError as error:
        logger.warning("The events of run %s cannot be read: %s", run_id, error.orig)
        return []
    events = [entry.dagster_event for entry in logged if entry.dagster_event]
    return [event.asset_check_evaluation_data for event in events]


KILLED = "The process of this run was killed; what it had published stays, and the next run goes on from there."
DATA_DIR_TAG = "rag_assets/data_dir"
_FOLDER = "living_runs"
_BEGINS_WITHIN = timedelta(minutes=2)
"""A run that was started so long ago, or by a clock that was set back since, has taken its lock, or
its process is dead."""


@contextmanager
def recorded_as_alive(instance: "dg.DagsterInstance", run_id: str) -> Iterator[None]:
    """Hold the lock of a run within the block. Who holds it may ask again within the same
    thread."""
    folder = _folder(instance)
    folder.mkdir(exist_ok=True)
    lock = FileLock(folder / f"{run_id}.lock", is_singleton=True)
    is_first = not lock.is_locked
    with lock, ExitStack() as held:
        if is_first and _keeps_in_postgres(instance):
            connection = held.enter_context(instance.run_storage.connect())  # type: ignore[attr-defined]
            _has_locked(connection, _run_name(run_id))
        yield


def alive_until_its_end(instance: "dg.DagsterInstance", run_id: str) -> None:
    """Hold the lock of a run of this process until its end is recorded, or the process ends.

    Resources are closed before that, so a block around them would leave a moment in which the run
    seems dead. Raises RuntimeError for a run that was taken for dead because it began too late.
    """
    import dagster as dg

    held = ExitStack()
    held.enter_context(recorded_as_alive(instance, run_id))
    run = instance.get_run_by_id(run_id)
    if run and run.is_finished:
        held.close()
        raise RuntimeError(f"This run began after it was recorded as {run.status.value}.")
    ends = {
        dg.DagsterEventType.RUN_SUCCESS,
        dg.DagsterEventType.RUN_FAILURE,
        dg.DagsterEventType.RUN_CANCELED,
    }

    def free(entry: dg.EventLogEntry) -> None:
        if entry.dagster_event and entry.dagster_event.event_type in ends:
            held.close()

    instance.add_event_listener(run_id, free)


def is_alive(instance: "dg.DagsterInstance", run_id: str) -> bool:
    """Whether a process works on a run or waits to begin it. run_id: any text of a request."""
    if file := _lock_files(instance).get(run_id):
        try:
            with FileLock(file, timeout=0):
                pass
        except Timeout:
            return True
    if not _keeps_in_postgres(instance):
        return False
    with instance.run_storage.connect() as connection:  # type: ignore[attr-defined]
        return not _has_locked(connection, _run_name(run_id))


def living_runs(instance: "dg.DagsterInstance") -> list[str]:
    """The ids of the runs that a process works on, or waits to begin."""
    begun = [record.dagster_run.run_id for record in _unfinished(instance)]
    known = dict.fromkeys([*begun, *_lock_files(instance)])
    return [run_id for run_id in known if is_alive(instance, run_id)]


def end_dead_runs(instance: "dg.DagsterInstance") -> None:
    """Record the end of the runs that killed processes left unfinished: as canceled if the user
    had asked for that, else as failed."""
    import dagster as dg

    for record in _unfinished(instance):
        run = record.dagster_run
        is_late = abs(datetime.now(UTC) - record.update_timestamp) > _BEGINS_WITHIN
        has_begun = run.run_id in _lock_files(instance) or (is_late and _is_ours(run))
        if not has_begun or is_alive(instance, run.run_id):
            continue
        if run.status is dg.DagsterRunStatus.CANCELING:
            instance.report_run_canceled(run, message=KILLED)
        else:
            instance.report_run_failed(run, KILLED)
    for file in _lock_files(instance).values():
        try:
            with FileLock(file, timeout=0):
                file.unlink()
        except Timeout:
            continue


def _unfinished(instance: "dg.DagsterInstance") -> "list[dg.RunRecord]":
    """The runs that have left the queue and have not ended."""
    import dagster as dg

    status = dg.DagsterRunStatus
    statuses = [status.NOT_STARTED, status.STARTING, status.STARTED, status.CANCELING]
    return list(instance.get_run_records(dg.RunsFilter(statuses=statuses)))


def _is_ours(run: "dg.DagsterRun") -> bool:
    """Whether the run is of this project: other projects, whose runs take no lock, may share the
    history."""
    origin = run.job_code_origin
    module = getattr(origin.repository_origin.code_pointer, "module", "") if origin else ""
    return DATA_DIR_TAG in run.tags or module.partition(".")[0] == "rag_assets"


def _folder(instance: "dg.DagsterInstance") -> Path:
    return Path(instance.root_directory) / _FOLDER


def _lock_files(instance: "dg.DagsterInstance") -> dict[str, Path]:
    """By the id of the run."""
    return {file.stem: file for file in _folder(instance).glob("*.lock")}


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
        if instance and _keeps_in_postgres(instance):
            connection = held.enter_context(instance.run_storage.connect())  # type: ignore[attr-defined]
            deadline = time.monotonic() + patience_s
            while not _has_locked(connection, f"rag_assets {data_dir.resolve()}"):
                if time.monotonic() >= deadline:
                    raise BusyDataFolder.at(data_dir)
                time.sleep(_LOOK_EVERY_S)
        held.enter_context(only_writer(data_dir, patience_s=patience_s))
        yield


def _keeps_in_postgres(instance: "dg.DagsterInstance") -> bool:
    """dagster_postgres is an optional dependency, so its class cannot be asked for."""
    return hasattr(instance.run_storage, "postgres_url")


def _run_name(run_id: str) -> str:
    return f"rag_assets run {run_id}"


def _has_locked(connection: Any, name: str) -> bool:
    """Take an advisory lock if it is free; PostgreSQL gives it back when the connection ends,
    however it ends.

    Source: PostgreSQL documentation, 13.3.5 "Advisory Locks" and 9.28.10 for
    `pg_try_advisory_lock`: a signed number of 64 bits.
    """
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
    is_locked: bool = connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({key})").scalar()
    # the lock is the session's; an open transaction would hold back the database's cleaning
    connection.commit()
    return is_locked
