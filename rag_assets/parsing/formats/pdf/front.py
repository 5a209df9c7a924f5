"""What the first pages of a PDF and its metadata tell of the paper, for its record.

Below the title, names of authors have one style, the places where they work and the dates another.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from rag_assets.core.domain import BREAK, Block, PrintedFront
from rag_assets.parsing.formats.pdf.glyphs import Glyph
from rag_assets.parsing.formats.pdf.layout import Line, lines_in_reading_order
from rag_assets.parsing.formats.pdf.text import Layer, PageText, Segment, with_stars

_SMALLER, _RAISED = 0.85, 0.1
_WIDE_EMS = 1.2
_MOST_MARKS, _MOST_WORDS = 5, 3_000
GAP, MARK = "\t", "*"
"""What parts two names: white space or text of another style, and the mark of a footnote."""
Style = tuple[str, float, bool, bool]


@dataclass
class _Row:
    """The words of a line that may run over several columns."""

    top: float
    bottom: float
    size: float
    words: list[Segment] = field(default_factory=list)

    def takes(self, word: Segment) -> bool:
        shared = min(self.bottom, word.bottom) - max(self.top, word.top)
        return shared > (word.bottom - word.top) / 2


@dataclass(frozen=True)
class _Piece:
    """Words of one style side by side."""

    text: str
    left: float
    right: float


def texts_set_alike(layer: Layer, top: float, bottom: float) -> tuple[str, ...]:
    """The words between two heights of a page, one text per style in the order in which styles
    appear, with the ends of lines. GAP and MARK stand for what parts the words of a style."""
    if layer.frame.quarter_turns:
        return ()
    within = [
        word for word in layer.words() if word.top >= top and word.bottom <= bottom and word.glyphs
    ]
    by_style: dict[Style, list[list[_Piece]]] = defaultdict(list)
    above: dict[Style, list[_Piece]] = {}
    for row in _rows(within[:_MOST_WORDS]):
        own = _by_style(row)
        for style, pieces in own.items():
            if len(own) > 1 and len(above) == 1 and len(above.get(style, ())) > 1:
                _put_below(by_style[style][-1], pieces)
            else:
                by_style[style].append(pieces)
        above = own
    return tuple(
        "\n".join(GAP.join(piece.text for piece in pieces) for pieces in lines)
        for lines in by_style.values()
    )


def _put_below(line: list["_Piece"], pieces: Sequence["_Piece"]) -> None:
    """Insert names into the line above, each behind the one that it stands below: in a grid, two
    authors of one place of work stand one above the other."""
    for piece in pieces:
        over = [
            at
            for at, other in enumerate(line)
            if other.left < piece.right and piece.left < other.right
        ]
        line.insert(over[-1] + 1 if over else len(line), piece)


def _rows(words: Sequence[Segment]) -> list[_Row]:
    """Puts words side by side into rows, the highest row first. The largest words begin the rows,
    so that a small raised mark joins the row of its name."""
    rows: list[_Row] = []
    for word in sorted(words, key=lambda word: -word.size):
        row = next((row for row in rows if row.takes(word)), None)
        if row is None:
            row = _Row(word.top, word.bottom, word.size)
            rows.append(row)
        row.words.append(word)
    return sorted(rows, key=lambda row: row.top)


def _by_style(row: _Row) -> dict[Style, list[_Piece]]:
    """The words of a row by their style, from left to right. Words of the same style are one piece,
    unless white space or a word of another style is between them. A small raised character, as
    behind the name of an author, becomes MARK; a word that has only such marks belongs to the style
    before it."""
    glyphs = [glyph for word in row.words for glyph in word.glyphs if not glyph.text.isspace()]
    line = median(g.bottom for g in glyphs if g.style.size > _SMALLER * row.size)

    def marks_of(word: Segment) -> list[bool]:
        """Which of its characters are a mark; a longer word that is small and raised stands in
        another column."""
        raised = [
            glyph.style.size <= _SMALLER * row.size and glyph.bottom < line - _RAISED * row.size
            for glyph in word.glyphs
        ]
        return [False] * len(raised) if all(raised) and len(raised) > _MOST_MARKS else raised

    found: dict[Style, list[_Piece]] = {}
    last: Style | None = None
    right = 0.0
    for word in sorted(row.words, key=lambda word: word.left):
        marked = list(zip(word.glyphs, marks_of(word), strict=True))
        own = [glyph for glyph, is_mark in marked if not (is_mark or glyph.text.isspace())]
        text = "".join(MARK if is_mark else glyph.text for glyph, is_mark in marked).strip()
        style = _style_of(own) if own else last
        if style is None:
            continue
        pieces = found.setdefault(style, [])
        if not pieces or style != last or word.left - right > _WIDE_EMS * row.size:
            pieces.append(_Piece(text, word.left, word.right))
        else:
            pieces[-1] = _Piece(f"{pieces[-1].text} {text}", pieces[-1].left, word.right)
        last, right = style, word.right
    return found


def _style_of(glyphs: Sequence[Glyph]) -> Style:
    """That of the largest letters: small capitals are capitals of a smaller size."""
    letters = [glyph for glyph in glyphs if glyph.text.isalpha()] or glyphs
    fonts = [glyph.style.font for glyph in letters]
    style = max(letters, key=lambda glyph: glyph.style.size).style
    return max(fonts, key=fonts.count), round(style.size * 2) / 2, style.is_bold, style.is_italic


if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

N_FRONT_PAGES = 2
"""A page of the publisher or of a repository may stand before the paper's own first page."""
_MAX_CHARS = 20_000
_MOST_LINES = 40
_MOST_SET = 200
"""Printed lines that are kept as they are set; a byline stands far above the last of them."""


