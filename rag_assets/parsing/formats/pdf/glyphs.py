"""The characters of one PDF page as it is shown: place, direction and font of each.

The only module that calls PDFium's text functions. Coordinates are points with the origin at the
top left of the page as it is shown (crop box and page rotation applied). `Frame` turns them so that
text runs from left to right.
"""

import ctypes
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import pi
from typing import TYPE_CHECKING, Any
from unicodedata import category, normalize

from numpy import rot90

from rag_assets.core.domain import Box
from rag_assets.core.text.folding import UNREAD
from rag_assets.parsing.formats.pdf.signs import EM_PIXELS, sign_drawn

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

_SKEW_TOLERANCE_QUARTERS = 0.1
SKEWED = -1
_STYLE_CHANGE = 0.05
"""Fonts are asked for at the start of a word, and inside it where the height of the characters
changes."""
_BOLD_NAME = re.compile(r"bold|black|heavy|semibd|demi|-bd|cmbx|-medi\b|medi$", re.IGNORECASE)
_ITALIC_NAME = re.compile(r"ital|obli|cmti|slanted|-it\b", re.IGNORECASE)
_ITALIC_FLAG = 1 << 6
_BOLD_WEIGHT = 600
_FONT_NAME_BYTES = 256
_ACCENTS = dict(
    zip(
        "`´ˆ˜¯˘˙¨˚˝ˇ¸",
        "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327",
        strict=True,
    )
)
"""Accents with a width of their own, and those that combine with a letter (Unicode, Spacing
Modifier Letters)."""
_PRIVATE = {
    **dict(
        zip(
            "\uf001\uf002\uf0b7\uf0a7\uf0a8\uf0d8\uf06c\uf06e\uf076\uf0fc",
            "ﬁﬂ•▪▫➢●■❖✓",
            strict=True,
        )
    ),
    **{chr(0xF730 + n): str(n) for n in range(10)},
    **{chr(0xF761 + n): chr(ord("A") + n) for n in range(26)},
}
"""Characters of Unicode's private area by what fonts show there: ligatures, the bullets of Symbol
and Wingdings, and the old-style figures and small capitals of Adobe's Glyph List."""
_LAM, _ALEFS = "ل", "اأإآ"
_SAME_PLACE = 1.0
"""Characters that are less than about this apart, in points, are at one place."""
_INSIDE_WORD = 0.15
_LETTERS_BEFORE, _LETTERS_AFTER = 64, 4
"""How far in the file an accent may be from its letter, in characters."""
_WITH_DOT = {"ı": "i", "ȷ": "j"}


@dataclass(frozen=True, slots=True)
class Frame:
    """How reading coordinates of a page become fractions of the page as it is shown."""

    page: int
    """Physical page, 1-based."""
    shown_width: float
    shown_height: float
    quarter_turns: int
    """How often the text of this frame is turned clockwise by 90 degrees on the page as it is
    shown."""
    is_by_ocr: bool
    """Its text was read from the picture of the page."""

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
class FontStyle:
    size: float
    is_bold: bool
    is_italic: bool
    font: str = ""
    """Name of the font in the file."""


