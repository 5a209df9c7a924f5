"""From lines in reading order to groups of lines: paragraphs, list items, tables, formulas and
possible headings; and what text looks like: the style of the body, and the one that a heading is
set in.

A group holds lines of one column that belong together by their spacing, indentation and font.
Whether a group is a heading, and whether it goes on in the next column, is decided later with the
whole document in view (`headings`, `assembly`). A formula inside a sentence stays in its line of
prose.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import groupby, pairwise
from statistics import median
from unicodedata import category

from rag_assets.core.domain import Box
from rag_assets.core.text.headings import is_plain_section_name
from rag_assets.parsing.formats.pdf.layout import Column, Line, is_right_to_left
from rag_assets.parsing.formats.pdf.leads import face_of
from rag_assets.parsing.formats.pdf.text import is_one_size

_MOST_IN_WORDS, _MOST_IN_WORDS_NUMBERED, _MOST_IN_WORDS_BESIDE = 0.4, 0.6, 0.75
"""Share of the characters of a line that may belong to words: "Precision", "if", "otherwise"."""
_MOST_WORDS = 6
_LEAST_WORDS_OF_PROSE = 4
_WORD = re.compile("[^\\W\\d_\U0001d400-\U0001d7ff]{3,}[.,;:]?")
"""A word, not one in Unicode's mathematical letters."""
EQUATION_NUMBER = re.compile(r"\((?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3})*[a-z]?\)")
_ADDRESS = re.compile(r"@|://|www\.")
_SIGNS, _NO_SIGNS = frozenset(("Sm", "Co")), frozenset("∗|~")
"""Unicode's mathematical signs, and the private code points of brackets that are put together from
pieces; those that stand in prose too prove nothing."""
_SET_APART_EMS, _SET_APART_HEIGHTS = 1.0, 0.35
_NEAR = 0.5
"""White space between two pieces of one formula, in heights of the higher one, at most."""


def formula_lines(lines: Sequence[Line], usual_gap: float) -> Set[int]:
    """Indices of the lines of one column, in reading order, that belong to displayed formulas.

    `usual_gap` is the white space between two lines of a paragraph, in points.
    """
    words = [[token for token in line.text.split() if _WORD.fullmatch(token)] for line in lines]
    left, indented = min((line.left for line in lines), default=0.0), []
    for line, own in zip(lines, words, strict=True):
        indented.append(line.left > left + _SET_APART_EMS * line.size)
        left = line.left if len(own) >= _LEAST_WORDS_OF_PROSE and not line.table else left
    found = {
        at
        for at, line in enumerate(lines)
        if _reads_as_formula(line, words[at])
        and (indented[at] or _stands_alone(lines, at, usual_gap))
    }
    for order in (range(1, len(lines)), range(len(lines) - 2, -1, -1)):
        for at in order:
            line, beside = lines[at], lines[at - order.step]
            is_step = indented[at] or _is_sign(line.text[:1])
            if at - order.step in found and is_step and _is_near(line, beside):
                found |= {at} if _has_few(line, words[at], _MOST_IN_WORDS_BESIDE) else set()
    return found


def _reads_as_formula(line: Line, words: Sequence[str]) -> bool:
    *_, last = line.text.split() or [""]
    is_numbered = bool(EQUATION_NUMBER.fullmatch(last))
    if not _has_few(line, words, _MOST_IN_WORDS_NUMBERED if is_numbered else _MOST_IN_WORDS):
        return False
    is_signed = any(map(str.isalpha, line.text)) and any(map(_is_sign, line.text))
    return (is_numbered or is_signed) and not _ADDRESS.search(line.text)


def _has_few(line: Line, words: Sequence[str], most: float) -> bool:
    n_chars = sum(not character.isspace() for character in line.text)
    return not line.table and len(words) <= _MOST_WORDS and sum(map(len, words)) <= most * n_chars


