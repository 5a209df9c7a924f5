"""Pages and reading order of a whole document: by coordinates, by page breaks, or not at all."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from lxml import etree

from rag_assets.core.domain import Block, BlockKind, PageSource, Span
from rag_assets.parsing.formats.tei.coords import Area, PageSize, areas_of, page_sizes
from rag_assets.parsing.formats.tei.floats import place
from rag_assets.parsing.formats.tei.layout import Layout, layout_of
from rag_assets.parsing.formats.tei.pages import (
    FLOAT_KINDS,
    PageBounds,
    Point,
    break_spans,
    chain_points,
    consistent,
    float_spans,
    spans_of,
    stretches,
)
from rag_assets.parsing.formats.tei.text import Collected, UnplacedBlock

_LEAST_FIRST_PAGE_CHARS = 80
"""So much text before the first page break is a page of its own; less is a title set before its page."""
_ANNEX_HEADING = re.compile(r"\W*(?:append|annex|suppl|[A-Z](?:\.\d+)*\.?\s)", re.IGNORECASE)


@dataclass(frozen=True)
class Paging:
    """Blocks in reading order with their pages, and what the document says about pages."""

    blocks: tuple[Block, ...]
    page_source: PageSource = PageSource.NONE
    n_pages: int | None = None
    page_labels: tuple[str | None, ...] = ()


def with_pages(root: etree._Element, collected: Collected) -> Paging:
    """Give every unplaced its pages; coordinates count more than page breaks."""
    if any(unplaced.areas or unplaced.run.marks for unplaced in collected.blocks):
        return _by_coordinates(root, collected)
    if collected.page_labels:
        return _by_breaks(collected)
    return Paging(_blocks(collected, _Places({}), [], None))


def _by_breaks(collected: Collected) -> Paging:
    """A break starts a page, so text before the first one stands on a page of its own, if it is more than a title."""
    paged = collected.blocks[len(collected.abstract) :]
    n_before = sum(end - start for unplaced in paged for start, end, breaks in unplaced.run.page_runs() if breaks == 0)
    offset = int(n_before >= _LEAST_FIRST_PAGE_CHARS)
    labels = (*([None] * offset), *collected.page_labels)
    spans = {id(unplaced): break_spans(unplaced.run, offset) for unplaced in paged}
    captions = {
        id(unplaced): break_spans(unplaced.caption, offset) for unplaced in paged if unplaced.caption is not None
    }
    return Paging(_blocks(collected, _Places(spans, captions), [], None), PageSource.PB, len(labels), labels)


def _by_coordinates(root: etree._Element, collected: Collected) -> Paging:
    sizes = page_sizes(root)
    n_pages = max(sizes, default=0) or _largest_page(root)
    layout = _layout(root, collected, sizes)
    spans: dict[int, tuple[Span, ...]] = {id(unplaced): float_spans(unplaced, sizes) for unplaced in collected.floats}
    body_points: list[Point] = []
    for index, chain in enumerate(collected.chains()):
        points = [point for point in chain_points(chain) if not sizes or point.page in sizes]
        bounds = PageBounds(1, max(sizes, default=None))
        if index == 0:
            body_points = points
            bounds = _body_bounds(root, chain, points, bounds)
        spans.update(_chain_spans(chain, points, bounds, layout, sizes))
    blocks = _blocks(collected, _Places(spans), body_points, layout)
    return Paging(blocks, _source_of_text_pages(blocks), n_pages or None)


def _source_of_text_pages(blocks: Sequence[Block]) -> PageSource:
    """Many files have coordinates on pictures alone: figures then have a page, but nothing proves the text's."""
    is_proved = any(
        span.page_start is not None for block in blocks if block.kind not in FLOAT_KINDS for span in block.spans
    )
    return PageSource.COORDS if is_proved else PageSource.NONE


def _chain_spans(
    chain: Sequence[UnplacedBlock],
    points: Sequence[Point],
    bounds: PageBounds,
    layout: Layout | None,
    sizes: dict[int, PageSize],
) -> dict[int, tuple[Span, ...]]:
    n_chars = sum(len(unplaced.run) for unplaced in chain)
    along = stretches(points, n_chars, bounds, layout)
    spans, at = {}, 0
    for unplaced in chain:
        spans[id(unplaced)] = spans_of(unplaced, at, along, sizes)
        at += len(unplaced.run)
    return spans


