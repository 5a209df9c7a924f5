"""The body tree of a DoclingDocument walked in reading order: items become blocks without sections.

A list becomes one block with one line per item, an inline group one paragraph; captions go to their
tables and figures.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rag_assets.core.domain import Block, BlockKind, Box, Zone
from rag_assets.core.errors import DocumentLimit
from rag_assets.parsing.formats.docling.floats import Items, picture_blocks, table_blocks
from rag_assets.parsing.formats.docling.pages import FURNITURE, Item
from rag_assets.parsing.shared.files.json_objects import mapping, sequence, text_field, whole_number
from rag_assets.parsing.shared.sections import LevelledBlock
from rag_assets.parsing.shared.superscripts import lowered, raised_after
from rag_assets.parsing.shared.table_rows import span_over

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
    """One item of a list."""

    text: str
    boxes: tuple[Box, ...]


@dataclass
class BodyWalk:
    """One walk through the body of a parsed DoclingDocument."""

    items: Items
    max_depth: int
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
        for reference in sequence(group.get("children")) if depth <= self.max_depth else []:
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
        if depth > self.max_depth:
            raise DocumentLimit(
                f"has items nested deeper than parsing.limits.max_depth ({self.max_depth}). "
                "Raise the limit if the file is genuine."
            )


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
