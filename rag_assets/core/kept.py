"""One SQLite file that keeps what was paid for or took long: replies of models, vectors of questions, parsed documents
and images of pages.

Each entry is committed by itself, so a killed run loses nothing that was finished, and has a checksum, so a damaged
one counts as absent. A file that cannot be read or written costs time and money, but raises no error. Vectors of
passages are in `search.embedding.vector_cache`.
"""

import hashlib
import json
import logging
import os
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from pydantic import TypeAdapter

from rag_assets.core.incremental import unsealed
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
_FIND = "SELECT CAST(IFNULL(content, '') AS BLOB), checksum, used FROM entries WHERE kind = ? AND key = ?"
_MARK = "UPDATE entries SET used = ? WHERE kind = ? AND key = ?"
_DROP = "DELETE FROM entries WHERE kind = ? AND key IN (SELECT value FROM json_each(?))"
_EVICT = """DELETE FROM entries WHERE rowid IN (
    SELECT rowid FROM (SELECT rowid, SUM(n_bytes) OVER (ORDER BY used DESC, rowid DESC) AS n_kept
        FROM entries WHERE kind = ?) WHERE n_kept > ?)"""
_BUSY_TIMEOUT_S = 60.0
_MARK_AFTER_S = 60.0
"""An entry is marked as used at most this often: a mark for each reading would be a write for each."""
_BYTES_PER_MB = 1_000_000
_guard = Lock()
_locks: WeakValueDictionary[tuple[Path, str, str], Lock] = WeakValueDictionary()


@dataclass(frozen=True)
class KeptFile:
    """The file, and how much of each kind it keeps. May be used by several threads and processes."""

    path: Path
    max_mb: float | None = None
    """MB (10^6 bytes) of each kind; entries that were not used for longest go first. None: all are kept."""

    def replies(self, kind: str, shape: type[Value]) -> "Kept[Value]":
        """Entries of a type that pydantic knows, written as JSON."""
        adapter = TypeAdapter(shape)
        return Kept(self, kind, adapter.dump_json, adapter.validate_json)

    def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """What `work` returns; None, with a warning, where the file cannot be used.

        Each use opens the file, which may have been deleted or moved since the last one. It has no write-ahead log: one
        that has cannot be opened in a folder that may only be read.
        """
        for _ in range(2):
            inode = self._inode()
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with closing(sqlite3.connect(self.path, _BUSY_TIMEOUT_S, isolation_level=None)) as database:
                    if database.execute("PRAGMA user_version").fetchone() != (_VERSION,):
                        self._begin(database)
                    return work(database)
            except (OSError, sqlite3.OperationalError) as error:
                if os.access(self.path.parent, os.W_OK):  # a folder that may only be read is no fault
                    _warn_once(f"{self.path} cannot be used ({error}). What it keeps is made or paid for again.")
                return None
            except sqlite3.DatabaseError:
                self._set_aside(inode)
        return None

    def _begin(self, database: sqlite3.Connection) -> None:
        """Make the tables, and take over what earlier versions kept in folders of their own."""
        database.execute("PRAGMA auto_vacuum = FULL")  # the file shrinks when entries are deleted
        database.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            database.execute(statement)
        taken = [_row(*entry) for entry in earlier_entries(self.path.parent)]
        database.executemany(_PUT, taken)
        database.execute(f"PRAGMA user_version = {_VERSION}")
        database.execute("COMMIT")
        if names := remove_earlier(self.path.parent):
            logger.warning("%s replaces the folders %s; %d entries were taken over.", self.path, names, len(taken))

    def _set_aside(self, inode: int | None) -> None:
        """Move the damaged file away, unless another process did so in the meantime."""
        aside = self.path.with_stem(f"{self.path.stem}.damaged")
        with suppress(OSError):
            if self._inode() == inode:
                self.path.replace(aside)
                self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)
                logger.warning("%s was damaged and was moved to %s. What it kept is made again.", self.path, aside)

    def _inode(self) -> int | None:
        return self.path.stat().st_ino if self.path.exists() else None


def kept_file(settings: Settings) -> KeptFile:
    """The file of the data folder, with the bound of `execution.kept_mb`."""
    return KeptFile(settings.paths.kept, settings.execution.kept_mb)


