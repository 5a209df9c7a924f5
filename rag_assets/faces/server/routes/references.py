"""POST /api/references: papers as a list of references, for a text or for a reference manager."""

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from rag_assets.core.errors import InvalidSelection
from rag_assets.corpus.records.citation_styles import bibliography
from rag_assets.corpus.records.published import records_of
from rag_assets.faces.server.dependencies import MAX_PAPERS_NAMED, PaperId, SharedDep, counts_as_question
from rag_assets.faces.server.problems import invalid_request

router = APIRouter(prefix="/api", tags=["read"])


class ReferencesRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    paper_ids: list[PaperId] = Field(
        max_length=MAX_PAPERS_NAMED,
        description="As an answer cites them; ids that no paper has are left out.",
    )
    style: str = Field(
        "apa",
        pattern=r"^[A-Za-z0-9-]{1,100}$",
        description="bibtex, ris, csl-json, or the name of a CSL style: apa, nature, ieee, elsevier-vancouver.",
    )


@router.post("/references", dependencies=[counts_as_question], response_class=PlainTextResponse)
async def references(request: ReferencesRequest, shared: SharedDep) -> str:
    """The records of papers in a style, in the order of the ids unless the style sorts them."""

    def written() -> str:
        try:
            return bibliography(records_of(shared.settings.paths, request.paper_ids), request.style)
        except InvalidSelection as error:
            raise invalid_request(str(error)) from error

    return await shared.searching.result(written)
