"""Changing the papers folder, one change at a time. A deleted paper can be restored: its files are
moved to the trash, a folder for each deletion.

`trash.json` says what belongs there and is written first, so that a deletion or restoration that a
kill cut short is completed by `finish_interrupted`, never left half done. Nothing in the trash is
ever deleted here.
"""

import json
import logging
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from rag_assets.core.errors import BusyDataFolder, CorpusConflict, NotFound, ReadOnlyFolder
from rag_assets.core.incremental import sealed, unsealed, write_atomically
from rag_assets.core.settings import Settings
from rag_assets.core.settings.paths import demand_data_folder
from rag_assets.core.text.display import legible
from rag_assets.parsing.discovery import INDEX_NAME, Paper, discover

logger = logging.getLogger(__name__)
_MANIFEST = "trash.json"
_FILES = "files"
_TRASH_ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]{12}")
State = Literal["discarding", "kept", "restoring"]
_MAX_SHOWN_CHARS = 80
_LOCK_NAME = ".papers.lock"
_LOCK_TIMEOUT_S = 30.0


def demand_changeable(settings: Settings) -> None:
    """Make the papers folder if it is missing.

    Raises MissingInput without a data folder, CorpusConflict when a list names the papers,
    ReadOnlyFolder.
    """
    paths = settings.paths
    demand_data_folder(paths)
    if settings.paper_list_file or (paths.papers / INDEX_NAME).exists():
        raise CorpusConflict(
            "A list names the papers of this corpus, so files that are added or deleted here would change nothing. "
            "Change the list, or remove it."
        )
    try:
        paths.papers.mkdir(exist_ok=True)
    except OSError as error:
        raise ReadOnlyFolder.at(paths.data) from error
    if not os.access(paths.papers, os.W_OK | os.X_OK) or not os.access(
        paths.data, os.W_OK | os.X_OK
    ):
        raise ReadOnlyFolder.at(paths.papers)


@contextmanager
def changing_papers(settings: Settings) -> Iterator[None]:
    """Within the block no other process adds or removes papers through this package; a run may read
    meanwhile.

    Raises BusyDataFolder, and as `demand_changeable`.
    """
    demand_changeable(settings)
    lock = FileLock(settings.data_dir.resolve() / _LOCK_NAME)
    try:
        lock.acquire(timeout=_LOCK_TIMEOUT_S)
    except Timeout as error:
        raise BusyDataFolder.at(settings.data_dir) from error
    try:
        yield
    finally:
        lock.release()


def present_papers(settings: Settings) -> list[Paper]:
    """All papers in the folder, those that cannot be parsed included."""
    return discover(settings.paths.papers, settings.parsing.limits)


def shown(name: str) -> str:
    """A client's file name in a message: on one line, cut, without characters that act on a
    terminal."""
    line = legible(" ".join(name.split()))
    return f'"{line}"' if len(line) <= _MAX_SHOWN_CHARS else f'"{line[: _MAX_SHOWN_CHARS - 1]}…"'


@dataclass(frozen=True)
class TrashedPaper:
    """A deletion."""

    trash_id: str
    paper_id: str
    files: tuple[str, ...]
    """From the papers folder, with forward slashes."""
    state: State = "kept"
    """The others only while files are moved, or after a kill."""


class PaperTrash:
    """Moves papers out of the papers folder, and back."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._papers = settings.paths.papers
        self._trash = settings.paths.trash

    def deletions(self) -> list[TrashedPaper]:
        """The deletions that can be undone, newest first; one whose record is damaged is left
        out."""
        folders = sorted(self._trash.iterdir(), reverse=True) if self._trash.is_dir() else []
        return [
            one for folder in folders if (one := self._read(folder.name)) and one.state == "kept"
        ]

    def discard(self, paper_id: str) -> TrashedPaper:
        """Move all files of a paper, of whatever format, to the trash.

        Raises NotFound, and what `changing_papers` raises.
        """
        with changing_papers(self._settings):
            paper = next(
                (paper for paper in present_papers(self._settings) if paper.paper_id == paper_id),
                None,
            )
            if paper is None:
                raise NotFound(
                    f"There is no paper {shown(paper_id)}. GET /api/papers lists those there are."
                )
            trash_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(6)}"
            trashed = TrashedPaper(
                trash_id, paper_id, tuple(file.relative for file in paper.files), "discarding"
            )
            return self._discarded(trashed)

    def restore(self, trash_id: str) -> TrashedPaper:
        """Move the files of a deletion back to where they were; the deletion is gone then.

        Raises NotFound, CorpusConflict when there is a paper of that id again, and what
        `changing_papers` raises.
        """
        with changing_papers(self._settings):
            trashed = self._read(trash_id)
            if trashed is None:
                raise NotFound(
                    "There is no such deletion to undo: it was undone already, or its record is damaged."
                )
            present = [paper.paper_id.casefold() for paper in present_papers(self._settings)]
            is_taken = any((self._papers / file).exists() for file in trashed.files)
            if is_taken or trashed.paper_id.casefold() in present:
                raise CorpusConflict(
                    f"There is another paper {shown(trashed.paper_id)} now. Delete that one first; nothing was changed."
                )
            return self._restored(replace(trashed, state="restoring"))

    def finish_interrupted(self) -> Sequence[TrashedPaper]:
        """Complete what a killed process began. Returns it. Raises as `changing_papers`."""
        if not self._trash.is_dir():
            return ()
        with changing_papers(self._settings):
            found = [self._read(folder.name) for folder in sorted(self._trash.iterdir())]
            begun = [trashed for trashed in found if trashed and trashed.state != "kept"]
            for trashed in begun:
                logger.warning(
                    "The deletion or restoration of %s was cut short; it is completed.",
                    trashed.paper_id,
                )
            return [
                self._discarded(one) if one.state == "discarding" else self._restored(one)
                for one in begun
            ]

    def _discarded(self, trashed: TrashedPaper) -> TrashedPaper:
        self._write(trashed)
        for file in trashed.files:
            _move(self._papers / file, self._folder(trashed) / _FILES / file)
        kept = replace(trashed, state="kept")
        self._write(kept)
        return kept

    def _restored(self, trashed: TrashedPaper) -> TrashedPaper:
        self._write(trashed)
        for file in trashed.files:
            _move(self._folder(trashed) / _FILES / file, self._papers / file)
        shutil.rmtree(self._folder(trashed))
        return trashed

    def _folder(self, trashed: TrashedPaper) -> Path:
        return self._trash / trashed.trash_id

    def _write(self, trashed: TrashedPaper) -> None:
        content = json.dumps(
            sealed(json.loads(json.dumps(asdict(trashed)))), ensure_ascii=False, indent=1
        )
        path = self._folder(trashed) / _MANIFEST
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content.encode())

    def _read(self, trash_id: str) -> TrashedPaper | None:
        """None when there is no such deletion, or its record is damaged."""
        if not _TRASH_ID.fullmatch(trash_id):
            return None
        path = self._trash / trash_id / _MANIFEST
        content = unsealed(path.read_bytes()) if path.exists() else None
        return TrashedPaper(**content | {"files": tuple(content["files"])}) if content else None


def _move(source: Path, target: Path) -> None:
    """Move a file, unless a killed process has done so; between two disks by a copy that is deleted
    last."""
    if source.exists() or source.is_symlink():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(source, target)
