"""Which rows of a table in LaTeX name its columns; its source marks none."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from operator import attrgetter

from rag_assets.domain import Cell
from rag_assets.parsing.conventions.table_rows import with_inferred_header

_MARKED_YEAR = re.compile(r"\b((?:19|20)\d\d)\s?(?:\(\w\)|\[\w\]|[¹²³])")
_LONGEST_VALUE = 30
_LEAST_VALUES = 0.3
_LONGEST_NAME = 40
_TIMES_LONGER = 3


def with_header(cells: Sequence[Cell]) -> list[Cell]:
    """`cells` with the header rows marked: those that hold names of columns, and the headings above them.

    A heading below them is none of them: it names the rows below it. The mark of a footnote does not make a year a
    value.
    """
    rows = [list(row) for _, row in groupby(cells, key=attrgetter("row"))]
    n_above = sum(1 for _ in takewhile(_is_heading, rows))
    judged = [
        replace(cell, row=cell.row - n_above, text=_MARKED_YEAR.sub(r"\1", cell.text))
        for row in rows[n_above:]
        for cell in row
    ]
    header_rows = {cell.row for cell in with_inferred_header(judged) if cell.is_header}
    n_header = sum(1 for _ in takewhile(lambda row: not _is_heading(row), rows[n_above : n_above + len(header_rows)]))
    if n_header == 0 or _is_list(rows[n_above:], n_header):
        return list(cells)
    return [replace(cell, is_header=cell.row < n_above + n_header) for cell in cells]


def _is_heading(row: Sequence[Cell]) -> bool:
    """Whether all its text stands in its first cell."""
    return row[0].col == 0 and not any(cell.text for cell in row[1:])


def _is_list(rows: Sequence[Sequence[Cell]], n_header: int) -> bool:
    """Whether two columns hold names and what is said of them, from the first row on.

    Their header is known by values below it, or by its being much shorter than the texts below it.
    """
    if max(cell.col + cell.col_span for row in rows for cell in row) != 2 or n_header > 1:
        return False
    first, *below = [row[-1].text for row in rows]
    n_values = sum(len(text) <= _LONGEST_VALUE and any(map(str.isdigit, text)) for text in below)
    n_chars = sum(map(len, below))
    is_name = len(first) <= _LONGEST_NAME and len(first) * _TIMES_LONGER * len(below) <= n_chars
    return n_values < _LEAST_VALUES * len(below) and not is_name
