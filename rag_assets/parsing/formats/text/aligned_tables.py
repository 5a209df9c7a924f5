"""Tables of a plain text: rows whose cells stand below each other, parted by blanks, tabs or bars.

Aligned lines of words alone may be prose in two columns, names above their places of work, or code:
without a rule or a title ("Table 2") a table must have a column of values.
"""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean

from rag_assets.core.domain import Cell
from rag_assets.parsing.formats.text.lines import TextLine
from rag_assets.parsing.shared.table_rows import table_lines
from rag_assets.parsing.tables import is_table_title, is_value, read_table

_FIELD = re.compile(r"\S+(?: \S+)*")
_SIGNS_OF_RULE = " \t-=+|_─━"
_POINTS = re.compile(r"\.(?: ?\.){2,}|[|│]")
_SIGN = re.compile(r"([$€£])(\s+)(?=[\d(])")
_TAB_STOP = 1_000
_LEAST_ROWS, _LEAST_WHOLE_ROWS = 3, 2
_MOST_CHARS = 30
"""In a cell, on average and the first column aside; columns of prose are wider."""
_MOST_LONE_CHARS = 60
_MOST_BETWEEN = 2
"""Lines between two rows of several cells: a gap, the name of a group."""
_MOST_GAPS = 200
"""At which a table may end: each costs a look at all lines before."""
_LINES_OF_TITLE = 6
_Field = tuple[int, int, str]
"""Where it begins and ends, and its text."""


def with_tables(lines: Sequence[TextLine]) -> list[TextLine]:
    """The lines of a page with each table as one line of its own, between empty ones."""
    made: list[TextLine] = []
    at = 0
    while at < len(lines):
        run = lines[at : _end_of_run(lines, at)]
        has_title = any(is_table_title(line.text) for line in made[-_LINES_OF_TITLE:])
        end, placed = _table(run, is_surely_one=has_title)
        if placed:
            cells = tuple(read_table(placed, rows_are_lines=True))
            empty = TextLine("", lines[at].page)
            made += [empty, replace(empty, text="\n".join(table_lines(cells)), cells=cells), empty]
        else:
            end = max(len(run), 1)
            made += lines[at : at + end]
        at += end
    return made


def _end_of_run(lines: Sequence[TextLine], start: int) -> int:
    """The end of the lines from `start` on that may be rows: of several cells, and rules, short
    lines and gaps between these."""
    end = at = start
    while at < len(lines) and at <= end + _MOST_BETWEEN:
        text = lines[at].text
        if len(_fields(lines[at])) > 1 or _is_rule(lines[at]):
            end = at + 1
        elif text and (at == start or len(text) > _MOST_LONE_CHARS or is_table_title(text)):
            break
        at += 1
    return end


def _table(run: Sequence[TextLine], *, is_surely_one: bool) -> tuple[int, list[Cell]]:
    """How many lines the longest table at the beginning of a run has, and its cells; none if there
    is no table.

    A table goes on behind a gap with the same number of columns, and with values.
    """
    found: tuple[int, list[Cell]] = (0, [])
    gaps = [at for at, line in enumerate(run) if not line.text]
    for before, end in pairwise([0, *gaps[:_MOST_GAPS], len(run)]):
        cells = _placed(run[:end], is_surely_one=is_surely_one)
        added = [is_value(text) for line in run[before:end] for *_, text in _fields(line)[1:]]
        if found[1] and (_n_columns(cells) != _n_columns(found[1]) or not any(added or [True])):
            break
        found = (end, cells) if cells else found
    return found


def _placed(lines: Sequence[TextLine], *, is_surely_one: bool) -> list[Cell]:
    """The cells of a table, each over the columns that it reaches into; none if the lines are not
    one."""
    rows = list(filter(None, map(_fields, lines)))
    counts = Counter(len(row) for row in rows if len(row) > 1)
    n_columns = max(counts, key=lambda n: (counts[n], n), default=0)
    whole = [row for row in rows if len(row) == n_columns]
    if len(rows) < _LEAST_ROWS or len(whole) < _LEAST_WHOLE_ROWS:
        return []
    starts, ends, texts = (
        [[field[part] for field in column] for column in zip(*whole, strict=True)]
        for part in range(3)
    )
    gaps = [(max(end), min(start)) for end, start in zip(ends, starts[1:], strict=False)]
    values = [[*map(is_value, column[1:])] for column in texts[1:]]
    has_values = any(2 * sum(column) >= max(len(column), 2) for column in values)
    is_narrow = fmean(len(text) for column in texts[1:] for text in column) <= _MOST_CHARS
    is_one = has_values or is_surely_one or any(map(_is_rule, lines))
    if not is_one or not is_narrow or any(end >= start for end, start in gaps):
        return []
    edges = [(end + start) / 2 for end, start in gaps]
    cells = []
    for at, row in enumerate(rows):
        for start, end, text in row:
            first, last = bisect(edges, start), bisect(edges, end - 1)
            cells.append(Cell(at, first, text, col_span=last + 1 - first))
    return cells if len({(cell.row, cell.col) for cell in cells}) == len(cells) else []


def _n_columns(cells: Sequence[Cell]) -> int:
    return max((cell.col + cell.col_span for cell in cells), default=0)


def _fields(line: TextLine) -> list[_Field]:
    raw = "" if _is_rule(line) else _POINTS.sub(lambda sign: " " * max(len(sign[0]), 2), line.raw)
    if "\t" in raw.strip():
        parts = [" ".join(part.split()) for part in raw.split("\t")]
        return [
            (at * _TAB_STOP, at * _TAB_STOP + len(part), part)
            for at, part in enumerate(parts)
            if part
        ]
    return [
        (*field.span(), field[0]) for field in _FIELD.finditer(_SIGN.sub(r"\2\1", raw.expandtabs()))
    ]


def _is_rule(line: TextLine) -> bool:
    return bool(line.text) and not line.raw.strip(_SIGNS_OF_RULE)
