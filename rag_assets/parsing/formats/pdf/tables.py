"""The lines of a page with its tables and figures read: each table is one line, the words beside it
stay prose.

A figure is what is drawn near a "Figure 3" caption, with the labels in and around it. Lines of
prose are never taken for words of a figure, not even inside a frame or a picture: a form may hold
a whole page. A figure ends at them, at other captions and at tables.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, groupby, permutations
from operator import not_

import numpy as np
from numpy.typing import NDArray

from rag_assets.parsing.formats.pdf.drawings import Drawings, Rectangle, shared_size
from rag_assets.parsing.formats.pdf.glyphs import Frame
from rag_assets.parsing.formats.pdf.layout import Column, Line, lines_in_reading_order
from rag_assets.parsing.formats.pdf.leads import with_lead
from rag_assets.parsing.formats.pdf.printed_table import Printed
from rag_assets.parsing.formats.pdf.table_grid import TableRegion, read_list, read_region
from rag_assets.parsing.formats.pdf.table_regions import (
    Captions,
    is_in_figure,
    ruled_areas,
    runs_of_rows,
)
from rag_assets.parsing.formats.pdf.text import Layer, PageText, Segment, words_of

_MOST_APART = 90.0
"""Points between a caption and what is drawn."""
_REACH, _TEXT_REACH = 12.0, 0.8
"""White space inside a figure: between drawings in points, before a label in heights of it."""
_LEAST_WIDTH, _LEAST_HEIGHT = 30.0, 20.0
_WORDS_OF_PROSE = 5
_LEADING, _ALIGNED = 0.8, 1.0
"""White space above the next line of prose, and how far its beginning may be moved, in heights of
it."""
_THIN, _ACROSS = 3.0, 0.9
"""Height in points and share of the width of the text: a rule across the page."""
_MOST_STEPS, _MOST_FIGURES = 60, 40
_LEAST_BOX, _MOST_SHADES = 100.0, 100

Boxes = NDArray[np.float64]
"""One row per rectangle: left, top, right, bottom in points of a frame."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure on a page. Places in points of a frame."""

    caption: Rectangle
    area: Rectangle
    """Drawings and labels, without the caption."""

    def holds(self, segment: Segment) -> bool:
        """Whether the middle of a segment lies in the figure."""
        return _holds(self.area, segment)


def figures_of(
    segments: Sequence[Segment],
    sideways: Sequence[Segment],
    drawings: Drawings,
    captions: Captions,
    tables: Sequence[Rectangle],
) -> tuple[list[Figure], tuple[Segment, ...]]:
    """The figures of a page that have a caption, and the segments that are outside of these
    figures.

    sideways: text at an angle to the segments, with its places in their frame."""
    if not captions.of_figures or not drawings.ink:
        return [], tuple(segments)
    prose = _prose(segments)
    barriers = _boxes([*map(_box, prose), *captions.of_figures, *captions.of_tables, *tables])
    text_width = max(s.right for s in segments) - min(s.left for s in segments)
    drawn = [
        one
        for one in drawings.ink
        if not (_is_line_of_page(one, text_width) or _meets(one, barriers).any())
    ]
    ink = _boxes([*drawn, *drawings.figures])
    known = {id(segment) for segment in prose}
    labels = [s for s in segments if id(s) not in known and not _meets(_box(s), barriers).any()]
    words = _boxes(map(_box, [*labels, *sideways]))
    heights = np.minimum(words[:, 3] - words[:, 1], words[:, 2] - words[:, 0])
    pieces = np.concatenate([ink, words])
    reach = np.concatenate([np.full(len(ink), _REACH), _TEXT_REACH * heights])
    found = []
    for caption in captions.of_figures[:_MOST_FIGURES]:
        area = _area_beside(caption, ink, pieces, reach, barriers)
        if area is not None:
            found.append(Figure(caption, area))
    inside = {id(label) for label in labels if any(figure.holds(label) for figure in found)}
    return found, tuple(segment for segment in segments if id(segment) not in inside)


def picture_of(line: Line, figures: Sequence[Figure]) -> Rectangle | None:
    """The place of the figure whose caption begins in a line; None if no caption does."""
    for figure in figures:
        left, top, _, _ = figure.caption
        if line.left <= left + 1 <= line.right and line.top <= top + 1 <= line.bottom:
            return figure.area
    return None


def _prose(segments: Sequence[Segment]) -> list[Segment]:
    """The segments that are lines of prose: those of at least five words, and those directly below
    such a line."""
    prose: list[Segment] = []
    for segment in sorted(segments, key=lambda s: s.top):
        n_words = sum(
            word.strip(".,;:()").isalpha() and len(word) > 1 for word in segment.text.split()
        )
        if n_words >= _WORDS_OF_PROSE or any(_goes_on(above, segment) for above in prose[-8:]):
            prose.append(segment)
    return prose


