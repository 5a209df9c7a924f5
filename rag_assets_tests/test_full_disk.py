"""Which faults are told as a full disk."""

import errno
import sqlite3
from pathlib import Path

import pytest

from rag_assets.core.errors import DiskFull, InvalidQuestions, ReadOnlyFolder, raising_disk_full


def caused_by_full_disk() -> Exception:
    error = ReadOnlyFolder("cannot be written")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    return error


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        OSError(errno.EFBIG, "File too large"),
        ValueError("Failed to open file: No space left on device (os error 28)"),
        sqlite3.OperationalError("database or disk is full"),
        caused_by_full_disk(),
    ],
    ids=repr,
)
def test_a_full_disk_is_told_whoever_meets_it(tmp_path: Path, error: Exception) -> None:
    """A traceback of a database, at the end of an hour, does not say what to do."""
    with (
        pytest.raises(DiskFull, match=f"The disk of {tmp_path} is full"),
        raising_disk_full(tmp_path),
    ):
        raise error


@pytest.mark.parametrize(
    "error", [OSError(errno.EACCES, "Permission denied"), InvalidQuestions("no question")], ids=repr
)
def test_other_faults_stay_what_they_are(tmp_path: Path, error: Exception) -> None:
    """Who makes room for nothing looks in the wrong place."""
    with pytest.raises(type(error)), raising_disk_full(tmp_path):
        raise error