@dataclass(frozen=True, slots=True)
class Glyph:
    """A character as it is shown: coordinates in points of the page, origin top left; white space
    has no place."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    turn: int
    """Quarter turns clockwise, or SKEWED."""
    style: FontStyle


@dataclass(frozen=True)
class Geometry:
    """From PDF user space (origin bottom left, unrotated) to the page as it is shown."""

    page: int
    left: float
    bottom: float
    width: float
    height: float
    turns: int
    is_by_ocr: bool = False

    @classmethod
    def of(cls, page: "PdfPage", number: int) -> "Geometry":
        left, bottom, right, top = page.get_bbox()
        turns = page.get_rotation() // 90
        return cls(number, left, bottom, max(right - left, 1.0), max(top - bottom, 1.0), turns)

    def shown(
        self, left: float, bottom: float, right: float, top: float
    ) -> tuple[float, float, float, float]:
        l, r = left - self.left, right - self.left  # noqa: E741
        t, b = self.height - (top - self.bottom), self.height - (bottom - self.bottom)
        return turned((l, t, r, b), self.turns, self.width, self.height)

    def frame(self, quarter_turns: int) -> Frame:
        sizes = (self.width, self.height) if self.turns % 2 == 0 else (self.height, self.width)
        return Frame(self.page, *sizes, quarter_turns, self.is_by_ocr)


def turned(
    box: tuple[float, float, float, float], turns: int, width: float, height: float
) -> tuple[float, float, float, float]:
    """`box` (left, top, right, bottom) on a page of that size after clockwise quarter turns of the
    page."""
    l, t, r, b = box  # noqa: E741
    for _ in range(turns % 4):
        l, t, r, b = height - b, l, height - t, r  # noqa: E741
        width, height = height, width
    return l, t, r, b


SignsDrawn = dict[tuple[Any, ...], str]
"""The characters of a file that were read from how they are drawn, by font, code, width and
height."""
_LARGEST_EMS, _MARGIN_PIXELS = 8, 3


def glyphs_of(
    textpage: "PdfTextPage", n_chars: int, geometry: Geometry, signs: SignsDrawn
) -> list[Glyph]:
    """The characters in the order of the file; characters outside the page and those that draw
    nothing are left out. A character that the font does not name, or whose drawing is of another
    sign, is the sign that is drawn, else U+FFFD. signs: those read so far from the same file.

    An accent drawn as a character of its own over a letter becomes part of the letter, and the
    white space that PDFium sees around it is dropped.
    """
    drawn = list(_drawn(textpage.raw, n_chars, geometry))
    glyphs = _drawn_once(_with_signs(drawn, textpage, geometry, signs))
    dropped: set[int] = set()
    for at in [at for at, glyph in enumerate(glyphs) if glyph.text in _ACCENTS]:
        for near in range(max(0, at - _LETTERS_BEFORE), min(at + _LETTERS_AFTER, len(glyphs))):
            if letter := _accented(glyphs[at], glyphs[near]):
                glyphs[near] = letter
                dropped |= {at, *_spaces_inside(glyphs, at)}
                break
    return [glyph for at, glyph in enumerate(glyphs) if at not in dropped]


def _drawn_once(glyphs: Iterable[Glyph]) -> list[Glyph]:
    """The characters without those drawn again at their place, as programs do for bold type and
    shadows.

    The two letters of a ligature follow each other at one place: these are no repetition.
    """
    kept: list[Glyph] = []
    seen: dict[tuple[str, int, int], int] = {}
    for at, glyph in enumerate(glyphs):
        left, top = glyph.left / _SAME_PLACE, glyph.top / _SAME_PLACE
        cells = ((glyph.text, int(left), int(top)), (glyph.text, -int(left + 0.5), -int(top + 0.5)))
        if glyph.text.isspace() or all(seen.get(cell, at) >= at - 1 for cell in cells):
            if (
                glyph.text == _LAM
                and kept
                and kept[-1].text in _ALEFS
                and kept[-1].left == glyph.left
            ):
                kept[-1], glyph = (
                    glyph,
                    kept[-1],
                )  # PDFium turns the letters of this ligature round with the line
            kept.append(glyph)
            seen.update(dict.fromkeys(cells, at))
    return kept


def _accented(accent: Glyph, letter: Glyph) -> Glyph | None:
    """The letter with an accent that is drawn over it; None where they are apart or make no
    character."""
    middle = (accent.left + accent.right) / 2
    if (
        not letter.left <= middle <= letter.right
        or accent.bottom <= letter.top
        or letter.bottom <= accent.top
    ):
        return None
    text = normalize("NFC", _WITH_DOT.get(letter.text, letter.text) + _ACCENTS[accent.text])
    return replace(letter, text=text) if len(text) == 1 else None


def _spaces_inside(glyphs: list[Glyph], at: int) -> list[int]:
    """White space beside the accent at `at` that has no place of its own: the characters around it
    touch."""
    spaces = [n for n in (at - 1, at + 1) if 0 <= n < len(glyphs) and glyphs[n].text.isspace()]
    first, last = min([at, *spaces]) - 1, max([at, *spaces]) + 1
    if not spaces or first < 0 or last >= len(glyphs):
        return []
    gap = glyphs[last].left - glyphs[first].right
    return spaces if gap < _INSIDE_WORD * glyphs[last].style.size else spaces[1:]


def _with_signs(
    drawn: list[tuple[int, Glyph]], textpage: "PdfTextPage", geometry: Geometry, signs: SignsDrawn
) -> Iterator[Glyph]:
    """The characters with the signs that are drawn. Fonts are doubted that spell nothing on the
    page: no two of their letters stand side by side."""
    fonts = _Fonts(textpage.raw)
    spelling = {
        one.style.font
        for (_, one), (_, other) in pairwise(drawn)
        if one.text.isalpha() and other.text.isalpha() and one.style.font == other.style.font
    }
    for index, glyph in drawn:
        is_spelt = glyph.text.isspace() or (glyph.text.isalpha() and glyph.style.font in spelling)
        if glyph.text != UNREAD and (is_spelt or fonts.name(index) in spelling):
            yield glyph
        elif text := _sign(
            textpage, index, replace(glyph, style=fonts.style(index)), geometry, signs
        ):
            yield replace(glyph, text=text)


def _sign(
    textpage: "PdfTextPage", index: int, glyph: Glyph, geometry: Geometry, signs: SignsDrawn
) -> str:
    """The text of a character by its drawing, which is looked at once in a file; empty for a
    character without text that draws nothing."""
    from pypdfium2 import raw

    left, right, bottom, top, x, y = (ctypes.c_double() for _ in range(6))
    raw.FPDFText_GetCharBox(textpage.raw, index, left, right, bottom, top)
    raw.FPDFText_GetCharOrigin(textpage.raw, index, x, y)
    places = (left, bottom, right, top), (x, y, x, y)
    box, origin = (geometry.shown(*(one.value for one in place)) for place in places)
    width, height, em = box[2] - box[0], box[3] - box[1], max(glyph.style.size, 1.0)
    code = raw.FPDFText_GetUnicode(textpage.raw, index)
    key = glyph.style.font, code, round(width / em, 2), round(height / em, 2)
    if key in signs or glyph.turn == SKEWED or max(width, height) > _LARGEST_EMS * em:
        return signs.get(key, glyph.text)
    if min(width, height) <= 0:
        return glyph.text.replace(UNREAD, "")
    frame, scale = geometry.frame(0), EM_PIXELS / em
    size, margin = (frame.shown_width, frame.shown_height), _MARGIN_PIXELS / scale
    sides = box[0], size[1] - box[3], size[0] - box[2], box[1]
    crop = tuple(side - margin for side in sides)
    bitmap = textpage.page.render(scale=scale, crop=crop, grayscale=True, may_draw_forms=False)
    picture = rot90(bitmap.to_numpy().squeeze().astype("float32"), glyph.turn)
    upper, base = (turned(one, -glyph.turn, *size)[1] for one in (box, origin))
    signs[key] = sign_drawn(picture, (base - upper + margin) * scale, glyph.text)
    return signs[key]


def _drawn(raw_textpage: Any, n_chars: int, geometry: Geometry) -> Iterator[tuple[int, Glyph]]:
    """Yields index and character in the order of the file, with their places in points on the page as it
    is shown. White space has no place (all zero); a blank under the letters of a ligature is left
    out, and so are characters outside the page. A font is read only at the beginning of a word or
    where the height of the characters changes."""
    from pypdfium2 import raw

    rect, fonts = raw.FS_RECTF(), _Fonts(raw_textpage)
    rect_ref = ctypes.byref(rect)
    page_width, page_height = geometry.frame(0).shown_width, geometry.frame(0).shown_height
    style, turn, styled_height = FontStyle(1.0, is_bold=False, is_italic=False), 0, 0.0
    place, is_ligature = (0.0, 0.0, 0.0, 0.0), False
    for index, text in _characters(raw_textpage, n_chars):
        if text.isspace():
            if is_ligature:
                raw.FPDFText_GetLooseCharBox(raw_textpage, index, rect_ref)
                left, _, right, _ = geometry.shown(rect.left, rect.bottom, rect.right, rect.top)
                if (
                    place[0] < (left + right) / 2 < place[2]
                ):  # hidden under the letters of a ligature
                    continue
            styled_height = 0.0
            yield index, Glyph(text, 0.0, 0.0, 0.0, 0.0, turn, style)
            continue
        raw.FPDFText_GetLooseCharBox(raw_textpage, index, rect_ref)
        left, top, right, bottom = geometry.shown(rect.left, rect.bottom, rect.right, rect.top)
        if not (
            -1 <= left + right <= 2 * page_width + 1 and -1 <= top + bottom <= 2 * page_height + 1
        ):
            continue
        is_ligature, place = (left, top, right, bottom) == place, (left, top, right, bottom)
        if abs(rect.top - rect.bottom - styled_height) > _STYLE_CHANGE * styled_height:
            style, styled_height = fonts.style(index), rect.top - rect.bottom
        angle = raw.FPDFText_GetCharAngle(raw_textpage, index) + pi * fonts.is_turned
        turn = _quarter_turn(angle, geometry.turns)
        yield index, Glyph(_PRIVATE.get(text, text), left, top, right, bottom, turn, style)


def _characters(raw_textpage: Any, n_chars: int) -> Iterator[tuple[int, str]]:
    """Index and text of each character; surrogate halves are put together, and UNREAD stands for a
    code that names no character."""
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
        else:
            yield index, UNREAD if _names_nothing(raw_textpage, index, chr(code)) else chr(code)


def _names_nothing(raw_textpage: Any, index: int, text: str) -> bool:
    """Whether a character has no meaning of its own: a private or control character, unless that is
    white space that is not drawn. PDFium makes a hyphen at a line end U+0002."""
    from pypdfium2 import raw

    if category(text) not in ("Cc", "Co") or text in _PRIVATE:
        return False
    sides = [ctypes.c_double() for _ in range(4)]
    raw.FPDFText_GetCharBox(raw_textpage, index, *sides)
    is_blank = text.isspace() and sides[0].value >= sides[1].value
    return not is_blank and raw.FPDFText_IsHyphen(raw_textpage, index) != 1


def _quarter_turn(angle: float, page_turns: int) -> int:
    """The direction of a character as it is shown, in quarter turns clockwise (0-3), or SKEWED if
    it is at another angle. angle: in radians, without the rotation of the page."""
    quarters = angle / (pi / 2)
    if abs(quarters - round(quarters)) > _SKEW_TOLERANCE_QUARTERS:
        return SKEWED
    return (round(quarters) + page_turns) % 4


class _Fonts:
    """Size and style of the font at a character."""

    def __init__(self, raw_textpage: Any) -> None:
        from pypdfium2 import raw

        self._raw_textpage = raw_textpage
        self._name = ctypes.create_string_buffer(_FONT_NAME_BYTES)
        self._flags = ctypes.c_int()
        self._matrix = raw.FS_MATRIX()
        self.is_turned = False
        """The last font has a negative size: its letters are turned by half against their
        matrix."""

    def name(self, index: int) -> str:
        """The name of the font of the character at `index`; empty without one."""
        from pypdfium2 import raw

        length = raw.FPDFText_GetFontInfo(
            self._raw_textpage, index, self._name, _FONT_NAME_BYTES, ctypes.byref(self._flags)
        )
        return self._name.value.decode("utf-8", "replace") if 0 < length <= _FONT_NAME_BYTES else ""

    def style(self, index: int) -> FontStyle:
        """The size and style of the character at `index`. The size is in points and includes the
        scale of the text matrix, because a file may set size 1 and scale the text. Bold and italic
        are read from the name of the font. PDFium's weight counts only for a font without a name;
        its flag for italics always counts."""
        from pypdfium2 import raw

        size = raw.FPDFText_GetFontSize(self._raw_textpage, index)
        self.is_turned, size = size < 0, abs(size)
        if raw.FPDFText_GetMatrix(self._raw_textpage, index, ctypes.byref(self._matrix)):
            size *= (self._matrix.c**2 + self._matrix.d**2) ** 0.5
        name = self.name(index)
        weight = raw.FPDFText_GetFontWeight(self._raw_textpage, index)
        return FontStyle(
            size=round(size, 1),
            is_bold=bool(_BOLD_NAME.search(name)) or (not name and weight >= _BOLD_WEIGHT),
            is_italic=bool(_ITALIC_NAME.search(name)) or bool(self._flags.value & _ITALIC_FLAG),
            font=name,
        )
