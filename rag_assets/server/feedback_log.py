"""What readers say of answers, one JSON object per line, in a file that is only ever added to."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any


class FeedbackLog:
    """Adds lines to a file; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = Lock()

    def add(self, row: Mapping[str, Any]) -> None:
        """Add one line, and wait until it is on the disk. A line that a kill cut short costs no other line."""
        with self._writing:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab+") as file:
                file.write(self._missing_end(file) + json.dumps(row, ensure_ascii=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

    @staticmethod
    def _missing_end(file: Any) -> bytes:
        """A line feed, if the last line has none."""
        if file.seek(0, os.SEEK_END) == 0:
            return b""
        file.seek(-1, os.SEEK_END)
        return b"" if file.read(1) == b"\n" else b"\n"
