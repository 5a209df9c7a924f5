"""The text layer of one PDF page: characters with their places, gathered into segments.

A segment is a run of words on one line without a wide gap: part of a line of prose, or a cell of a
table row. Tables are read from single words. Coordinates are points in a reading frame: origin at
the top left of the page as it is shown (crop box and page rotation applied), turned so that the
text runs from left to right.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from rag_assets.core.text.folding import UNREAD
from rag_assets.core.text.tokens import is_frequent_word
from rag_assets.parsing.formats.pdf.drawings import PageDrawings, drawings_of
from rag_assets.parsing.formats.pdf.glyphs import (
    SKEWED,
    FontStyle,
    Frame,
    Geometry,
    Glyph,
    SignsDrawn,
    glyphs_of,
    turned,
)
from rag_assets.parsing.formats.pdf.line_numbers import line_numbers
from rag_assets.parsing.formats.pdf.ocr import PageReader
from rag_assets.parsing.shared.superscripts import raised_after

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

_SMALLER = 0.85
_HIGHER = 0.1
"""How far above the line a raised character ends, as a share of the font size of the line."""
_RAISED_TEXT = re.compile(r"[,;()*∗†‡§+−–-]*\d[\d,;()*∗†‡§+−–-]*")
_STOPS = tuple('.,;:!?)]”’"')


@dataclass(frozen=True, slots=True)
class PlacedCharacter:
    """The place of one character of a segment."""

    index: int
    """Its place among the characters of the segment, spaces included."""
    size: float
    """Font size in points."""
    bottom: float
    """Lower edge in points from the top of the page."""


def with_superscripts(
    characters: Sequence[str], placed: Sequence[PlacedCharacter], size: float
) -> str:
    """The text of a segment whose font size is `size`, with raised digits as superscript
    characters.

    PDFium returns digits that are smaller and higher than their line as plain digits: 10 to the 9th
    as 109. Raised characters at the start stay as they are, because they are the number of a
    footnote or of an affiliation."""
    parts: list[str] = []
    at = 0
    for start, end in _raised_runs(placed, size):
        parts.append("".join(characters[at:start]))
        run, at = "".join(characters[start:end]), end
        if start and _RAISED_TEXT.fullmatch(run):
            if parts[-1].rstrip().endswith(_STOPS):
                parts[-1] = parts[-1].rstrip()
            run = raised_after(parts[-1], run)
            is_glued = parts[-1].endswith(_STOPS) and "".join(characters[end : end + 1]).isalpha()
            run += " " if is_glued else ""  # the next sentence follows without a space
        parts.append(run)
    return "".join([*parts, *characters[at:]])


def with_stars(segment: "Segment") -> str:
    """The text of a segment, with a star for each raised run without digits.

    Such a run ("a,b" or "$" after a name) refers to a footnote or a place of work, and would be
    read as the end of the name."""
    text = [glyph.text for glyph in segment.glyphs]
    placed = [
        PlacedCharacter(index, glyph.style.size, glyph.bottom)
        for index, glyph in enumerate(segment.glyphs)
        if not glyph.text.isspace()
    ]
    for start, end in _raised_runs(placed, segment.size):
        beside = [*text[max(0, start - 1) : start], *text[end : end + 1]]
        is_in_word = len(beside) == 2 and all(map(str.isalpha, beside))  # as in the logo of LaTeX
        if not (is_in_word or any(map(str.isdigit, text[start:end]))):
            text[start:end] = ["*", *[""] * (end - start - 1)]
    return "".join(text).strip()


def _raised_runs(placed: Sequence[PlacedCharacter], size: float) -> list[tuple[int, int]]:
    """Runs [start, end) of neighbouring characters that are raised."""
    small = [character for character in placed if character.size <= _SMALLER * size]
    if not small:
        return []
    line = median(character.bottom for character in placed if character.size > _SMALLER * size)
    runs: list[tuple[int, int]] = []
    for character in small:
        if character.bottom > line - _HIGHER * size:
            continue
        if runs and runs[-1][1] == character.index:
            runs[-1] = (runs[-1][0], character.index + 1)
        else:
            runs.append((character.index, character.index + 1))
    return runs


_EMPTY = 2
"""Bytes of an empty value: the end of a string in UTF-16."""


def page_as_filled(pdf: "PdfDocument", index: int) -> "PdfPage":
    """Page `index` (0-based) with the values of its fields as text. Raises PdfiumError if it cannot
    be loaded."""
    from pypdfium2 import raw

    if pdf.get_formtype() == raw.FORMTYPE_NONE:
        return pdf[index]
    logging.getLogger("pypdfium2").setLevel(
        logging.ERROR
    )  # it warns of XFA, which repeats the fields
    pdf.init_forms()
    with closing(pdf[index]) as page:
        for at in reversed(range(raw.FPDFPage_GetAnnotCount(page))):
            if not _is_filled_field(pdf, page, at):
                raw.FPDFPage_RemoveAnnot(page, at)
        if raw.FPDFPage_GetAnnotCount(page):
            raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
    return pdf[index]


def _is_filled_field(pdf: "PdfDocument", page: "PdfPage", at: int) -> bool:
    """Whether annotation `at` of a page is a text field or a combo box with a value. Buttons, check
    boxes and comments are not."""
    from pypdfium2 import raw

    annotation: Any = raw.FPDFPage_GetAnnot(page, at)
    if not annotation:
        return False
    try:
        kind = raw.FPDFAnnot_GetFormFieldType(pdf.formenv, annotation)
        # Called without a buffer, PDFium returns how many bytes the value has.
        has_value = raw.FPDFAnnot_GetFormFieldValue(pdf.formenv, annotation, None, 0) > _EMPTY
        return kind in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX) and has_value
    finally:
        raw.FPDFPage_CloseAnnot(annotation)


MAX_CHARS_PER_PAGE = 60_000
"""A dense printed page has some 10,000 characters; a file with more than this on one page is
hostile or a plot."""
_WIDE_GAP_EMS, _WORD_GAP_EMS = 1.0, 0.3
_MIN_OVERLAP = 0.35
"""A character belongs to a line if it overlaps it by this share of its own (or the line's) height:
superscripts do, the next line does not."""
_HYPHEN_AT_LINE_END = "\x02"
"""PDFium's sign for a hyphen at the end of a line, which it takes for a soft one."""
_LIGATURES = str.maketrans(
    {
        "ﬀ": "ff",
        "ﬁ": "fi",
        "ﬂ": "fl",
        "ﬃ": "ffi",
        "ﬄ": "ffl",
        "ﬅ": "st",
        "ﬆ": "st",
        _HYPHEN_AT_LINE_END: "-",
    }
)
_LEADER = {".": 1, "·": 1, "․": 1, "…": 3}
_FEWEST_DOTS = 6
"""Dots in a row, with or without spaces, that are no sign of an omission."""
_ONE_SIZE = 0.06
_INITIAL, _ONE_FONT = 1.7, 0.9
_CUT_SHARE, _FEWEST_CUT = 0.01, 4
"""A page cuts words where so many of them are in two pieces, as a share and as a number. Text made
on a computer has at most .001 of them, a poor text layer of a scan .01 to .12 (ADR 0046)."""
_BESIDE_WORDS = ".,;:!?()[]\"'“”‘’"


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
    font: str = ""
    """The font of nearly all of it; empty where fonts are mixed."""
    glyphs: tuple[Glyph, ...] = ()
    """Its characters, spaces included."""
    is_float: bool = False
    """It is a table or a caption, or holds the place of one: nothing beside it belongs to its
    line."""


@dataclass(frozen=True)
class Layer:
    """The segments of a page that run in one direction, in the order of the file."""

    frame: Frame
    segments: tuple[Segment, ...]

    def seen_from(self, frame: Frame) -> list[Segment]:
        """Its segments with their places in another frame of the page."""
        seen = []
        for s in self.segments:
            shown = turned(
                (s.left, s.top, s.right, s.bottom),
                self.frame.quarter_turns,
                self.frame.width,
                self.frame.height,
            )
            back = (-frame.quarter_turns) % 4
            left, top, right, bottom = turned(shown, back, frame.shown_width, frame.shown_height)
            seen.append(replace(s, left=left, top=top, right=right, bottom=bottom))
        return seen

    def words(self) -> list[Segment]:
        return [word for segment in self.segments for word in words_of(segment.glyphs, self.frame)]


@dataclass(frozen=True)
class PageText:
    """The text of a page: one layer per direction, the one with most text first."""

    number: int
    layers: tuple[Layer, ...] = ()
    n_chars: int = 0
    """Characters of the text layer."""
    n_chars_left_out: int = 0
    """Characters beyond MAX_CHARS_PER_PAGE, which were not read."""
    n_unread: int = 0
    """Characters of which neither font nor drawing tells which they are."""
    has_content: bool = False
    """Something is printed on it: text, images or drawings."""
    is_by_ocr: bool = False
    """Its text was read from its picture."""
    is_cut: bool = False
    """Its text layer cuts many words in two ("shippin g"), and OCR did not read the page."""
    problem: str = ""
    """Why it could not be read; empty where it was."""
    drawings: PageDrawings = field(default_factory=PageDrawings)

    def without_text(self) -> "PageText":
        """The same facts without segments and drawings."""
        return replace(self, layers=(), drawings=PageDrawings())


def is_one_size(one: float, other: float) -> bool:
    """Whether two font sizes are the same but for rounding."""
    return abs(one - other) <= _ONE_SIZE * max(one, other)


def read_page(
    pdf: "PdfDocument", index: int, ocr: PageReader | None, signs: SignsDrawn
) -> PageText:
    """The text of page `index` (0-based). signs: as for `glyphs_of`. `ocr` reads it if the page has no text of its own, or
    text in which more words are cut than OCR cuts. Raises PdfiumError if it cannot be loaded."""
    from pypdfium2 import raw

    with closing(page_as_filled(pdf, index)) as page, closing(page.get_textpage()) as textpage:
        n_chars = textpage.count_chars()
        has_content = raw.FPDFPage_CountObjects(page) > 0
        geometry = Geometry.of(page, index + 1)
        glyphs = glyphs_of(textpage, min(n_chars, MAX_CHARS_PER_PAGE), geometry, signs)
        drawings = drawings_of(page, geometry, glyphs)
    layers = _layers(glyphs, geometry)
    cut = _share_cut(layers)
    read = (
        ocr.glyphs(pdf, index)[:MAX_CHARS_PER_PAGE]
        if ocr and has_content and (cut or not layers)
        else []
    )
    by_ocr = _layers(read, replace(geometry, is_by_ocr=True))
    is_by_ocr = bool(by_ocr) and (not layers or _share_cut(by_ocr) < cut)
    if is_by_ocr:
        glyphs, layers = read, by_ocr
    return PageText(
        number=index + 1,
        layers=layers,
        n_chars=sum(not glyph.text.isspace() for glyph in glyphs),
        n_chars_left_out=max(0, n_chars - MAX_CHARS_PER_PAGE),
        has_content=has_content,
        is_by_ocr=is_by_ocr,
        is_cut=bool(cut) and not by_ocr,
        drawings=drawings,
        n_unread=sum(glyph.text == UNREAD for glyph in glyphs),
    )


def _layers(glyphs: list[Glyph], geometry: Geometry) -> tuple[Layer, ...]:
    """The characters of a page as one layer per direction, the direction with most characters
    first.

    Dots that lead to a page number are left out, and so are line numbers in the margins of upright
    text. Text at an odd angle is a layer too, in the frame of upright text."""
    by_turn = Counter(glyph.turn for glyph in glyphs if not glyph.text.isspace())
    layers = []
    for turn, _ in by_turn.most_common():
        frame = geometry.frame(max(turn, 0))
        own = _without_leaders([glyph for glyph in glyphs if glyph.turn == turn])
        segments = list(segments_of(own, frame, is_skewed=turn == SKEWED))
        if turn == 0 and (numbers := line_numbers(segments)):
            segments = list(
                segments_of([glyph for glyph in own if id(glyph) not in numbers], frame)
            )
        layers.append(Layer(frame, tuple(segments)))
    return tuple(layers)


def _without_leaders(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """The glyphs without the dots that lead from a title to its page. White space remains, so that
    title and page are still two cells."""
    kept: list[Glyph] = []
    for is_dot, run in groupby(
        glyphs, key=lambda glyph: glyph.text in _LEADER or glyph.text.isspace()
    ):
        own = list(run)
        n_dots = sum(_LEADER.get(glyph.text, 0) for glyph in own) if is_dot else 0
        kept += [glyph for glyph in own if glyph.text.isspace()] if n_dots >= _FEWEST_DOTS else own
    return kept


def _share_cut(layers: Sequence[Layer]) -> float:
    """The share of words that are cut into two pieces ("shippin g"): joined they are an English
    word, and at least one piece is not. 0 if there are few."""
    n_words = n_cut = 0
    for segment in (segment for layer in layers for segment in layer.segments):
        words = [word.strip(_BESIDE_WORDS) for word in segment.text.split()]
        n_words += len(words)
        known = [not word.isalpha() or is_frequent_word(word) for word in words]
        n_cut += sum(
            not (is_known and follows_known)
            and (first + second).isalpha()
            and is_frequent_word(first + second)
            for (first, is_known), (second, follows_known) in pairwise(
                zip(words, known, strict=True)
            )
        )
    return n_cut / n_words if n_cut >= max(_FEWEST_CUT, _CUT_SHARE * n_words) else 0.0


@dataclass
class _OpenSegment:
    """A segment while characters are added to it."""

    characters: list[str] = field(default_factory=list)
    styles: Counter[FontStyle] = field(default_factory=Counter)
    placed: list[PlacedCharacter] = field(default_factory=list)
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    glyphs: list[Glyph] = field(default_factory=list)

    def add(self, glyph: Glyph, box: tuple[float, float, float, float]) -> None:
        """Adds a character that is not white space. box: its left, top, right and bottom in points
        of the reading frame."""
        text, style = glyph.text, glyph.style
        if not self.styles:
            self.left, self.top, self.right, self.bottom = box
        else:
            self.left, self.right = min(self.left, box[0]), max(self.right, box[2])
            self.top, self.bottom = min(self.top, box[1]), max(self.bottom, box[3])
        self.placed.append(PlacedCharacter(len(self.characters), style.size, box[3]))
        self.characters.append(text)
        self.styles[style] += 1
        self.glyphs.append(glyph)

    def add_space(self, glyph: Glyph) -> None:
        if self.characters and self.characters[-1] != " ":
            self.characters.append(" ")
            self.glyphs.append(glyph)

    def reaches(
        self, box: tuple[float, float, float, float], style: FontStyle, gap_ems: float
    ) -> bool:
        """Whether a character at `box` continues this segment: it is on the same line, with a gap
        of at most `gap_ems` between."""
        left, top, right, bottom = box
        overlap = min(bottom, self.bottom) - max(top, self.top)
        if overlap < _MIN_OVERLAP * min(bottom - top, self.bottom - self.top):
            return False
        em = max(style.size, 1.0)
        return left - self.right <= gap_ems * em and self.left - right <= gap_ems * em

    def closed(self) -> Segment:
        """The finished segment; at least one character must have been added.

        Its size is that of most characters. In its text, raised digits are superscript characters,
        ligatures are separate letters, and a large initial is joined to its word ("T he" -> "The").
        Its `glyphs` remain as printed."""
        n_chars = self.styles.total()
        sizes: Counter[float] = Counter()
        for style, count in self.styles.items():
            sizes[style.size] += count
        size = sizes.most_common(1)[0][0]
        text = with_superscripts(self.characters, self.placed, size).strip().translate(_LIGATURES)
        return Segment(
            text=_with_initial(text) if self.placed[0].size >= _INITIAL * size else text,
            left=self.left,
            top=self.top,
            right=self.right,
            bottom=self.bottom,
            size=size,
            bold=sum(count for style, count in self.styles.items() if style.is_bold) / n_chars,
            italic=sum(count for style, count in self.styles.items() if style.is_italic) / n_chars,
            font=_font_of(self.styles),
            glyphs=tuple(self.glyphs),
        )


def _with_initial(text: str) -> str:
    """A text that begins with a large initial, which is joined to the word after it: "T he mill" ->
    "The mill", "N EWTS" -> "NEWTS". "A mill" stays as it is, because "A" is a word and "Amill" is
    not."""
    if text[1:2] != " " or not text[0].isupper() or not text[2:3].isalpha():
        return text
    joined = text[0] + text[2:]
    return text if text[0] in "AI" and not is_frequent_word(joined.split(" ", 1)[0]) else joined


def _font_of(styles: Counter[FontStyle]) -> str:
    """The font of nearly all characters; empty if fonts are mixed."""
    (most, _), *_ = styles.most_common(1)
    count = sum(n for style, n in styles.items() if style.font == most.font)
    return most.font if count >= _ONE_FONT * styles.total() else ""


def words_of(glyphs: Sequence[Glyph], frame: Frame) -> Iterator[Segment]:
    """The words of glyphs with one direction. A word ends at white space, and at a gap as wide as a
    space."""
    for is_space, run in groupby(glyphs, key=lambda glyph: glyph.text.isspace()):
        if not is_space:
            yield from segments_of(list(run), frame, gap_ems=_WORD_GAP_EMS)


def segments_of(
    glyphs: Sequence[Glyph],
    frame: Frame,
    *,
    gap_ems: float = _WIDE_GAP_EMS,
    is_skewed: bool = False,
) -> Iterator[Segment]:
    """The segments of glyphs with one direction. Text at an odd angle (a watermark) has no lines:
    it is one segment."""
    current = _OpenSegment()
    back = (-frame.quarter_turns) % 4
    for glyph in glyphs:
        if glyph.text.isspace():
            current.add_space(glyph)
            continue
        shown = (glyph.left, glyph.top, glyph.right, glyph.bottom)
        box = turned(shown, back, frame.shown_width, frame.shown_height)
        ends_line = bool(current.characters) and current.characters[-1] == _HYPHEN_AT_LINE_END
        if (
            current.styles
            and not is_skewed
            and (ends_line or not current.reaches(box, glyph.style, gap_ems))
        ):
            yield current.closed()
            current = _OpenSegment()
        current.add(glyph, box)
    if current.styles:
        yield current.closed()
