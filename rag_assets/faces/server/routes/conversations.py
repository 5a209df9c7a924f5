"""Conversations: listed, begun, read and deleted. Their turns are added by POST /api/answers."""

from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from rag_assets.answering.wording import CitationStyle
from rag_assets.faces.server.dependencies import SharedDep
from rag_assets.questions.conversations import ConversationSummary, NumberedTurn

router = APIRouter(prefix="/api/conversations", tags=["conversations"])


class Begun(BaseModel):
    conversation_id: str


class ConversationList(BaseModel):
    conversations: list[ConversationSummary] = Field(description="The last changed first.")


class KeptTurn(BaseModel):
    """A question with its answer."""

    turn: int = Field(description="Counted from 1.")
    question: str = Field(description="As it was written.")
    asked: str = Field(
        description="As the papers were asked: follow-ups are read with what was said before."
    )
    rewritten: bool = Field(description="The question was changed, or restricted to papers.")
    reason: str = Field(description="Why it was read so; empty where it was not rewritten.")
    paper_ids: list[str] = Field(description="Papers that the question was restricted to by that.")
    answer: dict[str, Any] = Field(description="As in the event done.")
    contexts: list[dict[str, Any]] = Field(
        description="What it was made from, as in the event contexts."
    )
    dropped: list[dict[str, Any]] = Field(description="What was left out, as in the event done.")
    at: str = Field(description="ISO 8601 in UTC.")

    @classmethod
    def of(cls, numbered: NumberedTurn, style: CitationStyle) -> "KeptTurn":
        turn = numbered.turn
        return cls(
            turn=numbered.number,
            question=turn.question,
            asked=turn.asked.question,
            rewritten=turn.asked.is_rewritten,
            reason=turn.asked.reason,
            paper_ids=list(turn.asked.paper_ids),
            answer=style.shown_row(turn.answer),
            contexts=[dict(context) for context in turn.contexts],
            dropped=[dict(row) for row in turn.dropped],
            at=turn.at,
        )


@dataclass(frozen=True)
class KeptConversation(ConversationSummary):
    turns: list[KeptTurn]
    """Oldest first."""


@router.get("")
def conversations(shared: SharedDep) -> ConversationList:
    """All conversations that have a question."""
    return ConversationList(conversations=list(shared.conversations.list()))


@router.post("", status_code=HTTPStatus.CREATED)
def begin(shared: SharedDep) -> Begun:
    """Begin a conversation; name it in POST /api/answers."""
    return Begun(conversation_id=shared.conversations.start())


@router.get("/{conversation_id}")
def conversation(conversation_id: str, shared: SharedDep) -> KeptConversation:
    """A conversation with its turns."""
    kept_conversation = shared.conversations.get(conversation_id)
    turns = [KeptTurn.of(turn, shared.engine.style) for turn in kept_conversation.turns]
    return KeptConversation(**asdict(kept_conversation.summary), turns=turns)


@router.delete("/{conversation_id}", status_code=HTTPStatus.NO_CONTENT)
def forget(conversation_id: str, shared: SharedDep) -> None:
    """Delete a conversation."""
    shared.conversations.delete(conversation_id)
