"""The text layer of one PDF page: characters with their places, gathered into segments.

A segment is a run of words on one line without a wide gap: part of a line of prose, or a cell of a table row.
Coordinates are points in a reading frame: origin at the top left of the page as it is shown (crop box and page
rotation applied), turned so that the text runs from left to right. How segments make lines, and lines columns, is
`pdf_layout`'s business.
"""

import ctypes
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from math import pi
from typing import TYPE_CHECKING, Any

from rag_assets.model import Box

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

MAX_CHARS_PER_PAGE = 200_000
"""A dense printed page has some 10,000 characters; a file with more than this on one page is a trap or a plot."""
_WIDE_GAP_EMS = 1.0
_MIN_OVERLAP = 0.35
"""Share of its own (or the line's) height by which a character must overlap the line to stand on it: superscripts
do, the next line does not."""
_SKEW_TOLERANCE_QUARTERS = 0.1
_SKEWED = -1
_STYLE_CHANGE = 0.05
"""Fonts are asked for at the start of a word, and inside it where the height of the characters changes."""
_HYPHEN_AT_LINE_END = "\x02"
"""PDFium's sign for a hyphen at the end of a line, which it takes for a soft one."""
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", _HYPHEN_AT_LINE_END: "-"}
)
_BOLD_NAME = re.compile(r"bold|black|heavy|semibd|demi|-bd|cmbx|-medi\b|medi$", re.IGNORECASE)
_ITALIC_NAME = re.compile(r"ital|obli|cmti|slanted|-it\b", re.IGNORECASE)
_ITALIC_FLAG = 1 << 6
_BOLD_WEIGHT = 600
_FONT_NAME_BYTES = 256


@dataclass(frozen=True, slots=True)
class Frame:
    """How reading coordinates of a page become fractions of the page as it is shown."""

    page: int
    """Physical page, 1-based."""
    shown_width: float
    shown_height: float
    quarter_turns: int
    """How often the text of this frame is turned clockwise by 90 degrees on the page as it is shown."""

    @property
    def width(self) -> float:
        return self.shown_height if self.quarter_turns % 2 else self.shown_width

    @property
    def height(self) -> float:
        return self.shown_width if self.quarter_turns % 2 else self.shown_height

    def box(self, left: float, top: float, right: float, bottom: float) -> Box:
        """The Box of a rectangle in reading coordinates, clipped to the page."""
        l, t, r, b = left / self.width, top / self.height, right / self.width, bottom / self.height  # noqa: E741
        for _ in range(self.quarter_turns):  # one clockwise turn back to the page as it is shown
            l, t, r, b = 1 - b, l, 1 - t, r  # noqa: E741
        return Box(self.page, *(round(min(max(value, 0.0), 1.0), 5) for value in (l, t, r, b)))


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of words on one line without a wide gap. Coordinates in points of its frame."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    """Font size of most of its characters, in points."""
    bold: float
    """Share of its characters in a bold font."""
    italic: float


@dataclass(frozen=True)
class Layer:
    """The segments of a page that run in one direction, in the order of the file."""

    frame: Frame
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class PageText:
    """What stands on a page: one layer a direction, the one with most text first."""

    number: int
    layers: tuple[Layer, ...] = ()
    n_chars: int = 0
    """Characters of the text layer."""
    n_chars_left_out: int = 0
    """Characters beyond MAX_CHARS_PER_PAGE, which were not read."""
    n_garbled: int = 0
    """Characters whose font does not say what they are."""
    has_content: bool = False
    """Something is printed on it: text, images or drawings."""
    is_readable: bool = True
    """False where PDFium cannot load the page."""

    def without_text(self) -> "PageText":
        """The same facts with the segments let go."""
        return replace(self, layers=())


def read_page(pdf: "PdfDocument", index: int) -> PageText:
    """The text of page `index` (0-based). A page that PDFium cannot load comes back empty and not readable."""
    from pypdfium2 import PdfiumError, raw

    try:
        with closing(pdf[index]) as page, closing(page.get_textpage()) as textpage:
            n_chars = textpage.count_chars()
            has_content = raw.FPDFPage_CountObjects(page) > 0
            geometry = _Geometry.of(page, index + 1)
            glyphs = list(_glyphs(textpage.raw, min(n_chars, MAX_CHARS_PER_PAGE), geometry))
    except PdfiumError:
        return PageText(index + 1, is_readable=False)
    return PageText(
        number=index + 1,
        layers=_layers(glyphs, geometry),
        n_chars=sum(not glyph.text.isspace() for glyph in glyphs),
        n_chars_left_out=max(0, n_chars - MAX_CHARS_PER_PAGE),
        has_content=has_content,
        n_garbled=sum(_is_garbled(glyph.text) for glyph in glyphs),
    )


@dataclass(frozen=True, slots=True)
class _Style:
    size: float
    is_bold: bool
    is_italic: bool


@dataclass(frozen=True, slots=True)
class _Glyph:
    """A character as it is shown: coordinates in points of the page, origin top left; white space has no place."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    turn: int
    """Quarter turns clockwise, or _SKEWED."""
    style: _Style


