"""The progress of a run in a file: JSON lines that its process appends, for whoever wants to know how far it is.

No Dagster here, so that a server can follow a run without importing it, and after it was started anew itself. While
the process of the run lives it holds a lock beside the file; without an end and without the lock, it was killed.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

RunState = Literal["queued", "running", "succeeded", "failed"]
StepState = Literal["waiting", "running", "succeeded", "failed", "skipped"]
_RUN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KEPT = 100


@dataclass(frozen=True)
class RunProgress:
    """How far a run is."""

    run_id: str
    state: RunState
    steps: dict[str, StepState] = field(default_factory=dict)
    """By asset: those that began, in that order, then those that wait; empty before the run begins."""
    message: str = ""
    """How it ended, or what it waits for; a sentence without paths."""
    seconds: float = 0.0
    """Since it began."""

    @property
    def is_over(self) -> bool:
        return self.state in ("succeeded", "failed")


class RunJournal:
    """The file of one run."""

    def __init__(self, folder: Path, run_id: str) -> None:
        self.run_id = run_id
        self.path = folder / f"{run_id}.jsonl"
        self.messages = folder / f"{run_id}.log"
        """What the process of the run prints."""
        self._lock = folder / f"{run_id}.lock"

    def note(self, event: str, **facts: Any) -> None:
        """Append a line."""
        line = json.dumps({"event": event, "at": datetime.now(UTC).isoformat(), **facts})
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within the block the run counts as alive."""
        with FileLock(self._lock):
            yield

    def is_alive(self) -> bool:
        """Whether a process is at work on the run."""
        try:
            with FileLock(self._lock, timeout=0):
                return False
        except Timeout:
            return True

    def exists(self) -> bool:
        return self.path.exists()

    def progress(self) -> RunProgress:
        """What the lines say. A run that was killed still counts as running here."""
        state: RunState = "queued"
        planned: dict[str, StepState] = {}
        steps: dict[str, StepState] = {}
        message, began, ended = "", None, None
        for line in self._lines():
            match line:
                case {"event": "planned", "asset": str(asset)}:
                    planned[asset] = "waiting"
                case {"event": "began", "at": str(at)}:
                    state, began = "running", at
                case {"event": "step", "asset": str(asset), "state": str(to)}:
                    steps[asset] = to  # type: ignore[assignment]
                case {"event": "ended", "state": str(to), "message": str(message), "at": str(at)}:
                    state, ended = to, at  # type: ignore[assignment]
        waiting = {asset: to for asset, to in planned.items() if asset not in steps}
        return RunProgress(self.run_id, state, steps | waiting, message, _seconds(began, ended))

    def remove(self) -> None:
        for path in (self.path, self.messages, self._lock):
            path.unlink(missing_ok=True)

    def _lines(self) -> Iterator[dict[str, Any]]:
        """All whole lines; a kill may leave half of the last one."""
        text = self.path.read_text("utf-8", errors="replace") if self.exists() else ""
        for line in text.splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue


def journals(folder: Path) -> list[RunJournal]:
    """Those of all runs that are kept, the oldest first."""
    found = sorted(folder.glob("*.jsonl"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    return [RunJournal(folder, path.stem) for path in found]


def is_run_id(text: str) -> bool:
    return _RUN_ID.fullmatch(text) is not None


def remove_old(folder: Path) -> None:
    """Keep the journals of the last runs only."""
    for journal in journals(folder)[:-_KEPT]:
        if not journal.is_alive():
            journal.remove()


def _seconds(began: str | None, ended: str | None) -> float:
    if began is None:
        return 0.0
    until = datetime.fromisoformat(ended) if ended else datetime.now(UTC)
    return round((until - datetime.fromisoformat(began)).total_seconds(), 1)
