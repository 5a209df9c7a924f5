"""POST /api/search: what the index finds for a question. POST /api/verify: whether a quote stands in the papers."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StrictInt

from rag_assets.core.domain import Band, Box, Hit
from rag_assets.faces.server.dependencies import Asked, PaperId, SharedDep, counts_as_question
from rag_assets.faces.server.routes.papers import Place
from rag_assets.library.reading.quotes import MAX_QUOTE_CHARS
from rag_assets.library.reading.reader import QuoteVerdict

router = APIRouter(prefix="/api", tags=["ask"])
MAX_K = 100


class SearchRequest(Asked):
    k: StrictInt | None = Field(None, ge=1, le=MAX_K, description="Chunks to find; default: the setting answering.k.")


class FoundHit(Place):
    """A passage that was found, and its chunk."""

    passage_id: str
    text: str = Field(description="Of the passage.")
    score: float = Field(description="Comparable within one reply only; higher is better.")
    is_by_ocr: bool = Field(description="OCR read the passage, or a part of it.")
    similarity: float | None = Field(description="Cosine of question and passage.")
    band: Band | None = Field(description="How likely it answers the question, by the reranker.")
    boxes: list[Box]


class SearchReply(BaseModel):
    hits: list[FoundHit]


@router.post("/search", dependencies=[counts_as_question])
async def search(request: SearchRequest, shared: SharedDep) -> SearchReply:
    """The best chunks for a question, best first, each with its best passage. Nothing is answered."""
    question = request.as_question()

    def found() -> SearchReply:
        titles = shared.facts.now().titles
        hits = shared.engine.search(question, request.k)
        return SearchReply(hits=[_found(hit, titles.get(hit.chunk.paper_id, "")) for hit in hits])

    return await shared.searching.result(found)


def _found(hit: Hit, title: str) -> FoundHit:
    passage = hit.passage
    return FoundHit(
        chunk_id=hit.chunk.chunk_id,
        passage_id=passage.passage_id,
        paper_id=passage.paper_id,
        title=title,
        section_path=passage.section_path,
        page_start=passage.page_start,
        page_end=passage.page_end,
        page_label=hit.page_label,
        text=passage.text,
        score=hit.score,
        is_by_ocr=hit.is_by_ocr,
        similarity=hit.dense_score,
        band=hit.band,
        boxes=list(hit.boxes),
    )


class QuoteRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    quote: str = Field(min_length=1, max_length=MAX_QUOTE_CHARS)
    paper_id: PaperId | None = Field(None, description="Look in this paper only.")


@router.post("/verify", dependencies=[counts_as_question])
async def verify(request: QuoteRequest, shared: SharedDep) -> QuoteVerdict:
    """Look a quote up in all papers, or in one. No model is asked."""
    return await shared.searching.result(lambda: shared.reader.verify_quote(request.quote, request.paper_id))
