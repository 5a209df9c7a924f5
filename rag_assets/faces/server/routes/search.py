"""POST /api/search: what the index finds for a question. POST /api/verify: whether a quote stands
in the papers."""

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StrictInt

from rag_assets.core.domain import Band, Hit, Place
from rag_assets.faces.server.dependencies import AskRequest, PaperId, SharedDep, counts_as_question
from rag_assets.library.reading.reader import MAX_QUOTE_CHARS, QuoteVerdict

router = APIRouter(prefix="/api", tags=["ask"])
MAX_K = 100


class SearchRequest(AskRequest):
    k: StrictInt | None = Field(
        None, ge=1, le=MAX_K, description="Chunks to find; default: the setting answering.k."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit(Place):
    """A passage that was found, without the rest of its chunk."""

    passage_id: str
    title: str
    """Of its paper."""
    section_path: str
    text: str
    score: float
    """Comparable within one reply only; higher is better."""
    similarity: float | None
    """Cosine of question and passage."""
    band: Band | None
    """How likely it answers the question, by the reranker."""


class SearchReply(BaseModel):
    hits: list[SearchHit]


@router.post("/search", dependencies=[counts_as_question])
async def search(request: SearchRequest, shared: SharedDep) -> SearchReply:
    """The best chunks for a question, best first, each with its best passage. Nothing is
    answered."""
    question = request.as_question()

    def reply() -> SearchReply:
        titles = shared.reader.titles()
        hits = shared.engine.search(question, request.k)
        return SearchReply(hits=[_found(hit, titles) for hit in hits])

    return await shared.searching.result(reply)


def _found(hit: Hit, titles: Mapping[str, str]) -> SearchHit:
    return hit.placed(
        SearchHit,
        passage_id=hit.passage.passage_id,
        title=titles.get(hit.chunk.paper_id, ""),
        section_path=hit.passage.section_path,
        text=hit.passage.text,
        score=hit.score,
        similarity=hit.dense_score,
        band=hit.band,
    )


class QuoteRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    quote: str = Field(min_length=1, max_length=MAX_QUOTE_CHARS)
    paper_id: PaperId | None = Field(None, description="Look in this paper only.")


@router.post("/verify", dependencies=[counts_as_question])
async def verify(request: QuoteRequest, shared: SharedDep) -> QuoteVerdict:
    """Look a quote up in all papers, or in one. No model is asked."""
    return await shared.searching.result(
        lambda: shared.reader.verify_quote(request.quote, request.paper_id)
    )