def _is_sign(character: str) -> bool:
    return bool(character) and category(character) in _SIGNS and character not in _NO_SIGNS


def _stands_alone(lines: Sequence[Line], at: int, usual_gap: float) -> bool:
    """Whether there is more white space above and below a line than between those of a
    paragraph."""
    least = usual_gap + _SET_APART_HEIGHTS * lines[at].height
    above = lines[at].top - lines[at - 1].bottom if at else least
    below = lines[at + 1].top - lines[at].bottom if at + 1 < len(lines) else least
    return min(above, below) >= least


def _is_near(line: Line, other: Line) -> bool:
    return max(line.top - other.bottom, other.top - line.bottom) <= _NEAR * max(
        line.height, other.height
    )


_EXTRA_LEADING = 0.35
_MAX_HEADING_LINES = 3
_INDENT_EMS = 0.7
_ALIGNED_EMS = 0.35
_HARDLY_BOLD, _ALL_BOLD = 0.35, 0.9
"""A line whose bold share lies between these fits both bold lines and others."""
_BULLET = re.compile(r"[•▪▫◦●■□○‣⁃➢❖✓]\s*|[·–—*-]\s+")
_DASH = re.compile(r"[·–—*-]\s")
_ENUMERATOR = re.compile(r"(?:\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,5})[.)]|\[\d{1,3}\])\s+(?=\S)")
_CAPTION = re.compile(
    r"(?:(?:figure|fig\.?|scheme|chart|(?P<annex>exhibit)|algorithm|listing)|(?P<table>table|tab\.))\s*"
    r"(?:[A-Z]?\d+(?:\.\d+)*[a-z]?|[IVX]+)\b(?:\s*\([^()]{0,30}\))?(?P<stop>\s*[.:|–—-])?",
    re.IGNORECASE,
)
_BOLD_LABEL = 0.3
_ENDS_SENTENCE = re.compile(r"[.?!:;][\"'”’)\]\d,]*(?:[⁰¹²³⁴-⁹][⁰¹²³⁴-⁹⁻–,]*)?$")


class GroupKind(StrEnum):
    TEXT = "text"
    ITEM = "item"
    ROWS = "rows"
    FORMULA = "formula"


@dataclass(frozen=True)
class LineGroup:
    """Lines of one column that belong together."""

    kind: GroupKind
    lines: tuple[Line, ...]
    is_aside: bool = False
    """True for text at an angle to the page's other text (a label of an axis, a stamp in the
    margin)."""

    @property
    def is_prose(self) -> bool:
        """Words in lines, no table and no formula."""
        return self.kind in (GroupKind.TEXT, GroupKind.ITEM)

    @property
    def page(self) -> int:
        return self.lines[0].frame.page

    @property
    def is_by_ocr(self) -> bool:
        return self.lines[0].frame.is_by_ocr

    @property
    def top(self) -> float:
        return self.lines[0].top

    @property
    def bottom(self) -> float:
        return max(line.bottom for line in self.lines)

    @property
    def left(self) -> float:
        return min(line.left for line in self.lines)

    @property
    def right(self) -> float:
        return max(line.right for line in self.lines)

    @cached_property
    def size(self) -> float:
        """Font size of its typical line, in points."""
        return median(line.size for line in self.lines)

    @cached_property
    def bold(self) -> float:
        """Share of its characters in a bold font."""
        return _weighted(self.lines, [line.bold for line in self.lines])

    @cached_property
    def italic(self) -> float:
        return _weighted(self.lines, [line.italic for line in self.lines])

    @cached_property
    def plain_text(self) -> str:
        """Its lines joined with spaces, hyphens at line ends left as they are: for looking, not for
        keeping."""
        return " ".join(line.text for line in self.lines)

    def box(self) -> Box:
        return self.lines[0].frame.box(
            self.left, min(line.top for line in self.lines), self.right, self.bottom
        )

    def pieces(self) -> "Sequence[LineGroup]":
        """The parts that get a box each: lines read by OCR, where no text layer says later where a
        quote stands."""
        return [LineGroup(self.kind, (line,)) for line in self.lines] if self.is_by_ocr else [self]

    def boxes(self) -> tuple[Box, ...]:
        """Its box, and those of the figures it is the caption of."""
        return self.box(), *(line.frame.box(*line.picture) for line in self.lines if line.picture)


