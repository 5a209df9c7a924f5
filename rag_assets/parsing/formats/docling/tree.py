"""Turns the body tree of a DoclingDocument into blocks without sections, in reading order.

A list becomes one block with one line per item, an inline group one paragraph; captions are joined
to their tables and figures.

The caption of a picture is by the authors of the paper; its description was written by a model. The
data of a chart are by the authors if the source stores them, as slides do; in a PDF, a model read
them from the picture.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from rag_assets.core.domain import Block, BlockKind, Box, Cell, Zone
from rag_assets.core.errors import DocumentLimit
from rag_assets.parsing.formats.docling.pages import FURNITURE, Item, PageSizes
from rag_assets.parsing.shared.files import MAX_DEPTH, mapping, sequence, text_field, whole_number
from rag_assets.parsing.shared.sections import LevelledBlock
from rag_assets.parsing.shared.superscripts import lowered, raised_after
from rag_assets.parsing.shared.table_rows import span_over, table_block

_MAX_SPAN = 1000
_MAX_DEPTH_OF_CELL = 5


@dataclass(frozen=True)
class Items:
    """The items of a parsed DoclingDocument, found by their references."""

    parsed: Item
    pages: PageSizes

    def item(self, reference: Any) -> tuple[str, Item]:
        """The reference as text ("#/texts/7"), and the item; empty if there is no such item."""
        name = text_field(mapping(reference).get("$ref") or mapping(reference).get("cref"))
        match = re.fullmatch(r"#/([a-z_]+)/(\d{1,9})", name)
        if match is None:
            return name, {}
        items, index = sequence(self.parsed.get(match[1])), int(match[2])
        return name, mapping(items[index]) if index < len(items) else {}

    @staticmethod
    def text_of(item: Item) -> str:
        """The text of an item; empty if it is struck out. For a formula that was not decoded, its
        original characters."""
        if mapping(item.get("formatting")).get("strikethrough") is True:
            return ""
        return text_field(item.get("text")) or text_field(item.get("orig"))

    def texts_below(self, reference: Any, depth: int = 0) -> Iterator[Item]:
        """The items with text among an item and all items below it."""
        _, item = self.item(reference)
        if text_field(item.get("text")):
            yield item
        for child in sequence(item.get("children")) if depth < _MAX_DEPTH_OF_CELL else ():
            yield from self.texts_below(child, depth + 1)

    def attached(self, owner: Item, name: str) -> Iterator[tuple[str, Item]]:
        """The captions or footnotes of `owner`, each on one line and with the item that has its
        pages and boxes: its own item, or `owner` if that has none. name: "captions" or
        "footnotes"."""
        for reference in sequence(owner.get(name)):
            _, item = self.item(reference)
            if text := " ".join(self.text_of(item).split()):
                yield text, item if sequence(item.get("prov")) else owner

    def caption_text(self, owner: Item) -> str:
        """The captions of an item as one line."""
        return " ".join(text for text, _ in self.attached(owner, "captions"))

    def caption_boxes(self, owner: Item) -> tuple[Box, ...]:
        """The boxes of the captions of an item."""
        return tuple(
            dict.fromkeys(
                box
                for _, item in self.attached(owner, "captions")
                for box in self.pages.boxes(item)
            )
        )

    def attached_blocks(self, owner: Item, name: str, kind: BlockKind) -> Iterator[Block]:
        """The captions or footnotes of an item as separate blocks."""
        for text, item in self.attached(owner, name):
            yield Block(kind, text, spans=self.pages.spans(item, text))


def table_blocks(table: Item, items: Items) -> Iterator[Block]:
    """The block of a table with its caption as title, and its footnotes. If a table has no cells,
    its caption is a paragraph."""
    cells = _cells(mapping(table.get("data")), table, items)
    if cells:
        title, title_boxes = items.caption_text(table), items.caption_boxes(table)
        block = table_block(cells, title, items.pages.boxes(table), title_boxes)
        yield replace(block, zone=Zone.FRONT) if table.get("label") == "document_index" else block
    else:
        yield from items.attached_blocks(table, "captions", BlockKind.PARAGRAPH)
    yield from items.attached_blocks(table, "footnotes", BlockKind.FOOTNOTE)


def picture_blocks(picture: Item, items: Items) -> Iterator[Block]:
    """The blocks of a picture: its caption, its descriptions, the data of its charts as tables, and
    its footnotes. If there are charts, the caption is their title."""
    boxes = items.pages.boxes(picture)
    caption = items.caption_text(picture)
    charts = [
        (chart, cells)
        for chart in _charts(picture)
        if (cells := _cells(mapping(chart.get("chart_data")), {}, items))
    ]
    if not charts:
        yield from items.attached_blocks(picture, "captions", BlockKind.FIGURE)
    for text in _descriptions(picture):
        spans = (span_over(0, len(text), boxes),)
        yield Block(BlockKind.FIGURE, text, spans=spans, is_generated=True)
    mimetype = text_field(mapping(items.parsed.get("origin")).get("mimetype"))
    is_read_by_model = mimetype == "application/pdf" or mimetype.startswith("image/")
    for chart, cells in charts:
        title = caption or text_field(chart.get("title"))
        title_boxes = items.caption_boxes(picture) if caption else boxes
        yield replace(table_block(cells, title, boxes, title_boxes), is_generated=is_read_by_model)
    yield from items.attached_blocks(picture, "footnotes", BlockKind.FOOTNOTE)


def _descriptions(picture: Item) -> list[str]:
    """The descriptions of a picture, each once. Newer files have them in `meta`, older ones in
    `annotations`, some in both."""
    annotations = [mapping(entry) for entry in sequence(picture.get("annotations"))]
    texts = [
        text_field(entry.get("text")) for entry in annotations if entry.get("kind") == "description"
    ]
    texts.append(text_field(mapping(mapping(picture.get("meta")).get("description")).get("text")))
    return list(dict.fromkeys(line for text in texts if (line := " ".join(text.split()))))


def _charts(picture: Item) -> list[Item]:
    """The charts of a picture; newer files have one in `meta`, older ones in `annotations`."""
    newer = mapping(mapping(picture.get("meta")).get("tabular_chart"))
    older = [mapping(entry) for entry in sequence(picture.get("annotations"))]
    return (
        [newer]
        if newer
        else [entry for entry in older if entry.get("kind") == "tabular_chart_data"]
    )


def _cells(data: Item, table: Item, items: Items) -> list[Cell]:
    """The cells of a table, the first at each position. A formatted cell refers to items with its
    text; if some of these are struck out, only the others make its text."""
    by_position: dict[tuple[int, int], Cell] = {}
    for cell_item in map(mapping, sequence(data.get("table_cells"))):
        cell = _cell(cell_item, items.pages.cell_box(cell_item, table))
        if cell is not None:
            texts = [items.text_of(item) for item in items.texts_below(cell_item.get("ref"))]
            if not all(texts):  # a struck item has no text
                cell = replace(cell, text=" ".join(" ".join(texts).split()))
            by_position.setdefault((cell.row, cell.col), cell)
    return list(by_position.values())


def _cell(item: Item, boxes: tuple[Box, ...]) -> Cell | None:
    """The cell of an item; None if it has no valid position."""
    row = whole_number(item.get("start_row_offset_idx"))
    col = whole_number(item.get("start_col_offset_idx"))
    if row is None or col is None or min(row, col) < 0:
        return None
    row_span, col_span = (
        min(max(whole_number(item.get(name)) or 1, 1), _MAX_SPAN)
        for name in ("row_span", "col_span")
    )
    text = " ".join(text_field(item.get("text")).split())
    is_header, is_stub = (item.get(name) is True for name in ("column_header", "row_header"))
    return Cell(row, col, text, row_span, col_span, is_header, is_stub, boxes=boxes)


_LISTS = frozenset({"list", "ordered_list"})
_KINDS = {
    "title": BlockKind.HEADING,
    "section_header": BlockKind.HEADING,
    "code": BlockKind.CODE,
    "formula": BlockKind.FORMULA,
    "footnote": BlockKind.FOOTNOTE,
}
_PREFIXES = {"checkbox_selected": "[x] ", "checkbox_unselected": "[ ] "}
_NO_SPACE_BEFORE = re.compile(r"(?<!\s)\s+(?=[,.;:!?)\]}»”’](?:\s|$))")
_NO_SPACE_AFTER = re.compile(r"(?<=[(\[{«“])\s+")


class _ItemLine(NamedTuple):
    """A line of a list."""

    text: str
    boxes: tuple[Box, ...]


@dataclass
class BodyWalk:
    """Reads the body of a parsed DoclingDocument once, and counts the items that are left out.
    `name` is the reference of an item ("#/texts/7")."""

    items: Items
    running: frozenset[str] = frozenset()
    """References of running headers and footers that have another label."""
    n_furniture: int = 0
    """Number of page headers and footers, and of items outside the body layer."""
    n_in_pictures: int = 0
    """Number of texts inside pictures (axis labels, thumbnails)."""
    _seen: set[str] = field(default_factory=set)
    """References of the items that were read; none is read twice."""

    def blocks(self) -> list[LevelledBlock]:
        """The blocks of the body in reading order. Raises DocumentLimit for items that are nested
        too deep."""
        parsed = self.items.parsed
        owners = [
            mapping(item)
            for name in ("tables", "pictures", "texts")
            for item in sequence(parsed.get(name))
        ]
        self._seen = {  # captions and footnotes are read with the item they belong to
            text_field(mapping(reference).get("$ref"))
            for owner in owners
            for name in ("captions", "footnotes")
            for reference in sequence(owner.get(name))
        }
        body = mapping(parsed.get("body"))
        return [levelled for levelled in self._blocks_below(body, 1) if levelled.block.text]

    def notes(self) -> tuple[str, ...]:
        """A note for the user if texts inside pictures were left out."""
        return (
            (f"{self.n_in_pictures} texts inside pictures left out",) if self.n_in_pictures else ()
        )

    def _blocks_below(self, item: Item, depth: int) -> Iterator[LevelledBlock]:
        """The blocks of the children of an item that were not read yet."""
        self._demand_depth(depth)
        for reference in sequence(item.get("children")):
            name, child = self.items.item(reference)
            if child and name not in self._seen:
                self._seen.add(name)
                yield from self._blocks_of(name, child, depth + 1)

    def _blocks_of(self, name: str, item: Item, depth: int) -> Iterator[LevelledBlock]:
        """The blocks of an item and of the items below it."""
        label = text_field(item.get("label"))
        if (
            item.get("content_layer", "body") != "body"
            or label in FURNITURE
            or name in self.running
        ):
            self.n_furniture += 1
            return
        collection = name.split("/")[1]
        if collection == "tables":
            yield from (LevelledBlock(block) for block in table_blocks(item, self.items))
        elif collection == "pictures":
            self._count_texts_below(item, depth)
            yield from (LevelledBlock(block) for block in picture_blocks(item, self.items))
        elif label in _LISTS:
            yield from self._list_blocks(item, depth)
        elif label == "inline":
            text, boxes = self._inline_text(item, 1)
            yield LevelledBlock(
                Block(BlockKind.PARAGRAPH, text, spans=(span_over(0, len(text), boxes),))
            )
        elif label == "list_item":  # without a list around it: read it as a list of one item
            self._seen.discard(name)
            yield from self._list_blocks({"children": [{"$ref": name}]}, depth)
        else:
            yield from self._text_blocks(item)
            yield from self._blocks_below(item, depth)

    def _text_blocks(self, item: Item) -> Iterator[LevelledBlock]:
        """The block of a text item, and blocks of its captions; none for an empty text."""
        label = text_field(item.get("label"))
        kind = _KINDS.get(label, BlockKind.PARAGRAPH)
        raw = self.items.text_of(item)
        text = (
            raw.strip("\n")
            if kind is BlockKind.CODE
            else _PREFIXES.get(label, "") + " ".join(raw.split())
        )
        if not raw.strip():
            return
        language = text_field(item.get("code_language"))
        block = Block(
            kind,
            text,
            zone=Zone.BACK if label == "reference" else Zone.BODY,
            spans=self.items.pages.spans(item, text),
            title="" if language == "unknown" else language,
        )
        level = max(whole_number(item.get("level")) or 1, 1) if label == "section_header" else 0
        yield LevelledBlock(block, level, is_title=label == "title")
        captions = self.items.attached_blocks(item, "captions", BlockKind.PARAGRAPH)
        yield from (LevelledBlock(caption) for caption in captions)

    def _inline_text(self, group: Item, depth: int) -> tuple[str, tuple[Box, ...]]:
        """The text of an inline group, which consists of pieces with different formatting, and its
        boxes."""
        texts, boxes = [self.items.text_of(group)], list(self.items.pages.boxes(group))
        for reference in sequence(group.get("children")) if depth <= MAX_DEPTH else []:
            name, piece = self.items.item(reference)
            if name not in self._seen:
                self._seen.add(name)
                text, piece_boxes = self._inline_text(piece, depth + 1)
                boxes.extend(piece_boxes)
                match text_field(mapping(piece.get("formatting")).get("script")):
                    case "super":
                        texts[-1] += raised_after(texts[-1], text)
                    case "sub":
                        texts[-1] += lowered(text)
                    case _:
                        texts.append(text)
        return _joined(texts), tuple(dict.fromkeys(boxes))

    def _list_blocks(self, group: Item, depth: int) -> Iterator[LevelledBlock]:
        """The blocks of a list: its lines in one block, or in several if pages go back, and then
        the blocks of tables and pictures inside."""
        lines: list[_ItemLine] = []
        others: list[LevelledBlock] = []
        self._collect_lines(group, "", depth, lines, others)
        for run in _in_page_order(lines):
            spans, start = [], 0
            for index, line in enumerate(run):
                has_line_end = index + 1 < len(run)
                end = start + len(line.text) + has_line_end
                spans.append(span_over(start, end, line.boxes))
                start = end
            yield LevelledBlock(
                Block(BlockKind.LIST, "\n".join(line.text for line in run), spans=tuple(spans))
            )
        yield from others

    def _collect_lines(
        self,
        group: Item,
        indent: str,
        depth: int,
        lines: list[_ItemLine],
        others: list[LevelledBlock],
    ) -> None:
        """Add the items of a list to `lines`, and the blocks of other things inside to `others`."""
        self._demand_depth(depth)
        number = 0
        for reference in sequence(group.get("children")):
            name, item = self.items.item(reference)
            if name in self._seen:
                continue
            self._seen.add(name)
            label = text_field(item.get("label"))
            if label == "list_item":
                number += 1
                line = self._line(item, indent, number)
                if line.text.strip() != _marker(item, number):
                    lines.append(line)
                self._collect_lines(item, indent, depth + 1, lines, others)
            elif label in _LISTS:
                self._collect_lines(item, indent + "  ", depth + 1, lines, others)
            elif item:
                others.extend(self._blocks_of(name, item, depth + 1))

    def _line(self, item: Item, indent: str, number: int) -> _ItemLine:
        """The line of a list item: its marker, its text and that of inline groups in it."""
        text, boxes = _joined([self.items.text_of(item)]), self.items.pages.boxes(item)
        for reference in sequence(item.get("children")):
            name, child = self.items.item(reference)
            if child.get("label") == "inline" and name not in self._seen:
                self._seen.add(name)
                inline, inline_boxes = self._inline_text(child, 1)
                text, boxes = _joined([text, inline]), (*boxes, *inline_boxes)
        return _ItemLine(f"{indent}{_marker(item, number)} {text}".rstrip(), boxes)

    def _count_texts_below(self, picture: Item, depth: int) -> None:
        """Count the texts inside a picture and mark them as seen. They are not read, because they
        are labels and thumbnails in no order."""
        self._demand_depth(depth)
        for reference in sequence(picture.get("children")):
            name, child = self.items.item(reference)
            if name not in self._seen:
                self._seen.add(name)
                self.n_in_pictures += bool(self.items.text_of(child).strip())
                self._count_texts_below(child, depth + 1)

    def _demand_depth(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise DocumentLimit(f"has items nested more than {MAX_DEPTH} deep.")


def _marker(item: Item, number: int) -> str:
    """The marker of a list item as it is printed, or "1." or "-"."""
    return text_field(item.get("marker")).strip() or (
        f"{number}." if item.get("enumerated") is True else "-"
    )


def _joined(texts: Iterable[str]) -> str:
    """Pieces of text as one line. Docling removes the spaces between them, so one is put between
    all, and removed before a comma and similar signs."""
    line = " ".join(" ".join(texts).split())
    return _NO_SPACE_AFTER.sub("", _NO_SPACE_BEFORE.sub("", line))


def _in_page_order(lines: Sequence[_ItemLine]) -> list[list[_ItemLine]]:
    """The lines in runs; a new run begins where a line is on an earlier page than the line before.
    Each run becomes a block, whose pages must ascend."""
    runs: list[list[_ItemLine]] = [[]]
    last_page = 0
    for line in lines:
        pages = [box.page for box in line.boxes]
        if pages and min(pages) < last_page:
            runs.append([])
        runs[-1].append(line)
        last_page = max(pages, default=last_page)
    return runs
