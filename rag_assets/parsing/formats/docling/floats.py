"""Tables and pictures of a DoclingDocument as blocks, with what belongs to them: captions, notes, descriptions.

A picture's caption is the authors'; its description was written by a model. The data of a chart are the authors' in a
slide that stores them, and a model's reading in a PDF.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from rag_assets.core.domain import Block, BlockKind, Box, Cell, Zone
from rag_assets.parsing.formats.docling.pages import Pages
from rag_assets.parsing.shared.files.json_objects import mapping, sequence, text_field, whole_number
from rag_assets.parsing.shared.table_rows import span_over, table_block, with_inferred_header, without_empty_rows

Item = Mapping[str, Any]
_MAX_SPAN = 1000


class Captions(Protocol):
    """What a float needs from the walk through the tree."""

    parsed: Item
    pages: Pages

    def attached_text(self, owner: Item, name: str) -> str: ...

    def attached_boxes(self, owner: Item, name: str) -> tuple[Box, ...]: ...

    def attached_blocks(self, owner: Item, name: str, kind: BlockKind) -> Iterator[Block]: ...


def table_blocks(table: Item, reading: Captions) -> Iterator[Block]:
    """A table, titled by its caption, and its footnotes; only the caption of a table without cells."""
    cells = _cells(mapping(table.get("data")), table, reading.pages)
    if cells:
        title, title_boxes = reading.attached_text(table, "captions"), reading.attached_boxes(table, "captions")
        block = table_block(cells, title, reading.pages.boxes(table), title_boxes)
        yield replace(block, zone=Zone.FRONT) if table.get("label") == "document_index" else block
    else:
        yield from reading.attached_blocks(table, "captions", BlockKind.PARAGRAPH)
    yield from reading.attached_blocks(table, "footnotes", BlockKind.FOOTNOTE)


def picture_blocks(picture: Item, reading: Captions) -> Iterator[Block]:
    """The caption, the descriptions, the chart's data and the footnotes of a picture."""
    boxes = reading.pages.boxes(picture)
    caption = reading.attached_text(picture, "captions")
    stated = [(chart, _cells(mapping(chart.get("chart_data")), {}, reading.pages)) for chart in _charts(picture)]
    charts = [(chart, cells) for chart, cells in stated if cells]
    if not charts:
        yield from reading.attached_blocks(picture, "captions", BlockKind.FIGURE)
    for text in _descriptions(picture):
        spans = (span_over(0, len(text), boxes),)
        yield Block(BlockKind.FIGURE, text, spans=spans, is_generated=True)
    for chart, cells in charts:
        title = caption or text_field(chart.get("title"))
        title_boxes = reading.attached_boxes(picture, "captions") if caption else boxes
        yield replace(table_block(cells, title, boxes, title_boxes), is_generated=_is_read_by_model(reading.parsed))
    yield from reading.attached_blocks(picture, "footnotes", BlockKind.FOOTNOTE)


def _descriptions(picture: Item) -> list[str]:
    """Descriptions, each once: newer files keep them in `meta`, older ones in `annotations`, some in both."""
    annotations = [mapping(entry) for entry in sequence(picture.get("annotations"))]
    texts = [text_field(entry.get("text")) for entry in annotations if entry.get("kind") == "description"]
    texts.append(text_field(mapping(mapping(picture.get("meta")).get("description")).get("text")))
    return list(dict.fromkeys(line for text in texts if (line := " ".join(text.split()))))


def _charts(picture: Item) -> list[Item]:
    newer = mapping(mapping(picture.get("meta")).get("tabular_chart"))
    older = [mapping(entry) for entry in sequence(picture.get("annotations"))]
    return [newer] if newer else [entry for entry in older if entry.get("kind") == "tabular_chart_data"]


def _is_read_by_model(parsed: Item) -> bool:
    mimetype = text_field(mapping(parsed.get("origin")).get("mimetype"))
    return mimetype == "application/pdf" or mimetype.startswith("image/")


def _cells(data: Item, table: Item, pages: Pages) -> list[Cell]:
    """The cells of a table, one per grid position."""
    by_position: dict[tuple[int, int], Cell] = {}
    for stated in map(mapping, sequence(data.get("table_cells"))):
        cell = _cell(stated, pages.cell_box(stated, table))
        if cell is not None:
            by_position.setdefault((cell.row, cell.col), cell)
    return with_inferred_header(without_empty_rows(list(by_position.values())))


def _cell(stated: Item, boxes: tuple[Box, ...]) -> Cell | None:
    row, col = whole_number(stated.get("start_row_offset_idx")), whole_number(stated.get("start_col_offset_idx"))
    if row is None or col is None or min(row, col) < 0:
        return None
    row_span, col_span = (
        min(max(whole_number(stated.get(name)) or 1, 1), _MAX_SPAN) for name in ("row_span", "col_span")
    )
    text = " ".join(text_field(stated.get("text")).split())
    return Cell(row, col, text, row_span, col_span, is_header=stated.get("column_header") is True, boxes=boxes)
