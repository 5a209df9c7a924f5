"""The papers, their sections and chunks as text, their pages as images, where a citation stands on
them, and papers as a list of references, for a text or for a reference manager.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from rag_assets.core.domain import PaperOrder, Place
from rag_assets.core.domain.filters import MAX_PAPERS_NAMED
from rag_assets.corpus.records.citation_styles import bibliography
from rag_assets.corpus.records.published import records_of
from rag_assets.faces.server.dependencies import (
    PaperId,
    SharedDep,
    counts_as_question,
)
from rag_assets.library.reading.pages import FractionBox
from rag_assets.library.reading.papers import PaperDetails, PaperSummary
from rag_assets.library.reading.pdfs import MAX_WIDTH, MIN_WIDTH, PagePlace
from rag_assets.library.reading.reader import DEFAULT_WIDTH, SectionText

router = APIRouter(prefix="/api", tags=["read"])
MAX_OFFSET = 10_000_000
Offset = Annotated[
    int | None, Query(ge=0, le=MAX_OFFSET, description="In the text of the chunk, in code points.")
]
_FRACTION = r"(?:0(?:\.[0-9]{1,9})?|1(?:\.0{1,9})?)"
_BOX = rf"{_FRACTION}(?:,{_FRACTION}){{3}}"
_CACHED = "private, max-age=300"
"""Turning pages to and fro asks for none twice; a file that was exchanged is shown after some
minutes."""

PageNumber = Annotated[int, Path(ge=1, le=1_000_000, description="Physical page, from 1.")]
Width = Annotated[int, Query(ge=MIN_WIDTH, le=MAX_WIDTH, description="Of the image, in pixels.")]
Boxes = Annotated[
    str | None,
    Query(
        pattern=rf"^{_BOX}(?:;{_BOX})*$",
        max_length=10_000,
        description="Boxes to mark: left,top,right,bottom as fractions of the page from its top left corner, joined "
        "with semicolons.",
    ),
]


class PaperList(BaseModel):
    papers: list[PaperSummary]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkReply(Place):
    """A chunk as it is read. Its place is that of the part that start and end ask for, cut to the
    text."""

    title: str
    """Of its paper."""
    section_path: str
    text: str
    before: str
    """The last words before it in its section."""
    after: str
    """The first words behind it in its section."""


class PlaceReply(BaseModel):
    pages: tuple[PagePlace, ...] = Field(description="Empty: the page is not known.")


Find = Annotated[
    str,
    Query(max_length=500, description="Only papers with these words in title, authors or text."),
]
Sort = Annotated[
    PaperOrder, Query(description="year: the newest first; what is not known comes last.")
]


@router.get("/papers")
def papers(shared: SharedDep, find: Find = "", sort: Sort = PaperOrder.ID) -> PaperList:
    """Every paper of the data folder, with its state."""
    return PaperList(papers=shared.reader.papers(find, sort))


@router.get("/papers/{paper_id}")
def paper(paper_id: str, shared: SharedDep) -> PaperDetails:
    """A paper with its abstract and its sections."""
    return shared.reader.paper(paper_id)


@router.get("/papers/{paper_id}/sections/{section}")
async def section(paper_id: str, section: str, shared: SharedDep) -> SectionText:
    """The text of a section, by its id or its title."""
    return await shared.searching.result(lambda: shared.reader.section(paper_id, section))


@router.get("/chunks/{chunk_id}")
async def chunk(
    chunk_id: str, shared: SharedDep, start: Offset = None, end: Offset = None
) -> ChunkReply:
    """A chunk with what stands around it; start and end ask for a part of it."""
    cited = await shared.searching.result(lambda: shared.reader.chunk(chunk_id))
    is_part = start is not None or end is not None
    first, last = cited.part(start, end)
    whole = {
        "page_start": cited.page_start,
        "page_end": cited.page_end,
        "page_label": cited.page_label,
    }
    return ChunkReply.within(
        cited,
        first,
        last,
        title=shared.reader.titles().get(cited.paper_id, ""),
        section_path=cited.section_at(first)[1] if is_part else cited.section_path,
        text=cited.text,
        before=cited.context_before,
        after=cited.context_after,
        **{} if is_part else whole,
    )


@router.get(
    "/papers/{paper_id}/pages/{page}.png",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}, "description": "The page."}},
)
async def page_image(
    paper_id: str,
    page: PageNumber,
    shared: SharedDep,
    width: Width = DEFAULT_WIDTH,
    boxes: Boxes = None,
) -> Response:
    """A page of a paper's PDF as an image, with boxes marked in it."""
    png = await shared.searching.result(
        lambda: shared.reader.page_image(paper_id, page, width=width, boxes=_parsed(boxes))
    )
    return Response(png, media_type="image/png", headers={"Cache-Control": _CACHED})


@router.get("/chunks/{chunk_id}/place")
async def place(
    chunk_id: str, shared: SharedDep, start: Offset = None, end: Offset = None
) -> PlaceReply:
    """The pages that a part of a chunk stands on, and the boxes of its lines."""
    pages = await shared.searching.result(lambda: shared.reader.place(chunk_id, start or 0, end))
    return PlaceReply(pages=pages)


def _parsed(boxes: str | None) -> list[FractionBox]:
    """Boxes from the query, which fits their pattern."""
    numbers = [tuple(map(float, box.split(","))) for box in boxes.split(";")] if boxes else []
    return [(left, top, right, bottom) for left, top, right, bottom in numbers]


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
