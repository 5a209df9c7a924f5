"""Reads GROBID's coordinates: the page of an element and its rectangle there.

`coords="4,72.0,93.9,113.6,9.4;4,..."` holds one area per line or fragment: page (1-based), left,
top, width and height in PDF points, origin top left. `<facsimile><surface n lrx lry>` gives the
size of each page; without it an area still tells its page, but there is no box. Source: GROBID's
documentation, "Coordinates of structures in the original PDF".
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lxml import etree

from rag_assets.core.domain import Box

_LINE_OVERLAP = 0.5
"""Two areas are on one line if they overlap by this part of the smaller height."""
_WORD_GAPS = 2.0
"""Areas of one line are joined if the gap between them is at most this many line heights."""


class Area(NamedTuple):
    """A rectangle on a page, in points."""

    page: int
    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height


def areas_of(element: etree._Element) -> tuple[Area, ...]:
    """The areas in an element's `coords` (in headers `coord`); invalid fragments are left out."""
    coords = element.get("coords") or element.get("coord")
    if not coords:
        return ()
    return tuple(area for fragment in coords.split(";") if (area := _area(fragment)))


def page_sizes(root: etree._Element) -> dict[int, Area]:
    """Page -> its rectangle, from the surfaces of the facsimile. The top left corner is nearly
    always 0, 0."""
    sizes = {}
    for surface in root.iter("{*}surface"):
        left, top = (_number(surface.get(name)) or 0.0 for name in ("ulx", "uly"))
        page, right, bottom = (_number(surface.get(name)) for name in ("n", "lrx", "lry"))
        if (
            page
            and page >= 1
            and right is not None
            and right > left
            and bottom is not None
            and bottom > top
        ):
            sizes[int(page)] = Area(int(page), left, top, right - left, bottom - top)
    return sizes


def boxes_of(areas: Iterable[Area], sizes: Mapping[int, Area]) -> tuple[Box, ...]:
    """The areas as fractions of their pages, clipped to the page; an area on a page of unknown size
    gives no box."""
    boxes = []
    for area in areas:
        size = sizes.get(area.page)
        if size is None:
            continue
        box = Box(
            page=area.page,
            left=_share(area.left - size.left, size.width),
            top=_share(area.top - size.top, size.height),
            right=_share(area.right - size.left, size.width),
            bottom=_share(area.bottom - size.top, size.height),
        )
        if box.right > box.left and box.bottom > box.top:
            boxes.append(box)
    return tuple(boxes)


def whole_lines(areas: Iterable[Area]) -> tuple[Area, ...]:
    """The areas, where neighbours on the same line are joined: GROBID leaves a gap for each
    reference in a paragraph."""
    lines: list[Area] = []
    for area in areas:
        for index in range(len(lines) - 1, max(-1, len(lines) - 4), -1):
            if _touch(lines[index], area):
                lines[index] = _union(lines[index], area)
                break
        else:
            lines.append(area)
    return tuple(lines)


def _touch(one: Area, other: Area) -> bool:
    """Whether two areas are on the same line, with at most a small gap between them."""
    if one.page != other.page:
        return False
    height = min(one.height, other.height)
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    gap = max(one.left, other.left) - min(one.right, other.right)  # negative if they overlap
    return shared >= _LINE_OVERLAP * height and gap <= _WORD_GAPS * max(one.height, other.height)


def _union(one: Area, other: Area) -> Area:
    left, top = min(one.left, other.left), min(one.top, other.top)
    right, bottom = max(one.right, other.right), max(one.bottom, other.bottom)
    return Area(one.page, left, top, right - left, bottom - top)


def _area(fragment: str) -> Area | None:
    """The area of "page,left,top,width,height"; None if it is invalid."""
    numbers = [number for part in fragment.split(",") if (number := _number(part)) is not None]
    if len(numbers) != 5 or numbers[0] < 1 or numbers[0] != int(numbers[0]) or min(numbers[3:]) < 0:
        return None
    return Area(int(numbers[0]), *numbers[1:])


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _share(length: float, whole: float) -> float:
    return round(min(1.0, max(0.0, length / whole)), 5)