def _goes_on(above: Segment, segment: Segment) -> bool:
    """Whether a segment is the next line of a paragraph: directly below another one, of the same
    size, with about the same left edge."""
    height = segment.bottom - segment.top
    is_below = above.top < segment.top and segment.top - above.bottom <= _LEADING * height
    is_alike = abs(above.size - segment.size) <= 0.1 * above.size
    return is_below and is_alike and abs(above.left - segment.left) <= _ALIGNED * height


def _area_beside(
    caption: Rectangle, ink: Boxes, pieces: Boxes, reach: Boxes, barriers: Boxes
) -> Rectangle | None:
    """The area of the figure of a caption: what is drawn above or below the caption, whichever is
    nearer, and all pieces near that, up to the next barrier. None if nothing large enough is
    near."""
    nearest: tuple[float, Rectangle] | None = None
    for top, bottom in _free_bands(caption, barriers):
        own, inside = _cut(ink, top, bottom), _cut(pieces, top, bottom)
        seeds = (own[:, 3] > own[:, 1]) & (own[:, 0] < caption[2]) & (own[:, 2] > caption[0])
        gaps = np.maximum(own[:, 1] - caption[3], caption[1] - own[:, 3])
        gap = gaps[seeds].min() if seeds.any() else np.inf
        if gap > _MOST_APART or (nearest and gap >= nearest[0]):
            continue
        is_inside = inside[:, 3] > inside[:, 1]
        area = _grown(
            _union(own[seeds & (gaps == gap)]), caption, inside[is_inside], reach[is_inside]
        )
        if area[2] - area[0] >= _LEAST_WIDTH and area[3] - area[1] >= _LEAST_HEIGHT:
            nearest = gap, area
    return nearest[1] if nearest else None


def _free_bands(caption: Rectangle, barriers: Boxes) -> Iterator[tuple[float, float]]:
    """Two pairs of a top and a bottom: the space above a caption and the space below it. Each
    reaches up to the next barrier above or below the caption."""
    beside = barriers[(barriers[:, 0] < caption[2]) & (barriers[:, 2] > caption[0])]
    yield max(beside[beside[:, 3] <= caption[1] + 1, 3], default=-np.inf), caption[1]
    yield caption[3], min(beside[beside[:, 1] >= caption[3] - 1, 1], default=np.inf)


def _grown(area: Rectangle, caption: Rectangle, pieces: Boxes, reach: Boxes) -> Rectangle:
    """An area with all pieces that can be reached from it, from one piece to the next.

    A piece at the same height may be anywhere within the width of the caption, so panels beside
    each other may be far apart."""
    for _ in range(_MOST_STEPS):
        near = (
            (pieces[:, 0] - reach <= max(area[2], caption[2]))
            & (pieces[:, 2] + reach >= min(area[0], caption[0]))
            & (pieces[:, 1] - reach <= area[3])
            & (pieces[:, 3] + reach >= area[1])
        )
        larger = _union(np.concatenate([pieces[near], _boxes([area])]))
        if larger == area:
            break
        area = larger
    return area


def _cut(boxes: Boxes, top: float, bottom: float) -> Boxes:
    """The boxes, cut off above `top` and below `bottom`, because pictures may have empty margins
    that reach over text."""
    cut = boxes.copy()
    cut[:, 1], cut[:, 3] = np.maximum(cut[:, 1], top), np.minimum(cut[:, 3], bottom)
    return cut


def _union(boxes: Boxes) -> Rectangle:
    left, top = boxes[:, :2].min(axis=0).tolist()
    right, bottom = boxes[:, 2:].max(axis=0).tolist()
    return left, top, right, bottom


def _is_line_of_page(ink: Rectangle, text_width: float) -> bool:
    """Whether a drawing is a thin rule across the text, such as one below a running head or above
    notes."""
    return ink[3] - ink[1] <= _THIN and ink[2] - ink[0] >= _ACROSS * text_width


def _meets(box: Rectangle, others: Boxes) -> NDArray[np.bool_]:
    left, top, right, bottom = box
    met: NDArray[np.bool_] = (
        (others[:, 0] < right)
        & (others[:, 2] > left)
        & (others[:, 1] < bottom)
        & (others[:, 3] > top)
    )
    return met


def _boxes(rectangles: Iterable[Rectangle]) -> Boxes:
    return np.array(list(rectangles), dtype=np.float64).reshape(-1, 4)


def _box(segment: Segment) -> Rectangle:
    return segment.left, segment.top, segment.right, segment.bottom


