"""The body tree of a DoclingDocument walked in reading order: items become blocks without sections.

A list becomes one block with one line per item, an inline group one paragraph; captions go to their tables and figures.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_assets.core.domain import Block, BlockKind, Box, Zone
from rag_assets.core.errors import DocumentLimit
from rag_assets.parsing.formats.docling.floats import picture_blocks, table_blocks
from rag_assets.parsing.formats.docling.noise import FURNITURE
from rag_assets.parsing.formats.docling.pages import Pages
from rag_assets.parsing.shared.files.json_objects import mapping, sequence, text_field, whole_number
from rag_assets.parsing.shared.sections import LevelledBlock
from rag_assets.parsing.shared.superscripts import lowered, raised_after
from rag_assets.parsing.shared.table_rows import span_over

Item = Mapping[str, Any]
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


@dataclass
class Reading:
    """One walk through the body of a parsed DoclingDocument."""

    parsed: Item
    pages: Pages
    max_depth: int
    running: frozenset[str] = frozenset()
    """References of running headers and footers that have another label."""
    n_furniture: int = 0
    """Items left out: page headers and footers, and everything outside the body layer."""
    n_in_pictures: int = 0
    """Texts inside pictures (axis labels, thumbnails) left out."""
    _seen: set[str] = field(default_factory=set)

    def blocks(self) -> list[LevelledBlock]:
        """The body's blocks in reading order. Raises DocumentLimit for items nested deeper than the limit."""
        self._seen = self._attached()
        body = mapping(self.parsed.get("body"))
        return [levelled for levelled in self._children(body, 1) if levelled.block.text]

    def notes(self) -> tuple[str, ...]:
        """What a reader of the blocks should know."""
        return (f"{self.n_in_pictures} texts inside pictures left out",) if self.n_in_pictures else ()

    def item(self, reference: Any) -> tuple[str, Item]:
        """A referenced item with its reference; an empty one when the reference leads nowhere."""
        name = text_field(mapping(reference).get("$ref") or mapping(reference).get("cref"))
        match = re.fullmatch(r"#/([a-z_]+)/(\d{1,9})", name)
        items = sequence(self.parsed.get(match[1])) if match else []
        return name, mapping(items[int(match[2])]) if match and int(match[2]) < len(items) else {}

    def _attached(self) -> set[str]:
        """References of captions and footnotes, which are read with the item they belong to."""
        owners = [item for name in ("tables", "pictures", "texts") for item in sequence(self.parsed.get(name))]
        return {
            text_field(mapping(reference).get("$ref"))
            for owner in owners
            for name in ("captions", "footnotes")
            for reference in sequence(mapping(owner).get(name))
        }

    def _children(self, item: Item, depth: int) -> Iterator[LevelledBlock]:
        self._demand_depth(depth)
        for reference in sequence(item.get("children")):
            name, child = self.item(reference)
            if child and name not in self._seen:
                self._seen.add(name)
                yield from self._blocks_of(name, child, depth + 1)

    def _blocks_of(self, name: str, item: Item, depth: int) -> Iterator[LevelledBlock]:
        label = text_field(item.get("label"))
        if item.get("content_layer", "body") != "body" or label in FURNITURE or name in self.running:
            self.n_furniture += 1
            return
        collection = name.split("/")[1]
        if collection == "tables":
            yield from (LevelledBlock(block) for block in table_blocks(item, self))
        elif collection == "pictures":
            self._pass_over(item, depth)
            yield from (LevelledBlock(block) for block in picture_blocks(item, self))
        elif label in _LISTS:
            yield from self._list(item, depth)
        elif label == "inline":
            yield from self._inline(item)
        elif label == "list_item":
            self._seen.discard(name)
            yield from self._list({"children": [{"$ref": name}]}, depth)
        else:
            yield from self._text(item)
            yield from self._children(item, depth)

    def _text(self, item: Item) -> Iterator[LevelledBlock]:
        label = text_field(item.get("label"))
        kind = _KINDS.get(label, BlockKind.PARAGRAPH)
        raw = self.text_of(item)
        text = raw.strip("\n") if kind is BlockKind.CODE else _PREFIXES.get(label, "") + " ".join(raw.split())
        if not raw.strip():
            return
        language = text_field(item.get("code_language"))
        block = Block(
            kind,
            text,
            zone=Zone.BACK if label == "reference" else Zone.BODY,
            spans=self.pages.spans(item, text),
            title="" if language == "unknown" else language,
        )
        level = max(whole_number(item.get("level")) or 1, 1) if label == "section_header" else 0
        yield LevelledBlock(block, level, is_title=label == "title")
        yield from (LevelledBlock(caption) for caption in self.attached_blocks(item, "captions", BlockKind.PARAGRAPH))

    def text_of(self, item: Item) -> str:
        """An item's text; of formulas that were not decoded the original characters."""
        return text_field(item.get("text")) or text_field(item.get("orig"))

    def attached_text(self, owner: Item, name: str) -> str:
        """The captions or footnotes of an item as one line."""
        texts = [self.text_of(self.item(reference)[1]) for reference in sequence(owner.get(name))]
        return " ".join(" ".join(texts).split())

    def attached_boxes(self, owner: Item, name: str) -> tuple[Box, ...]:
        """Where the captions or footnotes of an item stand; without places of their own, at their owner."""
        items = [self.item(reference)[1] for reference in sequence(owner.get(name))]
        with_text = [item for item in items if self.text_of(item).strip()]
        boxes = [self.pages.boxes(item if sequence(item.get("prov")) else owner) for item in with_text]
        return tuple(dict.fromkeys(box for own in boxes for box in own))

    def attached_blocks(self, owner: Item, name: str, kind: BlockKind) -> Iterator[Block]:
        """The captions or footnotes of an item as blocks of their own; without a place, they stand at their owner."""
        for reference in sequence(owner.get(name)):
            _, item = self.item(reference)
            if text := " ".join(self.text_of(item).split()):
                yield Block(kind, text, spans=self.pages.spans(item if sequence(item.get("prov")) else owner, text))

    def _inline(self, group: Item) -> Iterator[LevelledBlock]:
        text, boxes = self._inline_text(group, 1)
        yield LevelledBlock(Block(BlockKind.PARAGRAPH, text, spans=(span_over(0, len(text), boxes),)))

    def _inline_text(self, group: Item, depth: int) -> tuple[str, tuple[Box, ...]]:
        """The text of a group of formatted runs, and where it stands."""
        texts, boxes = [self.text_of(group)], list(self.pages.boxes(group))
        for reference in sequence(group.get("children")) if depth <= self.max_depth else []:
            name, piece = self.item(reference)
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
        lines: list[_Line] = []
        others: list[LevelledBlock] = []
        self._collect(group, _Level("", depth), lines, others)
        spans, start = [], 0
        for index, line in enumerate(lines):
            end = start + len(line.text) + (index + 1 < len(lines))
            spans.append(span_over(start, end, line.boxes))
            start = end
        yield LevelledBlock(Block(BlockKind.LIST, "\n".join(line.text for line in lines), spans=tuple(spans)))
        yield from others

    def _collect(self, group: Item, level: "_Level", lines: list["_Line"], others: list[LevelledBlock]) -> None:
        """The items of a list as lines; tables and pictures come after the list."""
        self._demand_depth(level.depth)
        number = 0
        for reference in sequence(group.get("children")):
            name, item = self.item(reference)
            if name in self._seen:
                continue
            self._seen.add(name)
            label = text_field(item.get("label"))
            if label == "list_item":
                number += 1
                lines.append(self._line(item, level, number))
                self._collect(item, level.inside(), lines, others)
            elif label in _LISTS:
                self._collect(item, level.deeper(), lines, others)
            elif item:
                others.extend(self._blocks_of(name, item, level.depth + 1))

    def _line(self, item: Item, level: "_Level", number: int) -> "_Line":
        text, boxes = _joined([self.text_of(item)]), self.pages.boxes(item)
        for reference in sequence(item.get("children")):
            name, child = self.item(reference)
            if child.get("label") == "inline" and name not in self._seen:
                self._seen.add(name)
                inline, inline_boxes = self._inline_text(child, 1)
                text, boxes = _joined([text, inline]), (*boxes, *inline_boxes)
        marker = text_field(item.get("marker")).strip() or (f"{number}." if item.get("enumerated") is True else "-")
        return _Line(f"{level.indent}{marker} {text}".rstrip(), boxes)

    def _pass_over(self, picture: Item, depth: int) -> None:
        """Texts inside a picture are not read: they are labels and thumbnails, in no order."""
        self._demand_depth(depth)
        for reference in sequence(picture.get("children")):
            name, child = self.item(reference)
            if name not in self._seen:
                self._seen.add(name)
                self.n_in_pictures += bool(self.text_of(child).strip())
                self._pass_over(child, depth + 1)

    def _demand_depth(self, depth: int) -> None:
        if depth > self.max_depth:
            raise DocumentLimit(
                f"has items nested deeper than parsing.limits.max_depth ({self.max_depth}). "
                "Raise the limit if the file is genuine."
            )


@dataclass(frozen=True)
class _Line:
    """One item of a list."""

    text: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class _Level:
    """How deep a list stands in lists, and in the tree."""

    indent: str
    depth: int

    def inside(self) -> "_Level":
        """The level of what an item holds."""
        return _Level(self.indent, self.depth + 1)

    def deeper(self) -> "_Level":
        """The level of a list in a list."""
        return _Level(self.indent + "  ", self.depth + 1)


def _joined(texts: Iterable[str]) -> str:
    """Formatted runs as one line: docling strips the spaces between them."""
    line = " ".join(" ".join(texts).split())
    return _NO_SPACE_AFTER.sub("", _NO_SPACE_BEFORE.sub("", line))
