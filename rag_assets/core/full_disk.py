"""Recognises the errors of a full disk: each library reports it with another class and other
words."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_assets.core.errors import RagAssetsError

_CODES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_WORDS = (*map(os.strerror, _CODES), "database or disk is full")
"""Messages of the operating system, which libraries written in other languages pass on, and of
SQLite."""
_LEAST_ROOM = 10_000_000
"""Bytes of free space. With less, no run is started, and an error without a stated reason, such as
SQLite's "disk I/O error", is taken for one of a full disk."""


class DiskFull(RagAssetsError):
    """A disk that must be written is full."""


def disk_full(folder: Path | None) -> DiskFull:
    """The error with its message. folder: a folder on the full disk; None if it is not known."""
    disk = f"The disk of {folder}" if folder else "A disk, perhaps that of temporary files,"
    return DiskFull(
        f"{disk} is full or nearly so, or its quota is used up. Nothing half-made is published, and what was saved is "
        "kept. Make room and try again."
    )


def tells_full_disk(message: str) -> bool:
    """Whether the message of an error says that a disk, a quota or the largest file is full."""
    return any(words in message for words in _WORDS)


def demand_room(folder: Path) -> None:
    """Raise DiskFull if there is too little room for a run to write its records."""
    if not _has_room(folder):
        raise disk_full(folder)


@contextmanager
def raising_disk_full(folder: Path) -> Iterator[None]:
    """An error within the block that comes from a full disk is raised as DiskFull. folder: where
    the block writes."""
    try:
        yield
    except Exception as error:
        if is_full_disk(error) or (not isinstance(error, RagAssetsError) and not _has_room(folder)):
            raise disk_full(folder) from error
        raise


def is_full_disk(error: BaseException | None) -> bool:
    """Whether an error, or one of the errors that caused it, says that a disk is full."""
    while error is not None:
        if (isinstance(error, OSError) and error.errno in _CODES) or tells_full_disk(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def _has_room(folder: Path) -> bool:
    return not folder.exists() or shutil.disk_usage(folder).free > _LEAST_ROOM