def line_groups(lines: Sequence[Line]) -> list[LineGroup]:
    """Group the lines of one layer of a page, given in reading order."""
    return [
        group
        for _, column in groupby(lines, key=lambda line: line.column)
        for group in _groups_of_column(list(column))
    ]


def caption_kind(group: LineGroup) -> str | None:
    """ "table" or "figure" when the group is a caption, else None.

    A caption has a stop after its number, or nothing else, or it is set in bold: a sentence that
    starts with "Figure 3" is not one.
    """
    return kind_of_caption(group.plain_text, group.lines[0].bold) if group.is_prose else None


def kind_of_caption(text: str, bold: float) -> str | None:
    """Like `caption_kind`, for a text whose first line has that share of bold characters. "Exhibit
    3" alone numbers an annex of a report, with tables more often than figures."""
    match = _CAPTION.match(text)
    is_alone = match is not None and match.end() == len(text.rstrip())
    if (
        match is None
        or (is_alone and match["annex"])
        or not (match["stop"] or is_alone or bold > _BOLD_LABEL)
    ):
        return None
    return "table" if match["table"] else "figure"


def without_bullet(text: str) -> str:
    """A text without the sign of a list before it."""
    return text[match.end() :] if (match := _BULLET.match(text)) else text


def _weighted(lines: Sequence[Line], shares: Sequence[float]) -> float:
    lengths = [len(line.text) for line in lines]
    return sum(n * share for n, share in zip(lengths, shares, strict=True)) / (sum(lengths) or 1)


def _groups_of_column(lines: list[Line]) -> Iterator[LineGroup]:
    """Yields the groups of one column from top to bottom. Each printed table is a group of its own,
    neighbouring lines of a formula are one group, and the text between them is divided into
    paragraphs and items."""
    usual_gap = _usual_gap([line for line in lines if not line.table])
    formulas = formula_lines(lines, usual_gap)

    def kind(numbered: tuple[int, Line]) -> GroupKind:
        at, line = numbered
        return (
            GroupKind.ROWS
            if line.table
            else GroupKind.FORMULA
            if at in formulas
            else GroupKind.TEXT
        )

    for own, run in groupby(enumerate(lines), key=kind):
        alike = [line for _, line in run]
        if own is GroupKind.ROWS:
            yield from (LineGroup(own, (line,)) for line in alike)
        elif own is GroupKind.FORMULA:
            yield LineGroup(own, tuple(alike))
        else:
            yield from _text_groups(alike, usual_gap)


def _usual_gap(lines: Sequence[Line]) -> float:
    """The white space between two lines of a paragraph in this column, in points."""
    gaps = [
        below.top - above.bottom
        for above, below in pairwise(lines)
        if _alike(above, below)
        and -0.5 * above.height < below.top - above.bottom < 1.5 * above.height
    ]
    return (
        sorted(gaps)[int(len(gaps) * 0.4)] if gaps else 0.3 * (lines[0].height if lines else 10.0)
    )


def _alike(one: Line, other: Line) -> bool:
    """Whether two lines are set in the same font, as far as a paragraph goes."""
    if not is_one_size(one.size, other.size):
        return False
    is_other_font = (
        one.font
        and other.font
        and one.font != other.font
        and max(one.italic, other.italic) < _HARDLY_BOLD
    )
    if is_other_font and (
        leaves_room(one, other) or min(_n_words(one), _n_words(other)) > 2
    ):  # no formula
        return False
    return min(one.bold, other.bold) >= _HARDLY_BOLD or max(one.bold, other.bold) <= _ALL_BOLD


