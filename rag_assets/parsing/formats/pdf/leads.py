"""The lead of a line: the words that it begins with in bold, italics or a font that the rest of it
is not set in."""

import re
from dataclasses import replace
from itertools import accumulate, takewhile

from rag_assets.parsing.formats.pdf.glyphs import FontStyle
from rag_assets.parsing.formats.pdf.layout import Line, line_of
from rag_assets.parsing.formats.pdf.text import Segment, segments_of

Face = tuple[bool, bool, str]
"""Bold, italic, and the font where it is neither."""
_INSIDE_WORD = re.compile(r"(?:—|[.:][–-])(?=\w+$)")
"""PDFium tells the font of a word where it begins: "Abstract—We" is all bold."""
_FEWEST_LETTERS, _MOST = 2, 0.8


def with_lead(line: Line) -> Line:
    """A line without the characters that it was read from, but cut behind its lead, if it has
    one."""
    is_mixed = not line.font or 0 < line.bold < 1 or 0 < line.italic < 1
    glyphs = [glyph for segment in line.segments if is_mixed for glyph in segment.glyphs]
    printed = [glyph for glyph in glyphs if not glyph.text.isspace()]
    lead = list(takewhile(lambda one: _face(one.style) == _face(printed[0].style), printed))
    if dash := _INSIDE_WORD.search("".join(glyph.text for glyph in lead)):
        lead = lead[: dash.end()]
    n_letters = sum(glyph.text.isalpha() for glyph in lead)
    parts = () if n_letters < _FEWEST_LETTERS or lead == printed else _cut(line, len(lead))
    return replace(line, segments=(), parts=parts)


def face_of(line: Line) -> Face | None:
    """What a line begins in; None where that is no word."""
    first = line.parts[0] if line.parts else line
    if not line.parts and (not line.font or line.table):
        return None
    is_bold, is_italic = first.bold > _MOST, first.italic > _MOST
    return is_bold, is_italic, "" if is_bold or is_italic else first.font


def _face(style: FontStyle) -> Face:
    is_plain = not (style.is_bold or style.is_italic)
    return style.is_bold, style.is_italic, style.font if is_plain else ""


def _cut(line: Line, n_chars: int) -> tuple[Line, Line]:
    """A line in two, the first with that many characters, without spaces; both keep its column."""
    left: list[Segment] = []
    right: list[Segment] = []
    for segment in line.segments:
        inside = sum(not glyph.text.isspace() for glyph in segment.glyphs)
        if n_chars >= inside:
            left.append(segment)
        elif n_chars <= 0:
            right.append(segment)
        else:
            seen = accumulate(not glyph.text.isspace() for glyph in segment.glyphs)
            at = 1 + next(at for at, n in enumerate(seen) if n == n_chars)
            left += segments_of(segment.glyphs[:at], line.frame)
            right += segments_of(segment.glyphs[at:], line.frame)
        n_chars -= inside
    first, rest = (line_of(part, line.column, line.frame) for part in (left, right))
    return replace(first, segments=()), replace(rest, segments=())
