"""Where the items of a DoclingDocument stand: its `prov` entries as pages, boxes and runs of text.

Docling counts pages from 1 and measures in page units from either the top or the bottom left corner. Only sources
that have pages of their own (PDF, scans, slides) get them here: the sheets of a workbook are no pages to cite.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.core.domain import Box, Span
from rag_assets.parsing.shared.files.json_objects import mapping, number, sequence, text_field, whole_number
from rag_assets.parsing.shared.table_rows import span_over

_SHEETS = ("spreadsheet", "ms-excel", "text/csv")
_MAX_TAIL_CHARS = 2


@dataclass(frozen=True)
class Pages:
    """The pages of one document."""

    sizes: Mapping[int, tuple[float, float]]
    """Width and height of each page, by its number."""

    @classmethod
    def of(cls, parsed: Mapping[str, Any]) -> "Pages":
        """The pages of a parsed DoclingDocument; none for a source without pages."""
        mimetype = text_field(mapping(parsed.get("origin")).get("mimetype"))
        if any(sheet in mimetype for sheet in _SHEETS):
            return cls({})
        sizes = {}
        for page in map(mapping, mapping(parsed.get("pages")).values()):
            page_no, size = whole_number(page.get("page_no")), mapping(page.get("size"))
            width, height = number(size.get("width")), number(size.get("height"))
            if page_no is not None and page_no >= 1 and width and height and width > 0 and height > 0:
                sizes[page_no] = (width, height)
        return cls(sizes)

    @property
    def count(self) -> int | None:
        """Number of the last page, None for a source without pages."""
        return max(self.sizes, default=None)

    def boxes(self, item: Mapping[str, Any]) -> tuple[Box, ...]:
        """The boxes of an item that has `prov`, in its order."""
        return tuple(box for prov in sequence(item.get("prov")) if (box := self._prov_box(mapping(prov))))

    def cell_box(self, cell: Mapping[str, Any], table: Mapping[str, Any]) -> tuple[Box, ...]:
        """The box of a table cell, which lies on the (first) page of its table; empty when it is not stated."""
        provs = sequence(table.get("prov"))
        page = whole_number(mapping(provs[0]).get("page_no")) if provs else None
        box = self._box(page, mapping(cell.get("bbox")))
        return (box,) if box else ()

    def spans(self, item: Mapping[str, Any], text: str) -> tuple[Span, ...]:
        """The runs of an item's `text`: one per `prov` entry where their character ranges divide it, else one."""
        provs = [mapping(prov) for prov in sequence(item.get("prov"))]
        boxes = [self._prov_box(prov) for prov in provs]
        starts = _starts(provs, len(text)) if len(provs) > 1 and all(boxes) else None
        if starts is None:
            return (span_over(0, len(text), [box for box in boxes if box]),)
        ends = [*starts[1:], len(text)]
        return tuple(span_over(start, end, (box,)) for start, end, box in zip(starts, ends, boxes, strict=True) if box)

    def _prov_box(self, prov: Mapping[str, Any]) -> Box | None:
        return self._box(whole_number(prov.get("page_no")), mapping(prov.get("bbox")))

    def _box(self, page: int | None, bbox: Mapping[str, Any]) -> Box | None:
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


def _starts(provs: Sequence[Mapping[str, Any]], length: int) -> list[int] | None:
    """Where each entry's run starts, None unless their ranges follow each other and cover the text."""
    ranges = [[whole_number(value) for value in sequence(prov.get("charspan"))] for prov in provs]
    bounds = [value for pair in ranges for value in pair if len(pair) == 2 and value is not None]
    if len(bounds) < 2 * len(ranges) or bounds != sorted(bounds) or bounds[0] != 0:
        return None
    starts = bounds[::2]
    is_cut_clean = len(set(starts)) == len(starts) and starts[-1] < length
    return starts if is_cut_clean and abs(bounds[-1] - length) <= _MAX_TAIL_CHARS else None
