"""POST /api/search: what the index finds for a question."""

from fastapi import APIRouter
from pydantic import BaseModel, Field, StrictInt

from rag_assets.core.domain import Hit
from rag_assets.faces.server.dependencies import SharedDep, counts_as_question
from rag_assets.faces.server.schemas import Asked, FoundHit

router = APIRouter(prefix="/api", tags=["ask"])
MAX_K = 100


class SearchRequest(Asked):
    k: StrictInt | None = Field(None, ge=1, le=MAX_K, description="Chunks to find; default: the setting answering.k.")


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
        similarity=hit.dense_score,
        band=hit.band,
        boxes=list(hit.boxes),
    )
