"""Tables and pictures of a DoclingDocument as blocks, with what belongs to them: captions, notes,
descriptions.

A picture's caption is the authors'; its description was written by a model. The data of a chart are
the authors' in a slide that stores them, and a model's reading in a PDF.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from rag_assets.core.domain import Block, BlockKind, Box, Cell, Zone
from rag_assets.parsing.formats.docling.pages import Item, Pages
from rag_assets.parsing.shared.files.json_objects import mapping, sequence, text_field, whole_number
from rag_assets.parsing.shared.table_rows import span_over, table_block

_MAX_SPAN = 1000
_MAX_DEPTH_OF_CELL = 5


@dataclass(frozen=True)
class Items:
    """The items of a parsed DoclingDocument, found by their references."""

    parsed: Item
    pages: Pages

    def item(self, reference: Any) -> tuple[str, Item]:
        """A referenced item with its reference; an empty one when the reference leads nowhere."""
        name = text_field(mapping(reference).get("$ref") or mapping(reference).get("cref"))
        match = re.fullmatch(r"#/([a-z_]+)/(\d{1,9})", name)
        items = sequence(self.parsed.get(match[1])) if match else []
        return name, mapping(items[int(match[2])]) if match and int(match[2]) < len(items) else {}

    @staticmethod
    def text_of(item: Item) -> str:
        """An item's text, unless it is struck out; of formulas that were not decoded the original
        characters."""
        if mapping(item.get("formatting")).get("strikethrough") is True:
            return ""
        return text_field(item.get("text")) or text_field(item.get("orig"))

    def texts_below(self, reference: Any, depth: int = 0) -> Iterator[Item]:
        """The items with text below an item, and itself."""
        _, item = self.item(reference)
        if text_field(item.get("text")):
            yield item
        for child in sequence(item.get("children")) if depth < _MAX_DEPTH_OF_CELL else ():
            yield from self.texts_below(child, depth + 1)

    def attached(self, owner: Item, name: str) -> Iterator[tuple[str, Item]]:
        """The captions or footnotes of an item, each as one line and with the item that has its
        place: those without a place have their owner's."""
        for reference in sequence(owner.get(name)):
            _, item = self.item(reference)
            if text := " ".join(self.text_of(item).split()):
                yield text, item if sequence(item.get("prov")) else owner

    def attached_text(self, owner: Item, name: str) -> str:
        """The captions or footnotes of an item as one line."""
        return " ".join(text for text, _ in self.attached(owner, name))

    def attached_boxes(self, owner: Item, name: str) -> tuple[Box, ...]:
        """Where the captions or footnotes of an item are."""
        return tuple(
            dict.fromkeys(
                box for _, item in self.attached(owner, name) for box in self.pages.boxes(item)
            )
        )

    def attached_blocks(self, owner: Item, name: str, kind: BlockKind) -> Iterator[Block]:
        """The captions or footnotes of an item as blocks of their own."""
        for text, item in self.attached(owner, name):
            yield Block(kind, text, spans=self.pages.spans(item, text))


def table_blocks(table: Item, items: Items) -> Iterator[Block]:
    """A table, titled by its caption, and its footnotes; only the caption of a table without
    cells."""
    cells = _cells(mapping(table.get("data")), table, items)
    if cells:
        title, title_boxes = (
            items.attached_text(table, "captions"),
            items.attached_boxes(table, "captions"),
        )
        block = table_block(cells, title, items.pages.boxes(table), title_boxes)
        yield replace(block, zone=Zone.FRONT) if table.get("label") == "document_index" else block
    else:
        yield from items.attached_blocks(table, "captions", BlockKind.PARAGRAPH)
    yield from items.attached_blocks(table, "footnotes", BlockKind.FOOTNOTE)


def picture_blocks(picture: Item, items: Items) -> Iterator[Block]:
    """The caption, the descriptions, the chart's data and the footnotes of a picture."""
    boxes = items.pages.boxes(picture)
    caption = items.attached_text(picture, "captions")
    stated = [
        (chart, _cells(mapping(chart.get("chart_data")), {}, items)) for chart in _charts(picture)
    ]
    charts = [(chart, cells) for chart, cells in stated if cells]
    if not charts:
        yield from items.attached_blocks(picture, "captions", BlockKind.FIGURE)
    for text in _descriptions(picture):
        spans = (span_over(0, len(text), boxes),)
        yield Block(BlockKind.FIGURE, text, spans=spans, is_generated=True)
    mimetype = text_field(mapping(items.parsed.get("origin")).get("mimetype"))
    is_read_by_model = mimetype == "application/pdf" or mimetype.startswith("image/")
    for chart, cells in charts:
        title = caption or text_field(chart.get("title"))
        title_boxes = items.attached_boxes(picture, "captions") if caption else boxes
        yield replace(table_block(cells, title, boxes, title_boxes), is_generated=is_read_by_model)
    yield from items.attached_blocks(picture, "footnotes", BlockKind.FOOTNOTE)


def _descriptions(picture: Item) -> list[str]:
    """Descriptions, each once: newer files keep them in `meta`, older ones in `annotations`, some
    in both."""
    annotations = [mapping(entry) for entry in sequence(picture.get("annotations"))]
    texts = [
        text_field(entry.get("text")) for entry in annotations if entry.get("kind") == "description"
    ]
    texts.append(text_field(mapping(mapping(picture.get("meta")).get("description")).get("text")))
    return list(dict.fromkeys(line for text in texts if (line := " ".join(text.split()))))


def _charts(picture: Item) -> list[Item]:
    newer = mapping(mapping(picture.get("meta")).get("tabular_chart"))
    older = [mapping(entry) for entry in sequence(picture.get("annotations"))]
    return (
        [newer]
        if newer
        else [entry for entry in older if entry.get("kind") == "tabular_chart_data"]
    )


def _cells(data: Item, table: Item, items: Items) -> list[Cell]:
    """The cells of a table, one per grid position; without what the items of a formatted cell
    strike out."""
    by_position: dict[tuple[int, int], Cell] = {}
    for stated in map(mapping, sequence(data.get("table_cells"))):
        cell = _cell(stated, items.pages.cell_box(stated, table))
        if cell is not None:
            left = [items.text_of(item) for item in items.texts_below(stated.get("ref"))]
            if not all(left):
                cell = replace(cell, text=" ".join(" ".join(left).split()))
            by_position.setdefault((cell.row, cell.col), cell)
    return list(by_position.values())


def _cell(stated: Item, boxes: tuple[Box, ...]) -> Cell | None:
    row, col = (
        whole_number(stated.get("start_row_offset_idx")),
        whole_number(stated.get("start_col_offset_idx")),
    )
    if row is None or col is None or min(row, col) < 0:
        return None
    row_span, col_span = (
        min(max(whole_number(stated.get(name)) or 1, 1), _MAX_SPAN)
        for name in ("row_span", "col_span")
    )
    text = " ".join(text_field(stated.get("text")).split())
    is_header, is_stub = (stated.get(name) is True for name in ("column_header", "row_header"))
    return Cell(row, col, text, row_span, col_span, is_header, is_stub, boxes=boxes)