def _n_words(line: Line) -> int:
    return sum(len(word) > 2 and word.isalpha() for word in line.text.split())


def _text_groups(lines: Sequence[Line], usual_gap: float) -> Iterator[LineGroup]:
    """Yields the paragraphs and items of lines of text. Lines that are written from right to left
    are compared as if they were mirrored, so that the rules for indents fit them too."""
    seen = list(map(_mirrored, lines)) if is_right_to_left(lines) else lines
    start = 0
    for index in range(1, len(seen)):
        below = seen[index + 1] if index + 1 < len(seen) else None
        if _begins_group(seen[start:index], seen[index], below, usual_gap):
            yield _group(lines[start:index])
            start = index
    yield _group(lines[start:])


def _mirrored(line: Line) -> Line:
    """A line of right-to-left text as if it ran the other way: its beginning is on the left."""
    column = Column(-line.column.right, -line.column.left)
    return replace(line, left=-line.right, right=-line.left, column=column)


def _group(lines: Sequence[Line]) -> LineGroup:
    return LineGroup(GroupKind.ITEM if _is_item(lines) else GroupKind.TEXT, tuple(lines))


def _is_item(lines: Sequence[Line]) -> bool:
    return bool(_BULLET.match(lines[0].text) or _ENUMERATOR.match(lines[0].text))


def _begins_group(
    current: Sequence[Line], line: Line, below: Line | None, usual_gap: float
) -> bool:
    """Whether `line` begins a new paragraph or item, and does not continue the lines `current`
    above it. `below` is the next line, None at the end; it shows whether `line` is indented.
    `usual_gap`: white space between lines of one paragraph, in points."""
    above = current[-1]
    gap = line.top - above.bottom
    if (
        not _alike(above, line)
        or gap > usual_gap + _EXTRA_LEADING * line.height
        or gap < -line.height
    ):
        return True
    is_dash = bool(_DASH.match(line.text))
    is_name = is_plain_section_name(above.text) or (is_caps(above.text) > is_caps(line.text))
    # a new item, or the text below the name of a section
    if (_BULLET.match(line.text) and not is_dash) or (len(current) == 1 and is_name):
        return True
    if len(current) <= _MAX_HEADING_LINES and _changes_face(above, line):
        return True
    has_ended = bool(_ENDS_SENTENCE.search(above.text))
    begins_one = (
        leaves_room(above, line)
        or kind_of_caption(line.text, line.bold)
        or (line.parts and face_of(line) != face_of(above) and line.parts[0].text[-1] in ".:")
        or (_ENUMERATOR.match(line.text) and not line.text.startswith("("))
    )
    if has_ended and begins_one:
        return True
    if is_dash or _ENUMERATOR.match(
        line.text
    ):  # inside a sentence too a line can begin with a dash or "(i)"
        is_moved = abs(line.left - above.left) > _ALIGNED_EMS * line.size
        return (
            (has_ended and is_moved) or _is_item(current) or (is_dash and leaves_room(above, line))
        )
    return _is_indented(current, line, below) or _is_outdented(current, line)


def _changes_face(above: Line, line: Line) -> bool:
    """Whether a line of a heading ends above text in another face."""
    faces = (face_of(above), face_of(line))
    if None in faces or faces[0] == faces[1] or above.parts or line.parts:
        return False
    return leaves_room(above, line) and min(_n_words(above), _n_words(line)) > 0


def leaves_room(above: Line, line: Line) -> bool:
    """Whether the first word of `line` would have fitted on the line above, so that the break was
    wanted."""
    first = line.text.split(" ", 1)[0]
    width = (line.right - line.left) * (len(first) + 1) / max(len(line.text), 1)
    return above.column.right - above.right > 1.5 * width + above.size