def _holds(area: Rectangle, segment: Segment) -> bool:
    left, top, right, bottom = area
    return (
        left <= (segment.left + segment.right) / 2 <= right
        and top <= (segment.top + segment.bottom) / 2 <= bottom
    )


def lines_with_tables(page: PageText) -> list[list[Line]]:
    """The lines of each layer in reading order. Labels at a right angle to a table or a figure are
    in another layer; they are removed from it, because they belong to that table or figure."""
    lines: list[list[Line]] = []
    layers = list(page.layers)
    for nth, layer in enumerate(layers):
        drawings = page.drawings.in_frame(layer.frame)
        captions = Captions.among(layer.segments)
        others = [other.seen_from(layer.frame) for other in layers[nth + 1 :]]
        sideways = [segment for other in others for segment in other]
        tables = _ruled_tables(layer, drawings, captions, sideways)
        named = [table.area for table in tables if captions.is_captioned(table.area)]
        figures, outside = figures_of(layer.segments, sideways, drawings, captions, named)
        drawings = replace(
            drawings, figures=(*drawings.figures, *(figure.area for figure in figures))
        )
        tables = [
            table
            for table in tables
            if table.area in named or not is_in_figure(table.area, drawings)
        ]
        layer = replace(layer, segments=outside)
        for at, seen in enumerate(others, nth + 1):
            is_label = [
                any(_is_beside(segment, table.area) for table in tables)
                or any(one.holds(segment) for one in figures)
                for segment in seen
            ]
            layers[at] = replace(
                layers[at], segments=tuple(compress(layers[at].segments, map(not_, is_label)))
            )
        read = _lines(layer, tables, drawings, captions)
        lines.append(
            [replace(line, picture=picture_of(line, figures)) for line in read] if figures else read
        )
    return lines


def _ruled_tables(
    layer: Layer, drawings: Drawings, captions: Captions, sideways: Sequence[Segment]
) -> list[Printed]:
    """The tables of a layer that are found by what is drawn.

    They are between rules, in pictures that have the caption of a table and none of a figure, or,
    with one column, in tinted boxes with a bar at the top. sideways: texts at a right angle to the
    layer's, with their places in its frame."""
    pictures = [
        area
        for area in drawings.figures
        if captions.is_captioned(area) and not captions.is_near_figure(area)
    ]
    words = layer.words() if pictures or len(drawings.across) > 1 else []
    areas = ruled_areas(words, drawings, captions)
    tables = []
    # A picture that overlaps an area between rules adds nothing.
    for area in [
        *areas,
        *(one for one in pictures if not any(shared_size(one, area) for area in areas)),
    ]:
        inside = [word for word in words if _is_in(word, area)]
        beside = [word for word in sideways if _is_beside(word, area)]
        table = _read(
            TableRegion(layer.frame, area, inside, drawings_in(drawings, area), beside),
            drawings,
            captions,
        )
        if table:
            tables.append(table)
    for bar, box in _barred_boxes(drawings):
        area = (box[0], bar[1], box[2], box[3])
        if captions.is_captioned(area) and not any(shared_size(one.area, area) for one in tables):
            inside = [word for word in layer.words() if _is_in(word, area)]
            region = TableRegion(layer.frame, area, inside, drawings_in(drawings, area))
            if table := read_list(region, bar):
                tables.append(table)
    return tables


def _barred_boxes(drawings: Drawings) -> Iterator[tuple[Rectangle, Rectangle]]:
    """Pairs of a bar and a tinted box of its width, whose top the bar is."""
    wide = [one for one in drawings.shades if one[2] - one[0] >= _LEAST_BOX]
    for bar, box in permutations(wide[:_MOST_SHADES], 2):
        is_top = min(abs(bar[1] - box[1]), abs(bar[3] - box[1])) <= _THIN
        is_alike = max(abs(bar[0] - box[0]), abs(bar[2] - box[2])) <= _THIN
        if is_top and is_alike and 2 * (bar[3] - bar[1]) < box[3] - box[1]:
            yield bar, box


def _lines(
    layer: Layer, tables: Sequence[Printed], drawings: Drawings, captions: Captions
) -> list[Line]:
    """The lines of a layer, in which each table is one line: tables that rules show, and tables
    without rules, found among the lines."""
    of_place = {table.area: table for table in tables}
    segments = _with_captions_apart(_without(layer, list(of_place)), captions)
    found: list[Line] = []
    lines = lines_in_reading_order(Layer(layer.frame, (*segments, *map(_placeholder, tables))))
    for _, column in groupby(lines, key=lambda line: line.column):
        own = [
            _table_line(of_place[line.left, line.top, line.right, line.bottom], line.column)
            if line.segments[0].is_float and not line.text
            else line
            for line in column
        ]
        found += _with_runs(own, layer.frame, drawings, captions)
    return list(map(with_lead, found))


