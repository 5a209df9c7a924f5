"""POST /api/feedback: whether an answer, or one of its claims, was good."""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StrictInt

from rag_assets.core.errors import ReadOnlyFolder
from rag_assets.faces.server.dependencies import SharedDep, counts_as_question
from rag_assets.faces.server.problems import request_id
from rag_assets.questions import MAX_QUESTION_CHARS

router = APIRouter(prefix="/api", tags=["ask"])


class Feedback(BaseModel):
    """What a reader says of an answer."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=MAX_QUESTION_CHARS)
    fingerprint: str = Field(
        pattern=r"^[0-9a-f]{8,64}$", description="Of the answer: the key of its draft in the data folder."
    )
    verdict: Literal["good", "bad"]
    claim: StrictInt | None = Field(None, ge=1, le=1000, description="Number of the claim; empty: the whole answer.")
    comment: str | None = Field(None, max_length=4000)
    conversation_id: str | None = Field(None, max_length=64)


class FeedbackReply(BaseModel):
    feedback_id: str


@router.post("/feedback", status_code=HTTPStatus.CREATED, dependencies=[counts_as_question])
def feedback(said: Feedback, shared: SharedDep) -> FeedbackReply:
    """Keep what a reader says in data/logs/feedback.jsonl; the fingerprint leads to the answer's draft and audit."""
    row = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "id": request_id.get(), **said.model_dump()}
    try:
        shared.feedback.add(row)
    except OSError as error:
        raise ReadOnlyFolder.at(shared.settings.paths.feedback.parent) from error
    return FeedbackReply(feedback_id=request_id.get())
