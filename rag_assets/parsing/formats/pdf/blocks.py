"""From lines in reading order to groups of lines: paragraphs, list items, tables and possible
headings.

A group holds lines of one column that belong together by their spacing, indentation and font.
Whether a group is a heading, and whether it goes on in the next column, is decided later with the
whole document in view (`headings`, `assembly`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import groupby, pairwise
from statistics import median

from rag_assets.core.domain import Box
from rag_assets.core.text.headings import is_plain_section_name
from rag_assets.parsing.formats.pdf.columns import is_right_to_left
from rag_assets.parsing.formats.pdf.formulas import formula_lines
from rag_assets.parsing.formats.pdf.layout import Column, Line
from rag_assets.parsing.formats.pdf.text import is_one_size

_EXTRA_LEADING = 0.35
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
    """The kind of a group of lines, by its shape."""

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
    above = current[-1]
    gap = line.top - above.bottom
    if (
        not _alike(above, line)
        or gap > usual_gap + _EXTRA_LEADING * line.height
        or gap < -line.height
    ):
        return True
    is_dash = bool(_DASH.match(line.text))
    if (_BULLET.match(line.text) and not is_dash) or (
        len(current) == 1 and is_plain_section_name(above.text)
    ):
        return True
    has_ended = bool(_ENDS_SENTENCE.search(above.text))
    begins_one = (
        leaves_room(above, line)
        or kind_of_caption(line.text, line.bold)
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
