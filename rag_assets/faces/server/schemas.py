"""JSON of requests and replies that several routes share. Those of one route stand beside it."""

from typing import Annotated

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field

from rag_assets.core.domain import EVERYTHING, Band, Box, Filter
from rag_assets.questions import MAX_QUESTION_CHARS, Question, asked

MAX_PAPERS_NAMED = 1000
PaperId = Annotated[str, Field(min_length=1, max_length=500)]


class Asked(BaseModel):
    """A question and where to look."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, description=f"1 to {MAX_QUESTION_CHARS} characters.")
    paper_ids: list[PaperId] | None = Field(
        None, max_length=MAX_PAPERS_NAMED, description="Search only these papers; an empty list finds nothing."
    )
    where: str | None = Field(
        None,
        max_length=10_000,
        description="A filter, such as section:results page:3-7 -source:text; see docs/searching.md.",
    )

    def as_question(self) -> Question:
        """Raises InvalidQuestions, InvalidFilter."""
        return asked(self.question).model_copy(update={"where": self._filter()})

    def _filter(self) -> Filter | None:
        if self.paper_ids is None and self.where is None:
            return None
        papers = EVERYTHING if self.paper_ids is None else Filter.of_papers(self.paper_ids)
        return papers & (EVERYTHING if self.where is None else Filter.parse(self.where))


class Place(BaseModel):
    """Where something stands; pages are physical, 1-based, None where nothing proves them."""

    chunk_id: str
    paper_id: str
    title: str
    section_path: str
    page_start: int | None
    page_end: int | None
    page_label: str | None


class FoundHit(Place):
    """A passage that was found, and its chunk."""

    passage_id: str
    text: str = Field(description="Of the passage.")
    score: float = Field(description="Comparable within one reply only; higher is better.")
    similarity: float | None = Field(description="Cosine of question and passage.")
    band: Band | None = Field(description="How likely it answers the question, by the reranker.")
    boxes: list[Box]


def wants_events(request: Request) -> bool:
    """Whether the client asks for a stream of events."""
    return "text/event-stream" in request.headers.get("accept", "").lower()