def _with_captions_apart(segments: Sequence[Segment], captions: Captions) -> list[Segment]:
    """The segments, in which each of several captions beside each other is one segment. Otherwise
    their lines would look like rows of two cells."""
    kept = list(segments)
    for left, top, right, bottom in captions.beside_others():
        own = [
            s
            for s in kept
            if top <= (s.top + s.bottom) / 2 <= bottom and left <= (s.left + s.right) / 2 <= right
        ]
        if own:
            whole = replace(
                own[0],
                text=" ".join(s.text for s in own),
                top=top,
                right=right,
                bottom=bottom,
                is_float=True,
            )
            kept = [whole if s is own[0] else s for s in kept if s is own[0] or s not in own]
    return kept


def _with_runs(
    lines: Sequence[Line], frame: Frame, drawings: Drawings, captions: Captions
) -> list[Line]:
    """The lines of a column, in which one line with a table takes the place of each run of rows
    without rules, if the run reads as a table."""
    found: list[Line] = []
    at = 0
    for start, end in runs_of_rows(lines):
        run = lines[start:end]
        area = (
            min(line.left for line in run),
            run[0].top,
            max(line.right for line in run),
            max(line.bottom for line in run),
        )
        words = [
            word
            for line in run
            for segment in line.segments
            for word in words_of(segment.glyphs, frame)
        ]
        table = _read(
            TableRegion(frame, area, words, drawings_in(drawings, area)), drawings, captions
        )
        if table:
            # Lines above the cells are the table's title, and remain lines of text.
            titles = [line for line in run if line.bottom <= table.area[1]]
            found += [*lines[at:start], *titles, _table_line(table, run[0].column)]
            at = end
    return [*found, *lines[at:]]


def drawings_in(drawings: Drawings, area: Rectangle) -> Drawings:
    """The rules and shades inside an area, or at most 3 points outside of it."""
    left, top, right, bottom = area[0] - 3, area[1] - 3, area[2] + 3, area[3] + 3
    return Drawings(
        tuple(
            r for r in drawings.across if top <= r.at <= bottom and r.start < right and left < r.end
        ),
        tuple(
            r for r in drawings.down if left <= r.at <= right and r.start < bottom and top < r.end
        ),
        tuple(
            s
            for s in drawings.shades
            if s[0] < right and left < s[2] and s[1] < bottom and top < s[3]
        ),
    )


def _read(region: TableRegion, drawings: Drawings, captions: Captions) -> Printed | None:
    """The table of a region; None if the region is a figure or its cells do not look like a
    table."""
    is_picture = is_in_figure(region.area, drawings)
    if (is_picture and region.area not in drawings.figures) or captions.is_figure(region.area):
        return None
    table = read_region(region)
    if table is None:
        return None
    is_named = captions.is_captioned(region.area) and not is_picture
    return table if (table.has_rows if is_named else table.holds_values) else None


def _is_in(word: Segment, area: Rectangle) -> bool:
    left, top, right, bottom = area
    return (
        left - 2 <= (word.left + word.right) / 2 <= right + 2
        and top <= (word.top + word.bottom) / 2 <= bottom
    )


def _is_beside(word: Segment, area: Rectangle) -> bool:
    """Whether a text at a right angle is a label of the table in an area: it is inside the area and
    higher than wide."""
    return _is_in(word, area) and word.bottom - word.top > word.right - word.left


def _without(layer: Layer, areas: Sequence[Rectangle]) -> list[Segment]:
    """The segments of a layer without the words inside the areas."""
    segments: list[Segment] = []
    for segment in layer.segments:
        near = [
            area
            for area in areas
            if segment.right >= area[0] - 2
            and segment.left <= area[2] + 2
            and segment.bottom >= area[1]
            and segment.top <= area[3]
        ]
        if near:
            words = words_of(segment.glyphs, layer.frame)
            segments += [word for word in words if not any(_is_in(word, area) for area in near)]
        else:
            segments.append(segment)
    return segments


def _placeholder(table: Printed) -> Segment:
    """An empty segment in the place of a table, so that the table gets a place in reading order."""
    left, top, right, bottom = table.area
    return Segment("", left, top, right, bottom, size=1.0, bold=0.0, italic=0.0, is_float=True)


def _table_line(table: Printed, column: Column) -> Line:
    """A table as one line, so that it keeps its place among the lines of its column. The text has
    the texts of all cells; size and face have no meaning."""
    left, top, right, bottom = table.area
    text = " ".join(cell.text.replace("\n", " ") for cell in table.cells)
    return Line(
        table.frame,
        column,
        (text,),
        left,
        top,
        right,
        bottom,
        size=1.0,
        bold=0.0,
        italic=0.0,
        table=table,
    )
