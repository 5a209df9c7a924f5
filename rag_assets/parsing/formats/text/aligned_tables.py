"""Tables of a plain text: rows whose cells stand below each other, parted by blanks, tabs or bars.

Aligned lines of words alone may be prose in two columns, names above their places of work, or code: without a rule or a
title ("Table 2") a table must have a column of values.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from rag_assets.core.domain import Cell
from rag_assets.parsing.formats.text.lines import TextLine
from rag_assets.parsing.shared.table_rows import table_lines
from rag_assets.parsing.tables import is_table_title, is_value, read_table

_FIELD = re.compile(r"\S+(?: \S+)*")
_RULE = re.compile(r"[\s=+|_─━-]*[-=_─━]{3}[\s=+|_─━-]*")
_POINTS = re.compile(r"\.(?: ?\.){2,}|[|│]")
_SIGN = re.compile(r"([$€£])(\s+)(?=[\d(])")
_TAB_STOP = 1_000
_LEAST_ROWS, _LEAST_WHOLE_ROWS = 3, 2
_MOST_CHARS = 30
"""In a cell, on average and the first column aside; columns of prose are wider."""
_MOST_LONE_CHARS = 60
_LINES_OF_TITLE = 3


_MOST_BETWEEN = 2
"""Lines between two rows of several cells: a gap, the name of a group."""
Column = tuple[int, int]
"""Where its text begins and ends."""


@dataclass(frozen=True)
class _Field:
    start: int
    end: int
    text: str


def with_tables(lines: Sequence[TextLine]) -> list[TextLine]:
    """The lines of a page with each table as one line of its own, between empty ones."""
    made: list[TextLine] = []
    at = 0
    while at < len(lines):
        run = lines[at : _end_of_run(lines, at)]
        above = [line.text for line in made if line.text][-_LINES_OF_TITLE:]
        end, columns = _table(run, is_surely_one=any(map(is_table_title, above)))
        if columns:
            rows = (fields for line in run[:end] if not _is_rule(line) and (fields := _fields(line)))
            placed = [cell for nth, row in enumerate(rows) for cell in _placed(row, nth, columns)]
            cells = read_table(placed, rows_are_lines=True)
            empty = TextLine("", lines[at].page)
            made += [empty, replace(empty, text="\n".join(table_lines(cells)), cells=tuple(cells)), empty]
        else:
            end = max(len(run), 1)
            made += lines[at : at + end]
        at += end
    return made


def _end_of_run(lines: Sequence[TextLine], start: int) -> int:
    """The end of the lines from `start` on that may be rows: of several cells, and rules, short lines and gaps between
    these."""
    end = at = start
    while at < len(lines) and at <= end + _MOST_BETWEEN:
        fields = _fields(lines[at])
        if len(fields) > 1 or _is_rule(lines[at]):
            end = at + 1
        elif fields and (at == start or len(lines[at].text) > _MOST_LONE_CHARS or is_table_title(lines[at].text)):
            break
        at += 1
    return end


def _table(run: Sequence[TextLine], *, is_surely_one: bool) -> tuple[int, list[Column]]:
    """How many lines the longest table at the beginning of a run has, and its columns; none if there is no table.

    A table goes on behind a gap with the same number of columns, and with values.
    """
    found: tuple[int, list[Column]] = (0, [])
    gaps = [at for at, line in enumerate(run) if not line.text]
    for before, end in pairwise([0, *gaps, len(run)]):
        columns = _columns(run[:end], is_surely_one=is_surely_one)
        added = [field for line in run[before:end] for field in _fields(line)[1:]]
        if found[1] and (len(columns) != len(found[1]) or (added and not any(is_value(one.text) for one in added))):
            break
        found = (end, columns) if columns else found
    return found


def _columns(lines: Sequence[TextLine], *, is_surely_one: bool) -> list[Column]:
    """The columns of a table; none if the lines are not one."""
    rows = [fields for line in lines if not _is_rule(line) and (fields := _fields(line))]
    counts = Counter(len(row) for row in rows if len(row) > 1)
    n_columns = max(counts, key=lambda n: (counts[n], n), default=0)
    whole = [row for row in rows if len(row) == n_columns]
    if len(rows) < _LEAST_ROWS or len(whole) < _LEAST_WHOLE_ROWS:
        return []
    columns = [(min(one.start for one in column), max(one.end for one in column)) for column in zip(*whole, strict=True)]
    are_apart = all(before[1] < after[0] for before, after in pairwise(columns))
    values = [[is_value(row[col].text) for row in whole[1:]] for col in range(1, n_columns)]
    has_values = any(2 * sum(column) >= max(len(column), 2) for column in values)
    is_narrow = fmean(len(one.text) for row in whole for one in row[1:]) <= _MOST_CHARS
    is_one = are_apart and is_narrow and (has_values or is_surely_one or any(map(_is_rule, lines)))
    places = [[cell.col for cell in _placed(row, 0, columns)] for row in rows] if is_one else []
    return columns if is_one and all(len(set(cols)) == len(cols) for cols in places) else []


def _placed(row: Sequence[_Field], at: int, columns: Sequence[Column]) -> Iterator[Cell]:
    """The cells of a row, each over the columns that it touches, or else at the nearest one."""
    for field in row:
        touched = [col for col, (start, end) in enumerate(columns) if field.start < end and start < field.end]
        middle = (field.start + field.end) / 2
        nearest = min(range(len(columns)), key=lambda col: abs(sum(columns[col]) / 2 - middle))
        first, last = (touched[0], touched[-1]) if touched else (nearest, nearest)
        yield Cell(at, first, field.text, col_span=last + 1 - first)


def _fields(line: TextLine) -> list[_Field]:
    raw = _POINTS.sub(lambda points: " " * max(len(points[0]), 2), line.raw)
    if "\t" in raw.strip():
        parts = [" ".join(part.split()) for part in raw.split("\t")]
        return [_Field(at * _TAB_STOP, at * _TAB_STOP + len(part), part) for at, part in enumerate(parts) if part]
    raw = _SIGN.sub(r"\2\1", raw.expandtabs())
    return [_Field(*field.span(), field[0]) for field in _FIELD.finditer(raw)]


def _is_rule(line: TextLine) -> bool:
    return _RULE.fullmatch(line.raw) is not None
