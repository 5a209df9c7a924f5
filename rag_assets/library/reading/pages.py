"""The pages of a PDF: one as a PNG with boxes marked in it, and the words of a quote, one box per
line. Runs in a worker process (`pdfs`).

A quote and a PDF differ in hyphens, ligatures, blanks and punctuation, so only letters and digits
are compared (`text.folding`). A quote that is interrupted (by the end of a column or page with what
is printed there, by a figure) or differs in single words is found as the parser finds a block
(`parsing.places`).
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from rapidfuzz.distance import Prefix

from rag_assets.core.domain import Box
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.text.folding import Folded
from rag_assets.parsing.formats.pdf.file import opened_pdf
from rag_assets.parsing.formats.pdf.glyphs import Frame, Geometry, Glyph, glyphs_of, turned
from rag_assets.parsing.formats.pdf.text import MAX_CHARS_PER_PAGE
from rag_assets.parsing.places.matching import Shingles, matched
from rag_assets.parsing.places.placing import LocatedWords
from rag_assets.parsing.shared.files import hashed_content

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfPage

RENDERING_VERSION = 1
"""Raise it when the same page gets another image; images of earlier versions are not shown any
more."""
MAX_PIXELS = 12_000_000
"""A page that is much higher than wide is drawn narrower than asked for."""
_MARK = (255, 226, 110)
"""Multiplied with the page, so black stays black and white takes this colour."""
_COMPRESSION = 3
"""Level of zlib: 6 takes twice as long for a tenth less."""
FractionBox = tuple[float, float, float, float]
"""Left, top, right, bottom as fractions of the page as it is shown, origin top left."""


@dataclass(frozen=True)
class PdfFile:
    """The PDF of a paper, as it was when it was looked up."""

    path: Path
    name: str
    """From the papers folder, for messages."""
    sha256: str
    max_pages: int


@dataclass(frozen=True)
class PageImageJob:
    pdf: PdfFile
    page: int
    """1-based."""
    width: int
    """Pixels."""
    boxes: tuple[FractionBox, ...]


def page_png(job: PageImageJob) -> bytes | None:
    """The page as a PNG; None for a number that no page has. Raises UnreadableDocument for a PDF or
    a page that cannot be drawn."""
    from pypdfium2 import PdfiumError

    content = hashed_content(job.pdf.path, job.pdf.sha256)
    with opened_pdf(content, job.pdf.max_pages) as pdf:
        if not 1 <= job.page <= len(pdf):
            return None
        try:
            with closing(pdf[job.page - 1]) as page:
                image = _drawn(page, job.width)
        except PdfiumError as error:
            raise UnreadableDocument(
                f"has a page {job.page} that is damaged and cannot be drawn. Export or fetch the file again."
            ) from error
    _mark(image, job.boxes)
    png = BytesIO()
    image.save(png, "PNG", compress_level=_COMPRESSION)
    return png.getvalue()


def _drawn(page: "PdfPage", width: int) -> "Image":
    shown_width, shown_height = (max(side, 1.0) for side in page.get_size())
    scale = min(width / shown_width, (MAX_PIXELS / (shown_width * shown_height)) ** 0.5)
    bitmap = page.render(scale=scale, prefer_bgrx=False, rev_byteorder=True)
    image: Image = bitmap.to_pil().convert("RGB")
    return image


def _mark(image: "Image", boxes: Sequence[FractionBox]) -> None:
    """Colour the boxes in the image."""
    from PIL import Image, ImageChops

    for left, top, right, bottom in boxes:
        area = (
            round(left * image.width),
            round(top * image.height),
            max(round(right * image.width), round(left * image.width) + 1),
            max(round(bottom * image.height), round(top * image.height) + 1),
        )
        part = image.crop(area)
        image.paste(ImageChops.multiply(part, Image.new("RGB", part.size, _MARK)), area)


MIN_SHARE = 0.75
"""Share of a quote's words that must be found; with fewer, the marks would not show the
sentence."""
_SEED_WORDS = 3
_HYPHEN_AT_LINE_END = "\x02"
_NO_LETTER = re.compile(r"[\W_]+")
_MAX_READ_DIFFERENTLY = 2
"""Where the two differ, the page may have up to this many more words than the quote: one symbol, or
three."""
_MAX_CONTEXT_CHARS = 200
_MIN_LINE_OVERLAP = 0.5
_MAX_GAP_HEIGHTS = 2.5
"""A wider gap on a line, in heights of its characters, parts it: cells of a row, columns."""


@dataclass(frozen=True)
class QuoteSearch:
    pdf: PdfFile
    wordings: tuple[str, ...]
    """The quote as the page may have it, likeliest first."""
    before: str
    """The text before the quote in its chunk; tells repetitions apart."""
    after: str
    pages: tuple[int, ...]
    """Physical pages, 1-based, ascending."""


_Placed = tuple[Frame, Glyph]
"""A character, and the frame of the direction it runs in."""


@dataclass(frozen=True)
class _PageCharacters:
    """The characters of some pages in the order of the file."""

    text: str
    glyphs: tuple[_Placed, ...]
    """One for each character of the text."""

    @cached_property
    def letters(self) -> Folded:
        return _letters(self.text)


def find_on_pages(search: QuoteSearch) -> tuple[Box, ...]:
    """A box for each line of the quote, in its order; an empty tuple if it is not found.

    Raises UnreadableDocument for a PDF that cannot be opened.
    """
    pages = _read(search)
    whole = (_found_in_one_piece(wording, search, pages) for wording in search.wordings)
    pieces = (_found_in_pieces(wording, pages.text) for wording in search.wordings)
    spans = next(filter(None, chain(whole, pieces)), [])
    return tuple(box for start, end in spans for box in _line_boxes(pages.glyphs[start:end]))


def _read(search: QuoteSearch) -> _PageCharacters:
    content = hashed_content(search.pdf.path, search.pdf.sha256)
    glyphs: list[_Placed] = []
    with opened_pdf(content, search.pdf.max_pages) as pdf:
        from pypdfium2 import PdfiumError

        for number in search.pages:
            if not 1 <= number <= len(pdf):
                continue  # the source counts more pages than this PDF has
            try:
                with closing(pdf[number - 1]) as page, closing(page.get_textpage()) as textpage:
                    geometry = Geometry.of(page, number)
                    n_chars = min(textpage.count_chars(), MAX_CHARS_PER_PAGE)
                    own = list(glyphs_of(textpage, n_chars, geometry, {}))
            except PdfiumError:
                continue  # a page that cannot be loaded holds no quote
            frames = {turn: geometry.frame(max(turn, 0)) for turn in {glyph.turn for glyph in own}}
            glyphs += _downwards([(frames[glyph.turn], glyph) for glyph in own])
    text = "".join(glyph.text for _, glyph in glyphs).replace(_HYPHEN_AT_LINE_END, "-")
    return _PageCharacters(text, tuple(glyphs))


def _downwards(glyphs: Sequence[_Placed]) -> list[_Placed]:
    """The characters of a page, each line with an end. PDFium gives lines that run up or down the
    page in the order of the upright page; these are put in the order they are read in."""
    lines: list[list[_Placed]] = [[]]
    for frame, glyph in glyphs:
        if glyph.text == "\n":
            lines.append([])
        else:
            lines[-1].append((frame, glyph))
    upright = [line for line in lines if line and not line[0][0].quarter_turns]
    turned_lines = [line for line in lines if line and line[0][0].quarter_turns]
    turned_lines.sort(key=lambda line: (line[0][0].quarter_turns, _reading_box(*line[0])[1]))
    return [
        placed
        for line in (*upright, *turned_lines)
        for placed in (*line, (line[-1][0], replace(line[-1][1], text="\n")))
    ]


def _reading_box(frame: Frame, glyph: Glyph) -> tuple[float, float, float, float]:
    """Left, top, right, bottom in points of the frame, in which the text runs from left to
    right."""
    shown = (glyph.left, glyph.top, glyph.right, glyph.bottom)
    return turned(shown, -frame.quarter_turns % 4, frame.shown_width, frame.shown_height)


def _letters(text: str) -> Folded:
    """The letters and digits of a text, folded."""
    return Folded.of(text).without(_NO_LETTER)


def _found_in_one_piece(
    quote: str, search: QuoteSearch, pages: _PageCharacters
) -> list[tuple[int, int]]:
    """The place of the whole quote; of several, the one whose surroundings are most like those in
    its chunk."""
    wanted, page = _letters(quote).text, pages.letters
    places = (
        [match.start() for match in re.finditer(f"(?={re.escape(wanted)})", page.text)]
        if wanted
        else []
    )
    if not places:
        return []
    before = _letters(search.before[-_MAX_CONTEXT_CHARS:]).text[::-1]
    after = _letters(search.after[:_MAX_CONTEXT_CHARS]).text

    def likeness(place: int) -> int:
        end = place + len(wanted)
        earlier = page.text[max(0, place - _MAX_CONTEXT_CHARS) : place]
        later = page.text[end : end + _MAX_CONTEXT_CHARS]
        return int(Prefix.similarity(before, earlier[::-1]) + Prefix.similarity(after, later))

    best = max(places, key=likeness)
    start, end = page.span(best, best + len(wanted))
    return [_with_signs(quote, pages.text, start, end)]


def _with_signs(quote: str, text: str, start: int, end: int) -> tuple[int, int]:
    """The place with the punctuation that the quote begins and ends with."""
    stripped = quote.strip()
    n_before = len(stripped) - len(re.sub(r"\A[\W_]+", "", stripped))
    n_after = len(stripped) - len(re.sub(r"[\W_]+\Z", "", stripped))
    while n_before and start and _is_sign(text[start - 1]):
        start, n_before = start - 1, n_before - 1
    while n_after and end < len(text) and _is_sign(text[end]):
        end, n_after = end + 1, n_after - 1
    return start, end


def _is_sign(character: str) -> bool:
    return not character.isalnum() and not character.isspace()


def _found_in_pieces(quote: str, text: str) -> list[tuple[int, int]]:
    """The places of the pieces of an interrupted quote; an empty list if too few of its words are
    found."""
    wanted, page = LocatedWords.of(quote), LocatedWords.of(text)
    seeds = Shingles.of(wanted.words, _SEED_WORDS).shared_with(Shingles.of(page.words, _SEED_WORDS))
    if not seeds:
        return []
    mapping = matched(wanted.words, page.words, seeds, _SEED_WORDS)
    if len(mapping) < MIN_SHARE * len(wanted.words):
        return []
    pairs = sorted(mapping.items())
    breaks = [
        at
        for at, (before, after) in enumerate(pairwise(pairs), start=1)
        if _is_interrupted(before, after)
    ]
    pieces = [pairs[start:end] for start, end in pairwise([0, *breaks, len(pairs)])]
    spans = [(page.starts[piece[0][1]], page.ends[piece[-1][1]]) for piece in pieces]
    whole_start, whole_end = _with_signs(quote, text, spans[0][0], spans[-1][1])
    spans[0] = (whole_start, spans[0][1])
    spans[-1] = (spans[-1][0], whole_end)
    return spans


def _is_interrupted(before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether the words on the page between two found words are not part of the quote. If the quote
    has words there too, they were read differently: a formula, a cut word."""
    n_in_quote, n_on_page = after[0] - before[0] - 1, after[1] - before[1] - 1
    return n_on_page > (n_in_quote + _MAX_READ_DIFFERENTLY if n_in_quote else 0)


