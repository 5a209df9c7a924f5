"""Pages and reading order of a whole document: by coordinates, by page breaks, or not at all.

How one stretch of text gets its page lives in `pages`, how a figure finds its place in `floats`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from lxml import etree

from rag_assets.domain import Block, BlockKind, PageSource, Span
from rag_assets.parsing.tei.coords import Area, PageSize, areas_of, page_sizes
from rag_assets.parsing.tei.drafts import Collected, Draft
from rag_assets.parsing.tei.floats import place
from rag_assets.parsing.tei.layout import Layout, layout_of
from rag_assets.parsing.tei.pages import (
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
    """Give every draft its pages; coordinates count more than page breaks."""
    if any(draft.areas or draft.run.marks for draft in collected.drafts):
        return _by_coordinates(root, collected)
    if collected.page_labels:
        return _by_breaks(collected)
    return Paging(_blocks(collected, _Places({}), [], None))


def _by_breaks(collected: Collected) -> Paging:
    """A break starts a page, so text before the first one stands on a page of its own, if it is more than a title."""
    paged = collected.drafts[len(collected.abstract) :]
    n_before = sum(end - start for draft in paged for start, end, breaks in draft.run.page_runs() if breaks == 0)
    offset = int(n_before >= _LEAST_FIRST_PAGE_CHARS)
    labels = (*([None] * offset), *collected.page_labels)
    spans = {id(draft): break_spans(draft.run, offset) for draft in paged}
    captions = {id(draft): break_spans(draft.caption, offset) for draft in paged if draft.caption is not None}
    return Paging(_blocks(collected, _Places(spans, captions), [], None), PageSource.PB, len(labels), labels)


def _by_coordinates(root: etree._Element, collected: Collected) -> Paging:
    sizes = page_sizes(root)
    n_pages = max(sizes, default=0) or _largest_page(root)
    layout = _layout(root, collected, sizes)
    spans: dict[int, tuple[Span, ...]] = {id(draft): float_spans(draft, sizes) for draft in collected.floats}
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
    chain: Sequence[Draft],
    points: Sequence[Point],
    bounds: PageBounds,
    layout: Layout | None,
    sizes: dict[int, PageSize],
) -> dict[int, tuple[Span, ...]]:
    n_chars = sum(len(draft.run) for draft in chain)
    along = stretches(points, n_chars, bounds, layout)
    spans, at = {}, 0
    for draft in chain:
        spans[id(draft)] = spans_of(draft, at, along, sizes)
        at += len(draft.run)
    return spans


def _body_bounds(
    root: etree._Element, chain: Sequence[Draft], points: Sequence[Point], bounds: PageBounds
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


def _ends_in_annex(chain: Sequence[Draft], offset: int) -> bool:
    """Whether a heading of an appendix follows that offset of the chain."""
    at = 0
    for draft in chain:
        at += len(draft.run)
        if at > offset and draft.kind is BlockKind.HEADING and _ANNEX_HEADING.match(draft.run.text):
            return True
    return False


def _layout(root: etree._Element, collected: Collected, sizes: dict[int, PageSize]) -> Layout | None:
    marks = [
        mark
        for chain in collected.chains()
        for draft in chain
        if draft.kind not in FLOAT_KINDS
        for mark in draft.run.marks
    ]
    return layout_of(marks, _other_areas(root, collected), sizes)


def _other_areas(root: etree._Element, collected: Collected) -> Iterator[Area]:
    for draft in collected.floats:
        yield from draft.areas
    for entry in root.iter("{*}biblStruct"):
        yield from areas_of(entry)


def _largest_page(root: etree._Element) -> int:
    return max((area.page for element in root.iter(etree.Element) for area in areas_of(element)), default=0)


@dataclass(frozen=True)
class _Places:
    """Where drafts and their captions stand, by the identity of the draft."""

    spans: dict[int, tuple[Span, ...]]
    captions: dict[int, tuple[Span, ...]] = field(default_factory=dict)

    def of_caption(self, draft: Draft) -> tuple[Span, ...]:
        """A caption has its own page breaks, or lies within the areas of its table; empty when nothing proves it."""
        if id(draft) in self.captions:
            return self.captions[id(draft)]
        whole = self.spans.get(id(draft), ())
        if not draft.title or draft.kind not in FLOAT_KINDS or len(whole) != 1 or whole[0].page_start is None:
            return ()
        return (replace(whole[0], start=0, end=len(draft.title)),)


def _blocks(collected: Collected, places: _Places, points: Sequence[Point], layout: Layout | None) -> tuple[Block, ...]:
    """All blocks in reading order: floats where they belong, those without a place between body and annexes."""
    hosts = [*collected.main, *(draft for part in collected.back for draft in part)]
    placement = place(collected.floats, hosts, points, layout)
    blocks: list[Block] = []
    for index, host in enumerate(hosts):
        blocks.append(_block(host, host, places))
        blocks.extend(_block(draft, host, places) for draft in placement.after.get(index, ()))
        if index == len(collected.main) - 1:
            blocks.extend(_block(draft, draft, places) for draft in placement.homeless)
    return tuple(blocks)


def _block(draft: Draft, host: Draft, places: _Places) -> Block:
    """The block of a draft, in the section of `host`."""
    text = draft.run.text
    return Block(
        kind=draft.kind,
        text=text,
        section_path=host.section_path,
        zone=host.zone,
        spans=places.spans.get(id(draft)) or (Span(0, len(text), None, None),),
        title=draft.title,
        title_spans=places.of_caption(draft),
        cells=draft.cells,
    )