@dataclass(frozen=True)
class _Geometry:
    """From PDF user space (origin bottom left, unrotated) to the page as it is shown."""

    page: int
    left: float
    bottom: float
    width: float
    height: float
    turns: int

    @classmethod
    def of(cls, page: "PdfPage", number: int) -> "_Geometry":
        left, bottom, right, top = page.get_bbox()
        turns = page.get_rotation() // 90
        return cls(number, left, bottom, max(right - left, 1.0), max(top - bottom, 1.0), turns)

    def shown(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        l, r = left - self.left, right - self.left  # noqa: E741
        t, b = self.height - (top - self.bottom), self.height - (bottom - self.bottom)
        return _turned((l, t, r, b), self.turns, self.width, self.height)

    def frame(self, quarter_turns: int) -> Frame:
        sizes = (self.width, self.height) if self.turns % 2 == 0 else (self.height, self.width)
        return Frame(self.page, *sizes, quarter_turns)


def _turned(
    box: tuple[float, float, float, float], turns: int, width: float, height: float
) -> tuple[float, float, float, float]:
    """`box` (left, top, right, bottom) on a page of that size after clockwise quarter turns of the page."""
    l, t, r, b = box  # noqa: E741
    for _ in range(turns % 4):
        l, t, r, b = height - b, l, height - t, r  # noqa: E741
        width, height = height, width
    return l, t, r, b


def _glyphs(raw_textpage: Any, n_chars: int, geometry: _Geometry) -> Iterator[_Glyph]:
    """The characters in the order of the file; characters outside the page and control characters are left out."""
    from pypdfium2 import raw

    rect, fonts = raw.FS_RECTF(), _Fonts(raw_textpage)
    rect_ref = ctypes.byref(rect)
    page_width, page_height = geometry.frame(0).shown_width, geometry.frame(0).shown_height
    style, turn, styled_height = _Style(1.0, is_bold=False, is_italic=False), 0, 0.0
    for index, text in _characters(raw_textpage, n_chars):
        if text.isspace():
            styled_height = 0.0
            yield _Glyph(text, 0.0, 0.0, 0.0, 0.0, turn, style)
            continue
        raw.FPDFText_GetLooseCharBox(raw_textpage, index, rect_ref)
        left, top, right, bottom = geometry.shown(rect.left, rect.bottom, rect.right, rect.top)
        if not (-1 <= left + right <= 2 * page_width + 1 and -1 <= top + bottom <= 2 * page_height + 1):
            continue
        if abs(rect.top - rect.bottom - styled_height) > _STYLE_CHANGE * styled_height:
            style, styled_height = fonts.style(index), rect.top - rect.bottom
        turn = _quarter_turn(raw.FPDFText_GetCharAngle(raw_textpage, index), geometry.turns)
        yield _Glyph(text, left, top, right, bottom, turn, style)


def _characters(raw_textpage: Any, n_chars: int) -> Iterator[tuple[int, str]]:
    """Index and text of each character; surrogate halves are put together, control characters left out."""
    from pypdfium2 import raw

    high = 0
    for index in range(n_chars):
        code = raw.FPDFText_GetUnicode(raw_textpage, index)
        if 0xD800 <= code < 0xDC00:
            high = code
        elif 0xDC00 <= code < 0xE000:
            if high:
                yield index, chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00))
            high = 0
        elif code >= 0x20 or code in (0x02, 0x09, 0x0A, 0x0D):
            yield index, chr(code)


def _quarter_turn(angle: float, page_turns: int) -> int:
    quarters = angle / (pi / 2)
    if abs(quarters - round(quarters)) > _SKEW_TOLERANCE_QUARTERS:
        return _SKEWED
    return (round(quarters) + page_turns) % 4


