"""What routes share: `SharedDep`, which FastAPI hands to them, limits per client, and the JSON of a
question."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from rag_assets.core.domain import Filter
from rag_assets.core.domain.filters import MAX_FILTER_CHARS, MAX_PAPERS_NAMED
from rag_assets.core.errors import RagAssetsError
from rag_assets.core.settings import Settings
from rag_assets.engine import Engine, open_engine
from rag_assets.faces.dialogue import Dialogue
from rag_assets.faces.server.middleware import Rate
from rag_assets.faces.server.workers import Workers
from rag_assets.library.paper_uploads import PaperTrash, PaperUploads
from rag_assets.library.reading.reader import Reader
from rag_assets.pipeline.runs.requests import RunRequests
from rag_assets.questions import MAX_QUESTION_CHARS, Question, asked
from rag_assets.questions.conversations import Conversations

logger = logging.getLogger(__name__)
Result = TypeVar("Result")
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
    paper_uploads: PaperUploads
    trash: PaperTrash
    runs: RunRequests
    conversations: Conversations
    dialogue: Dialogue
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
            paper_uploads=PaperUploads(settings),
            trash=PaperTrash(settings),
            runs=RunRequests(settings),
            conversations=conversations,
            dialogue=Dialogue(settings, conversations),
            questions=Rate(limits.questions_per_minute, "questions"),
            uploads=Rate(UPLOADS_PER_MINUTE, "uploads"),
        )

    async def changed(self, change: Callable[[], Result]) -> tuple[Result, str]:
        """What a change of the papers returns, and the id of the run that brings it into the
        index. Raises as the change."""
        return await self.changing.result(lambda: (change(), self.runs.ask()))

    def resume(self) -> None:
        """Complete a deletion that the last server was killed at. The server starts even if that
        fails."""
        try:
            if self.trash.finish_interrupted():
                self.runs.ask()
        except (RagAssetsError, OSError) as error:
            logger.warning("A deletion that was cut short could not be completed: %s", error)

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
        self.runs.close()  # runs that were asked for go on
        self.paper_uploads.close()
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
        max_length=MAX_FILTER_CHARS,
        description="A filter, such as author:Smith year:2019- section:results; see docs/searching.md.",
    )

    def filter(self) -> Filter | None:
        """What both let through; None when neither is given. Raises InvalidFilter."""
        return Filter.given(self.paper_ids, self.where)


class AskRequest(Where):
    """A question and where to look."""

    question: str = Field(description=f"1 to {MAX_QUESTION_CHARS} characters.")

    def as_question(self, read: Callable[[str], Question] = asked) -> Question:
        """read: `said` within a conversation. Raises InvalidQuestions, InvalidFilter."""
        return read(self.question).model_copy(update={"where": self.filter()})
