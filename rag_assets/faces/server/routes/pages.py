"""Pages of papers as images, and where a citation stands on them."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from rag_assets.core.domain import Box
from rag_assets.faces.server.dependencies import SharedDep
from rag_assets.faces.server.routes.papers import Offset
from rag_assets.library.reading.page_rendering import FractionBox
from rag_assets.library.reading.pdfs import MAX_WIDTH, MIN_WIDTH
from rag_assets.library.reading.places import PagePlace
from rag_assets.library.reading.reader import DEFAULT_WIDTH

router = APIRouter(prefix="/api", tags=["read"])
_FRACTION = r"(?:0(?:\.[0-9]{1,9})?|1(?:\.0{1,9})?)"
_BOX = rf"{_FRACTION}(?:,{_FRACTION}){{3}}"
_CACHED = "private, max-age=300"
"""Turning pages to and fro asks for none twice; a file that was exchanged is shown after some minutes."""

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


class PlaceOnPage(BaseModel):
    """What is marked on one page."""

    page: int
    page_label: str | None
    boxes: list[FractionBox] = Field(description="Left, top, right, bottom as fractions, origin top left.")
    exact: bool = Field(description="The boxes are the lines of the quote itself; else those of its paragraph.")


class PlaceReply(BaseModel):
    pages: list[PlaceOnPage] = Field(description="Empty: the page is not known.")


@router.get(
    "/papers/{paper_id}/pages/{page}.png",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}, "description": "The page."}},
)
async def page_image(
    paper_id: str, page: PageNumber, shared: SharedDep, width: Width = DEFAULT_WIDTH, boxes: Boxes = None
) -> Response:
    """A page of a paper's PDF as an image, with boxes marked in it."""
    png = await shared.searching.result(
        lambda: shared.reader.page_image(paper_id, page, width=width, boxes=_parsed(boxes))
    )
    return Response(png, media_type="image/png", headers={"Cache-Control": _CACHED})


@router.get("/chunks/{chunk_id}/place")
async def place(chunk_id: str, shared: SharedDep, start: Offset = None, end: Offset = None) -> PlaceReply:
    """The pages that a part of a chunk stands on, and the boxes of its lines."""
    found = await shared.searching.result(lambda: shared.reader.place(chunk_id, start or 0, end))
    return PlaceReply(pages=[_on_page(one) for one in found])


def _on_page(place: PagePlace) -> PlaceOnPage:
    return PlaceOnPage(
        page=place.page,
        page_label=place.page_label,
        boxes=[_fractions(box) for box in place.boxes],
        exact=place.is_exact,
    )


def _fractions(box: Box) -> FractionBox:
    return box.left, box.top, box.right, box.bottom


def _parsed(boxes: str | None) -> list[FractionBox]:
    """Boxes from the query, which fits their pattern."""
    found = []
    for box in (boxes or "").split(";") if boxes else ():
        left, top, right, bottom = map(float, box.split(","))
        found.append((left, top, right, bottom))
    return found
