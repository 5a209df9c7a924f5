"""Conversations on disk, in SQLite.

Each change is one transaction in a write-ahead log, flushed to the disk. If a process is killed, all
turns that were added before are there, and no incomplete one. Several processes may use the file at
the same time. Its size is limited: the oldest turns of a conversation and the least recently used
conversations are deleted.
"""

import json
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Self

from rag_assets.core.databases import set_aside_if_damaged
from rag_assets.core.errors import ReadOnlyFolder, TurnTooLarge, UnknownConversation
from rag_assets.core.incremental import make_folder
from rag_assets.questions.conversations.follow_ups import Rewritten, Turn

_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS conversations (
        conversation_id TEXT PRIMARY KEY, title TEXT NOT NULL, n_turns INTEGER NOT NULL, changed_at TEXT NOT NULL,
        changes INTEGER NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS turns (
        conversation_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE, turn INTEGER NOT NULL,
        content TEXT NOT NULL, PRIMARY KEY (conversation_id, turn)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS by_change ON conversations (changes)",
)
_MAX_TITLE_CHARS = 80
_BYTES_PER_MB = 1_000_000
_BUSY_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class ConversationLimits:
    """How much is kept; what exceeds these limits is deleted."""

    max_turns: int = 200
    """Turns of one conversation; the oldest are deleted."""
    max_conversations: int = 1_000
    """Number of conversations; the least recently used are deleted."""
    max_turn_mb: float = 1.0
    """Size of one turn in MB (10^6 bytes); answers have 5 to 50 KB."""
    max_mb: float = 200.0
    """Size of all conversations in MB; the least recently used ones are deleted, but never the one
    to which a turn is added."""


@dataclass(frozen=True)
class ConversationSummary:
    """A conversation without its turns."""

    conversation_id: str
    title: str
    """The beginning of its first question; empty before the first."""
    n_turns: int
    """Number of turns that were ever added, including those that were deleted since."""
    changed_at: str
    """ISO 8601 in UTC."""


@dataclass(frozen=True)
class NumberedTurn:
    """A turn and its number within the conversation, counted from 1."""

    number: int
    turn: Turn


@dataclass(frozen=True)
class Conversation:
    """A conversation with the turns that are kept of it."""

    summary: ConversationSummary
    turns: tuple[NumberedTurn, ...]
    """Oldest first."""


class Conversations:
    """The conversations of a data folder; safe to use from several threads. Close it, or use it as
    a context manager.

    The database is opened when it is first needed; every method raises ReadOnlyFolder if it cannot
    be written. A damaged file is renamed with a warning, and a new one is made.
    """

    def __init__(self, path: Path, limits: ConversationLimits | None = None) -> None:
        """path: the database file. The file and its folder are made if they are missing."""
        self._path = path
        self._limits = limits or ConversationLimits()
        self._lock = Lock()
        self._opened: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            if self._opened:
                self._opened.close()
            self._opened = None

    def start(self, name: str | None = None) -> str:
        """Begin a conversation and return its id: the name, or a random id that cannot be guessed.
        If there is a conversation with that name, it is continued."""
        # In hexadecimal, because a hyphen at the beginning would make the id a command's option.
        conversation_id = name or secrets.token_hex(12)
        with self._transaction() as database:
            values = (conversation_id, _now(), _next_change(database))
            database.execute("INSERT OR IGNORE INTO conversations VALUES (?, '', 0, ?, ?)", values)
            database.execute(
                "DELETE FROM conversations WHERE conversation_id IN "
                "(SELECT conversation_id FROM conversations ORDER BY changes DESC LIMIT -1 OFFSET ?)",
                (self._limits.max_conversations,),
            )
        return conversation_id

    def add(self, conversation_id: str, turn: Turn) -> int:
        """Add a turn. Returns its number, counted from 1. Raises UnknownConversation,
        TurnTooLarge."""
        content = json.dumps(asdict(turn))  # ASCII: one byte per character
        max_bytes = int(self._limits.max_turn_mb * _BYTES_PER_MB)
        if len(content) > max_bytes:
            raise TurnTooLarge.of(len(content), max_bytes)
        with self._transaction() as database:
            before = _demanded(database, conversation_id)
            number = before.n_turns + 1
            database.execute(
                "INSERT INTO turns VALUES (?, ?, ?)", (conversation_id, number, content)
            )
            database.execute(
                "DELETE FROM turns WHERE conversation_id = ? AND turn <= ?",
                (conversation_id, number - self._limits.max_turns),
            )
            database.execute(
                "UPDATE conversations SET title = ?, n_turns = ?, changed_at = ?, changes = ? "
                "WHERE conversation_id = ?",
                (
                    before.title or _title(turn.question),
                    number,
                    _now(),
                    _next_change(database),
                    conversation_id,
                ),
            )
            _shrink(database, conversation_id, int(self._limits.max_mb * _BYTES_PER_MB))
        return number

    def get(self, conversation_id: str) -> Conversation:
        """A conversation with its turns. Raises UnknownConversation."""
        with self._transaction() as database:
            summary = _demanded(database, conversation_id)
            return Conversation(summary, _turns(database, conversation_id, limit=-1))

    def last_turns(self, conversation_id: str, n: int) -> Sequence[Turn]:
        """The last `n` turns, oldest first. Raises UnknownConversation."""
        with self._transaction() as database:
            _demanded(database, conversation_id)
            return tuple(numbered.turn for numbered in _turns(database, conversation_id, limit=n))

    def list(self) -> Sequence[ConversationSummary]:
        """All conversations that have a turn, the last changed first."""
        with self._transaction() as database:
            rows = database.execute(
                "SELECT conversation_id, title, n_turns, changed_at FROM conversations WHERE n_turns > 0 "
                "ORDER BY changes DESC"
            )
            return tuple(ConversationSummary(*row) for row in rows)

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation with its turns. Raises UnknownConversation."""
        with self._transaction() as database:
            _demanded(database, conversation_id)
            database.execute(
                "DELETE FROM conversations WHERE conversation_id = ?", (conversation_id,)
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Makes the changes of a `with` block one transaction: all are stored, or none if it
        raises. Only one block runs at a time, in all threads and processes."""
        with self._lock:
            self._opened = self._opened or _opened(self._path)
            self._opened.execute("BEGIN IMMEDIATE")
            try:
                yield self._opened
            except BaseException:
                self._opened.execute("ROLLBACK")
                raise
            self._opened.execute("COMMIT")


def _opened(path: Path) -> sqlite3.Connection:
    """The database; a damaged file is replaced by a new one. Raises ReadOnlyFolder."""
    try:
        make_folder(path.parent)
    except OSError as error:
        raise ReadOnlyFolder.at(path.parent) from error
    if not os.access(path.parent, os.W_OK | os.X_OK) or (
        path.exists() and not os.access(path, os.W_OK)
    ):
        raise ReadOnlyFolder.at(path.parent)
    set_aside_if_damaged(path)
    database = sqlite3.connect(
        path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("PRAGMA foreign_keys = ON")
        for statement in _SCHEMA:
            database.execute(statement)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _demanded(database: sqlite3.Connection, conversation_id: str) -> ConversationSummary:
    """The summary of a conversation. Raises UnknownConversation."""
    row = database.execute(
        "SELECT conversation_id, title, n_turns, changed_at FROM conversations WHERE conversation_id = ?",
        (conversation_id,),
    ).fetchone()
    if row is None:
        raise UnknownConversation(
            "There is no such conversation: it was deleted, or was left alone longest among many. Begin a new one."
        )
    return ConversationSummary(*row)


def _turns(
    database: sqlite3.Connection, conversation_id: str, *, limit: int
) -> tuple[NumberedTurn, ...]:
    """The last `limit` turns, oldest first; -1 for all."""
    rows = database.execute(
        "SELECT turn, content FROM turns WHERE conversation_id = ? ORDER BY turn DESC LIMIT ?",
        (conversation_id, limit),
    ).fetchall()
    return tuple(
        NumberedTurn(number, _turn(json.loads(content))) for number, content in reversed(rows)
    )


def _turn(content: dict[str, Any]) -> Turn:
    """A turn from its JSON, in which tuples are lists. Older turns lack some fields."""
    asked = content["asked"]
    shown = {name: tuple(content.get(name, ())) for name in ("contexts", "dropped")}
    return Turn(
        **content | shown | {"asked": Rewritten(**asked | {"paper_ids": tuple(asked["paper_ids"])})}
    )


def _next_change(database: sqlite3.Connection) -> int:
    """A number that grows with every change. It is used to order changes, because times may be
    equal or go back."""
    ((latest,),) = database.execute(
        "SELECT COALESCE(MAX(changes), 0) FROM conversations"
    ).fetchall()
    return int(latest) + 1


def _shrink(database: sqlite3.Connection, current: str, max_bytes: int) -> None:
    """Delete the least recently used conversations, but not the current one, until the database is
    small enough."""
    while _used_bytes(database) > max_bytes:
        deleted = database.execute(
            "DELETE FROM conversations WHERE conversation_id = (SELECT conversation_id FROM conversations "
            "WHERE conversation_id <> ? ORDER BY changes LIMIT 1)",
            (current,),
        )
        if not deleted.rowcount:
            return


def _used_bytes(database: sqlite3.Connection) -> int:
    figures = [
        database.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count")
    ]
    return int(figures[0] - figures[1]) * int(database.execute("PRAGMA page_size").fetchone()[0])


def _title(question: str) -> str:
    """The beginning of a question in one line, with "…" if it is cut."""
    line = " ".join(question.encode("utf-8", "replace").decode().split())
    return line if len(line) <= _MAX_TITLE_CHARS else line[: _MAX_TITLE_CHARS - 1].rstrip() + "…"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
