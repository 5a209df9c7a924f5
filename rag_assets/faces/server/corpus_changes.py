"""Papers that come and go over HTTP: the change itself, and the run that brings the index up to date after it."""

import logging
from typing import IO

from rag_assets.core.errors import RagAssetsError
from rag_assets.core.settings import Settings
from rag_assets.library.paper_uploads import PaperTrash, PaperUploads, TrashedPaper, UploadedPaper
from rag_assets.pipeline.runs.requests import RunProgress, RunRequests

logger = logging.getLogger(__name__)


class CorpusChanges:
    """Changes the papers of one data folder; safe to use from several threads. To be closed."""

    def __init__(self, settings: Settings) -> None:
        """Starts no process yet."""
        self._uploads = PaperUploads(settings)
        self._trash = PaperTrash(settings)
        self._runs = RunRequests(settings)

    def add(self, name: str, content: IO[bytes]) -> tuple[UploadedPaper, str]:
        """Keep an uploaded file; with the id of the run that will read it. Raises as `PaperUploads.add`."""
        uploaded = self._uploads.add(name, content)
        return uploaded, self._runs.ask()

    def deletions(self) -> list[TrashedPaper]:
        """The deletions that can be undone, newest first."""
        return self._trash.deletions()

    def discard(self, paper_id: str) -> tuple[TrashedPaper, str]:
        """Move a paper to the trash; with the id of the run that takes it out. Raises as `PaperTrash.discard`."""
        trashed = self._trash.discard(paper_id)
        return trashed, self._runs.ask()

    def restore(self, trash_id: str) -> tuple[TrashedPaper, str]:
        """Take a paper back; with the id of the run that reads it. Raises as `PaperTrash.restore`."""
        restored = self._trash.restore(trash_id)
        return restored, self._runs.ask()

    def progress(self, run_id: str) -> RunProgress:
        """How far a run is. Raises NotFound."""
        return self._runs.progress(run_id)

    def resume(self) -> None:
        """Complete a deletion that the last server was killed at. The server starts even if that fails."""
        try:
            if self._trash.finish_interrupted():
                self._runs.ask()
        except (RagAssetsError, OSError) as error:
            logger.warning("A deletion that was cut short could not be completed: %s", error)

    def close(self) -> None:
        """Take no more changes; runs that were asked for go on."""
        self._runs.close()
        self._uploads.close()
