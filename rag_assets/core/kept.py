"""SQLite files of results that were paid for or took long, by kind and key.

There are two: `Paths.kept` (replies of models, vectors of questions, parsed documents, images of
pages) and `Paths.vectors` (what `search.embedding.vector_cache` keeps of passages).

What is put is committed at once, so a killed run loses nothing that was finished. Each entry has a
checksum; a damaged one counts as absent. A file that cannot be read or written costs time and
money, but raises no error here.
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
"""An entry is marked as used at most this often: a mark for each reading would be a write for
each."""
_BYTES_PER_MB = 1_000_000
_AT_ONCE = 1000
"""Entries that are read with one statement."""
_guard = Lock()
_locks: WeakValueDictionary[tuple[Path, str, str], Lock] = WeakValueDictionary()


@dataclass(frozen=True)
class KeptFile:
    """The file, and how much of each kind it keeps. May be used by several threads and
    processes."""

    path: Path
    max_mb: float | None = None
    """MB (10^6 bytes) of each kind; entries that were not used for longest go first. None: all are
    kept."""
    is_as_left: bool = False
    """Whether nothing wrote it since all entries were sound: then they are not read to see if they
    are there."""

    def stands(self) -> list[int]:
        """Inode, size and time of change of the file; changes with everything that is written into
        it."""
        if not self.path.exists():
            return []
        status = self.path.stat()
        return [status.st_ino, status.st_size, status.st_mtime_ns]

    def replies(self, kind: str, shape: type[Value]) -> "Kept[Value]":
        """Entries of a type that pydantic knows, written as JSON."""
        adapter = TypeAdapter(shape)
        return Kept(self, kind, adapter.dump_json, adapter.validate_json)

    def kinds(self) -> dict[str, int]:
        """Bytes of each kind that has entries."""
        select = "SELECT kind, SUM(n_bytes) FROM entries GROUP BY kind"
        return dict(self.run(lambda database: database.execute(select).fetchall()) or [])

    def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """What `work` returns; None, with a warning, where the file cannot be used.

        Each use opens the file, which may have been deleted or moved since the last one. It has no
        write-ahead log: one that has cannot be opened in a folder that may only be read.
        """
        for _ in range(2):
            inode = self._inode()
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with closing(
                    sqlite3.connect(self.path, _BUSY_TIMEOUT_S, isolation_level=None)
                ) as database:
                    if database.execute("PRAGMA user_version").fetchone() != (_VERSION,):
                        self._begin(database)
                    return work(database)
            except (OSError, sqlite3.OperationalError) as error:
                if os.access(
                    self.path.parent, os.W_OK
                ):  # a folder that may only be read is no fault
                    _warn_once(
                        f"{self.path} cannot be used ({error}). What it keeps is made or paid for again."
                    )
                return None
            except sqlite3.DatabaseError:
                self._set_aside(inode)
        return None

    def _begin(self, database: sqlite3.Connection) -> None:
        # vectors of one or two kB would leave a third of smaller pages empty
        database.execute("PRAGMA page_size = 16384")
        database.execute("PRAGMA auto_vacuum = FULL")  # the file shrinks when entries are deleted
        database.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {_VERSION}")
        database.execute("COMMIT")

    def _set_aside(self, inode: int | None) -> None:
        """Move the damaged file away, unless another process did so in the meantime."""
        aside = self.path.with_stem(f"{self.path.stem}.damaged")
        with suppress(OSError):
            if self._inode() == inode:
                self.path.replace(aside)
                self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)
                logger.warning(
                    "%s was damaged and was moved to %s. What it kept is made again.",
                    self.path,
                    aside,
                )

    def _inode(self) -> int | None:
        return self.path.stat().st_ino if self.path.exists() else None


def kept_file(settings: Settings) -> KeptFile:
    """The file of the data folder, with the bound of `execution.kept_mb`."""
    return KeptFile(settings.paths.kept, settings.execution.kept_mb)


class Kept(Generic[Value]):
    """The entries of one kind in the file, by key."""

    def __init__(
        self,
        file: KeptFile,
        kind: str,
        dump: Callable[[Value], bytes],
        load: Callable[[bytes], Value],
    ) -> None:
        """load: raises ValueError for bytes that it cannot read."""
        self.file = file
        self._kind = kind
        self._dump, self._load = dump, load
        self._max_bytes = None if file.max_mb is None else file.max_mb * _BYTES_PER_MB

    def once(self, key: str, make: Callable[[], Value]) -> tuple[Value, bool]:
        """The value, and whether it was kept. Else `make()` is kept; threads that want the same
        entry wait for it."""
        with _guard:
            lock = _locks.setdefault((self.file.path, self._kind, key), Lock())
        with lock:
            known = self.get(key)
            if known is not None:
                return known, True
            made = make()
            self.put(key, made)
            return made, False

    def get(self, key: str) -> Value | None:
        """None for an entry that is absent, damaged or of another version. Marks the entry as
        used."""
        return self.get_all([key]).get(key)

    def get_all(self, keys: Collection[str]) -> dict[str, Value]:
        """The entries of those keys that `get` would find, by key."""
        entries: dict[str, Value] = {}
        for key, content in self._sound(keys):
            try:
                entries[key] = self._load(content)
            except ValueError:
                self._warn(key)
        return entries

    def missing(self, keys: Collection[str]) -> list[str]:
        """The keys whose entries are absent or damaged, each once, in the order given."""
        there = (
            self._present(keys) if self.file.is_as_left else {key for key, _ in self._sound(keys)}
        )
        return [key for key in dict.fromkeys(keys) if key not in there]

    def has(self, key: str) -> bool:
        """Whether the entry is there and not damaged."""
        return not self.missing([key])

    def put(self, key: str, value: Value) -> None:
        """Keep a value; others are deleted where there is no room."""
        self.put_all({key: value})

    def put_all(self, values: Mapping[str, Value]) -> bool:
        """Keep values by key, all or none of them; returns whether the file could be written."""
        bound = self._max_bytes
        rows = [_row(self._kind, key, self._dump(value)) for key, value in values.items()]
        fitting = [row for row in rows if bound is None or row[4] <= bound]

        def work(database: sqlite3.Connection) -> bool:
            database.execute("BEGIN IMMEDIATE")
            database.executemany(_PUT, fitting)
            if bound is not None:
                database.execute(_EVICT, (self._kind, bound))
            database.execute("COMMIT")
            return True

        return not fitting or bool(self.file.run(work))

    def keys(self) -> set[str]:
        return {key for (key,) in self._all("SELECT key FROM entries WHERE kind = ?")}

    def items(self) -> Iterator[tuple[str, Value]]:
        """Every entry that can be read."""
        for key, content in self._all("SELECT key, content FROM entries WHERE kind = ?"):
            with suppress(ValueError):
                yield key, self._load(content)

    def drop(self, keys: Iterable[str]) -> None:
        """Delete the entries of those keys."""
        dropped = json.dumps(list(keys))
        self.file.run(lambda database: database.execute(_DROP, (self._kind, dropped)).rowcount)

    def _all(self, select: str, *values: str) -> list[tuple[Any, ...]]:
        return (
            self.file.run(
                lambda database: database.execute(select, (self._kind, *values)).fetchall()
            )
            or []
        )

    def _sound(self, keys: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """Key and content of the entries that are there and not damaged; they are marked as
        used."""
        asked = list(keys)
        for start in range(0, len(asked), _AT_ONCE):
            some = json.dumps(asked[start : start + _AT_ONCE])
            rows = self.file.run(lambda database, some=some: self._found(database, some)) or []  # type: ignore[misc]
            for key, content, checksum, _ in rows:
                if checksum == _checksum(self._kind, key, content):
                    yield key, bytes(content)
                else:
                    self._warn(key)

    def _present(self, keys: Collection[str]) -> set[str]:
        asked = list(keys)
        parts = (
            json.dumps(asked[start : start + _AT_ONCE]) for start in range(0, len(asked), _AT_ONCE)
        )
        return {key for part in parts for (key,) in self._all(_PRESENT, part)}

    def _found(
        self, database: sqlite3.Connection, keys: str
    ) -> list[tuple[str, bytes, int, float]]:
        rows = database.execute(_FIND, (self._kind, keys)).fetchall()
        if self._max_bytes is not None and any(
            used < time.time() - _MARK_AFTER_S for *_, used in rows
        ):
            with suppress(sqlite3.OperationalError):  # in a folder that may only be read
                database.execute(_MARK, (time.time(), self._kind, keys))
        return rows

    def _warn(self, key: str) -> None:
        logger.warning(
            "%s: the entry %s of %s is damaged and is made anew.", self.file.path, key, self._kind
        )


def drop_damaged(database: sqlite3.Connection) -> int:
    """Delete the entries of an opened file that do not fit their checksums; they count as absent
    anyway.

    Returns how many there were, also where they cannot be deleted. Raises sqlite3.DatabaseError.
    """
    rows = database.execute(
        "SELECT kind, key, CAST(IFNULL(content, '') AS BLOB), checksum FROM entries"
    )
    damaged = [
        (kind, key)
        for kind, key, content, checksum in rows
        if checksum != _checksum(kind, key, content)
    ]
    with suppress(sqlite3.OperationalError), database:  # in a folder that may only be read
        database.executemany("DELETE FROM entries WHERE kind = ? AND key = ?", damaged)
    return len(damaged)


def _row(kind: str, key: str, content: bytes) -> tuple[str, str, bytes, int, int, float]:
    return kind, key, content, _checksum(kind, key, content), len(content), time.time()


def _checksum(kind: str, key: str, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(f"{kind} {key}".encode()))


@cache
def _warn_once(message: str) -> None:
    logger.warning(message)
