"""The papers as a server sees them: facts about what is published, and changes with the run that
follows each.

For the facts, only small files are read, so that they are there while the engine opens.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO

from rag_assets.core.errors import RagAssetsError
from rag_assets.core.incremental import read_sealed
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import published_or_empty
from rag_assets.core.tables import PARSED_INDEX
from rag_assets.corpus.records.published import titles_of
from rag_assets.library.paper_uploads import PaperTrash, PaperUploads, TrashedPaper, UploadedPaper
from rag_assets.pipeline.runs.requests import RunProgress, RunRequests

logger = logging.getLogger(__name__)
_State = tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True)
class CorpusFacts:
    """Facts about what is published now."""

    titles: Mapping[str, str]
    """By paper id; empty text where a paper has none."""
    n_papers: int
    """Papers that could be read."""
    n_chunks: int
    version: str | None
    """Changes with everything that can be searched; None when there is no index yet."""


class PublishedFacts:
    """Reads the facts, and keeps them until their files change; safe to use from several
    threads."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._files = (paths.parsed_index, paths.records, paths.chunk_stats, paths.index_meta)
        self._reading = Lock()
        self._kept: tuple[_State, CorpusFacts] | None = None

    def now(self) -> CorpusFacts:
        with self._reading:
            state = tuple(_stat(file) for file in self._files)
            if self._kept is None or self._kept[0] != state:
                self._kept = state, self._read()
            return self._kept[1]

    def _read(self) -> CorpusFacts:
        paths = self._paths
        status = published_or_empty(paths.parsed_index, PARSED_INDEX).table["status"].to_pylist()
        return CorpusFacts(
            titles=titles_of(paths),
            n_papers=status.count("parsed"),
            n_chunks=(read_sealed(paths.chunk_stats) or {}).get("n_chunks", 0),
            version=(read_sealed(paths.index_meta) or {}).get("version"),
        )


def _stat(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


class CorpusChanges:
    """Changes the papers of one data folder; safe to use from several threads. To be closed."""

    def __init__(self, settings: Settings) -> None:
        """Starts no process yet."""
        self._uploads = PaperUploads(settings)
        self._trash = PaperTrash(settings)
        self._runs = RunRequests(settings)

    def add(self, name: str, content: IO[bytes]) -> tuple[UploadedPaper, str]:
        """Keep an uploaded file; with the id of the run that will read it. Raises as
        `PaperUploads.add`."""
        uploaded = self._uploads.add(name, content)
        return uploaded, self._runs.ask()

    def deletions(self) -> list[TrashedPaper]:
        """The deletions that can be undone, newest first."""
        return self._trash.deletions()

    def discard(self, paper_id: str) -> tuple[TrashedPaper, str]:
        """Move a paper to the trash; with the id of the run that takes it out. Raises as
        `PaperTrash.discard`."""
        trashed = self._trash.discard(paper_id)
        return trashed, self._runs.ask()

    def restore(self, trash_id: str) -> tuple[TrashedPaper, str]:
        """Take a paper back; with the id of the run that reads it. Raises as
        `PaperTrash.restore`."""
        restored = self._trash.restore(trash_id)
        return restored, self._runs.ask()

    def progress(self, run_id: str) -> RunProgress:
        """How far a run is. Raises NotFound."""
        return self._runs.progress(run_id)

    def resume(self) -> None:
        """Complete a deletion that the last server was killed at. The server starts even if that
        fails."""
        try:
            if self._trash.finish_interrupted():
                self._runs.ask()
        except (RagAssetsError, OSError) as error:
            logger.warning("A deletion that was cut short could not be completed: %s", error)

    def close(self) -> None:
        """Take no more changes; runs that were asked for go on."""
        self._runs.close()
        self._uploads.close()
