"""Runs that a server asks for after papers came or went, each in a process of its own.

Requests that come while a run is under way lead to one more run. The server may end, or be killed: a run goes on to its
end, since it publishes whole files only, and what was still waiting is asked for when the server is back. No Dagster is
imported here.
"""

import json
import logging
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from rag_assets.errors import NotFound, ReadOnlyFolder
from rag_assets.runs.journal import RunJournal, RunProgress, is_run_id, journals, remove_old
from rag_assets.settings import Settings

logger = logging.getLogger(__name__)
_COMMAND = "from rag_assets.runs.requested_run import main; main()"
_WAITS_FOR_RUN = "Another run is under way; this one begins when it ends."
_KILLED = "The run was killed; what it had published stays. Ask for another, or start the server again."
_CUT_SHORT = "The server was stopped meanwhile; another run goes on from there."


class RunRequests:
    """Asks for runs over one data folder and tells how far they are; safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        """settings: those of the server, which its runs use too."""
        self._settings = settings
        self._folder = settings.paths.requested_runs
        self._lock = threading.Lock()
        self._current: tuple[RunJournal, subprocess.Popen[bytes]] | None = None
        self._pending: RunJournal | None = None
        self._is_closed = False

    def ask(self) -> str:
        """Ask for a run that reads the papers as they are now. Returns its id, which it shares with earlier requests
        that no run has begun to serve. Raises ReadOnlyFolder."""
        with self._lock:
            if self._pending is None:
                self._pending = self._queued()
            run_id = self._pending.run_id
            self._start_pending()
            return run_id

    def resume(self) -> str | None:
        """Ask for a run if the last server left one that was not done. Returns its id."""
        left = [journal for journal in journals(self._folder) if not journal.progress().is_over]
        left = [journal for journal in left if not journal.is_alive()]
        if not left:
            return None
        run_id = self.ask()
        for journal in left:
            journal.note("ended", state="failed", message=_CUT_SHORT)
        return run_id

    def progress(self, run_id: str) -> RunProgress:
        """How far a run is. Raises NotFound for one that was not asked for here, or long ago."""
        journal = RunJournal(self._folder, run_id)
        if not is_run_id(run_id) or not journal.exists():
            raise NotFound(
                "There is no such run among the last that the server asked for. The Dagster UI (rag-assets ui) shows "
                "all runs."
            )
        with self._lock:
            is_pending = self._pending is not None and self._pending.run_id == run_id
            is_ours = self._current is not None and self._current[0].run_id == run_id
        found = journal.progress()
        if found.is_over:
            return found
        if is_pending or (is_ours and found.state == "queued"):
            return replace(found, message=_WAITS_FOR_RUN if is_pending else "")
        if is_ours or journal.is_alive():
            return found
        last = journal.progress()  # it may have ended between the two looks
        return last if last.is_over else replace(last, state="failed", message=_KILLED)

    def close(self) -> None:
        """Start no more runs; the one under way goes on."""
        with self._lock:
            self._is_closed = True

    def _queued(self) -> RunJournal:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            remove_old(self._folder)
            journal = RunJournal(self._folder, str(uuid4()))
            journal.note("queued")
        except OSError as error:
            raise ReadOnlyFolder.at(self._folder) from error
        return journal

    def _start_pending(self) -> None:
        """Start what waits, unless a run is under way; the lock is held."""
        if self._pending is None or self._current is not None or self._is_closed:
            return
        journal, self._pending = self._pending, None
        process = _started(journal, self._folder, self._settings)
        self._current = journal, process
        threading.Thread(target=self._follow, args=(journal, process), name="run", daemon=True).start()

    def _follow(self, journal: RunJournal, process: "subprocess.Popen[bytes]") -> None:
        """Wait for the end of a run, then start what came meanwhile."""
        code = process.wait()
        with self._lock:
            self._current = None
            if not journal.progress().is_over:
                logger.error(
                    "The process of run %s ended by itself (%s); see %s.", journal.run_id, code, journal.messages
                )
                journal.note("ended", state="failed", message=_KILLED)
            self._start_pending()


def _started(journal: RunJournal, folder: Path, settings: Settings) -> "subprocess.Popen[bytes]":
    """The process of a run, in a session of its own: a Ctrl-C in the terminal of the server does not reach it."""
    request = {
        "folder": str(folder.absolute()),
        "run_id": journal.run_id,
        "settings": settings.model_dump(mode="json", exclude_unset=True, exclude={"server"}),
    }
    search_path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    with journal.messages.open("ab") as messages:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-P", "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=messages,
            stderr=messages,
            env={**os.environ, "PYTHONPATH": search_path},
            start_new_session=True,
        )
    if process.stdin is None:
        raise ValueError("the process is started with a pipe")
    with process.stdin:
        process.stdin.write(json.dumps(request).encode())
    return process
