"""What routes share, handed to them by FastAPI: `SettingsDep`, `EngineDep`, `SharedDep`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from rag_assets.core.settings import Settings
from rag_assets.engine import Engine, open_engine
from rag_assets.faces.server.corpus_changes import CorpusChanges
from rag_assets.faces.server.corpus_facts import PublishedFacts
from rag_assets.faces.server.dialogue import Dialogue
from rag_assets.faces.server.feedback_log import FeedbackLog
from rag_assets.faces.server.rates import Rate
from rag_assets.faces.server.workers import Workers
from rag_assets.library.reading.reader import Reader
from rag_assets.questions.conversations import Conversations


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
    feedback: FeedbackLog
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
            answering=Workers(engine.n_at_once, limits.max_waiting, "answer"),
            searching=Workers(max(engine.n_at_once, 2), limits.max_waiting, "search"),
            changing=Workers(1, limits.max_waiting, "change"),
            changes=CorpusChanges(settings),
            conversations=conversations,
            dialogue=Dialogue(settings, conversations, engine),
            facts=PublishedFacts(settings.paths),
            feedback=FeedbackLog(settings.paths.feedback),
            questions=Rate(limits.questions_per_minute, "questions"),
            uploads=Rate(limits.uploads_per_minute, "uploads"),
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


def _settings(shared: SharedDep) -> Settings:
    return shared.settings


def _engine(shared: SharedDep) -> Engine:
    return shared.engine


SettingsDep = Annotated[Settings, Depends(_settings)]
EngineDep = Annotated[Engine, Depends(_engine)]


def _counted(rate_of: Callable[[Shared], Rate]) -> Callable[[Request, Shared], None]:
    def count(request: Request, shared: SharedDep) -> None:
        rate_of(shared).count(request.client.host if request.client else "")

    return count


counts_as_question = Depends(_counted(lambda shared: shared.questions))
"""For `dependencies=[...]` of a route: counts the request against `server.questions_per_minute`."""
counts_as_upload = Depends(_counted(lambda shared: shared.uploads))
"""Likewise, against `server.uploads_per_minute`."""
