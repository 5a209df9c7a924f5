"""Gives all blocks of a document their pages, from coordinates or page breaks, and puts them into
reading order.

GROBID moves figures, tables and notes (floats) to the end of the text. Here each float is put back
after a block of the text, its host, and takes over its section. If the text has coordinates, the
host is the last block that begins before the float, in the order of pages, columns and heights;
else it is the first block that refers to the float. A float without a host is put after the body,
in no section.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from lxml import etree

from rag_assets.core.domain import Block, BlockKind, PageSource, Span, Zone
from rag_assets.parsing.formats.tei.elements import Area, areas_of, page_sizes
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
"""Text before the first page break is a separate page if it has at least this many characters; less
is a title that is written before the break of its page."""
_ANNEX_HEADING = re.compile(r"\W*(?:append|annex|suppl|[A-Z](?:\.\d+)*\.?\s)", re.IGNORECASE)
_Spans = dict[int, tuple[Span, ...]]
"""`id` of an UnplacedBlock -> its spans."""
_Position = tuple[int, int, float]
"""Page, column and distance from the top of the page: sorts areas in reading order."""


@dataclass(frozen=True)
class Paging:
    """Blocks in reading order with their pages, and the document's facts about pages."""

    blocks: tuple[Block, ...]
    page_source: PageSource = PageSource.NONE
    n_pages: int | None = None
    page_labels: tuple[str | None, ...] = ()


def with_pages(root: etree._Element, collected: Collected) -> Paging:
    """The blocks with their pages: from coordinates if there are any, else from page breaks."""
    if any(block.areas or block.run.marks for block in collected.blocks):
        return _by_coordinates(root, collected)
    if collected.page_labels:
        return _by_breaks(collected)
    return Paging(_blocks(collected, {}, {}, [], None))


def _by_breaks(collected: Collected) -> Paging:
    """The blocks with pages from page breaks. A break starts a page, so the text before the first
    one is page 1, if it is more than a title."""
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
    """The blocks with pages from coordinates.

    The text is divided into chains, in each of which pages never decrease; the first one is the
    main text. Floats get the pages of their own coordinates.
    """
    sizes = page_sizes(root)
    layout = _layout(root, collected, sizes)
    spans: _Spans = {id(block): float_spans(block, sizes) for block in collected.floats}
    main_points: list[PageProof] = []
    for index, chain in enumerate(collected.chains()):
        points = [point for point in chain_points(chain) if not sizes or point.page in sizes]
        bounds: tuple[int, int | None] = 1, max(sizes, default=None)
        if index == 0:  # the main text
            main_points = points
            bounds = _body_bounds(root, chain, points, bounds)
        ranges = page_ranges(points, sum(len(block.run) for block in chain), bounds, layout)
        offset = 0
        for block in chain:
            spans[id(block)] = spans_of(block, offset, ranges, sizes)
            offset += len(block.run)
    captions = {id(block): _caption_spans(block, spans[id(block)]) for block in collected.blocks}
    blocks = _blocks(collected, spans, captions, main_points, layout)
    # Many files have coordinates only on pictures: then figures have a page, but the text has none.
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
    """The span of a caption, with the page and boxes of its figure or table; empty if that has no
    page."""
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
    """The first and the last page that the text of the body can be on: the page of the title, and
    that of the first reference.

    The references are no limit if they come before the last words of the body, for example because
    the body ends with an appendix. bounds: used if nothing else is known.
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
    """Whether there is a heading of an appendix after that offset of the chain."""
    end = 0
    for block in chain:
        end += len(block.run)
        is_after = end > offset and block.kind is BlockKind.HEADING
        if is_after and _ANNEX_HEADING.match(block.run.text):
            return True
    return False


def _layout(root: etree._Element, collected: Collected, sizes: Mapping[int, Area]) -> Layout | None:
    """The layout of the pages, estimated from all coordinates of the document."""
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
    """All blocks in reading order, each float after its host; floats without a host are put between
    body and annexes. points: what proves pages in the main text."""

    def finished(block: UnplacedBlock, host: UnplacedBlock) -> Block:
        """The block with its spans, in the section of `host`."""
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
        blocks.append(finished(host, host))
        blocks.extend(finished(block, host) for block in floats.get(index, ()))
        if index == len(collected.main) - 1:
            blocks.extend(finished(block, block) for block in floats.get(None, ()))
    return tuple(blocks)


def _floats_by_host(
    floats: Sequence[UnplacedBlock],
    hosts: Sequence[UnplacedBlock],
    points: Sequence[PageProof],
    layout: Layout | None,
) -> dict[int | None, list[UnplacedBlock]]:
    """Index of a host -> the floats that follow it, sorted by position; the key None has those
    without a host.

    points: what proves pages in the main text, whose blocks are the first of `hosts`.
    """
    host_positions = [
        (_position_of(point.area, layout), point.block)
        for point, is_kept in zip(points, consistent(points), strict=True)
        if is_kept and point.area is not None and hosts[point.block].zone is Zone.BODY
    ]
    mentions = _first_mentions(hosts)
    found: dict[int | None, list[tuple[bool, _Position, UnplacedBlock]]] = {}
    for block in floats:
        if block.areas and host_positions:
            position = _position_of(block.areas[0], layout)
            before = (host for at, host in host_positions if at <= position)
            last_before = max(before, default=host_positions[0][1])
            found.setdefault(last_before, []).append((False, position, block))
        else:
            first_mention = mentions.get(block.element_id)
            found.setdefault(first_mention, []).append((True, (0, 0, 0.0), block))
    return {
        host: [block for *_, block in sorted(group, key=itemgetter(0, 1))]
        for host, group in found.items()
    }


def _first_mentions(hosts: Sequence[UnplacedBlock]) -> dict[str, int]:
    """Id of an element -> index of the first block that refers to it."""
    found: dict[str, int] = {}
    for index, host in enumerate(hosts):
        if host.zone is not Zone.BACK:
            for target in host.run.targets:
                found.setdefault(target, index)
    found.pop("", None)
    return found


def _position_of(area: Area, layout: Layout | None) -> _Position:
    return area.page, layout.column_of(area) if layout else 0, area.top
