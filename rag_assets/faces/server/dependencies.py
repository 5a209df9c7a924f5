"""What routes share: `SharedDep`, which FastAPI hands to them, limits per client, the JSON of a
question, facts about what is published, and changes of the papers with the run that follows each.

For the facts, only small files are read, so that they are there while the engine opens.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO, Annotated

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from rag_assets.core.domain import EVERYTHING, Filter, Record
from rag_assets.core.errors import RagAssetsError
from rag_assets.core.incremental import read_sealed
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import published_or_empty
from rag_assets.core.tables import PARSED_INDEX
from rag_assets.corpus.records.published import titles_of
from rag_assets.engine import Engine, open_engine
from rag_assets.faces.dialogue import Dialogue
from rag_assets.faces.server.middleware import Rate
from rag_assets.faces.server.workers import Workers
from rag_assets.library.corrections import correct
from rag_assets.library.paper_uploads import PaperTrash, PaperUploads, TrashedPaper, UploadedPaper
from rag_assets.library.reading.reader import Reader
from rag_assets.pipeline.runs.requests import RunProgress, RunRequests
from rag_assets.questions import MAX_QUESTION_CHARS, Question, asked
from rag_assets.questions.conversations import Conversations

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
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


class CorpusChanges:
    """Changes the papers of one data folder; safe to use from several threads. To be closed."""

    def __init__(self, settings: Settings) -> None:
        """Starts no process yet."""
        self._settings = settings
        self._uploads = PaperUploads(settings)
        self._trash = PaperTrash(settings)
        self._runs = RunRequests(settings)

    def add(self, name: str, content: IO[bytes]) -> tuple[UploadedPaper, str]:
        """Keep an uploaded file; with the id of the run that will read it. Raises as
        `PaperUploads.add`."""
        uploaded = self._uploads.add(name, content)
        return uploaded, self._runs.ask()

    def correct(self, paper_id: str, record: Record) -> str:
        """Keep the known values of `record` as corrections of a paper; the id of the run that takes
        them. Raises as `corrections.correct`."""
        correct(self._settings, paper_id, record)
        return self._runs.ask()

    def deletions(self) -> list[TrashedPaper]:
        """The deletions that can be undone, newest first."""
        return self._trash.deletions()

    def discard(self, paper_id: str) -> tuple[TrashedPaper, str]:
        """Move a paper to the trash; with the id of the run that takes it out. Raises as
        `PaperTrash.discard`."""
        trashed = self._trash.discard(paper_id)
        return trashed, self._runs.ask()

    def discard_all(self, confirmation: str) -> tuple[TrashedPaper, str]:
        """Move all papers to the trash; with the id of the run that takes them out. Raises as
        `PaperTrash.discard_all`."""
        trashed = self._trash.discard_all(confirmation)
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


MAX_PAPERS_NAMED = 1000
MAX_WAITING = 256
"""Questions that may wait for their turn; those that come then are told to come later."""
UPLOADS_PER_MINUTE = 300
"""Uploads and deletions that one client address may send in a minute."""
PaperId = Annotated[str, Field(min_length=1, max_length=500)]


@dataclass(frozen=True)
class Shared:
    """Opened once for an app, closed with it."""

    settings: Settings
    engine: Engine
    reader: Reader
    answering: Workers
    """For answers: as many at once as the engine works on."""
    searching: Workers
    """For searches and look-ups, which do not wait behind answers."""
    changing: Workers
    """For uploads and deletions, one at a time."""
    changes: CorpusChanges
    conversations: Conversations
    dialogue: Dialogue
    facts: PublishedFacts
    questions: Rate
    uploads: Rate

    @classmethod
    def of(cls, settings: Settings) -> "Shared":
        """Opens nothing yet: the first question opens indexes and models."""
        engine, limits = open_engine(settings), settings.server
        conversations = Conversations(settings.paths.conversations)
        return cls(
            settings=settings,
            engine=engine,
            reader=Reader(settings, engine),
            answering=Workers(engine.n_at_once, MAX_WAITING, "answer"),
            searching=Workers(max(engine.n_at_once, 2), MAX_WAITING, "search"),
            changing=Workers(1, MAX_WAITING, "change"),
            changes=CorpusChanges(settings),
            conversations=conversations,
            dialogue=Dialogue(settings, conversations),
            facts=PublishedFacts(settings.paths),
            questions=Rate(limits.questions_per_minute, "questions"),
            uploads=Rate(UPLOADS_PER_MINUTE, "uploads"),
        )

    @property
    def n_working(self) -> int:
        """Pieces of work that are under way or wait."""
        return self.answering.n_inside + self.searching.n_inside + self.changing.n_inside

    def stop(self) -> None:
        """Take no more work; answers under way end with a problem."""
        self.answering.close()
        self.searching.close()
        self.changing.close()

    def close(self) -> None:
        """Let go of everything."""
        self.stop()
        self.reader.close()
        self.dialogue.close()
        self.engine.close()
        self.changes.close()
        self.conversations.close()


def _shared(request: Request) -> Shared:
    shared: Shared = request.app.state.shared
    return shared


SharedDep = Annotated[Shared, Depends(_shared)]


def _counted(rate_of: Callable[[Shared], Rate]) -> Callable[[Request, Shared], None]:
    def count(request: Request, shared: SharedDep) -> None:
        rate_of(shared).count(request.client.host if request.client else "")

    return count


counts_as_question = Depends(_counted(lambda shared: shared.questions))
"""For `dependencies=[...]` of a route: counts the request against `server.questions_per_minute`."""
counts_as_upload = Depends(_counted(lambda shared: shared.uploads))
"""Likewise, against `UPLOADS_PER_MINUTE`."""


class Where(BaseModel):
    """Where to look."""

    model_config = ConfigDict(extra="forbid")

    paper_ids: list[PaperId] | None = Field(
        None,
        max_length=MAX_PAPERS_NAMED,
        description="Search only these papers; an empty list finds nothing.",
    )
    where: str | None = Field(
        None,
        max_length=10_000,
        description="A filter, such as author:Smith year:2019- section:results; see docs/searching.md.",
    )

    def filter(self) -> Filter | None:
        """What both let through; None when neither is given. Raises InvalidFilter."""
        if self.paper_ids is None and self.where is None:
            return None
        papers = EVERYTHING if self.paper_ids is None else Filter.of_papers(self.paper_ids)
        return papers & (EVERYTHING if self.where is None else Filter.parse(self.where))


class AskRequest(Where):
    """A question and where to look."""

    question: str = Field(description=f"1 to {MAX_QUESTION_CHARS} characters.")

    def as_question(self, read: Callable[[str], Question] = asked) -> Question:
        """read: `said` within a conversation. Raises InvalidQuestions, InvalidFilter."""
        return read(self.question).model_copy(update={"where": self.filter()})
