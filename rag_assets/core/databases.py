"""SQLite files that hold what cannot be made again, such as conversations and the history of runs:
how damage is found, and how a damaged file is moved aside. The cache is in `kept`."""

import logging
import secrets
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

logger = logging.getLogger(__name__)
_BUSY_TIMEOUT_S = 10.0
_SIDE_FILES = ("", "-wal", "-shm", "-journal")


def history_databases(home: Path) -> list[Path]:
    """Dagster's databases of all runs in its folder; the events of each run are in one more."""
    history = home / "history"
    return [history / "runs.db", history / "runs" / "index.db", home / "schedules" / "schedules.db"]


def damage_in(path: Path) -> str:
    """What is wrong with a database: a phrase that can follow its name; empty if nothing is. An
    empty file lost its tables.

    Raises sqlite3.OperationalError when it cannot be opened now, because it is locked, say.
    """
    if not path.stat().st_size:
        return "is empty"
    try:
        with closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", _BUSY_TIMEOUT_S, uri=True)
        ) as database:
            ((verdict,),) = database.execute("PRAGMA integrity_check(1)").fetchall()
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        verdict = str(error)
    return "" if verdict == "ok" else f"is damaged ({' '.join(verdict.split())})"


def set_aside_if_damaged(path: Path) -> None:
    """Rename a damaged file and its side files, and log a warning; then a new one can be begun. A
    file that cannot be opened now stays."""
    try:
        damage = damage_in(path) if path.exists() else ""
    except sqlite3.OperationalError:
        return
    if not damage:
        return
    # without the suffix of databases: Dagster takes each of them for a run
    aside = path.with_name(f"{path.name}.damaged-{secrets.token_hex(4)}")
    for suffix in _SIDE_FILES:
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    logger.warning("%s %s. It is kept as %s, and a new one is begun.", path, damage, aside.name)
