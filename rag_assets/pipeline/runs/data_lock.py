"""The right of a run to write its data folder, among runs of one machine or of several.

`core.incremental.only_writer` is the lock of a folder that one machine writes. Locks of files are
not reliable on disks that machines share; where Dagster keeps its history in Postgres, that
database decides as well.
"""

import hashlib
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg

from rag_assets.core.errors import BusyDataFolder
from rag_assets.core.incremental import only_writer

_LOOK_EVERY_S = 0.5


@contextmanager
def only_run(
    instance: dg.DagsterInstance | None, data_dir: Path, *, patience_s: float
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
