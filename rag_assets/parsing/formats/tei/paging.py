"""Pages and reading order of a whole document: by coordinates, by page breaks, or not at all.

GROBID moves figures, tables and notes behind the text. Here they return to where they belong: by
their coordinates, if the text around has some, behind the last block that is proved to begin before
them, column by column; else behind the first block that refers to them; else behind the body, in no
section. They take the section of the block they follow, and never cut a paragraph in two.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lxml import etree

from rag_assets.core.domain import Block, BlockKind, PageSource, Span, Zone
from rag_assets.parsing.formats.tei.coords import Area, areas_of, page_sizes
from rag_assets.parsing.formats.tei.pages import (
    FLOAT_KINDS,
    Layout,
    PageProof,
    break_spans,
    chain_points,
    consistent,
    float_spans,
    layout_of,
    page_ranges,
    spans_of,
)
from rag_assets.parsing.formats.tei.text import Collected, UnplacedBlock

_LEAST_FIRST_PAGE_CHARS = 80
"""So much text before the first page break is a page of its own; less is a title set before its
page."""
_ANNEX_HEADING = re.compile(r"\W*(?:append|annex|suppl|[A-Z](?:\.\d+)*\.?\s)", re.IGNORECASE)
_Spans = dict[int, tuple[Span, ...]]
"""Spans by the `id` of their UnplacedBlock."""
_PagePlace = tuple[int, int, float]
"""Page, column and distance from the top of the page."""


@dataclass(frozen=True)
class Paging:
    """Blocks in reading order with their pages, and the document's facts about pages."""

    blocks: tuple[Block, ...]
    page_source: PageSource = PageSource.NONE
    n_pages: int | None = None
    page_labels: tuple[str | None, ...] = ()


def with_pages(root: etree._Element, collected: Collected) -> Paging:
    """Give every block its pages; coordinates count more than page breaks."""
    if any(block.areas or block.run.marks for block in collected.blocks):
        return _by_coordinates(root, collected)
    if collected.page_labels:
        return _by_breaks(collected)
    return Paging(_blocks(collected, {}, {}, [], None))


def _by_breaks(collected: Collected) -> Paging:
    """A break starts a page, so text before the first one is a page of its own, if it is more than
    a title."""
    paged = collected.blocks[len(collected.abstract) :]
    n_before = sum(
        end - start
        for block in paged
        for start, end, breaks in block.run.page_runs()
        if breaks == 0
    )
    offset = int(n_before >= _LEAST_FIRST_PAGE_CHARS)
    labels = (*([None] * offset), *collected.page_labels)
    spans = {id(block): break_spans(block.run, offset) for block in paged}
    captions = {
        id(block): break_spans(block.caption, offset)
        for block in paged
        if block.caption is not None
    }
    return Paging(_blocks(collected, spans, captions, [], None), PageSource.PB, len(labels), labels)


def _by_coordinates(root: etree._Element, collected: Collected) -> Paging:
    sizes = page_sizes(root)
    layout = _layout(root, collected, sizes)
    spans: _Spans = {id(block): float_spans(block, sizes) for block in collected.floats}
    main_points: list[PageProof] = []
    for index, chain in enumerate(collected.chains()):
        points = [point for point in chain_points(chain) if not sizes or point.page in sizes]
        bounds: tuple[int, int | None] = 1, max(sizes, default=None)
        if index == 0:
            main_points = points
            bounds = _body_bounds(root, chain, points, bounds)
        along = page_ranges(points, sum(len(block.run) for block in chain), bounds, layout)
        at = 0
        for block in chain:
            spans[id(block)] = spans_of(block, at, along, sizes)
            at += len(block.run)
    captions = {id(block): _caption_spans(block, spans[id(block)]) for block in collected.blocks}
    blocks = _blocks(collected, spans, captions, main_points, layout)
    # Many files have coordinates on pictures alone: figures then have a page, but nothing proves
    # the text's.
    is_proved = any(
        span.page_start is not None
        for block in blocks
        if block.kind not in FLOAT_KINDS
        for span in block.spans
    )
    areas = (area for element in root.iter(etree.Element) for area in areas_of(element))
    n_pages = max(sizes, default=0) or max((area.page for area in areas), default=None)
    return Paging(blocks, PageSource.COORDS if is_proved else PageSource.NONE, n_pages)


def _caption_spans(block: UnplacedBlock, whole: Sequence[Span]) -> tuple[Span, ...]:
    """A caption lies within the areas of its figure or table; empty if nothing proves the page of
    these."""
    if (
        not block.title
        or block.kind not in FLOAT_KINDS
        or len(whole) != 1
        or whole[0].page_start is None
    ):
        return ()
    return (replace(whole[0], start=0, end=len(block.title)),)


