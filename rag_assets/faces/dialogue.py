"""Questions of a conversation: read after those before it, and kept with their answers and what is
shown beside these, as JSON values.

How follow-ups are read and where turns are kept is decided in `conversations`.
"""

import logging
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from rag_assets.answering.trace import AnswerTrace
from rag_assets.core.domain import Evidence, Filter, QAResult
from rag_assets.core.errors import InvalidQuestions, RagAssetsError
from rag_assets.core.settings import Settings
from rag_assets.core.text.display import without_addresses
from rag_assets.engine import Event, Finished, Retrieved
from rag_assets.hosted.connections import Connections
from rag_assets.questions import Question, said
from rag_assets.questions.conversations import (
    Conversations,
    RewritingModel,
    Rewritten,
    Turn,
    open_rewriting_model,
    standalone,
)
from rag_assets.questions.conversations.follow_ups import N_READ

_LOST_CITATIONS = "A citation of a published statement was left out: its words are in no source."


@dataclass(frozen=True)
class Answered:
    """An answer and what is shown beside it, as JSON values."""

    result: QAResult
    contexts: Sequence[Mapping[str, Any]]
    """What it was made from."""
    dropped: Sequence[Mapping[str, Any]]
    """What was left out of it."""

    @classmethod
    def of(cls, events: Sequence[Event], titles: Mapping[str, str]) -> "Answered":
        """events: all events of an answer; titles: by paper id."""
        read = [
            context_rows(event.evidence, titles) for event in events if isinstance(event, Retrieved)
        ]
        contexts = {row["chunk_id"]: row for rows in read for row in rows}
        (trace,) = (event.trace for event in events if isinstance(event, Finished))
        return cls(trace.result, tuple(contexts.values()), dropped_rows(trace))


def context_rows(evidence: Evidence, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """The contexts of one search, without their texts; band and scores are null for neighbours of
    what was found. titles: by paper id."""
    hits = {hit.chunk.chunk_id: hit for hit in evidence.hits}
    return [
        {
            "chunk_id": context.chunk_id,
            "paper_id": context.paper_id,
            "title": titles.get(context.paper_id, ""),
            "section_path": evidence.chunks[context.chunk_id].section_path,
            "page_start": context.page_start,
            "page_end": context.page_end,
            "page_label": evidence.chunks[context.chunk_id].page_label,
            "n_tokens": context.n_tokens,
            "band": hit and hit.band,
            "score": hit and hit.score,
            "similarity": hit and hit.dense_score,
        }
        for context in evidence.contexts
        for hit in [hits.get(context.chunk_id)]
    ]


def dropped_rows(trace: AnswerTrace) -> list[dict[str, Any]]:
    """The statements that were left out, then how many citations of others did not hold."""
    outcomes = trace.final.verified.outcomes
    statements = [
        {
            "reason": outcome.objection.reason,
            "message": outcome.objection.why,
            "claim": without_addresses(outcome.proposed.text),
            "n": 1,
        }
        for outcome in outcomes
        if outcome.objection is not None
    ]
    statements += [
        {"reason": left.promise, "message": left.why, "claim": left.claim, "n": 1}
        for left in trace.result.left_out
        if left.promise
    ]
    n_lost = sum(outcome.n_lost for outcome in outcomes if outcome.holds)
    lost = {"reason": "quote not found", "message": _LOST_CITATIONS, "claim": "", "n": n_lost}
    return [*statements, lost] if n_lost else statements


logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReadQuestion:
    """How a question is put to the corpus."""

    question: Question
    """What is asked of the corpus."""
    original: str
    """What the user wrote."""
    asked: Rewritten

    @classmethod
    def as_it_stands(cls, question: Question) -> "ReadQuestion":
        return cls(question, question.question, Rewritten.as_it_stands(question.question))


@dataclass(frozen=True)
class KeptPlace:
    """Where a turn was kept; nothing where it was not."""

    conversation_id: str | None = None
    turn: int | None = None
    """Counted from 1."""


class Dialogue:
    """Safe to use from several threads; to be closed."""

    def __init__(self, settings: Settings, conversations: Conversations) -> None:
        """The model that rewrites follow-ups, if one answers, is opened by the first of them."""
        self._settings = settings
        self._conversations = conversations
        self._connections = Connections(settings.model_access)

    def close(self) -> None:
        self._connections.close()

    def read(self, question: Question, conversation_id: str | None) -> ReadQuestion:
        """The question after the last turns of its conversation.

        Raises UnknownConversation, MissingKey.
        """
        turns = (
            []
            if conversation_id is None
            else self._conversations.last_turns(conversation_id, N_READ)
        )
        if not turns:
            return ReadQuestion.as_it_stands(question)
        rewritten = standalone(question.question, turns, self._model)
        try:
            text = said(rewritten.question).question
        except InvalidQuestions:  # too long together with what it follows
            return ReadQuestion.as_it_stands(question)
        where = (
            question.filter & Filter.of_papers(rewritten.paper_ids)
            if rewritten.paper_ids
            else question.where
        )
        standing = question.model_copy(update={"id": text, "question": text, "where": where})
        return ReadQuestion(standing, question.question, rewritten)

    def keep(
        self, reading: ReadQuestion, answered: Answered, conversation_id: str | None
    ) -> KeptPlace:
        """Add the turn to its conversation; without one, a new one is begun.

        An answer that cannot be kept (a folder that cannot be written, a conversation deleted
        meanwhile) is still given: the log says why.
        """
        try:
            kept_in = conversation_id or self._conversations.start()
            row = asdict(answered.result)
            turn = Turn(reading.original, reading.asked, row, answered.contexts, answered.dropped)
            return KeptPlace(kept_in, self._conversations.add(kept_in, turn))
        except (RagAssetsError, sqlite3.Error, OSError) as error:
            logger.warning("An answer was not kept with its conversation: %s", error)
            return KeptPlace()

    @cached_property
    def _model(self) -> RewritingModel | None:
        return open_rewriting_model(self._settings, self._connections)
