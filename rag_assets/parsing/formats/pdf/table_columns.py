"""The columns of a printed table, and the columns each of its texts stands in.

A PDF does not state them: columns are where texts of different lines are below each other, with
white space between that crosses nearly all lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rag_assets.parsing.formats.pdf.drawings import Rule
from rag_assets.parsing.formats.pdf.table_lines import PrintedLine, Text
from rag_assets.parsing.formats.pdf.text import Segment
from rag_assets.parsing.tables.values import is_aside

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
_WORD_SPACE = 0.36
"""In ems; the words of one name are hardly farther apart than that."""
_LEAST_NAMES = 10.0
"""Points; the names of rows are wider than that."""
_FEW_LINES = 4
Interval = tuple[float, float]
"""Left and right edge, in points."""


@dataclass(frozen=True)
class Placed:
    """A text with its columns [first, end)."""

    text: Text
    first: int
    end: int


def columns_of(
    header: Sequence[PrintedLine],
    body: Sequence[PrintedLine],
    marks: Sequence[Rule] = (),
    down: Sequence[Rule] = (),
) -> list[Interval]:
    """Where texts of several lines of the body are below each other, from left to right.

    A name of the header, which may be wider than its column, makes one only where the body has
    none. marks: rules below the names of the columns. down: vertical rules; what they part from all
    columns is in one of its own.
    """
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
    """The places of the rules, the columns beside them, and that of the names of rows left of
    them."""
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
    """The places of texts that are in no column, and parted from those beside them by vertical
    rules."""
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
    """The texts that span no columns."""
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
    """The texts of a line with their columns; one that was joined over the white space between
    columns is parted.

    is_header: a name may stand above several columns, whose white space may be below that of its
    words by chance.
    """
    found: list[Placed] = []
    for text in line.texts:
        least = _WORD_SPACE if is_header else 0.0
        for part in _parted(text, columns, least, may_touch=2 * len(line.texts) > len(columns)):
            over = _over(part, columns)
            if found and found[-1].first == over[0] and found[-1].end == over[1]:
                found[-1] = Placed(Text((*found[-1].text.words, *part.words)), *over)
            else:
                found.append(Placed(part, *over))
    return found


def _over(text: Text, columns: Sequence[Interval]) -> tuple[int, int]:
    shares = [_overlap(text.place, column) for column in columns]
    over = [nth for nth, share in enumerate(shares) if share >= _LEAST_OVERLAP]
    if not over:
        over = [max(range(len(columns)), key=shares.__getitem__)]
    return over[0], over[-1] + 1


def _parted(
    text: Text, columns: Sequence[Interval], least: float, *, may_touch: bool
) -> list[Text]:
    """The text, cut at each space that is as wide as the one between two columns, or wider than
    those inside a name.

    least: ems that words are apart at least where they are parted. may_touch: also where a word
    begins exactly at the edge of a column, the one before reaching into the space.
    """
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
    return [Text(tuple(part)) for part in parts]


def with_spanners(
    lines: Sequence[Sequence[Placed]], columns: Sequence[Interval], rules: Sequence[Rule]
) -> list[list[Placed]]:
    """The header lines of a table, each name over the columns it is printed for.

    A short rule below a name says which they are. Without one, a name above others goes with the
    columns it is centred over, or stays with the one it is aligned with.
    """
    spread: list[list[Placed]] = []
    for nth in reversed(range(len(lines))):
        line = lines[nth]
        done: list[Placed] = []
        for at, one in enumerate(line):
            start = done[-1].end if done else 0
            stop = line[at + 1].first if at + 1 < len(line) else len(columns)
            own = [
                rule
                for rule in rules
                if sum(rule.start <= other.text.centre <= rule.end for other in line) == 1
            ]
            over = _ruled_below(one, lines[nth + 1 :], columns, own)
            if nth and nth + 1 == len(lines) == nth + len(line) and is_aside(one.text.text):
                over = 0, 1  # the unit of all values stands in the corner
            elif over is None and nth + 1 < len(lines):
                over = _centred_over(one, columns, min(start, one.first), max(stop, one.end))
            done.append(Placed(one.text, *over) if over else one)
        spread.insert(0, done)
    return spread


def _ruled_below(
    one: Placed,
    below: Sequence[Sequence[Placed]],
    columns: Sequence[Interval],
    rules: Sequence[Rule],
) -> tuple[int, int] | None:
    """The columns over which a rule is drawn directly below a name."""
    text, size = one.text, one.text.words[0].size
    bottom = max(word.bottom for word in text.words)
    floor = max(
        [bottom, *(min(word.top for name in row for word in name.text.words) for row in below[:1])]
    )
    for rule in rules:
        is_below = bottom - 0.5 * size <= rule.at <= floor + 0.5 * size
        if (
            is_below
            and rule.start <= text.centre <= rule.end
            and rule.length >= 0.8 * (text.right - text.left)
        ):
            covered = [
                n
                for n, edges in enumerate(columns)
                if rule.start - size <= sum(edges) / 2 <= rule.end + size
            ]
            if covered and covered[0] <= one.first and one.end <= covered[-1] + 1:
                return covered[0], covered[-1] + 1
    return None


def _centred_over(
    one: Placed, columns: Sequence[Interval], start: int, stop: int
) -> tuple[int, int] | None:
    """The columns from `start` to `stop` in whose middle a name is; None if it is aligned with its
    own column."""
    text = one.text
    if one.end - one.first == 1 and text.is_aligned(columns[one.first]):
        return None
    ranges = [
        (first, end) for first in range(start, one.first + 1) for end in range(one.end, stop + 1)
    ]
    return min(
        ranges,
        key=lambda r: (
            abs((columns[r[0]][0] + columns[r[1] - 1][1]) / 2 - text.centre),
            r[1] - r[0],
        ),
    )
