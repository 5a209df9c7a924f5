"""POST /api/references: papers as a list of references, for a text or for a reference manager."""

from typing import Literal

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from rag_assets.corpus.records.citation_styles import bibliography
from rag_assets.corpus.records.published import records_of
from rag_assets.faces.server.dependencies import (
    MAX_PAPERS_NAMED,
    PaperId,
    SharedDep,
    counts_as_question,
)

router = APIRouter(prefix="/api", tags=["read"])


class ReferencesRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    paper_ids: list[PaperId] = Field(
        max_length=MAX_PAPERS_NAMED,
        description="As an answer cites them; ids that no paper has are left out.",
    )
    style: Literal["author-year", "numeric", "bibtex", "ris", "csl-json"] = "author-year"


@router.post("/references", dependencies=[counts_as_question], response_class=PlainTextResponse)
async def references(request: ReferencesRequest, shared: SharedDep) -> str:
    """The records of papers in a style, in the order of the ids; sorted by authors for
    author-year."""

    def written() -> str:
        return bibliography(records_of(shared.settings.paths, request.paper_ids), request.style)

    return await shared.searching.result(written)