class _Fonts:
    """Size and style of the font at a character."""

    def __init__(self, raw_textpage: Any) -> None:
        from pypdfium2 import raw

        self._raw_textpage = raw_textpage
        self._name = ctypes.create_string_buffer(_FONT_NAME_BYTES)
        self._flags = ctypes.c_int()
        self._matrix = raw.FS_MATRIX()

    def style(self, index: int) -> _Style:
        from pypdfium2 import raw

        size = raw.FPDFText_GetFontSize(self._raw_textpage, index)
        if raw.FPDFText_GetMatrix(self._raw_textpage, index, ctypes.byref(self._matrix)):
            size *= (self._matrix.c**2 + self._matrix.d**2) ** 0.5
        length = raw.FPDFText_GetFontInfo(
            self._raw_textpage, index, self._name, _FONT_NAME_BYTES, ctypes.byref(self._flags)
        )
        name = self._name.value.decode("utf-8", "replace") if 0 < length <= _FONT_NAME_BYTES else ""
        weight = raw.FPDFText_GetFontWeight(self._raw_textpage, index)
        return _Style(
            size=round(size, 1),
            is_bold=bool(_BOLD_NAME.search(name)) or (not name and weight >= _BOLD_WEIGHT),
            is_italic=bool(_ITALIC_NAME.search(name)) or bool(self._flags.value & _ITALIC_FLAG),
        )


def _is_garbled(text: str) -> bool:
    return text == "�" or "\ue000" <= text <= "\uf8ff"


def _layers(glyphs: list[_Glyph], geometry: _Geometry) -> tuple[Layer, ...]:
    by_turn = Counter(glyph.turn for glyph in glyphs if not glyph.text.isspace())
    layers = []
    for turn, _ in by_turn.most_common():
        frame = geometry.frame(max(turn, 0))
        own = [glyph for glyph in glyphs if glyph.turn == turn]
        segments = _skewed_segments(own) if turn == _SKEWED else _segments(own, frame)
        layers.append(Layer(frame, tuple(segments)))
    return tuple(layers)


@dataclass
class _OpenSegment:
    """A segment while characters are added to it."""

    characters: list[str] = field(default_factory=list)
    styles: Counter[_Style] = field(default_factory=Counter)
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0

    def add(self, text: str, box: tuple[float, float, float, float], style: _Style) -> None:
        if not self.styles:
            self.left, self.top, self.right, self.bottom = box
        else:
            self.left, self.right = min(self.left, box[0]), max(self.right, box[2])
            self.top, self.bottom = min(self.top, box[1]), max(self.bottom, box[3])
        self.characters.append(text)
        self.styles[style] += 1

    def add_space(self) -> None:
        if self.characters and self.characters[-1] != " ":
            self.characters.append(" ")

    def reaches(self, box: tuple[float, float, float, float], style: _Style) -> bool:
        """Whether a character at `box` goes on with this line without a wide gap."""
        left, top, right, bottom = box
        overlap = min(bottom, self.bottom) - max(top, self.top)
        if overlap < _MIN_OVERLAP * min(bottom - top, self.bottom - self.top):
            return False
        em = max(style.size, 1.0)
        return left - self.right <= _WIDE_GAP_EMS * em and self.left - right <= _WIDE_GAP_EMS * em

    def closed(self) -> Segment:
        n_chars = self.styles.total()
        sizes: Counter[float] = Counter()
        for style, count in self.styles.items():
            sizes[style.size] += count
        return Segment(
            text="".join(self.characters).strip().translate(_LIGATURES),
            left=self.left,
            top=self.top,
            right=self.right,
            bottom=self.bottom,
            size=sizes.most_common(1)[0][0],
            bold=sum(count for style, count in self.styles.items() if style.is_bold) / n_chars,
            italic=sum(count for style, count in self.styles.items() if style.is_italic) / n_chars,
        )


def _segments(glyphs: list[_Glyph], frame: Frame) -> Iterator[Segment]:
    current = _OpenSegment()
    back = (-frame.quarter_turns) % 4
    for glyph in glyphs:
        if glyph.text.isspace():
            current.add_space()
            continue
        shown = (glyph.left, glyph.top, glyph.right, glyph.bottom)
        box = _turned(shown, back, frame.shown_width, frame.shown_height)
        ends_line = bool(current.characters) and current.characters[-1] == _HYPHEN_AT_LINE_END
        if current.styles and (ends_line or not current.reaches(box, glyph.style)):
            yield current.closed()
            current = _OpenSegment()
        current.add(glyph.text, box, glyph.style)
    if current.styles:
        yield current.closed()


def _skewed_segments(glyphs: list[_Glyph]) -> Iterator[Segment]:
    """Text at an odd angle (a watermark) as one segment: it has no lines to speak of."""
    current = _OpenSegment()
    for glyph in glyphs:
        if glyph.text.isspace():
            current.add_space()
        else:
            current.add(glyph.text, (glyph.left, glyph.top, glyph.right, glyph.bottom), glyph.style)
    if current.styles:
        yield current.closed()
