"""Where the figures of a page are: what is drawn near a "Figure 3" caption, with the labels in and
around it.

Lines of prose are never taken for words of a figure, not even inside a frame or a picture: a form
may hold a whole page. A figure ends at them, at other captions and at tables.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.parsing.formats.pdf.drawings import Drawings, Rectangle
from rag_assets.parsing.formats.pdf.layout import Line
from rag_assets.parsing.formats.pdf.table_regions import Captions
from rag_assets.parsing.formats.pdf.text import Segment

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
    """The figures of a page that have a caption, and the segments that are no words of theirs.

    sideways: text at an angle to the segments, with its places in their frame.
    """
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
    """The place of the figure whose caption begins in a line."""
    for figure in figures:
        left, top, _, _ = figure.caption
        if line.left <= left + 1 <= line.right and line.top <= top + 1 <= line.bottom:
            return figure.area
    return None


def _prose(segments: Sequence[Segment]) -> list[Segment]:
    """The segments that are lines of prose: some words beside each other, or directly below
    such."""
    prose: list[Segment] = []
    for segment in sorted(segments, key=lambda s: s.top):
        n_words = sum(
            word.strip(".,;:()").isalpha() and len(word) > 1 for word in segment.text.split()
        )
        if n_words >= _WORDS_OF_PROSE or any(_goes_on(above, segment) for above in prose[-8:]):
            prose.append(segment)
    return prose


def _goes_on(above: Segment, segment: Segment) -> bool:
    height = segment.bottom - segment.top
    is_below = above.top < segment.top and segment.top - above.bottom <= _LEADING * height
    is_alike = abs(above.size - segment.size) <= 0.1 * above.size
    return is_below and is_alike and abs(above.left - segment.left) <= _ALIGNED * height


def _area_beside(
    caption: Rectangle, ink: Boxes, pieces: Boxes, reach: Boxes, barriers: Boxes
) -> Rectangle | None:
    """What is drawn above or below a caption, whichever is nearer, with all pieces near it up to
    the next barrier."""
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
    """Top and bottom of the space above a caption and of that below it, up to the next barrier of
    its width."""
    beside = barriers[(barriers[:, 0] < caption[2]) & (barriers[:, 2] > caption[0])]
    yield max(beside[beside[:, 3] <= caption[1] + 1, 3], default=-np.inf), caption[1]
    yield caption[3], min(beside[beside[:, 1] >= caption[3] - 1, 1], default=np.inf)


def _grown(area: Rectangle, caption: Rectangle, pieces: Boxes, reach: Boxes) -> Rectangle:
    """An area with all pieces that can be reached from it, one after the other; panels may stand as
    far apart as their caption is wide."""
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
    """The boxes as far as they lie between two heights; pictures may have empty margins that reach
    over text."""
    cut = boxes.copy()
    cut[:, 1], cut[:, 3] = np.maximum(cut[:, 1], top), np.minimum(cut[:, 3], bottom)
    return cut


def _union(boxes: Boxes) -> Rectangle:
    left, top = boxes[:, :2].min(axis=0).tolist()
    right, bottom = boxes[:, 2:].max(axis=0).tolist()
    return left, top, right, bottom


def _is_line_of_page(ink: Rectangle, text_width: float) -> bool:
    """Whether it is a rule across the text, below a running head or above notes."""
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
