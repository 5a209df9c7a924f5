"""What was read from a file and is read again when the file changes."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

Value = TypeVar("Value")
_Stamp = tuple[int, int, int] | None


class KeptUntilChanged(Generic[Value]):
    """A value read from a file, and read again when the file changes; may be used by several
    threads."""

    def __init__(self, path: Path, read: Callable[[Path], Value]) -> None:
        self._path = path
        self._read = read
        self._lock = threading.Lock()
        self._kept: tuple[_Stamp, Value] | None = None

    def get(self) -> Value:
        """Raises what `read` raises."""
        with self._lock:
            stamp = stamp_of(self._path)
            if self._kept is None or self._kept[0] != stamp:
                self._kept = stamp, self._read(self._path)
            return self._kept[1]


def stamp_of(path: Path) -> _Stamp:
    """Changes when the file is written or replaced; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
