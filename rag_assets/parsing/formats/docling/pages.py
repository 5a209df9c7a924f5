"""Where the items of a DoclingDocument are on its pages, and which of them are running headers and
footers.

Docling counts pages from 1 and measures in page units from either the top or the bottom left
corner. Only sources with pages of their own (PDF, scans, slides) have pages here: the sheets of a
workbook are no pages to cite.
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
"""Labels of what may be a running line by frequency alone; headings recur too, for example on
slides."""
_MIN_LETTERS = 3
"""A line with fewer letters is no header: "5" may be a page number here and a value there."""
_SAME_PLACE = 0.03
_SHEETS = ("spreadsheet", "ms-excel", "text/csv")
_MAX_TAIL_CHARS = 2


@dataclass(frozen=True)
class PageSizes:
    sizes: Mapping[int, tuple[float, float]]
    """Width and height of each page, by its number."""

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
            if (
                page_no is not None
                and page_no >= 1
                and width
                and height
                and width > 0
                and height > 0
            ):
                sizes[page_no] = (width, height)
        return cls(sizes)

    @property
    def count(self) -> int | None:
        """Number of the last page, None for a source without pages."""
        return max(self.sizes, default=None)

    def boxes(self, item: Item) -> tuple[Box, ...]:
        """The boxes of an item that has `prov`, in its order."""
        return tuple(
            box for prov in sequence(item.get("prov")) if (box := self._prov_box(mapping(prov)))
        )

    def cell_box(self, cell: Item, table: Item) -> tuple[Box, ...]:
        """The box of a table cell, which lies on the (first) page of its table; empty when it is
        not stated."""
        provs = sequence(table.get("prov"))
        page = whole_number(mapping(provs[0]).get("page_no")) if provs else None
        box = self._box(page, mapping(cell.get("bbox")))
        return (box,) if box else ()

    def spans(self, item: Item, text: str) -> tuple[Span, ...]:
        """The runs of an item's `text`: one per `prov` entry where their character ranges divide
        it, else one."""
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
    """Where each entry's run starts, None unless their ranges follow each other and cover the
    text."""
    ranges = [[whole_number(value) for value in sequence(prov.get("charspan"))] for prov in provs]
    bounds = [value for pair in ranges for value in pair if len(pair) == 2 and value is not None]
    if len(bounds) < 2 * len(ranges) or bounds != sorted(bounds) or bounds[0] != 0:
        return None
    starts = bounds[::2]
    is_cut_clean = len(set(starts)) == len(starts) and starts[-1] < length
    return starts if is_cut_clean and abs(bounds[-1] - length) <= _MAX_TAIL_CHARS else None


def is_inside_float(text: Item) -> bool:
    """Whether an item belongs to a picture or a table."""
    parent = text_field(mapping(text.get("parent")).get("$ref"))
    return parent.startswith(("#/pictures/", "#/tables/"))


def running_items(parsed: Item, pages: PageSizes, share: float) -> frozenset[str]:
    """References ("#/texts/7") of the texts that are running headers or footers whatever their
    label.

    Docling misses some of them on some pages. Two signs show them: the same words are furniture on
    another page, or they recur at the edge of most pages. share: as in
    `running_text.running_lines`.
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
    known = _places_of_furniture(texts.values(), pages)
    repeated = {name for name, text in body.items() if _repeats_furniture(text, known, pages)}
    rest = {name: text for name, text in body.items() if name not in repeated}
    return frozenset(repeated.union(_recurring(rest, pages, share)))


def furniture_of_first_page(parsed: Item, pages: PageSizes) -> tuple[str, ...]:
    """The texts in the margins of page 1, which may name the journal and the year."""
    texts = map(mapping, sequence(parsed.get("texts")))
    return tuple(
        text_field(text.get("text"))
        for text in texts
        if _label(text) in FURNITURE and any(box.page == 1 for box in pages.boxes(text))
    )


def _places_of_furniture(texts: Iterable[Item], pages: PageSizes) -> dict[str, list[float]]:
    known: dict[str, list[float]] = {}
    for text in texts:
        folded = folded_line(text_field(text.get("text")))
        if folded and _label(text) in FURNITURE:
            known.setdefault(folded, []).extend(_places(text, pages))
    return known


def _repeats_furniture(text: Item, known: Mapping[str, Sequence[float]], pages: PageSizes) -> bool:
    """Whether a text is furniture elsewhere; a heading, or a bare number, only at the place of that
    furniture."""
    folded = folded_line(text_field(text.get("text")))
    if folded not in known:
        return False
    is_clear = _label(text) not in _HEADINGS and sum(map(str.isalpha, folded)) >= _MIN_LETTERS
    own = _places(text, pages)
    return is_clear or any(
        abs(place - other) <= _SAME_PLACE for place in own for other in known[folded]
    )


def _recurring(texts: Mapping[str, Item], pages: PageSizes, share: float) -> set[str]:
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

    return {name for _, name in running(in_order, line, share)}


def _label(text: Item) -> str:
    return text_field(text.get("label"))


def _places(text: Item, pages: PageSizes) -> list[float]:
    """Vertical centres of a text as fractions of its pages."""
    return [(box.top + box.bottom) / 2 for box in pages.boxes(text)]