@dataclass(frozen=True)
class Stated:
    """What the metadata of a file state; programs fill them in, so nothing counts unless the page
    says it too."""

    title: str
    authors: str
    texts: str
    """All of them, one per line."""

    @classmethod
    def by(cls, pdf: "PdfDocument") -> "Stated":
        values = pdf.get_metadata_dict(skip_empty=True)
        return cls(values.get("Title", ""), values.get("Author", ""), "\n".join(values.values()))


@dataclass(frozen=True)
class PrintedTitle:
    """The title, empty where none is sure, and the heights in points on its page between which the
    authors stand."""

    text: str
    bottom: float
    abstract: float


def front_of(
    pdf: "PdfDocument",
    pages: Sequence[PageText],
    stated: Stated,
    title: PrintedTitle,
    company: str,
    blocks: Sequence[Block],
) -> PrintedFront | None:
    """None where the first page cannot be read. pages: the first ones with their text. blocks:
    those of the document."""
    from pypdfium2 import PdfiumError

    opening = next((block.page_start for block in blocks if block.page_start), 1)
    try:  # of a cover too
        text = "\n".join(
            pdf[number - 1].get_textpage().get_text_bounded()[:_MAX_CHARS]
            for number in sorted({1, opening})
        )
    except PdfiumError:
        return None
    upright = pages[opening - 1].layers[:1]
    as_set = {
        line.text: _as_set(line)
        for layer in upright
        for line in lines_in_reading_order(layer)[:_MOST_SET]
    }
    alike = [
        text for layer in upright for text in texts_set_alike(layer, title.bottom, title.abstract)
    ]
    return PrintedFront(
        title=title.text,
        lines=tuple(
            _with_lines_as_set(block.text.replace(BREAK, " "), as_set)
            for block in blocks[:_MOST_LINES]
        ),
        text="\n".join(text.splitlines()),
        set_alike=tuple(alike),
        stated_authors=stated.authors,
        metadata=stated.texts,
        company=company,
    )


def _with_lines_as_set(text: str, as_set: Mapping[str, str]) -> str:
    """The text of a block with the ends of its lines, as far as it was joined from them without a
    change."""
    parts: list[str] = []
    while line := next((line for line in as_set if text.startswith(line)), None):
        parts.append(as_set[line])
        text = text[len(line) :].removeprefix(" ")
    return "\n".join([*parts, text] if text else parts)


def _as_set(line: Line) -> str:
    """A line with a tab where a wide gap parts two names, and a star where a raised mark refers to
    a footnote."""
    return "\t".join(map(with_stars, line.segments))