def _body_bounds(
    root: etree._Element, chain: Sequence[UnplacedBlock], points: Sequence[Point], bounds: PageBounds
) -> PageBounds:
    """The body starts with the title's page at the earliest and ends with the first reference's at the latest.

    The latter does not hold when the references come before the last words, as they do where an appendix was taken
    for body.
    """
    title = root.find(".//{*}teiHeader/{*}fileDesc/{*}titleStmt/{*}title")
    first = next((area.page for area in areas_of(title)), 1) if title is not None else 1
    kept = [point for point, is_kept in zip(points, consistent(points), strict=True) if is_kept]
    if not kept:
        return bounds
    reference = next((area.page for entry in root.iter("{*}biblStruct") for area in areas_of(entry)[:1]), None)
    first = first if first <= kept[0].page else 1
    if reference is None or reference < kept[-1].page or _ends_in_annex(chain, kept[-1].offset):
        return PageBounds(first, bounds.last)
    return PageBounds(first, reference)


def _ends_in_annex(chain: Sequence[UnplacedBlock], offset: int) -> bool:
    """Whether a heading of an appendix follows that offset of the chain."""
    at = 0
    for unplaced in chain:
        at += len(unplaced.run)
        if at > offset and unplaced.kind is BlockKind.HEADING and _ANNEX_HEADING.match(unplaced.run.text):
            return True
    return False


def _layout(root: etree._Element, collected: Collected, sizes: dict[int, PageSize]) -> Layout | None:
    marks = [
        mark
        for chain in collected.chains()
        for unplaced in chain
        if unplaced.kind not in FLOAT_KINDS
        for mark in unplaced.run.marks
    ]
    return layout_of(marks, _other_areas(root, collected), sizes)


def _other_areas(root: etree._Element, collected: Collected) -> Iterator[Area]:
    for unplaced in collected.floats:
        yield from unplaced.areas
    for entry in root.iter("{*}biblStruct"):
        yield from areas_of(entry)


def _largest_page(root: etree._Element) -> int:
    return max((area.page for element in root.iter(etree.Element) for area in areas_of(element)), default=0)


@dataclass(frozen=True)
class _Places:
    """Where unplaced and their captions stand, by the identity of the unplaced."""

    spans: dict[int, tuple[Span, ...]]
    captions: dict[int, tuple[Span, ...]] = field(default_factory=dict)

    def of_caption(self, unplaced: UnplacedBlock) -> tuple[Span, ...]:
        """A caption has its own page breaks, or lies within the areas of its table; empty when nothing proves it."""
        if id(unplaced) in self.captions:
            return self.captions[id(unplaced)]
        whole = self.spans.get(id(unplaced), ())
        if not unplaced.title or unplaced.kind not in FLOAT_KINDS or len(whole) != 1 or whole[0].page_start is None:
            return ()
        return (replace(whole[0], start=0, end=len(unplaced.title)),)


def _blocks(collected: Collected, places: _Places, points: Sequence[Point], layout: Layout | None) -> tuple[Block, ...]:
    """All blocks in reading order: floats where they belong, those without a place between body and annexes."""
    hosts = [*collected.main, *(unplaced for part in collected.back for unplaced in part)]
    placement = place(collected.floats, hosts, points, layout)
    blocks: list[Block] = []
    for index, host in enumerate(hosts):
        blocks.append(_block(host, host, places))
        blocks.extend(_block(unplaced, host, places) for unplaced in placement.after.get(index, ()))
        if index == len(collected.main) - 1:
            blocks.extend(_block(unplaced, unplaced, places) for unplaced in placement.homeless)
    return tuple(blocks)


def _block(unplaced: UnplacedBlock, host: UnplacedBlock, places: _Places) -> Block:
    """The block of a unplaced, in the section of `host`."""
    text = unplaced.run.text
    return Block(
        kind=unplaced.kind,
        text=text,
        section_path=host.section_path,
        zone=host.zone,
        spans=places.spans.get(id(unplaced)) or (Span(0, len(text), None, None),),
        title=unplaced.title,
        title_spans=places.of_caption(unplaced),
        cells=unplaced.cells,
    )