def _is_indented(current: Sequence[Line], line: Line, below: Line | None) -> bool:
    """A first line indented against the one above and the one below it, or against a full line
    above."""
    indent = _INDENT_EMS * line.size
    if line.left - current[-1].left < indent or line.left - line.column.left < indent:
        return False
    is_hanging = (
        len(current) == 1
        and current[0].left < line.left
        and below is not None
        and below.left >= line.left - 1
    )
    if is_hanging and not _ENDS_SENTENCE.search(current[0].text):
        return False
    return below is None or below.left < line.left - _ALIGNED_EMS * line.size or len(current) > 1


def _is_outdented(current: Sequence[Line], line: Line) -> bool:
    """The next entry after one with a hanging indent."""
    if len(current) < 2:
        return False
    hang = min(other.left for other in current[1:]) - current[0].left
    return (
        hang >= _INDENT_EMS * line.size
        and abs(line.left - current[0].left) <= _ALIGNED_EMS * line.size
    )


_LARGER = 1.1
_MAX_WORDS_OF_EMPHASIS = 14
_ALL = 0.9
MOST = 0.8
"""A group of which this share is bold, or italic, is so as a whole."""


@dataclass(frozen=True)
class BodyStyle:
    """What most of the text looks like."""

    size: float
    is_bold: bool
    font: str = ""
    gap: float = 0.0
    """White space between two of its lines, in heights of a line."""

    @classmethod
    def of(cls, groups: Sequence[LineGroup]) -> "BodyStyle":
        """The style most characters of paragraphs have; of all text where there are no
        paragraphs."""
        upright = [group for group in groups if not group.is_aside]
        prose = [g for g in upright if g.is_prose and len(g.lines) > 1] or upright
        sizes: Counter[float] = Counter()
        bold: Counter[float] = Counter()
        fonts: dict[float, Counter[str]] = defaultdict(Counter)
        for group in prose:
            n_chars, size = len(group.plain_text), round(group.size * 2) / 2
            sizes[size] += n_chars
            bold[size] += round(n_chars * group.bold)
            fonts[size].update({line.font: len(line.text) for line in group.lines if line.font})
        if not sizes:
            return cls(10.0, is_bold=False)
        size = sizes.most_common(1)[0][0]
        font = max(fonts[size], key=fonts[size].__getitem__, default="")
        gaps = [
            (below.top - above.bottom) / above.height
            for group in prose
            for above, below in pairwise(group.lines)
            if round(group.size * 2) / 2 == size
        ]
        gap = median(gaps) if gaps else 0.0
        return cls(max(size, 1.0), is_bold=bold[size] * 2 > sizes[size], font=font, gap=gap)


@dataclass(frozen=True, slots=True)
class HeadingStyle:
    """What makes two headings of equal rank look alike."""

    size: float
    is_bold: bool
    is_italic: bool
    is_caps: bool
    font: str

    @classmethod
    def of(cls, group: LineGroup) -> "HeadingStyle":
        size = round(max(line.size for line in group.lines) * 2) / 2
        return cls(
            size, group.bold > MOST, group.italic > MOST, is_caps(group.plain_text), font_of(group)
        )

    @property
    def weight(self) -> tuple[float, bool, bool, bool]:
        """Orders styles by how much they stand out."""
        return (self.size, self.is_caps, self.is_bold, not self.is_italic)


def font_of(group: LineGroup) -> str:
    """The font of all its lines; empty where there are several."""
    fonts = {line.font for line in group.lines}
    return fonts.pop() if len(fonts) == 1 else ""


def stands_out(group: LineGroup, body: BodyStyle) -> bool:
    if group.size >= _LARGER * body.size:
        return True
    if len(group.plain_text.split()) > _MAX_WORDS_OF_EMPHASIS:
        return False
    return (group.bold > _ALL and not body.is_bold) or is_caps(group.plain_text)


def is_caps(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return len(letters) >= 4 and sum(letter.isupper() for letter in letters) > _ALL * len(letters)
