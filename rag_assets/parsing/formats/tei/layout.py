"""How much text a page can hold at most, estimated from the coordinates a file has.

With coordinates on references alone, a turn of the page is known to lie somewhere between two
references. The lines below the one and above the other hold only so many characters, which bounds
the place of the turn. All estimates err on the side of more text, so that the bounds hold.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from rag_assets.parsing.formats.tei.coords import Area
from rag_assets.parsing.formats.tei.text import Mark

_LEAST_TOP, _LEAST_BOTTOM = 0.09, 0.92
"""Text is taken to reach at least from here to here, as shares of the page's height."""
_LEAST_WIDTH = 0.7
"""Text is taken to be at least so wide, as a share of the page's width, both columns together."""
_LINE_PITCH = 1.08
"""Distance of two base lines in heights of an area; GROBID's areas are 0.75 to 0.8 of it, so this
packs more."""
_SPARE = 1.15
"""Allowance for lines that are denser than the references measured."""
_MIN_CHARS, _MIN_SAMPLES = 3, 5
_MIN_UNIT_LINES = 3
"""Text units of fewer lines are not measured: formulas and headings are set wider and higher."""
_CENTRE_BAND = 0.02
_MAX_CROSSING = 0.04
"""Two columns, if fewer of the areas than this share lie across the middle of the page."""
_MAX_COLUMN_WIDTH = 0.55


@dataclass(frozen=True)
class Layout:
    """The text area and the density of a document's pages."""

    sizes: Mapping[int, Area]
    top: float
    """Upper end of the text area as a share of the page's height."""
    bottom: float
    chars_per_line: float
    """Most characters on a line across the whole text area."""
    line_height: float
    """Least distance of two lines, in points."""
    n_columns: int

    def column_of(self, area: Area) -> int:
        """0 for the left column and for what spans the page, 1 for the right column."""
        size = self.sizes.get(area.page)
        if self.n_columns == 1 or size is None or area.width > _MAX_COLUMN_WIDTH * size.width:
            return 0
        return int(area.left + area.width / 2 - size.left > size.width / 2)

    def is_read_before(self, one: Area, other: Area) -> bool:
        """Whether `one` precedes `other` on their page, or is on the same line."""
        columns = self.column_of(one), self.column_of(other)
        if columns[0] != columns[1]:
            return columns[0] < columns[1]
        return one.top <= other.top + self.line_height / 2

    def chars_before(self, area: Area) -> float:
        """Most characters of running text that the page holds before `area`."""
        size = self.sizes.get(area.page)
        if size is None:
            return math.inf
        above = self._chars_in(area.bottom - size.top - self.top * size.height)
        if self.n_columns == 1 or self.column_of(area) == 0:
            return above
        return self.chars_on(area.page) / 2 + above / 2

    def chars_after(self, area: Area) -> float:
        """Most characters of running text that the page holds after `area`."""
        size = self.sizes.get(area.page)
        if size is None:
            return math.inf
        below = self._chars_in(self.bottom * size.height - (area.top - size.top))
        if self.n_columns == 1 or self.column_of(area) == 1:
            return below
        return self.chars_on(area.page) / 2 + below / 2

    def chars_on(self, page: int) -> float:
        """Most characters of running text that a page holds; the most of any page if its own size
        is unknown."""
        size = self.sizes.get(page)
        heights = [size.height] if size else [other.height for other in self.sizes.values()]
        return self._chars_in((self.bottom - self.top) * max(heights)) if heights else math.inf

    def _chars_in(self, height: float) -> float:
        lines = max(0.0, height) / self.line_height + 1
        return lines * self.chars_per_line


def layout_of(
    marks: Sequence[Mark], others: Iterable[Area], sizes: Mapping[int, Area]
) -> Layout | None:
    """The layout that a document's coordinates show; None if there are too few.

    marks: the places of the running text. others: areas of references, figures and notes, which
    show how far text reaches.
    """
    samples = [
        ((mark.end - mark.start) / sum(area.width for area in mark.areas), mark.areas[0].height)
        for mark in marks
        if mark.end - mark.start >= _MIN_CHARS
        and all(area.width > 0 and area.height > 0 for area in mark.areas)
        and (not mark.is_block or len(mark.areas) >= _MIN_UNIT_LINES)
    ]
    areas = [area for mark in marks for area in mark.areas]
    reach = [area for area in (*areas, *others) if area.page in sizes]
    if len(samples) < _MIN_SAMPLES or not reach:
        return None
    density = median(density for density, _ in samples)
    widths = [sizes[area.page].width for area in reach]
    text_width = max(
        max(area.right for area in reach) - min(area.left for area in reach),
        _LEAST_WIDTH * max(widths),
    )
    return Layout(
        sizes=sizes,
        top=min(_LEAST_TOP, *(_height_share(area.top, area, sizes) for area in reach), 1.0),
        bottom=max(
            _LEAST_BOTTOM, *(_height_share(area.bottom, area, sizes) for area in reach), 0.0
        ),
        chars_per_line=_SPARE * density * text_width,
        line_height=_LINE_PITCH * median(height for _, height in samples),
        n_columns=1 if _crossing_share(areas, sizes) > _MAX_CROSSING else 2,
    )


def _height_share(y: float, area: Area, sizes: Mapping[int, Area]) -> float:
    size = sizes[area.page]
    return min(1.0, max(0.0, (y - size.top) / size.height))


def _crossing_share(areas: Sequence[Area], sizes: Mapping[int, Area]) -> float:
    known = [(area, sizes[area.page]) for area in areas if area.page in sizes]
    crossing = 0
    for area, size in known:
        middle = size.left + size.width / 2
        band = _CENTRE_BAND * size.width
        crossing += area.left < middle - band and area.right > middle + band
    return crossing / max(1, len(known))