class Kept(Generic[Value]):
    """The entries of one kind in the file, by key."""

    def __init__(
        self, file: KeptFile, kind: str, dump: Callable[[Value], bytes], load: Callable[[bytes], Value]
    ) -> None:
        """load: raises ValueError for bytes that it cannot read."""
        self.file = file
        self._kind = kind
        self._dump, self._load = dump, load
        self._max_bytes = None if file.max_mb is None else file.max_mb * _BYTES_PER_MB

    def once(self, key: str, make: Callable[[], Value]) -> tuple[Value, bool]:
        """The value, and whether it was kept. Else `make()` is kept; threads that want the same entry wait for it."""
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
        """None for an entry that is absent, damaged or of another version. Marks the entry as used."""
        content = self.file.run(lambda database: self._found(database, key))
        try:
            return None if content is None else self._load(content)
        except ValueError:
            self._warn(key)
            return None

    def has(self, key: str) -> bool:
        """Whether the entry is there and not damaged."""
        return self.file.run(lambda database: self._found(database, key)) is not None

    def put(self, key: str, value: Value) -> None:
        """Keep a value; others are deleted where there is no room."""
        content, bound = self._dump(value), self._max_bytes
        if bound is not None and len(content) > bound:
            return

        def work(database: sqlite3.Connection) -> None:
            database.execute(_PUT, _row(self._kind, key, content))
            if bound is not None:
                database.execute(_EVICT, (self._kind, bound))

        self.file.run(work)

    def keys(self) -> set[str]:
        """Keys of all entries."""
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

    def _all(self, select: str) -> list[tuple[Any, ...]]:
        return self.file.run(lambda database: database.execute(select, (self._kind,)).fetchall()) or []

    def _found(self, database: sqlite3.Connection, key: str) -> bytes | None:
        row = database.execute(_FIND, (self._kind, key)).fetchone()
        if row is None:
            return None
        content, checksum, used = row
        if checksum != _checksum(self._kind, key, content):
            self._warn(key)
            return None
        if self._max_bytes is not None and used < time.time() - _MARK_AFTER_S:
            with suppress(sqlite3.OperationalError):  # in a folder that may only be read
                database.execute(_MARK, (time.time(), self._kind, key))
        return bytes(content)

    def _warn(self, key: str) -> None:
        logger.warning("%s: the entry %s of %s is damaged and is made anew.", self.file.path, key, self._kind)


def _row(kind: str, key: str, content: bytes) -> tuple[str, str, bytes, int, int, float]:
    return kind, key, content, _checksum(kind, key, content), len(content), time.time()


def _checksum(kind: str, key: str, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(f"{kind} {key}".encode()))


@cache
def _warn_once(message: str) -> None:
    logger.warning(message)


_REPLIES = (
    "answers",
    "verdicts",
    "summaries",
    "paper_summaries",
    "queries/parts",
    "queries/wordings",
    "plans/plans",
    "plans/other_words",
)
_OTHERS = {"documents": ".document", "query_vectors": ".vector"}
"""Suffix of the files, which begin with the SHA-256 of the rest."""
_DIGEST_BYTES = 32


def earlier_entries(folder: Path) -> Iterator[tuple[str, str, bytes]]:
    """Kind, key and content of every undamaged entry below a folder; page images are left out."""
    for kind in _REPLIES:
        for path in sorted((folder / kind).glob("*.json")):
            if (found := unsealed(path.read_bytes())) is not None:
                yield kind, path.stem, json.dumps(found["reply"]).encode()
    for kind, suffix in _OTHERS.items():
        for path in sorted((folder / kind).rglob(f"*{suffix}")):
            sealed = path.read_bytes()
            if hashlib.sha256(content := sealed[_DIGEST_BYTES:]).digest() == sealed[:_DIGEST_BYTES]:
                yield kind, path.stem, content


def remove_earlier(folder: Path) -> str:
    """Delete the folders of all kinds; returns the names of those that were there, empty if none was."""
    names = sorted({kind.partition("/")[0] for kind in (*_REPLIES, *_OTHERS, "page_images")})
    found = [name for name in names if (folder / name).is_dir()]
    for name in found:
        shutil.rmtree(folder / name, ignore_errors=True)
    return ", ".join(found)
