"""The body tree of a DoclingDocument walked in reading order: items become blocks without sections.

A list becomes one block with one line per item, an inline group one paragraph; captions go to their
tables and figures.

A picture's caption is the authors'; its description was written by a model. The data of a chart are
the authors' in a slide that stores them, and a model's reading in a PDF.
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

    def caption_text(self, owner: Item) -> str:
        """The captions of an item as one line."""
        return " ".join(text for text, _ in self.attached(owner, "captions"))

    def caption_boxes(self, owner: Item) -> tuple[Box, ...]:
        """Where the captions of an item are."""
        return tuple(
            dict.fromkeys(
                box
                for _, item in self.attached(owner, "captions")
                for box in self.pages.boxes(item)
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
            items.caption_text(table),
            items.caption_boxes(table),
        )
        block = table_block(cells, title, items.pages.boxes(table), title_boxes)
        yield replace(block, zone=Zone.FRONT) if table.get("label") == "document_index" else block
    else:
        yield from items.attached_blocks(table, "captions", BlockKind.PARAGRAPH)
    yield from items.attached_blocks(table, "footnotes", BlockKind.FOOTNOTE)


def picture_blocks(picture: Item, items: Items) -> Iterator[Block]:
    """The caption, the descriptions, the chart's data and the footnotes of a picture."""
    boxes = items.pages.boxes(picture)
    caption = items.caption_text(picture)
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
        title_boxes = items.caption_boxes(picture) if caption else boxes
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


_LISTS = frozenset({"list", "ordered_list"})
_KINDS = {
    "title": BlockKind.HEADING,
    "section_header": BlockKind.HEADING,
    "code": BlockKind.CODE,
    "formula": BlockKind.FORMULA,
    "footnote": BlockKind.FOOTNOTE,
}
_PREFIXES = {"checkbox_selected": "[x] ", "checkbox_unselected": "[ ] "}
_NO_SPACE_BEFORE = re.compile(r"\s+(?=[,.;:!?)\]}»”’](?:\s|$))")
_NO_SPACE_AFTER = re.compile(r"(?<=[(\[{«“])\s+")


class _ItemLine(NamedTuple):
    text: str
    boxes: tuple[Box, ...]


@dataclass
class BodyWalk:
    """One walk through the body of a parsed DoclingDocument."""

    items: Items
    running: frozenset[str] = frozenset()
    """References of running headers and footers that are labelled otherwise."""
    n_furniture: int = 0
    """Items left out: page headers and footers, and everything outside the body layer."""
    n_in_pictures: int = 0
    """Texts inside pictures (axis labels, thumbnails) left out."""
    _seen: set[str] = field(default_factory=set)

    def blocks(self) -> list[LevelledBlock]:
        """The body's blocks in reading order. Raises DocumentLimit for items nested deeper than the
        limit."""
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
        return [levelled for levelled in self._children(body, 1) if levelled.block.text]

    def notes(self) -> tuple[str, ...]:
        """What a reader of the blocks should know."""
        return (
            (f"{self.n_in_pictures} texts inside pictures left out",) if self.n_in_pictures else ()
        )

    def _children(self, item: Item, depth: int) -> Iterator[LevelledBlock]:
        self._demand_depth(depth)
        for reference in sequence(item.get("children")):
            name, child = self.items.item(reference)
            if child and name not in self._seen:
                self._seen.add(name)
                yield from self._blocks_of(name, child, depth + 1)

    def _blocks_of(self, name: str, item: Item, depth: int) -> Iterator[LevelledBlock]:
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
            self._pass_over(item, depth)
            yield from (LevelledBlock(block) for block in picture_blocks(item, self.items))
        elif label in _LISTS:
            yield from self._list(item, depth)
        elif label == "inline":
            text, boxes = self._inline_text(item, 1)
            yield LevelledBlock(
                Block(BlockKind.PARAGRAPH, text, spans=(span_over(0, len(text), boxes),))
            )
        elif label == "list_item":
            self._seen.discard(name)
            yield from self._list({"children": [{"$ref": name}]}, depth)
        else:
            yield from self._text(item)
            yield from self._children(item, depth)

    def _text(self, item: Item) -> Iterator[LevelledBlock]:
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
        """The text of a group of formatted runs, and its boxes."""
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

    def _list(self, group: Item, depth: int) -> Iterator[LevelledBlock]:
        lines: list[_ItemLine] = []
        others: list[LevelledBlock] = []
        self._collect(group, "", depth, lines, others)
        for run in _without_steps_back(lines):
            spans, start = [], 0
            for index, line in enumerate(run):
                end = start + len(line.text) + (index + 1 < len(run))
                spans.append(span_over(start, end, line.boxes))
                start = end
            yield LevelledBlock(
                Block(BlockKind.LIST, "\n".join(line.text for line in run), spans=tuple(spans))
            )
        yield from others

    def _collect(
        self,
        group: Item,
        indent: str,
        depth: int,
        lines: list[_ItemLine],
        others: list[LevelledBlock],
    ) -> None:
        """The items of a list as lines; tables and pictures come after the list."""
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
                lines += [line] if line.text.strip() != _marker(item, number) else []
                self._collect(item, indent, depth + 1, lines, others)
            elif label in _LISTS:
                self._collect(item, indent + "  ", depth + 1, lines, others)
            elif item:
                others.extend(self._blocks_of(name, item, depth + 1))

    def _line(self, item: Item, indent: str, number: int) -> _ItemLine:
        text, boxes = _joined([self.items.text_of(item)]), self.items.pages.boxes(item)
        for reference in sequence(item.get("children")):
            name, child = self.items.item(reference)
            if child.get("label") == "inline" and name not in self._seen:
                self._seen.add(name)
                inline, inline_boxes = self._inline_text(child, 1)
                text, boxes = _joined([text, inline]), (*boxes, *inline_boxes)
        return _ItemLine(f"{indent}{_marker(item, number)} {text}".rstrip(), boxes)

    def _pass_over(self, picture: Item, depth: int) -> None:
        """Texts inside a picture are not read: they are labels and thumbnails, in no order."""
        self._demand_depth(depth)
        for reference in sequence(picture.get("children")):
            name, child = self.items.item(reference)
            if name not in self._seen:
                self._seen.add(name)
                self.n_in_pictures += bool(self.items.text_of(child).strip())
                self._pass_over(child, depth + 1)

    def _demand_depth(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise DocumentLimit(f"has items nested more than {MAX_DEPTH} deep.")


def _marker(item: Item, number: int) -> str:
    return text_field(item.get("marker")).strip() or (
        f"{number}." if item.get("enumerated") is True else "-"
    )


def _joined(texts: Iterable[str]) -> str:
    """Formatted runs as one line: docling strips the spaces between them."""
    line = " ".join(" ".join(texts).split())
    return _NO_SPACE_AFTER.sub("", _NO_SPACE_BEFORE.sub("", line))


def _without_steps_back(lines: Sequence[_ItemLine]) -> list[list[_ItemLine]]:
    """The lines in runs in which no line is on an earlier page than the one before it: a block
    begins on its first page and ends on its last one."""
    runs: list[list[_ItemLine]] = [[]]
    last_page = 0
    for line in lines:
        pages = [box.page for box in line.boxes]
        if pages and min(pages) < last_page:
            runs.append([])
        runs[-1].append(line)
        last_page = max(pages, default=last_page)
    return runs
