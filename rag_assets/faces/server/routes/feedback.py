"""POST /api/feedback: whether an answer, or one of its claims, was good, kept in a file that only grows."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StrictInt

from rag_assets.core.errors import ReadOnlyFolder
from rag_assets.faces.server.dependencies import SharedDep, counts_as_question
from rag_assets.faces.server.problems import ProblemError, request_id
from rag_assets.questions import MAX_QUESTION_CHARS

router = APIRouter(prefix="/api", tags=["ask"])
MAX_BYTES = 100_000_000
"""Largest size of the file: visitors must not fill the disk."""
_WRITING = Lock()


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
        add_line(shared.settings.paths.feedback, row)
    except OSError as error:
        raise ReadOnlyFolder.at(shared.settings.paths.feedback.parent) from error
    return FeedbackReply(feedback_id=request_id.get())


def add_line(path: Path, row: Mapping[str, Any]) -> None:
    """Add one line of JSON, and wait until it is on the disk. A line that a kill cut short costs no other line.

    Raises ProblemError (507) when the file is full.
    """
    with _WRITING:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            n_bytes = file.seek(0, os.SEEK_END)
            if n_bytes >= MAX_BYTES:
                raise ProblemError(
                    HTTPStatus.INSUFFICIENT_STORAGE,
                    "feedback-full",
                    "No more feedback can be kept",
                    "Whoever runs the server must move data/logs/feedback.jsonl elsewhere.",
                )
            file.seek(max(n_bytes - 1, 0))
            missing_end = b"" if file.read(1) in (b"", b"\n") else b"\n"
            file.write(missing_end + json.dumps(row, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
