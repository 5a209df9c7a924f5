"""The papers, their sections, and the chunks that are cited: what is read, as text."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from rag_assets.core.domain import Chunk, Citation, PaperPoint, Point
from rag_assets.faces.server.dependencies import SharedDep
from rag_assets.faces.server.schemas import Place
from rag_assets.library.reading.papers import PaperState, PaperSummary, SectionSummary

router = APIRouter(prefix="/api", tags=["read"])
MAX_OFFSET = 10_000_000
Offset = Annotated[int | None, Query(ge=0, le=MAX_OFFSET, description="In the text of the chunk, in code points.")]


class PaperFacts(BaseModel):
    """A paper in the list."""

    paper_id: str
    title: str = Field(description="Empty where it has none, or was not read yet.")
    source: str | None = Field(description="Format it was read from; None where that is not known.")
    state: PaperState = Field(description="waiting: in the papers folder, and no run has read it yet.")
    n_pages: int | None
    n_chunks: int
    reason: str | None = Field(description="Why it is quarantined, and what to do about it.")
    has_pages: bool = Field(description="Images of its pages can be shown.")
    abstract: str = Field(description="Empty where it has none, or was not read yet.")


class PaperList(BaseModel):
    papers: list[PaperFacts]


class Section(BaseModel):
    """A section, or several short ones that were merged."""

    section_id: str
    title: str
    path: str = Field(description='Titles from the outermost section inwards, joined with " > ".')
    page_start: int | None
    page_end: int | None
    chunk_ids: list[str] = Field(description="Its chunks in reading order.")


class QuotedPlace(BaseModel):
    """A quote, and where it stands: it is the text of the chunk from `start` to `end`, in code points."""

    paper_id: str
    chunk_id: str
    page_start: int | None
    page_end: int | None
    page_label: str | None
    quote: str
    start: int
    end: int
    verification: str


class ToldClaim(BaseModel):
    text: str
    citations: list[QuotedPlace]


class ToldPoint(BaseModel):
    """What the paper says of one point of its summary."""

    point: Point = Field(description="asked, done, found, or limits: what limits it.")
    claims: list[ToldClaim] = Field(description="Verified; none where the paper does not say it.")
    model: str = Field(description="What wrote the claims.")


class PaperWithSections(PaperFacts):
    points: list[ToldPoint] = Field(description="Its summary by a model; empty where none was asked.")
    sections: list[Section] = Field(description="In reading order.")


class SectionPart(BaseModel):
    """`text[start:end]` of a section stands in this chunk, from `chunk_start` on."""

    chunk_id: str
    start: int
    end: int
    chunk_start: int


class SectionWithText(Section):
    paper_id: str
    text: str
    parts: list[SectionPart]


class Marked(BaseModel):
    """`text[start:end]`, in code points."""

    start: int
    end: int


class ChunkReply(Place):
    text: str
    before: str = Field(description="The last words before it in its section.")
    after: str = Field(description="The first words behind it in its section.")
    marked: Marked | None = Field(description="What was asked for with start and end, cut to the text.")


@router.get("/papers")
def papers(shared: SharedDep) -> PaperList:
    """Every paper of the data folder, sorted by id, with its state."""
    return PaperList(papers=[PaperFacts(**_facts(paper)) for paper in shared.reader.papers()])


@router.get("/papers/{paper_id}")
def paper(paper_id: str, shared: SharedDep) -> PaperWithSections:
    """A paper with its abstract, its summary where a model wrote one, and its sections."""
    details = shared.reader.paper(paper_id)
    return PaperWithSections(
        **_facts(details.summary),
        points=[_told(told) for told in details.points],
        sections=[_section(section) for section in details.sections],
    )


@router.get("/papers/{paper_id}/sections/{section}")
async def section(paper_id: str, section: str, shared: SharedDep) -> SectionWithText:
    """The text of a section, by its id or its title."""
    found = await shared.searching.result(lambda: shared.reader.section(paper_id, section))
    parts = [
        SectionPart(chunk_id=part.chunk_id, start=part.start, end=part.end, chunk_start=part.chunk_start)
        for part in found.parts
    ]
    return SectionWithText(**_section(found.section).model_dump(), paper_id=paper_id, text=found.text, parts=parts)


@router.get("/chunks/{chunk_id}")
async def chunk(chunk_id: str, shared: SharedDep, start: Offset = None, end: Offset = None) -> ChunkReply:
    """A chunk with what stands around it; start and end mark a part of it."""
    found = await shared.searching.result(lambda: shared.reader.chunk(chunk_id))
    n_chars = len(found.text)
    marked = None
    if start is not None or end is not None:
        first = min(start or 0, n_chars)
        marked = Marked(start=first, end=n_chars if end is None else min(max(end, first), n_chars))
    return _chunk(found, shared.facts.now().titles.get(found.paper_id, ""), marked)


def _facts(paper: PaperSummary) -> dict[str, object]:
    return {name: getattr(paper, name) for name in PaperFacts.model_fields}


def _told(told: PaperPoint) -> ToldPoint:
    claims = [ToldClaim(text=one.text, citations=[_place(cited) for cited in one.citations]) for one in told.claims]
    return ToldPoint(point=told.point, claims=claims, model=told.model)


def _place(cited: Citation) -> QuotedPlace:
    return QuotedPlace(**{name: getattr(cited, name) for name in QuotedPlace.model_fields})


def _section(section: SectionSummary) -> Section:
    return Section(
        section_id=section.section_id,
        title=section.title,
        path=section.path,
        page_start=section.page_start,
        page_end=section.page_end,
        chunk_ids=list(section.chunk_ids),
    )


def _chunk(found: Chunk, title: str, marked: Marked | None) -> ChunkReply:
    return ChunkReply(
        chunk_id=found.chunk_id,
        paper_id=found.paper_id,
        title=title,
        section_path=found.section_at(marked.start)[1] if marked else found.section_path,
        page_start=found.page_start,
        page_end=found.page_end,
        page_label=found.page_label,
        text=found.text,
        before=found.context_before,
        after=found.context_after,
        marked=marked,
    )
