"""Finds the pages and boxes of the items of a DoclingDocument, and the items that are running
headers or footers.

Docling counts pages from 1, and measures in page units from the top left or the bottom left corner.
Only sources with real pages (PDF, scans, slides) have pages here: the sheets of a workbook cannot
be cited as pages.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.core.domain import Box, Span
from rag_assets.parsing.shared.files import (
    mapping,
    number,
    sequence,
    text_field,
    whole_number,
)
from rag_assets.parsing.shared.running_text import PlacedLine, folded_line, running
from rag_assets.parsing.shared.table_rows import span_over

Item = Mapping[str, Any]
FURNITURE = frozenset({"page_header", "page_footer"})
_HEADINGS = frozenset({"title", "section_header"})
_TEXTS = frozenset({"text", "paragraph", "list_item", "footnote"})
"""Labels of items that are a running line if they are repeated on many pages. Headings are not
among them, because they may be repeated too, for example on slides."""
_MIN_LETTERS = 3
"""A line with fewer letters may be a page number at one place and a value at another ("5")."""
_SAME_PLACE = 0.03
_SHEETS = ("spreadsheet", "ms-excel", "text/csv")
_MAX_TAIL_CHARS = 2


@dataclass(frozen=True)
class PageSizes:
    """The sizes of the pages of a document, by which coordinates become fractions of a page."""

    sizes: Mapping[int, tuple[float, float]]
    """Number of a page -> its width and height."""

    @classmethod
    def of(cls, parsed: Item) -> "PageSizes":
        """The pages of a parsed DoclingDocument; none for a source without pages."""
        mimetype = text_field(mapping(parsed.get("origin")).get("mimetype"))
        if any(sheet in mimetype for sheet in _SHEETS):
            return cls({})
        sizes = {}
        for page in map(mapping, mapping(parsed.get("pages")).values()):
            page_no, size = whole_number(page.get("page_no")), mapping(page.get("size"))
            width, height = number(size.get("width")), number(size.get("height"))
            if page_no and page_no >= 1 and width and height and min(width, height) > 0:
                sizes[page_no] = (width, height)
        return cls(sizes)

    @property
    def count(self) -> int | None:
        """Number of the last page; None for a source without pages."""
        return max(self.sizes, default=None)

    def boxes(self, item: Item) -> tuple[Box, ...]:
        """The boxes in the `prov` entries of an item, in their order; invalid ones are left
        out."""
        return tuple(
            box for prov in sequence(item.get("prov")) if (box := self._prov_box(mapping(prov)))
        )

    def cell_box(self, cell: Item, table: Item) -> tuple[Box, ...]:
        """The box of a table cell, which is on the first page of its table; empty if the file does
        not state it."""
        provs = sequence(table.get("prov"))
        page = whole_number(mapping(provs[0]).get("page_no")) if provs else None
        box = self._box(page, mapping(cell.get("bbox")))
        return (box,) if box else ()

    def spans(self, item: Item, text: str) -> tuple[Span, ...]:
        """The spans of an item's text: one per `prov` entry if the character ranges of these divide
        the text, else one."""
        provs = [mapping(prov) for prov in sequence(item.get("prov"))]
        boxes = [self._prov_box(prov) for prov in provs]
        starts = _starts(provs, len(text)) if len(provs) > 1 and all(boxes) else None
        if starts is None:
            return (span_over(0, len(text), [box for box in boxes if box]),)
        ends = [*starts[1:], len(text)]
        return tuple(
            span_over(start, end, (box,))
            for start, end, box in zip(starts, ends, boxes, strict=True)
            if box
        )

    def _prov_box(self, prov: Item) -> Box | None:
        return self._box(whole_number(prov.get("page_no")), mapping(prov.get("bbox")))

    def _box(self, page: int | None, bbox: Item) -> Box | None:
        edges = [number(bbox.get(name)) for name in ("l", "t", "r", "b")]
        known = [edge for edge in edges if edge is not None]
        if page is None or page not in self.sizes or len(known) < 4:
            return None
        width, height = self.sizes[page]
        left, top, right, bottom = known
        if bbox.get("coord_origin") == "BOTTOMLEFT":
            top, bottom = height - top, height - bottom
        across = sorted(min(max(x / width, 0.0), 1.0) for x in (left, right))
        down = sorted(min(max(y / height, 0.0), 1.0) for y in (top, bottom))
        return Box(page, across[0], down[0], across[1], down[1])


def _starts(provs: Sequence[Item], length: int) -> list[int] | None:
    """The offset at which the range of each `prov` entry starts; None unless the ranges follow one
    another and cover the text."""
    ranges = [[whole_number(value) for value in sequence(prov.get("charspan"))] for prov in provs]
    bounds = [value for pair in ranges for value in pair if len(pair) == 2 and value is not None]
    if len(bounds) < 2 * len(ranges) or bounds != sorted(bounds) or bounds[0] != 0:
        return None
    starts = bounds[::2]
    has_no_empty_range = len(set(starts)) == len(starts) and starts[-1] < length
    covers_text = abs(bounds[-1] - length) <= _MAX_TAIL_CHARS
    return starts if has_no_empty_range and covers_text else None


def is_inside_float(text: Item) -> bool:
    """Whether an item belongs to a picture or a table."""
    parent = text_field(mapping(text.get("parent")).get("$ref"))
    return parent.startswith(("#/pictures/", "#/tables/"))


def running_items(parsed: Item, pages: PageSizes) -> frozenset[str]:
    """References ("#/texts/7") of the texts that are running headers or footers although docling
    did not label them so.

    Docling misses some of them on some pages. They are found because the same words are furniture
    on another page, or are repeated at the edge of most pages.
    """
    texts = {
        f"#/texts/{index}": mapping(text)
        for index, text in enumerate(sequence(parsed.get("texts")))
    }
    body = {
        name: text
        for name, text in texts.items()
        if text.get("content_layer", "body") == "body"
        and _label(text) not in FURNITURE
        and not is_inside_float(text)
    }
    furniture = _heights_of_furniture(texts.values(), pages)
    repeated = {name for name, text in body.items() if _repeats_furniture(text, furniture, pages)}
    rest = {name: text for name, text in body.items() if name not in repeated}
    return frozenset(repeated.union(_frequent_at_edges(rest, pages)))


def furniture_of_first_page(parsed: Item, pages: PageSizes) -> tuple[str, ...]:
    """The texts in the margins of page 1, which may name the journal and the year."""
    texts = map(mapping, sequence(parsed.get("texts")))
    return tuple(
        text_field(text.get("text"))
        for text in texts
        if _label(text) in FURNITURE and any(box.page == 1 for box in pages.boxes(text))
    )


def _heights_of_furniture(texts: Iterable[Item], pages: PageSizes) -> dict[str, list[float]]:
    """Folded text of page headers and footers -> the heights at which it is printed."""
    heights: dict[str, list[float]] = {}
    for text in texts:
        folded = folded_line(text_field(text.get("text")))
        if folded and _label(text) in FURNITURE:
            heights.setdefault(folded, []).extend(_heights(text, pages))
    return heights


def _repeats_furniture(
    text: Item, furniture: Mapping[str, Sequence[float]], pages: PageSizes
) -> bool:
    """Whether the same text is furniture on another page; a heading or a number must also be at the
    same height. furniture: see `_heights_of_furniture`."""
    folded = folded_line(text_field(text.get("text")))
    if folded not in furniture:
        return False
    is_clear = _label(text) not in _HEADINGS and sum(map(str.isalpha, folded)) >= _MIN_LETTERS
    return is_clear or any(
        abs(height - other) <= _SAME_PLACE
        for height in _heights(text, pages)
        for other in furniture[folded]
    )


def _frequent_at_edges(texts: Mapping[str, Item], pages: PageSizes) -> set[str]:
    """References of the texts that are repeated at the edge of many pages."""
    by_page: dict[int, list[tuple[float, str]]] = {}
    for name, text in texts.items():
        boxes = pages.boxes(text)
        if len(boxes) == 1:
            by_page.setdefault(boxes[0].page, []).append(
                ((boxes[0].top + boxes[0].bottom) / 2, name)
            )
    in_order = [sorted(by_page.get(page, [])) for page in range(1, max(by_page, default=0) + 1)]

    def line(item: tuple[float, str]) -> PlacedLine:
        text = texts[item[1]]
        return PlacedLine(text_field(text.get("text")) if _label(text) in _TEXTS else "", item[0])

    return {name for _, name in running(in_order, line)}


def _label(text: Item) -> str:
    return text_field(text.get("label"))


def _heights(text: Item, pages: PageSizes) -> list[float]:
    """Vertical centres of a text as fractions of its pages."""
    return [(box.top + box.bottom) / 2 for box in pages.boxes(text)]
