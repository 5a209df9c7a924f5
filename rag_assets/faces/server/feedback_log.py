"""What readers say of answers, one JSON object per line, in a file that is only ever added to."""

import json
import os
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any

from rag_assets.faces.server.problems import ProblemError

MAX_BYTES = 100_000_000
"""Of the file: visitors must not fill the disk."""


class FeedbackLog:
    """Adds lines to a file; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = Lock()

    def add(self, row: Mapping[str, Any]) -> None:
        """Add one line, and wait until it is on the disk. A line that a kill cut short costs no other line.

        Raises ProblemError (507) when the file is full.
        """
        with self._writing:
            self._demand_room()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab+") as file:
                file.write(self._missing_end(file) + json.dumps(row, ensure_ascii=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

    def _demand_room(self) -> None:
        if self._path.exists() and self._path.stat().st_size >= MAX_BYTES:
            raise ProblemError(
                HTTPStatus.INSUFFICIENT_STORAGE,
                "feedback-full",
                "No more feedback can be kept",
                "Whoever runs the server must move data/logs/feedback.jsonl elsewhere.",
            )

    @staticmethod
    def _missing_end(file: Any) -> bytes:
        """A line feed, if the last line has none."""
        if file.seek(0, os.SEEK_END) == 0:
            return b""
        file.seek(-1, os.SEEK_END)
        return b"" if file.read(1) == b"\n" else b"\n"
