"""The tables of one reading of a PDF in the text of another: the same table is found by its place on the page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rag_assets.core.domain import Block, BlockKind, Box, Document, Zone, all_boxes
from rag_assets.core.errors import UnreadableDocument

_MOST_INSIDE = 0.5
"""What lies with this share of its area in a table is a part of it, as is a table that holds so much of it."""
_REPLACED = (BlockKind.TABLE, BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.FORMULA)


def with_tables_of(source: Document, document: Document) -> Document:
    """`document` with the tables of `source`, a reading of the same pages, in its own order and sections.

    A table takes the place of the tables and the text that lie in it or in its caption; where nothing does, it follows
    the lowest block above it. Tables of `document` that no table of `source` lies on are kept. A note counts all taken.
    Raises UnreadableDocument where the text of `document` has no places.
    """
    if not any(block.boxes for block in document.blocks):
        raise UnreadableDocument("tells places on pages, but the text that is read does not.")
    last_page = document.n_pages or source.n_pages or 0
    tables = [one for one in source.blocks if one.kind is BlockKind.TABLE and one.boxes and _fits(one, last_page)]
    blocks = list(document.blocks)
    n_chars = 0
    for table in tables:
        areas, caption = list(_areas(table)), all_boxes(table.title_spans)
        taken = [at for at, block in enumerate(blocks) if _is_part(block, areas, caption)]
        at = taken[0] if taken else _place(blocks, table)
        same = next((blocks[one] for one in taken if blocks[one].kind is BlockKind.TABLE), None)
        beside = same or (blocks[taken[0]] if taken else blocks[at - 1] if at else table)
        new = replace(table, section_path=beside.section_path, zone=beside.zone)
        if same and not new.title:
            new = replace(new, title=same.title, title_spans=same.title_spans)
        n_chars += _n_chars([new]) - _n_chars(blocks[one] for one in taken)
        blocks[at:at] = [new]
        for one in reversed(taken):
            del blocks[one + 1]
    return replace(
        document,
        blocks=tuple(blocks),
        n_source_chars=max(0, document.n_source_chars + n_chars),
        notes=(*document.notes, f"Tables by Docling: {len(tables)}."),
    )


def _fits(table: Block, last_page: int) -> bool:
    return all(box.page <= last_page for box in (*table.boxes, *all_boxes(table.title_spans)))


def _n_chars(blocks: Iterable[Block]) -> int:
    return sum(len(block.text) + len(block.title) + 1 for block in blocks if block.zone is not Zone.BACK)


def _is_part(block: Block, areas: Sequence[Box], caption: Sequence[Box]) -> bool:
    """Whether a block is a part of the table with these areas, or of its caption."""
    if block.kind not in _REPLACED:
        return False
    if _share_inside(block.boxes, [*areas, *caption]) >= _MOST_INSIDE:
        return True
    return block.kind is BlockKind.TABLE and _share_inside(areas, list(_areas(block))) >= _MOST_INSIDE


def _areas(table: Block) -> Iterator[Box]:
    """The rectangle around a table on each of its pages."""
    for page in dict.fromkeys(box.page for box in table.boxes):
        own = [box for box in table.boxes if box.page == page]
        yield Box(
            page,
            min(box.left for box in own),
            min(box.top for box in own),
            max(box.right for box in own),
            max(box.bottom for box in own),
        )


def _share_inside(boxes: Sequence[Box], areas: Sequence[Box]) -> float:
    """Share of the area of some boxes that lies in rectangles, which do not overlap; 0 to 1."""
    total = sum((box.right - box.left) * (box.bottom - box.top) for box in boxes)
    inside = sum(
        max(0.0, min(box.right, area.right) - max(box.left, area.left))
        * max(0.0, min(box.bottom, area.bottom) - max(box.top, area.top))
        for box in boxes
        for area in areas
        if box.page == area.page
    )
    return inside / total if total > 0 else 0.0


def _place(blocks: Sequence[Block], table: Block) -> int:
    """Where a table comes that lies on no block: after the last block above it in its columns or to the left of it,
    else at the beginning of its page, or of the first page after it that has any text."""
    area = next(_areas(table))
    middle = (area.top + area.bottom) / 2
    for at in range(len(blocks) - 1, -1, -1):
        on_page = [box for box in blocks[at].boxes if box.page == area.page]
        if any(box.right <= area.left or (box.bottom <= middle and box.left < area.right) for box in on_page):
            return at + 1
    return next((at for at, block in enumerate(blocks) if (block.page_start or 0) >= area.page), len(blocks))
