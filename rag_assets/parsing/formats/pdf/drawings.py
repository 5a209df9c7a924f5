"""The lines and pictures drawn on a PDF page: the rules of its tables, and where its figures are.

A rule is a straight line, or a filled rectangle so thin that it looks like one; some are drawn cell
by cell, with a small square where cells meet. Pictures are image objects and form objects (drawings
that were put into the page as a whole) smaller than the page and its text; what is drawn inside
them is a figure's, never a table's.
"""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rag_assets.parsing.formats.pdf.glyphs import Frame, Geometry, Glyph, turned

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

_MOST_OBJECTS = 20_000
"""Objects of a page and of the forms that cover it; a page with more is a plot."""
_MOST_LINES = 3_000
_MOST_POINTS = 200
"""Points of one path; a table's rules are drawn with fewer."""
_MOST_FORMS_DEEP = 4
_THIN = 3.0
"""Points; a filled rectangle up to this height is a rule."""
_SHORTEST = 4.0
_JOINS = 2.5
"""Pieces of one rule are at most so far apart, in points."""
_PAGE_SHARE = 0.8
"""A form or image that covers so much of the page, or of the place of its text, is the page itself,
no figure on it."""
_EMPTY_SHARE = 0.0005

Rectangle = tuple[float, float, float, float]
"""Left, top, right, bottom in points of a frame."""
Matrix = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line: from `start` to `end` along its direction, `at` across it. Points of a
    frame."""

    at: float
    start: float
    end: float

    @property
    def length(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Drawings:
    """What is drawn on a page, in a reading frame."""

    across: tuple[Rule, ...] = ()
    """Horizontal rules from top to bottom; pieces of one line are joined."""
    down: tuple[Rule, ...] = ()
    """Vertical rules from left to right."""
    shades: tuple[Rectangle, ...] = ()
    """Filled rectangles higher than a rule: the background of rows."""
    figures: tuple[Rectangle, ...] = ()
    ink: tuple[Rectangle, ...] = ()
    """The places of all paths and pictures but backgrounds."""


@dataclass
class PageDrawings:
    """What is drawn on a page, in points of the page as it is shown."""

    lines: list[Rectangle] = field(default_factory=list)
    shades: list[Rectangle] = field(default_factory=list)
    figures: list[Rectangle] = field(default_factory=list)
    ink: list[Rectangle] = field(default_factory=list)

    def in_frame(self, frame: Frame) -> Drawings:
        """The drawings as text of this frame sees them."""
        back = (-frame.quarter_turns) % 4
        lines, shades, figures, ink = (
            [turned(box, back, frame.shown_width, frame.shown_height) for box in boxes]
            for boxes in (self.lines, self.shades, self.figures, self.ink)
        )
        joints = [area for area in shades if max(area[2] - area[0], area[3] - area[1]) < _SHORTEST]
        flat = [*joints, *(line for line in lines if line[2] - line[0] >= line[3] - line[1])]
        upright = [*joints, *(line for line in lines if line[2] - line[0] < line[3] - line[1])]
        across = [Rule((top + bottom) / 2, left, right) for left, top, right, bottom in flat]
        down = [Rule((left + right) / 2, top, bottom) for left, top, right, bottom in upright]
        return Drawings(_joined(across), _joined(down), tuple(shades), tuple(figures), tuple(ink))


def drawings_of(page: "PdfPage", geometry: Geometry, glyphs: Sequence[Glyph]) -> PageDrawings:
    """The rules, shades and figures of a page; nothing for a page with more objects than a table
    could have."""
    from pypdfium2 import raw

    found, frame = PageDrawings(), geometry.frame(0)
    page_area = frame.shown_width * frame.shown_height
    wholes = [(0.0, 0.0, frame.shown_width, frame.shown_height), *_place_of_text(glyphs)]
    for n_before, (kind, item, matrix) in enumerate(_objects(page.raw, geometry, wholes)):
        if n_before >= _MOST_OBJECTS or len(found.lines) > _MOST_LINES:
            return PageDrawings(figures=found.figures, ink=found.ink)
        area = _bounds(item, matrix, geometry)
        is_background = _covers(area, wholes)
        if not is_background:
            found.ink.append(area)
        if kind == raw.FPDF_PAGEOBJ_PATH:
            lines, shades = _path(item, matrix, geometry)
            found.lines += lines
            found.shades += shades
        elif _EMPTY_SHARE * page_area < _size(area) and not is_background:
            found.figures.append(area)
    return found


def _size(area: Rectangle) -> float:
    return (area[2] - area[0]) * (area[3] - area[1])


def _place_of_text(glyphs: Sequence[Glyph]) -> list[Rectangle]:
    """The rectangle around all text of a page, if it has any."""
    text = [glyph for glyph in glyphs if not glyph.text.isspace()]
    if not text:
        return []
    left, top = min(glyph.left for glyph in text), min(glyph.top for glyph in text)
    return [(left, top, max(glyph.right for glyph in text), max(glyph.bottom for glyph in text))]


def shared_size(one: Rectangle, other: Rectangle) -> float:
    """The size of the area two rectangles share, in square points."""
    width, height = (
        min(one[2], other[2]) - max(one[0], other[0]),
        min(one[3], other[3]) - max(one[1], other[1]),
    )
    return max(width, 0.0) * max(height, 0.0)


def _covers(area: Rectangle, wholes: Sequence[Rectangle]) -> bool:
    return any(shared_size(area, one) >= _PAGE_SHARE * _size(one) for one in wholes)


_WHOLE: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def _objects(
    page: Any, geometry: Geometry, wholes: Sequence[Rectangle]
) -> Iterator[tuple[int, Any, Matrix]]:
    """Paths, images and forms, each with the matrix from its own coordinates' surroundings to the
    page.

    Forms that cover the page or its text are opened: their paths come instead of them.
    """
    from pypdfium2 import raw

    open_forms = [(None, _WHOLE, 0)]
    while open_forms:
        form, matrix, depth = open_forms.pop()
        n = raw.FPDFPage_CountObjects(page) if form is None else raw.FPDFFormObj_CountObjects(form)
        for index in range(min(n, _MOST_OBJECTS + 1)):
            item = (
                raw.FPDFPage_GetObject(page, index)
                if form is None
                else raw.FPDFFormObj_GetObject(form, index)
            )
            kind = raw.FPDFPageObj_GetType(item)
            is_form = kind == raw.FPDF_PAGEOBJ_FORM and depth < _MOST_FORMS_DEEP
            if is_form and _covers(_bounds(item, matrix, geometry), wholes):
                open_forms.append((item, _times(_matrix(item), matrix), depth + 1))
            elif kind in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM):
                yield kind, item, matrix


def _matrix(item: Any) -> Matrix:
    from pypdfium2 import raw

    own = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(item, ctypes.byref(own)):
        return _WHOLE
    return own.a, own.b, own.c, own.d, own.e, own.f


def _times(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    x, y = _moved(e, f, outer)
    oa, ob, oc, od, _, _ = outer
    return a * oa + b * oc, a * ob + b * od, c * oa + d * oc, c * ob + d * od, x, y


def _moved(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _bounds(item: Any, matrix: Matrix, geometry: Geometry) -> Rectangle:
    from pypdfium2 import raw

    edges = [ctypes.c_float() for _ in range(4)]
    raw.FPDFPageObj_GetBounds(item, *(ctypes.byref(edge) for edge in edges))
    left, bottom, right, top = (edge.value for edge in edges)
    return _shown([_moved(left, bottom, matrix), _moved(right, top, matrix)], geometry)


def _shown(points: Sequence[tuple[float, float]], geometry: Geometry) -> Rectangle:
    xs, ys = zip(*points, strict=True)
    return geometry.shown(min(xs), min(ys), max(xs), max(ys))


def _path(item: Any, matrix: Matrix, geometry: Geometry) -> tuple[list[Rectangle], list[Rectangle]]:
    """The rules and the shades of one path."""
    from pypdfium2 import raw

    n = raw.FPDFPath_CountSegments(item)
    if not 2 <= n <= _MOST_POINTS:
        return [], []
    fill, is_stroked = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(item, ctypes.byref(fill), ctypes.byref(is_stroked))
    lines, shades = [], []
    for outline in _outlines(item, _times(_matrix(item), matrix), n):
        area = _shown(outline, geometry)
        if _is_rule(area):
            lines.append(area)
        elif is_stroked.value:
            lines += [
                side for pair in pairwise(outline) if _is_rule(side := _shown(pair, geometry))
            ]
        elif fill.value:
            shades.append(area)
    return lines, shades


def _is_rule(area: Rectangle) -> bool:
    width, height = area[2] - area[0], area[3] - area[1]
    return min(width, height) <= _THIN and max(width, height) >= max(
        _SHORTEST, 2 * min(width, height)
    )


def _outlines(item: Any, matrix: Matrix, n: int) -> list[list[tuple[float, float]]]:
    """The corners of each part of a path without curves."""
    from pypdfium2 import raw

    outlines: list[list[tuple[float, float]]] = []
    x, y = ctypes.c_float(), ctypes.c_float()
    for index in range(n):
        segment = raw.FPDFPath_GetPathSegment(item, index)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_BEZIERTO or not raw.FPDFPathSegment_GetPoint(
            segment, ctypes.byref(x), ctypes.byref(y)
        ):
            return []
        if kind == raw.FPDF_SEGMENT_MOVETO or not outlines:
            outlines.append([])
        outlines[-1].append(_moved(x.value, y.value, matrix))
        if raw.FPDFPathSegment_GetClose(segment):
            outlines[-1].append(outlines[-1][0])
    return [outline for outline in outlines if len(outline) > 1]


def _joined(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules sorted by `at`; pieces that touch along one line, or are drawn twice, are one. Joints
    alone are none."""
    joined: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: (round(rule.at), rule.start)):
        last = joined[-1] if joined else None
        if last and abs(last.at - rule.at) <= 1.2 and rule.start <= last.end + _JOINS:
            joined[-1] = Rule(last.at, last.start, max(last.end, rule.end))
        else:
            joined.append(rule)
    return tuple(
        sorted((rule for rule in joined if rule.length >= _SHORTEST), key=lambda rule: rule.at)
    )
