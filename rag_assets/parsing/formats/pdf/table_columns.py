"""The columns of a printed table, and the columns each of its texts stands in.

A PDF does not state them: columns are where texts of different lines are below each other, with white space between
that crosses nearly all lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rag_assets.parsing.formats.pdf.drawings import Rule
from rag_assets.parsing.formats.pdf.table_lines import PrintedLine, Text
from rag_assets.parsing.formats.pdf.text import Segment

_LEAST_OVERLAP = 1.0
"""Two texts are below each other if they share so many points."""
_MOST_OVER_SEVERAL = 0.3
"""A text spans columns if it is above or below several texts in more than this share of the lines it meets."""
_ALIGNED = 0.35
"""Edges or middles at most so many ems apart are aligned."""
_TOUCHES = 0.75
"""A word may reach so many points into the white space beside its column."""
_WIDE_SPACE = 0.42
"""In ems; the words of one name are nearer to each other."""
_FEW_LINES = 4
Interval = tuple[float, float]
"""Left and right edge, in points."""


@dataclass(frozen=True)
class Placed:
    """A text with its columns [first, end)."""

    text: Text
    first: int
    end: int


def columns_of(header: Sequence[PrintedLine], body: Sequence[PrintedLine]) -> list[Interval]:
    """Where texts of several lines of the body are below each other, from left to right.

    A name of the header, which may be wider than its column, makes one only where the body has none.
    """
    columns = _columns(body) if len([line for line in body if len(line.texts) > 1]) > 1 else _columns([*header, *body])
    for line in header[-1:]:
        for name in ((text.left, text.right) for text in line.texts):
            if not any(_overlap(name, column) >= _LEAST_OVERLAP for column in columns):
                columns.append(name)
    return sorted(columns)


def _columns(lines: Sequence[PrintedLine]) -> list[Interval]:
    rows = [[(text.left, text.right) for text in line.texts] for line in lines if len(line.texts) > 1]
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


def placed(line: PrintedLine, columns: Sequence[Interval]) -> list[Placed]:
    """The texts of a line with their columns; one that was joined over the white space between columns is parted."""
    found: list[Placed] = []
    for text in line.texts:
        for part in _parted(text, columns, may_touch=2 * len(line.texts) > len(columns)):
            over = _over(part, columns)
            if found and found[-1].first == over[0] and found[-1].end == over[1]:
                found[-1] = Placed(Text((*found[-1].text.words, *part.words)), *over)
            else:
                found.append(Placed(part, *over))
    return found


def _over(text: Text, columns: Sequence[Interval]) -> tuple[int, int]:
    shares = [_overlap((text.left, text.right), column) for column in columns]
    over = [nth for nth, share in enumerate(shares) if share >= _LEAST_OVERLAP]
    if not over:
        over = [max(range(len(columns)), key=shares.__getitem__)]
    return over[0], over[-1] + 1


def _parted(text: Text, columns: Sequence[Interval], *, may_touch: bool) -> list[Text]:
    """The text, cut at each space that is as wide as the one between two columns, or wider than those inside a name.

    may_touch: also where a word begins exactly at the edge of a column, the one before reaching into the space.
    """
    first, end = _over(text, columns)
    parts: list[list[Segment]] = [[text.words[0]]]
    for before, after in pairwise(text.words):
        for left, right in pairwise(columns[first:end]):
            is_between = before.right <= left[1] + _TOUCHES and after.left >= right[0] - _TOUCHES
            is_at_edge = may_touch and before.right <= right[0] and abs(after.left - right[0]) <= _TOUCHES
            is_wide = after.left - before.right >= _WIDE_SPACE * after.size
            is_near = is_wide and before.right <= right[0] + _TOUCHES and after.left >= left[1] - _TOUCHES
            if is_between or is_at_edge or is_near:
                parts.append([])
                break
        parts[-1].append(after)
    return [Text(tuple(part)) for part in parts]


def with_spanners(
    lines: Sequence[Sequence[Placed]], columns: Sequence[Interval], rules: Sequence[Rule]
) -> list[list[Placed]]:
    """The header lines of a table, each name over the columns it is printed for.

    A short rule below a name says which they are. Without one, a name above others goes with the columns it is
    centred over, or stays with the one it is aligned with.
    """
    spread: list[list[Placed]] = []
    for nth, line in enumerate(lines):
        done: list[Placed] = []
        for at, one in enumerate(line):
            start = done[-1].end if done else 0
            stop = line[at + 1].first if at + 1 < len(line) else len(columns)
            own = [rule for rule in rules if sum(rule.start <= other.text.centre <= rule.end for other in line) == 1]
            over = _ruled_below(one, lines[nth + 1 :], columns, own)
            if over is None and nth + 1 < len(lines):
                over = _centred_over(one, columns, min(start, one.first), max(stop, one.end))
            done.append(Placed(one.text, *over) if over else one)
        spread.append(done)
    return spread


def _ruled_below(
    one: Placed, below: Sequence[Sequence[Placed]], columns: Sequence[Interval], rules: Sequence[Rule]
) -> tuple[int, int] | None:
    """The columns over which a rule is drawn directly below a name."""
    text, size = one.text, one.text.words[0].size
    bottom = max(word.bottom for word in text.words)
    floor = max([bottom, *(min(word.top for name in row for word in name.text.words) for row in below[:1])])
    for rule in rules:
        is_below = bottom - 0.5 * size <= rule.at <= floor + 0.5 * size
        if is_below and rule.start <= text.centre <= rule.end and rule.length >= 0.8 * (text.right - text.left):
            covered = [n for n, edges in enumerate(columns) if rule.start - size <= sum(edges) / 2 <= rule.end + size]
            if covered and covered[0] <= one.first and one.end <= covered[-1] + 1:
                return covered[0], covered[-1] + 1
    return None


def _centred_over(one: Placed, columns: Sequence[Interval], start: int, stop: int) -> tuple[int, int] | None:
    """The columns from `start` to `stop` in whose middle a name is; None if it is aligned with its own column."""
    text, size = one.text, one.text.words[0].size
    left, right = columns[one.first]
    edges = [(text.left, left), (text.right, right), (text.centre, (left + right) / 2)]
    if one.end - one.first == 1 and any(abs(mine - other) <= _ALIGNED * size for mine, other in edges):
        return None
    ranges = [(first, end) for first in range(start, one.first + 1) for end in range(one.end, stop + 1)]
    return min(ranges, key=lambda r: (abs((columns[r[0]][0] + columns[r[1] - 1][1]) / 2 - text.centre), r[1] - r[0]))
