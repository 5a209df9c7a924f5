"""Reads the three forms of JSON that LandingAI's ADE writes into one form: regions of pages in
reading order.

The three families differ in their fields. Legacy (agentic-doc): `chunks` of `text` with a list of
groundings {page, box {l, t, r, b}}. Version 1: `chunks` of `markdown` with one grounding {page, box
{left, ...}}, and a top-level `grounding` map in which the ids of table cells resolve. Version 2: a
`structure` tree document > page > element > table cell, every node with its grounding {page, range
into the top-level `markdown`, box {xmin, ...}}. Pages count from 0 in the first two and from 1 in
the third; here they count from 1.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rag_assets.core.domain import Box, Cell
from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.parsing.formats.markdown.parts import plain_line
from rag_assets.parsing.shared.files import (
    mapping,
    number,
    sequence,
    text_field,
    whole_number,
)

Family = Literal["legacy", "v1", "v2", "v2 preview"]
GridPosition = tuple[int, int, int, int]
"""Row, column, rows spanned, columns spanned."""
_ANCHOR = re.compile(r"<a\s+id=['\"][^'\"<>]*['\"]\s*>\s*</a>")
_LEGACY_LOGO = re.compile(r"\s*logo\s*:", re.IGNORECASE)
_ENVELOPES = ("data", "result")
_LEGACY_EDGES = ("l", "t", "r", "b")
_V1_EDGES = ("left", "top", "right", "bottom")
_V2_EDGES = ("xmin", "ymin", "xmax", "ymax")


@dataclass(frozen=True)
class Region:
    """One region of a page, as ADE found it."""

    kind: str
    """The kind in the words of ADE: text, title, table, figure, marginalia, ..."""
    text: str
    """Text in Markdown; tables in HTML or with pipes."""
    page_start: int | None
    page_end: int | None
    boxes: tuple[Box, ...]
    cells: tuple[Cell, ...] = ()
    """The cells of a table that the JSON lists itself (version 2), with their boxes."""


@dataclass(frozen=True)
class AdeFile:
    """The content of an ADE file of any family."""

    family: Family
    regions: tuple[Region, ...]
    n_pages: int | None
    failed_pages: tuple[int, ...] = ()
    """Pages that ADE could not read, 1-based."""
    cell_boxes: Mapping[str, Box] = field(default_factory=dict)
    """Id of a table cell in the HTML -> its box (version 1)."""
    cell_positions: Mapping[str, GridPosition] = field(default_factory=dict)
    """Id of a table cell in the HTML -> its position, if the file states it (later version 1)."""


def _family_of(parsed: Mapping[str, Any]) -> Family | None:
    """The family of a parsed JSON object; None if ADE did not write it."""
    body = _unwrapped(parsed)
    structure = mapping(body.get("structure"))
    if structure.get("type") == "document" and isinstance(body.get("markdown"), str):
        pages = [mapping(page) for page in sequence(structure.get("children"))]
        return "v2 preview" if any("grounding" not in page for page in pages) else "v2"
    chunks = [mapping(chunk) for chunk in sequence(body.get("chunks"))]
    if not chunks or not isinstance(body.get("markdown", ""), str):
        return None
    if all({"chunk_type", "text", "grounding"} <= chunk.keys() for chunk in chunks):
        return "legacy"
    if all({"type", "markdown", "grounding"} <= chunk.keys() for chunk in chunks):
        return "v1"
    return None


def read_ade(parsed: Mapping[str, Any], max_pages: int) -> AdeFile:
    """The content of a parsed ADE object.

    Raises UnreadableDocument when it has none of the three forms, or the form of the preview of
    version 2, which does not state whether pages count from 0 or 1; DocumentLimit when it has too
    many pages.
    """
    body, family = _unwrapped(parsed), _family_of(parsed)
    reader = {"legacy": _legacy, "v1": _version_1, "v2": _version_2}.get(family or "")
    if reader is None:
        found = (
            "the preview form of ADE v2 (before July 2026)"
            if family
            else "no chunks and no structure of ADE"
        )
        raise UnreadableDocument(
            f"holds JSON with {found}. Parse the paper again with a current ADE version."
        )
    ade = reader(body)
    if ade.n_pages is not None and ade.n_pages > max_pages:
        raise DocumentLimit(
            f"has {ade.n_pages} pages, but parsing.limits.max_pages is {max_pages}. Raise the limit or split it."
        )
    return ade


def _unwrapped(parsed: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parse result itself: in the answer to a job, it is inside `data` or `result`."""
    if "chunks" in parsed or "structure" in parsed:
        return parsed
    inner = (mapping(parsed.get(key)) for key in _ENVELOPES)
    return next((body for body in inner if "chunks" in body or "structure" in body), parsed)


def _legacy(body: Mapping[str, Any]) -> AdeFile:
    regions = []
    for chunk in map(mapping, sequence(body["chunks"])):
        groundings = [mapping(entry) for entry in sequence(chunk.get("grounding"))]
        pages = [
            page for entry in groundings if (page := _from_zero(entry.get("page"))) is not None
        ]
        found = [
            _box(_from_zero(entry.get("page")), entry.get("box"), _LEGACY_EDGES)
            for entry in groundings
        ]
        boxes = tuple(box for box in found if box is not None)
        text = text_field(chunk.get("text"))
        kind = text_field(chunk.get("chunk_type"))
        if kind == "figure" and _LEGACY_LOGO.match(text):
            kind = "logo"
        regions.append(
            Region(kind, text, min(pages, default=None), max(pages, default=None), boxes)
        )
    return AdeFile(
        "legacy", tuple(regions), _n_pages(regions, _from_zero(body.get("end_page_idx")))
    )