def _body_bounds(
    root: etree._Element,
    chain: Sequence[UnplacedBlock],
    points: Sequence[PageProof],
    bounds: tuple[int, int | None],
) -> tuple[int, int | None]:
    """The body starts with the title's page at the earliest and ends with the first reference's at
    the latest.

    The latter does not hold when the references come before the last words, as they do where an
    appendix was taken for body.
    """
    title = root.find(".//{*}teiHeader/{*}fileDesc/{*}titleStmt/{*}title")
    first = next((area.page for area in areas_of(title)), 1) if title is not None else 1
    kept = [point for point, is_kept in zip(points, consistent(points), strict=True) if is_kept]
    if not kept:
        return bounds
    reference = next(
        (area.page for entry in root.iter("{*}biblStruct") for area in areas_of(entry)[:1]), None
    )
    first = first if first <= kept[0].page else 1
    if reference is None or reference < kept[-1].page or _ends_in_annex(chain, kept[-1].offset):
        return first, bounds[1]
    return first, reference


def _ends_in_annex(chain: Sequence[UnplacedBlock], offset: int) -> bool:
    """Whether a heading of an appendix follows that offset of the chain."""
    at = 0
    for block in chain:
        at += len(block.run)
        if at > offset and block.kind is BlockKind.HEADING and _ANNEX_HEADING.match(block.run.text):
            return True
    return False


def _layout(root: etree._Element, collected: Collected, sizes: Mapping[int, Area]) -> Layout | None:
    blocks = [
        block for chain in collected.chains() for block in chain if block.kind not in FLOAT_KINDS
    ]
    references = [area for entry in root.iter("{*}biblStruct") for area in areas_of(entry)]
    others = [*(area for block in collected.floats for area in block.areas), *references]
    return layout_of([mark for block in blocks for mark in block.run.marks], others, sizes)


def _blocks(
    collected: Collected,
    spans: _Spans,
    captions: _Spans,
    points: Sequence[PageProof],
    layout: Layout | None,
) -> tuple[Block, ...]:
    """All blocks in reading order: floats where they belong, those without a place between body and
    annexes."""

    def placed(block: UnplacedBlock, host: UnplacedBlock) -> Block:
        text = block.run.text
        return Block(
            kind=block.kind,
            text=text,
            section_path=host.section_path,
            zone=host.zone,
            spans=spans.get(id(block)) or (Span(0, len(text), None, None),),
            title=block.title,
            title_spans=captions.get(id(block), ()),
            cells=block.cells,
        )

    hosts = [*collected.main, *(block for part in collected.back for block in part)]
    floats = _floats_by_host(collected.floats, hosts, points, layout)
    blocks: list[Block] = []
    for index, host in enumerate(hosts):
        blocks.append(placed(host, host))
        blocks.extend(placed(block, host) for block in floats.get(index, ()))
        if index == len(collected.main) - 1:
            blocks.extend(placed(block, block) for block in floats.get(None, ()))
    return tuple(blocks)


def _floats_by_host(
    floats: Sequence[UnplacedBlock],
    hosts: Sequence[UnplacedBlock],
    points: Sequence[PageProof],
    layout: Layout | None,
) -> dict[int | None, list[UnplacedBlock]]:
    """The floats by the index of the host they follow, each list in its order; None: those that
    found no place.

    points: what proves pages in the first chain; the hosts begin with its blocks.
    """
    places = [
        (_place_of(point.area, layout), point.block)
        for point, is_kept in zip(points, consistent(points), strict=True)
        if is_kept and point.area is not None and hosts[point.block].zone is Zone.BODY
    ]
    mentions = _first_mentions(hosts)
    found: dict[int | None, list[tuple[_PagePlace | None, UnplacedBlock]]] = {}
    for block in floats:
        where = _place_of(block.areas[0], layout) if block.areas and places else None
        if where is None:
            host = mentions.get(block.element_id)
        else:  # the last host with a place before it, else the first that has a place
            host = max((index for place, index in places if place <= where), default=places[0][1])
        found.setdefault(host, []).append((where, block))
    return {
        host: [
            block
            for _, block in sorted(
                placed, key=lambda pair: (pair[0] is None, pair[0] or (0, 0, 0.0))
            )
        ]
        for host, placed in found.items()
    }


def _first_mentions(hosts: Sequence[UnplacedBlock]) -> dict[str, int]:
    """The index of the first host that refers to each id."""
    found: dict[str, int] = {}
    for index, host in enumerate(hosts):
        if host.zone is not Zone.BACK:
            for target in host.run.targets:
                found.setdefault(target, index)
    found.pop("", None)
    return found


def _place_of(area: Area, layout: Layout | None) -> _PagePlace:
    return area.page, layout.column_of(area) if layout else 0, area.top
