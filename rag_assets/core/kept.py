"""A cache in SQLite files for results that cost money or much time; each entry has a kind and a
key.

There are two files: `Paths.kept` (replies of models, vectors of questions, parsed documents, images
of pages) and `Paths.vectors` (vectors of passages, see `search.embedding.vector_cache`).

Each entry is committed at once, so a killed run loses nothing that was finished. Each has a
checksum; a damaged entry counts as absent. A file that cannot be read or written raises no error:
its results are made or paid for again.
"""

import json
import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from pydantic import TypeAdapter

from rag_assets.core.databases import set_aside_if_damaged
from rag_assets.core.incremental import make_folder
from rag_assets.core.settings import Settings

logger = logging.getLogger(__name__)
Value = TypeVar("Value")
Result = TypeVar("Result")
_VERSION = 1
_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS entries (
        kind TEXT, key TEXT, content BLOB, checksum INTEGER, n_bytes INTEGER, used REAL, PRIMARY KEY (kind, key))""",
    "CREATE INDEX IF NOT EXISTS by_use ON entries (kind, used, n_bytes)",
)
_PUT = "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)"
_FIND = """SELECT key, CAST(IFNULL(content, '') AS BLOB), checksum, used FROM entries
    WHERE kind = ? AND key IN (SELECT value FROM json_each(?))"""
_PRESENT = "SELECT key FROM entries WHERE kind = ? AND key IN (SELECT value FROM json_each(?))"
_MARK = "UPDATE entries SET used = ? WHERE kind = ? AND key IN (SELECT value FROM json_each(?))"
_DROP = "DELETE FROM entries WHERE kind = ? AND key IN (SELECT value FROM json_each(?))"
_EVICT = """DELETE FROM entries WHERE rowid IN (
    SELECT rowid FROM (SELECT rowid, SUM(n_bytes) OVER (ORDER BY used DESC, rowid DESC) AS n_kept
        FROM entries WHERE kind = ?) WHERE n_kept > ?)"""
_BUSY_TIMEOUT_S = 60.0
_MARK_AFTER_S = 60.0
"""The time of last use of an entry is updated only if it is older than this, because each update
writes the file."""
_BYTES_PER_MB = 1_000_000
_BATCH_SIZE = 1000
"""Number of entries that are read with one statement."""
_guard = Lock()
_locks: WeakValueDictionary[tuple[Path, str, str], Lock] = WeakValueDictionary()
"""Path of the file, kind and key -> lock of the thread that makes this entry."""


@dataclass(frozen=True)
class KeptFile:
    """A file of the cache, and how much it may keep. Safe for several threads and processes."""

    path: Path
    max_mb: float | None = None
    """Largest size of each kind in MB (10^6 bytes); the entries that were not used for the longest
    time are deleted first. None: no limit."""
    is_as_left: bool = False
    """Whether the file was not written since all its entries were checked; then they are not
    checked again when only their presence matters."""

    def stamp(self) -> list[int]:
        """Inode, size and time of change of the file, which change with everything that is written
        into it; empty if there is no file."""
        if not self.path.exists():
            return []
        status = self.path.stat()
        return [status.st_ino, status.st_size, status.st_mtime_ns]

    def replies(self, kind: str, shape: type[Value]) -> "Kept[Value]":
        """The entries of one kind whose values have the type `shape` (one that pydantic knows) and
        are stored as JSON."""
        adapter = TypeAdapter(shape)
        return Kept(self, kind, adapter.dump_json, adapter.validate_json)

    def kinds(self) -> dict[str, int]:
        """Kind -> size of its entries in bytes."""
        select = "SELECT kind, SUM(n_bytes) FROM entries GROUP BY kind"
        return dict(self.run(lambda database: database.execute(select).fetchall()) or [])

    def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """The result of `work` with an open connection; None, with a warning, if the file cannot be
        used. A damaged file is renamed and a new one is made.

        The file is opened for each call, because it may have been deleted or moved since the last
        one. It has no write-ahead log, because then it could not be opened in a read-only folder.
        """
        for _ in range(2):
            try:
                make_folder(self.path.parent)
                with closing(
                    sqlite3.connect(self.path, _BUSY_TIMEOUT_S, isolation_level=None)
                ) as database:
                    if database.execute("PRAGMA user_version").fetchone() != (_VERSION,):
                        self._create_tables(database)
                    return work(database)
            except (OSError, sqlite3.OperationalError) as error:
                if os.access(self.path.parent, os.W_OK):  # no warning for a read-only folder
                    _warn_once(
                        f"{self.path} cannot be used ({error}). What it keeps is made or paid for again."
                    )
                return None
            except sqlite3.DatabaseError:
                set_aside_if_damaged(self.path)
        return None

    def _create_tables(self, database: sqlite3.Connection) -> None:
        # a vector has one or two kB, and would leave a third of a smaller page empty
        database.execute("PRAGMA page_size = 16384")
        database.execute("PRAGMA auto_vacuum = FULL")  # the file shrinks when entries are deleted
        database.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {_VERSION}")
        database.execute("COMMIT")


def kept_file(settings: Settings) -> KeptFile:
    """The cache file of the data folder, with the limit of `execution.kept_mb`."""
    return KeptFile(settings.paths.kept, settings.execution.kept_mb)


class Kept(Generic[Value]):
    """The entries of one kind in a file of the cache."""

    def __init__(
        self,
        file: KeptFile,
        kind: str,
        dump: Callable[[Value], bytes],
        load: Callable[[bytes], Value],
    ) -> None:
        """dump, load: turn a value into bytes and back. `load` raises ValueError for bytes that it
        cannot read."""
        self.file = file
        self._kind = kind
        self._dump, self._load = dump, load
        self._max_bytes = None if file.max_mb is None else file.max_mb * _BYTES_PER_MB

    def once(self, key: str, make: Callable[[], Value]) -> tuple[Value, bool]:
        """The stored value and True; if there is none, the result of `make()`, which is stored, and
        False. Other threads that need the same entry wait until it is made."""
        with _guard:
            lock = _locks.setdefault((self.file.path, self._kind, key), Lock())
        with lock:
            stored = self.get(key)
            if stored is not None:
                return stored, True
            value = make()
            self.put(key, value)
            return value, False

    def get(self, key: str) -> Value | None:
        """The value; None if the entry is absent, damaged or of another version. Updates the time
        of last use."""
        return self.get_all([key]).get(key)

    def get_all(self, keys: Collection[str]) -> dict[str, Value]:
        """Key -> value of the entries that `get` would find."""
        entries: dict[str, Value] = {}
        for key, content in self._sound(keys):
            try:
                entries[key] = self._load(content)
            except ValueError:
                self._warn(key)
        return entries

    def missing(self, keys: Collection[str]) -> list[str]:
        """The keys whose entries are absent or damaged, each once, in the given order."""
        if self.file.is_as_left:
            # the keys that have entries, damaged ones included
            found = {key for batch in _batches(keys) for (key,) in self._all(_PRESENT, batch)}
        else:
            found = {key for key, _ in self._sound(keys)}
        return [key for key in dict.fromkeys(keys) if key not in found]

    def has(self, key: str) -> bool:
        """Whether the entry is there and not damaged."""
        return not self.missing([key])

    def put(self, key: str, value: Value) -> None:
        """Store a value; if the kind becomes too large, other entries are deleted."""
        self.put_all({key: value})

    def put_all(self, values: Mapping[str, Value]) -> bool:
        """Store values by key, all or none of them; a value above the limit of its kind is left
        out. Returns whether the file could be written."""
        max_bytes = self._max_bytes
        rows = [_row(self._kind, key, self._dump(value)) for key, value in values.items()]
        fitting = [row for row in rows if max_bytes is None or row[4] <= max_bytes]

        def work(database: sqlite3.Connection) -> bool:
            database.execute("BEGIN IMMEDIATE")
            database.executemany(_PUT, fitting)
            if max_bytes is not None:
                database.execute(_EVICT, (self._kind, max_bytes))
            database.execute("COMMIT")
            return True

        return not fitting or bool(self.file.run(work))

    def keys(self) -> set[str]:
        return {key for (key,) in self._all("SELECT key FROM entries WHERE kind = ?")}

    def items(self) -> Iterator[tuple[str, Value]]:
        """Key and value of every entry that can be read; checksums are not compared."""
        for key, content in self._all("SELECT key, content FROM entries WHERE kind = ?"):
            with suppress(ValueError):
                yield key, self._load(content)

    def drop(self, keys: Iterable[str]) -> None:
        """Delete the entries of those keys."""
        dropped = json.dumps(list(keys))
        self.file.run(lambda database: database.execute(_DROP, (self._kind, dropped)).rowcount)

    def _all(self, select: str, *values: str) -> list[tuple[Any, ...]]:
        """The rows of a SELECT whose first parameter is the kind; none if the file cannot be
        used."""
        rows = self.file.run(
            lambda database: database.execute(select, (self._kind, *values)).fetchall()
        )
        return rows or []

    def _sound(self, keys: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """Key and content of the entries that are present and not damaged. Updates their time of
        last use."""
        for batch in _batches(keys):
            rows = self.file.run(lambda database, batch=batch: self._read(database, batch)) or []  # type: ignore[misc]
            for key, content, checksum, _ in rows:
                if checksum == _checksum(self._kind, key, content):
                    yield key, bytes(content)
                else:
                    self._warn(key)

    def _read(self, database: sqlite3.Connection, keys: str) -> list[tuple[str, bytes, int, float]]:
        """Key, content, checksum and time of last use of the entries. keys: a JSON list."""
        rows = database.execute(_FIND, (self._kind, keys)).fetchall()
        if self._max_bytes is not None and any(
            used < time.time() - _MARK_AFTER_S for *_, used in rows
        ):
            with suppress(sqlite3.OperationalError):  # a read-only folder
                database.execute(_MARK, (time.time(), self._kind, keys))
        return rows

    def _warn(self, key: str) -> None:
        logger.warning(
            "%s: the entry %s of %s is damaged and is made anew.", self.file.path, key, self._kind
        )


def drop_damaged(database: sqlite3.Connection) -> int:
    """Delete the entries of an opened file whose checksum is wrong; they count as absent anyway.

    Returns their number, also if they cannot be deleted. Raises sqlite3.DatabaseError.
    """
    rows = database.execute(
        "SELECT kind, key, CAST(IFNULL(content, '') AS BLOB), checksum FROM entries"
    )
    damaged = [
        (kind, key)
        for kind, key, content, checksum in rows
        if checksum != _checksum(kind, key, content)
    ]
    with suppress(sqlite3.OperationalError), database:  # a read-only folder
        database.executemany("DELETE FROM entries WHERE kind = ? AND key = ?", damaged)
    return len(damaged)


def _batches(keys: Collection[str]) -> Iterator[str]:
    """The keys in batches, each as a JSON list, which SQLite turns into rows."""
    listed = list(keys)
    for start in range(0, len(listed), _BATCH_SIZE):
        yield json.dumps(listed[start : start + _BATCH_SIZE])


def _row(kind: str, key: str, content: bytes) -> tuple[str, str, bytes, int, int, float]:
    return kind, key, content, _checksum(kind, key, content), len(content), time.time()


def _checksum(kind: str, key: str, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(f"{kind} {key}".encode()))


@cache
def _warn_once(message: str) -> None:
    logger.warning(message)