def _version_1(body: Mapping[str, Any]) -> AdeFile:
    regions = []
    for chunk in map(mapping, sequence(body["chunks"])):
        grounding = mapping(chunk.get("grounding"))
        page = _from_zero(grounding.get("page"))
        box = _box(page, grounding.get("box"), _V1_EDGES)
        text = _ANCHOR.sub("", text_field(chunk.get("markdown")))
        regions.append(
            Region(text_field(chunk.get("type")), text, page, page, (box,) if box else ())
        )
    metadata = mapping(body.get("metadata"))
    groundings = {
        cell_id: mapping(entry) for cell_id, entry in mapping(body.get("grounding")).items()
    }
    boxes = {
        cell_id: box
        for cell_id, entry in groundings.items()
        if (box := _box(_from_zero(entry.get("page")), entry.get("box"), _V1_EDGES)) is not None
    }
    positions = {
        cell_id: position
        for cell_id, entry in groundings.items()
        if (position := _grid_position(mapping(entry.get("position")))) is not None
    }
    failed = [
        page
        for value in sequence(metadata.get("failed_pages"))
        if (page := _from_zero(value)) is not None
    ]
    n_pages = _n_pages(regions, whole_number(metadata.get("page_count")))
    return AdeFile("v1", tuple(regions), n_pages, tuple(failed), boxes, positions)


def _version_2(body: Mapping[str, Any]) -> AdeFile:
    markdown = text_field(body["markdown"])
    pages = [mapping(page) for page in sequence(mapping(body["structure"]).get("children"))]
    regions = []
    for element in map(
        mapping, [element for page in pages for element in sequence(page.get("children"))]
    ):
        page = _from_one(mapping(element.get("grounding")).get("page"))
        cells = tuple(
            Cell(
                row,
                col,
                plain_line(_slice_of(node, markdown)),
                row_span,
                col_span,
                boxes=_boxes_of(node),
            )
            for node in map(mapping, sequence(element.get("children")))
            if node.get("type") == "table_cell" and (position := _grid_position(node)) is not None
            for row, col, row_span, col_span in [position]
        )
        kind, text = text_field(element.get("type")), _slice_of(element, markdown)
        regions.append(Region(kind, text, page, page, _boxes_of(element), cells))
    metadata = mapping(body.get("metadata"))
    failed = [
        page
        for value in sequence(metadata.get("failed_pages"))
        if (page := _from_one(value)) is not None
    ]
    n_pages = _n_pages(regions, whole_number(metadata.get("page_count")))
    return AdeFile("v2", tuple(regions), n_pages, tuple(failed))


def _slice_of(node: Mapping[str, Any], markdown: str) -> str:
    """The text of a node of version 2: its own Markdown, or its range of that of the file; empty
    without either."""
    if isinstance(node.get("markdown"), str):
        return text_field(node["markdown"])
    span = mapping(mapping(node.get("grounding")).get("range"))
    start, end = whole_number(span.get("start")), whole_number(span.get("end"))
    return (
        markdown[start:end] if start is not None and end is not None and 0 <= start <= end else ""
    )


def _boxes_of(node: Mapping[str, Any]) -> tuple[Box, ...]:
    grounding = mapping(node.get("grounding"))
    box = _box(_from_one(grounding.get("page")), grounding.get("box"), _V2_EDGES)
    return (box,) if box else ()


def _grid_position(fields: Mapping[str, Any]) -> GridPosition | None:
    row, col = whole_number(fields.get("row")), whole_number(fields.get("col"))
    if row is None or col is None or min(row, col) < 0:
        return None
    spans = [whole_number(fields.get(name)) or 1 for name in ("rowspan", "colspan")]
    return row, col, max(spans[0], 1), max(spans[1], 1)


def _box(page: int | None, fields: Any, edges: Sequence[str]) -> Box | None:
    """The box with its edges clipped to the page; None if an edge is missing or far outside. edges:
    names of the fields for left, top, right and bottom."""
    values = [number(mapping(fields).get(edge)) for edge in edges]
    fractions = [
        min(max(value, 0.0), 1.0) for value in values if value is not None and -0.1 <= value <= 1.1
    ]
    if page is None or len(fractions) < 4:
        return None
    left, top, right, bottom = fractions
    return Box(page, min(left, right), min(top, bottom), max(left, right), max(top, bottom))


def _from_zero(value: Any) -> int | None:
    """The page (from 1) of a number that counts from 0; None if it is invalid."""
    page = whole_number(value)
    return page + 1 if page is not None and page >= 0 else None


def _from_one(value: Any) -> int | None:
    """The page of a number that counts from 1; None if it is invalid."""
    page = whole_number(value)
    return page if page is not None and page >= 1 else None


def _n_pages(regions: Sequence[Region], stated: int | None) -> int | None:
    """The number of pages that the file states, or the last page with a region if that is
    larger."""
    return max(
        (page for page in [stated, *(region.page_end for region in regions)] if page), default=None
    )