@dataclass
class _OpenLine:
    """A line box while characters are added to it, in reading coordinates of its frame."""

    frame: Frame
    left: float
    top: float
    right: float
    bottom: float

    def reaches(self, frame: Frame, box: tuple[float, float, float, float]) -> bool:
        """Whether a character goes on with this line."""
        left, top, _, bottom = box
        height = min(bottom - top, self.bottom - self.top)
        overlap = min(bottom, self.bottom) - max(top, self.top)
        gap = _MAX_GAP_HEIGHTS * max(bottom - top, self.bottom - self.top)
        return (
            frame == self.frame
            and overlap >= _MIN_LINE_OVERLAP * height
            and -gap <= left - self.right <= gap
        )

    def add(self, box: tuple[float, float, float, float]) -> None:
        self.left, self.top = min(self.left, box[0]), min(self.top, box[1])
        self.right, self.bottom = max(self.right, box[2]), max(self.bottom, box[3])


def _line_boxes(glyphs: Sequence[_Placed]) -> Iterator[Box]:
    line: _OpenLine | None = None
    for frame, glyph in glyphs:
        if glyph.text.isspace():
            continue
        box = _reading_box(frame, glyph)
        if line and line.reaches(frame, box):
            line.add(box)
            continue
        if line:
            yield _box_of(line)
        line = _OpenLine(frame, *box)
    if line:
        yield _box_of(line)


def _box_of(line: _OpenLine) -> Box:
    return line.frame.box(line.left, line.top, line.right, line.bottom)
