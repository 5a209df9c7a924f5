"""The words of a printed table as lines of cell texts, its columns, and the columns of each text.

A PDF does not state its columns: they are where texts of different lines are below each other, with
white space between that crosses nearly all lines. Coordinates are points of a reading frame.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

import numpy as np

from rag_assets.parsing.formats.pdf.drawings import Rule
from rag_assets.parsing.formats.pdf.text import Segment
from rag_assets.parsing.tables.grid import is_value

_SAME_LINE = 0.4
"""Words whose middles are at most this share of their height apart are on one line."""
_SMALL, _HALF = 0.85, 0.5
_TOUCHING, _NEAR, _WORD_SPACE = 0.18, 0.45, 0.6
"""White space in ems: inside a word, between a number and what goes with it, between words of one
text."""
_ALIGNED = 0.35
"""Edges or middles at most so many ems apart are aligned."""
_CURRENCY = re.compile(r"[$€£¥]")
_LONGEST_SIGN_GAP = 20.0
"""In ems: the sign of a currency or of a share may stand in a column of its own."""
_CLOSING = re.compile(r"[)%\]]+\S{0,2}")
_JOINS = re.compile(r"[±×·+<>≤≥=≈/−–-]")
_NOT_LETTERS = re.compile(r"[\d.,()\[\]%$€£¥±×·+<>≤≥=≈/−–*†‡-]*\d[^a-zA-Z]*")


@dataclass(frozen=True)
class PlacedText:
    """Words of one line that belong together: a cell, or one line of it."""

    words: tuple[Segment, ...]

    @property
    def left(self) -> float:
        return self.words[0].left

    @property
    def right(self) -> float:
        return max(word.right for word in self.words)

    @property
    def centre(self) -> float:
        return (self.left + self.right) / 2

    @property
    def place(self) -> tuple[float, float]:
        """Its left and right edge."""
        return self.left, self.right

    def is_aligned(self, place: tuple[float, float], *, may_begin: bool = True) -> bool:
        """Whether the right edge or the middle of the text is where that of `place` is; with
        `may_begin`, also the left edge."""
        edges = [(self.right, place[1]), (self.centre, sum(place) / 2), (self.left, place[0])]
        return any(
            abs(mine - its) <= _ALIGNED * self.words[0].size for mine, its in edges[: 2 + may_begin]
        )

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    def begins_at(self, place: tuple[float, float]) -> bool:
        return abs(self.left - place[0]) <= _ALIGNED * self.words[0].size

    @property
    def is_bold(self) -> bool:
        return all(word.bold > 0.5 for word in self.words)

    @property
    def is_italic(self) -> bool:
        return all(word.italic > 0.5 for word in self.words)

    @property
    def is_value(self) -> bool:
        return is_value(self.text)


@dataclass(frozen=True)
class PrintedLine:
    """The texts of one line of a table, from left to right."""

    texts: tuple[PlacedText, ...]

    @property
    def words(self) -> list[Segment]:
        return [word for text in self.texts for word in text.words]

    @property
    def left(self) -> float:
        return self.texts[0].left

    @property
    def right(self) -> float:
        return self.texts[-1].right

    @property
    def top(self) -> float:
        return min(word.top for word in self.words)

    @property
    def bottom(self) -> float:
        return max(word.bottom for word in self.words)

    @property
    def middle(self) -> float:
        return fmean(_middle(word) for word in self.words)

    @property
    def value_share(self) -> float:
        """The share of values among the texts after the first. Texts without letters and digits,
        such as dashes, count as values."""
        behind = [text.is_value or not any(map(str.isalnum, text.text)) for text in self.texts[1:]]
        return sum(behind) / max(len(behind), 1)


def printed_lines(words: Sequence[Segment], down: Sequence[Rule] = ()) -> list[PrintedLine]:
    """The printed lines that words form, from top to bottom. A vertical rule (`down`) between two
    words of a line separates texts."""
    return [PrintedLine(tuple(_texts(line, down))) for line in _on_lines(words)]


def _middle(word: Segment) -> float:
    return (word.top + word.bottom) / 2


def _on_lines(words: Sequence[Segment]) -> list[list[Segment]]:
    """The words of each printed line from left to right, lines from top to bottom. Raised and
    lowered characters are on the line of the word they belong to, like the 2 of "m²"."""
    lines: list[list[Segment]] = []
    for word in sorted(words, key=_middle):
        line = lines[-1] if lines else []
        height = min([word.bottom - word.top, *(other.bottom - other.top for other in line)])
        if line and _middle(word) - fmean(map(_middle, line)) <= _SAME_LINE * height:
            line.append(word)
        else:
            lines.append([word])
    # By height, raised or lowered characters became a line of their own; now they join their words.
    whole: list[list[Segment]] = []
    for line in lines:
        if whole and (_is_beside(line, whole[-1]) or _is_beside(whole[-1], line)):
            whole[-1].extend(line)
        else:
            whole.append(line)
    return [sorted(line, key=lambda word: word.left) for line in whole]


def _is_beside(small: Sequence[Segment], line: Sequence[Segment]) -> bool:
    """Whether all words of a line are raised or lowered characters beside words of another line."""
    return all(
        any(
            word.bottom - word.top <= _SMALL * (other.bottom - other.top)
            and min(word.bottom, other.bottom) - max(word.top, other.top)
            >= _HALF * (word.bottom - word.top)
            and -_HALF * word.size <= word.left - other.right <= _HALF * word.size
            for other in line
        )
        for word in small
    )


def _texts(line: Sequence[Segment], down: Sequence[Rule]) -> list[PlacedText]:
    """The texts of a line from left to right: words that belong together, with no vertical rule
    between them."""
    texts: list[list[Segment]] = []
    for word in line:
        if texts and _belongs(texts[-1], word) and not _is_parted(texts[-1][-1], word, down):
            texts[-1].append(word)
        else:
            texts.append([word])
    return [PlacedText(tuple(words)) for words in texts]


def _is_parted(word: Segment, following: Segment, down: Sequence[Rule]) -> bool:
    """Whether a vertical rule is drawn between a word and the next one."""
    middle = _middle(word)
    return any(
        word.right - 1 <= rule.at <= following.left + 1 and rule.start <= middle <= rule.end
        for rule in down
    )


def _belongs(text: Sequence[Segment], word: Segment) -> bool:
    """Whether a word is in one text (one cell) with the words before it on its line.

    White space decides, in ems of the smaller of both sizes. How much is allowed depends on the
    words: two numbers are two cells, but a sign may be far from its amount."""
    last = text[-1]
    gap = (word.left - max(other.right for other in text)) / max(min(word.size, last.size), 1.0)
    # Pieces of one word, whatever they are.
    if gap <= _TOUCHING:
        return True
    # "$" and its amount, which may be at the other end of a column; words only at a usual distance.
    if _CURRENCY.fullmatch(last.text):
        return gap <= (_WORD_SPACE if any(map(str.isalpha, word.text)) else _LONGEST_SIGN_GAP)
    # "US" and "$"; after an amount, the sign begins the next text.
    if _CURRENCY.fullmatch(word.text):
        return gap <= _NEAR and not is_value(last.text)
    # "12" and "%", which may have a column of its own.
    if word.text == "%" and is_value(last.text):
        return gap <= _LONGEST_SIGN_GAP
    # After a comma, and beside a bracket or a sign such as "±", the usual space between words.
    if (
        last.text.endswith(",")
        or _CLOSING.fullmatch(word.text)
        or _JOINS.fullmatch(word.text)
        or _JOINS.fullmatch(last.text)
    ):
        return gap <= _WORD_SPACE
    # Two numbers are two cells, but an error in brackets belongs to its value: "2.8 (0.3)".
    if _NOT_LETTERS.fullmatch(last.text) and _NOT_LETTERS.fullmatch(word.text):
        return (
            gap <= _NEAR
            and word.text.startswith(("(", "["))
            and not last.text.startswith(("(", "["))
        )
    return gap <= _WORD_SPACE


_LEAST_OVERLAP = 1.0
"""Two texts are below each other if they share so many points."""
_MOST_OVER_SEVERAL = 0.3
"""A text spans columns if it is above or below several texts in more than this share of the lines
it meets."""
_TOUCHES = 0.75
"""A word may reach so many points into the white space beside its column."""
_WIDE_SPACE = 0.42
"""In ems; the words of one name are nearer to each other."""
_BESIDE = 1.0
"""A name may stand so many ems beside the texts of its column."""
_NAME_SPACE = 0.36
"""In ems; the words of one name are hardly farther apart than that."""
_LEAST_NAMES = 10.0
"""Points; the names of rows are wider than that."""
_FEW_LINES = 4
Interval = tuple[float, float]
"""Left and right edge, in points."""


@dataclass(frozen=True)
class Placed:
    """A text with its columns [first, end)."""

    text: PlacedText
    first: int
    end: int


def columns_of(
    header: Sequence[PrintedLine],
    body: Sequence[PrintedLine],
    marks: Sequence[Rule] = (),
    down: Sequence[Rule] = (),
) -> list[Interval]:
    """The left and right edges of the columns, from left to right: places where texts of several
    lines of the body are below each other.

    A name in the last line of the header adds a column only where the body has none, because it may
    be wider than its column. marks: rules below the names of the columns. down: vertical rules; a
    text that they separate from all columns has a column of its own."""
    columns = (
        _columns(body)
        if len([line for line in body if len(line.texts) > 1]) > 1
        else _columns([*header, *body])
    )
    if marks:
        columns = _marked(columns, marks)
    for line in header[-1:]:
        names = [text.place for text in line.texts]
        free = [
            column
            for column in columns
            if all(_overlap(name, column) < _LEAST_OVERLAP for name in names)
        ]
        for name, text in zip(names, line.texts, strict=True):
            if all(_overlap(name, column) < _LEAST_OVERLAP for column in columns):
                near = [one for one in free if -_overlap(name, one) <= _BESIDE * text.words[0].size]
                own = next(iter(near), name)
                columns = [
                    *(one for one in columns if one != own),
                    (min(name[0], own[0]), max(name[1], own[1])),
                ]
    return sorted([*columns, *_ruled_off([*header, *body], columns, down)])


def _marked(columns: Sequence[Interval], marks: Sequence[Rule]) -> list[Interval]:
    """The columns as the rules below their names show them: the places of these rules, the columns
    that overlap no rule, and the names of rows to the left of all rules."""
    places = [(rule.start, rule.end) for rule in marks]
    kept = [
        column
        for column in columns
        if all(_overlap(column, place) < _LEAST_OVERLAP for place in places)
    ]
    first = min(columns, default=places[0])
    if first not in kept and places[0][0] - first[0] >= _LEAST_NAMES:
        kept.append((first[0], min(first[1], places[0][0] - _LEAST_OVERLAP)))
    return [*kept, *places]


def _ruled_off(
    lines: Sequence[PrintedLine], columns: Sequence[Interval], down: Sequence[Rule]
) -> list[Interval]:
    """The places of texts that are in no column, and are separated by vertical rules from the
    columns beside them. Texts that overlap sideways share one place."""
    found: list[Interval] = []
    for line in lines if down and columns else ():
        rules = [rule.at for rule in down if rule.start <= line.middle <= rule.end]
        for text in line.texts:
            place = text.place
            before = [right for _, right in columns if right <= text.left + _LEAST_OVERLAP]
            behind = [left for left, _ in columns if left >= text.right - _LEAST_OVERLAP]
            is_ruled = (
                not before or any(max(before) - 1 <= at <= text.left + 1 for at in rules)
            ) and (not behind or any(text.right - 1 <= at <= min(behind) + 1 for at in rules))
            if is_ruled and len(before) + len(behind) == len(columns):
                near = [other for other in found if _overlap(other, place) >= _LEAST_OVERLAP]
                edges = [edge for one in (place, *near) for edge in one]
                found = [*(other for other in found if other not in near), (min(edges), max(edges))]
    return found


def _columns(lines: Sequence[PrintedLine]) -> list[Interval]:
    """The columns that the texts of these lines form, from left to right.

    Texts that overlap sideways are in one column. Lines with a single text do not count, nor do
    texts that span columns."""
    rows = [[text.place for text in line.texts] for line in lines if len(line.texts) > 1]
    columns: list[Interval] = []
    n_texts: list[int] = []
    for left, right in sorted(_in_one_column(rows)):
        if columns and left < columns[-1][1] - _LEAST_OVERLAP:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
            n_texts[-1] += 1
        else:
            columns.append((left, right))
            n_texts.append(1)
    is_sure = len(rows) < _FEW_LINES  # with more lines, a column of one text is a word set apart
    return [column for column, n in zip(columns, n_texts, strict=True) if is_sure or n > 1]


def _in_one_column(rows: Sequence[Sequence[Interval]]) -> list[Interval]:
    """The places of the texts that do not span several columns. A text spans columns if in too many
    lines it is above or below several texts."""
    texts = [text for row in rows for text in row]
    if not texts:
        return []
    lefts, rights = np.array(texts).T
    first_of_row = np.cumsum([0, *(len(row) for row in rows[:-1])])
    found = []
    for left, right in texts:
        is_below = np.minimum(right, rights) - np.maximum(left, lefts) >= _LEAST_OVERLAP
        met = np.add.reduceat(is_below, first_of_row, dtype=int)
        if (met > 1).sum() <= _MOST_OVER_SEVERAL * (met > 0).sum():
            found.append((left, right))
    return found


def _overlap(one: Interval, other: Interval) -> float:
    return min(one[1], other[1]) - max(one[0], other[0])


def placed(
    line: PrintedLine, columns: Sequence[Interval], *, is_header: bool = False
) -> list[Placed]:
    """The texts of a line with their columns. Words that were joined over the white space between
    two columns are separate texts again.

    is_header: words are separated only at wide spaces, because a name may be above several columns,
    and a space inside it may be above the white space between columns by chance."""
    found: list[Placed] = []
    for text in line.texts:
        least = _NAME_SPACE if is_header else 0.0
        for part in _parted(text, columns, least, may_touch=2 * len(line.texts) > len(columns)):
            over = _over(part, columns)
            if found and found[-1].first == over[0] and found[-1].end == over[1]:
                found[-1] = Placed(PlacedText((*found[-1].text.words, *part.words)), *over)
            else:
                found.append(Placed(part, *over))
    return found


def _over(text: PlacedText, columns: Sequence[Interval]) -> tuple[int, int]:
    """The columns [first, end) that a text overlaps; the nearest one if it overlaps none."""
    shares = [_overlap(text.place, column) for column in columns]
    over = [nth for nth, share in enumerate(shares) if share >= _LEAST_OVERLAP]
    if not over:
        over = [max(range(len(columns)), key=shares.__getitem__)]
    return over[0], over[-1] + 1


def _parted(
    text: PlacedText, columns: Sequence[Interval], least: float, *, may_touch: bool
) -> list[PlacedText]:
    """The text, cut at each space that is as wide as the one between two columns, or wider than
    those inside a name.

    least: narrower spaces, in ems, never cut it. may_touch: it is also cut where a word begins
    exactly at the edge of a column, and the word before reaches into the space between the
    columns."""
    first, end = _over(text, columns)
    parts: list[list[Segment]] = [[text.words[0]]]
    for before, after in pairwise(text.words):
        for left, right in pairwise(columns[first:end]):
            is_between = before.right <= left[1] + _TOUCHES and after.left >= right[0] - _TOUCHES
            is_at_edge = (
                may_touch and before.right <= right[0] and abs(after.left - right[0]) <= _TOUCHES
            )
            is_wide = after.left - before.right >= _WIDE_SPACE * after.size
            is_near = (
                is_wide and before.right <= right[0] + _TOUCHES and after.left >= left[1] - _TOUCHES
            )
            is_apart = after.left - before.right >= least * after.size
            if is_apart and (is_between or is_at_edge or is_near):
                parts.append([])
                break
        parts[-1].append(after)
    return [PlacedText(tuple(part)) for part in parts]
