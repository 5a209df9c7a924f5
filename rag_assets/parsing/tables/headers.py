"""Finds the header rows of a table, which name its columns: those that the source marks, or else
rows of words above rows of values.

In a table of correlations, the columns may have only the numbers of the rows ("3" for the row "3.
Working memory"); such a row is a header too. Ranges of rows are [first, end), with `end` excluded.
"""

import re
from collections.abc import Sequence

from rag_assets.parsing.tables.grid import Grid, is_aside, is_value, kind_of, shape_of
from rag_assets.parsing.tables.titles import is_table_title

MOST_HEADER_ROWS = 6
_LONGEST_LABEL = 100
_LEAST_NUMBERED = 2
_LEAST_VALUES_BELOW = 0.3
_NUMBERED_NAME = re.compile(r"\(?(\d{1,2})[.):]?\s+\D.*", re.DOTALL)
_NUMBER = re.compile(r"\(?(\d{1,2})[.)]?")


def header_rows(grid: Grid) -> list[int]:
    """The indices of the header rows, ascending; empty if no other rows would remain.

    Most are at the top. Header rows further down are valid for the rows below them. A table may
    consist of parts with a title row each; title rows are no header rows. If the header of the
    first part is below its title, the other parts have a header below their title too.
    """
    first, end = _top_rows(grid)
    if not end:
        return []
    titles = _titles_of_parts(grid, first, end)
    part_headers: set[int] = set()
    if titles and titles[0] == first < end - 1:
        for row in (title + 1 for title in titles if title >= end):
            part_headers.update(range(row, row + _n_inferred(Grid(grid.rows[row:]))))
    later = _LaterHeaders(grid, first, end)
    found: set[int] = set()
    for row in reversed(range(first, len(grid.rows))):
        is_banner = row + 1 in found and row > end and later.is_banner(row)
        is_header = row < end or row in part_headers or is_banner or later.begins_at(row)
        if row not in titles and is_header:
            found.add(row)
    return sorted(found)


def _titles_of_parts(grid: Grid, first: int, end: int) -> list[int]:
    """The title rows of the parts of a table: their only text is a name over the same columns, in
    the header [first, end) and again further down. Names over one column must also be equal but for
    numbers."""
    kinds = {
        row: (cell.col, cell.col_span, cell.col_span > 1 or shape_of(cell.text))
        for row in range(first, len(grid.rows))
        if (cell := grid.lone_name(row)) and cell.col
    }
    in_header = {kinds[row] for row in kinds if row < end}
    repeated = in_header & {kinds[row] for row in kinds if row > end}
    return [row for row in kinds if kinds[row] in repeated]


def n_title_rows(grid: Grid) -> int:
    """Number of rows above the header: they contain the title of the table, or its last lines."""
    return _top_rows(grid)[0]


def _top_rows(grid: Grid) -> tuple[int, int]:
    """The header rows at the top, [first, end); both 0 if there are none. Rows above `first` are a
    title."""
    n_title = 0
    while n_title < len(grid.rows) and _may_be_title(grid, n_title):
        n_title += 1
    for first in dict.fromkeys((n_title, 0)):  # if there is no header below the title, without it
        below = Grid(grid.rows[first:])
        n_header = _n_marked(below) or _n_inferred(below)
        if 0 < n_header < len(below.rows):
            # then the rows above are no title, but the first line of the cell in the corner
            is_second_line = below.texts[0][0][:1].islower()
            return (0 if is_second_line else first), first + n_header
    return 0, 0


def _may_be_title(grid: Grid, row: int) -> bool:
    """Whether the only text of a row is a name in the first column that the source does not mark as
    a header."""
    cell = grid.lone_name(row)
    return cell is not None and cell.col == 0 and (not cell.is_header or is_table_title(cell.text))


def numbered_columns(grid: Grid, row: int) -> dict[int, str]:
    """Column -> name of the row with the same number, if `row` is the header of a table of
    correlations: "Variable | M | 1 | 2" above the rows "1. Age" and "2. Sex". Else empty."""
    texts = grid.texts[row]
    numbers = {
        col: found[1]
        for col, text in enumerate(texts)
        if col and (found := _NUMBER.fullmatch(text))
    }
    names: dict[str, str] = {}
    for below in range(row + 1, len(grid.rows)) if len(numbers) >= _LEAST_NUMBERED else ():
        if found := _NUMBERED_NAME.fullmatch(grid.texts[below][0]):
            names.setdefault(found[1], found[0])
    others = [text for col, text in enumerate(texts) if col not in numbers]
    is_matrix = (
        len(numbers) >= _LEAST_NUMBERED
        and set(numbers.values()) <= set(names)
        and _has_only_words(others)
    )
    return {col: names[number] for col, number in numbers.items()} if is_matrix else {}


def _n_marked(grid: Grid) -> int:
    """Number of header rows at the top that the source marks, and of further rows that continue
    them: many formats can mark only one header row."""
    n_header = 0
    while (
        n_header < len(grid.rows)
        and _is_marked(grid, n_header)
        and not (n_header and _opens_group(grid, n_header))
    ):
        n_header += 1
    while (
        0 < n_header < len(grid.rows)
        and _may_continue_header(grid, n_header)
        and _continues_header(grid, n_header)
    ):
        n_header += 1
    return n_header


def _opens_group(grid: Grid, row: int) -> bool:
    """Whether the only text of a row is a name in the first column, or one that is not marked."""
    cell = grid.lone_name(row)
    return cell is not None and (cell.col == 0 or not cell.is_header)


def _may_continue_header(grid: Grid, row: int) -> bool:
    """Whether the first cell of a row allows it to be a header: it is blank, or the same as in the
    first row, or blank in all rows above."""
    name, above = grid.texts[row][0], {texts[0] for texts in grid.texts[:row]}
    return name in ("", grid.texts[0][0]) or (above == {""} and _is_above_values(grid, row))


def _is_marked(grid: Grid, row: int) -> bool:
    """Whether the source marks all cells of a row as header; the first column does not count,
    unless it is the only one with text."""
    cells = grid.text_cells(row)
    others = [cell for cell in cells if cell.col > 0]
    return bool(cells) and all(cell.is_header for cell in others or cells)


def _n_inferred(grid: Grid) -> int:
    """Number of header rows at the top of a table whose source marks none.

    The first row is a header if it contains only words and the rows below contain values, or there
    are more than two columns. The next rows belong to the header as long as they continue it (see
    `_continues_header`).
    """
    n_most = min(MOST_HEADER_ROWS, len(grid.rows) - 1)
    n_header = next((row for row in range(n_most) if grid.texts[row][0]), n_most)
    is_name = 0 < n_header < n_most and grid.lone_name(n_header)
    if is_name and grid.texts[n_header + 1][0][:1].islower():
        n_header += 1  # the name of the first column over two lines
    if not (
        0 < n_header < n_most
        and _names_columns(grid, n_header)
        and _is_above_values(grid, n_header)
    ):
        n_header = 0  # the first row with a name does not name the first column
    while n_header < n_most and _names_only_columns(grid, n_header):
        n_header += 1
    if n_header == 0 and n_most > 0 and _names_columns(grid, 0):
        n_header = 1
    while 0 < n_header < n_most and _continues_header(grid, n_header):
        n_header += 1
    if not any(_names_columns(grid, row) for row in range(n_header)):
        return 0
    corner = grid.lone_name(n_header) if n_header < n_most else None
    if corner and corner.col == 0 and corner.text[0].islower():
        n_header += 1  # the second line of the cell in the corner
    below = [text for texts in grid.texts[n_header:] for text in texts[1:] if text]
    has_values = sum(map(is_value, below)) >= _LEAST_VALUES_BELOW * max(len(below), 1)
    return n_header if below and (has_values or grid.n_columns > 2) else 0


def _names_columns(grid: Grid, row: int) -> bool:
    """Whether a row can be a header by itself: two or more names, or numbers that stand for
    names."""
    texts = grid.texts[row]
    are_names = _has_only_words(texts) or bool(numbered_columns(grid, row)) or _is_count(texts)
    is_cornered = row == 0 and _leaves_corner(texts)
    return len(grid.text_cells(row)) >= 2 and (are_names or is_cornered)


def _is_count(texts: Sequence[str]) -> bool:
    """Whether the columns after the first are numbered: "Item | 1 | 2 | 3"."""
    numbers = [text for text in texts[1:] if text]
    return len(numbers) > 2 and numbers == [str(nth) for nth in range(1, len(numbers) + 1)]


def _leaves_corner(texts: Sequence[str]) -> bool:
    """Whether all columns but the first have text. A row of values would have a name in the
    first."""
    return len(texts) > 2 and not texts[0] and all(texts[1:])


def _has_only_words(texts: Sequence[str]) -> bool:
    """Whether no cell of a row is a value or a long text; blank cells do not count."""
    return all(len(text) <= _LONGEST_LABEL and not is_value(text) for text in texts if text)


def _names_only_columns(grid: Grid, row: int) -> bool:
    """Whether a row contains only words, and its first column is blank."""
    texts = grid.texts[row]
    return not texts[0] and any(texts) and _has_only_words(texts)


def _continues_header(grid: Grid, row: int) -> bool:
    """Whether a row belongs to the header above it.

    The header is open if it does not yet tell all columns apart: some columns have the same names,
    or no name. A row with names continues an open header; it also does if it contains only brackets
    ("(n = 20)"), or if it is above values and names no row. Another row must have words below a
    blank cell, or divide the columns of an open header.
    """
    texts, above = grid.texts[row], grid.texts[row - 1]
    names_of_columns = [*zip(*(over[1:] for over in grid.texts[:row]), strict=True)]
    is_open = len(set(names_of_columns)) < len(names_of_columns) or not all(
        map(any, names_of_columns)
    )
    if not _names_columns(grid, row):
        is_below_blank = any(text and not over for text, over in zip(texts, above, strict=True))
        n_values = sum(map(is_value, texts[1:]))  # "0–12 mo" looks like one
        is_divided = is_open and all(texts[1:]) and 2 * n_values < len(texts[1:])
        return (_names_only_columns(grid, row) and is_below_blank) or (not texts[0] and is_divided)
    are_asides = all(map(is_aside, filter(None, texts[1:])))
    is_unnamed = not texts[0] or not any(over[0] for over in grid.texts[:row])
    return is_open or are_asides or (is_unnamed and _is_above_values(grid, row))


def _is_above_values(grid: Grid, row: int) -> bool:
    """Whether most columns in which the row has text hold values below it."""
    columns = [col for col, text in enumerate(grid.texts[row]) if col and text]
    below = [
        [texts[col] for texts in grid.texts[row + 1 :] if kind_of(texts[col])] for col in columns
    ]
    n_with_values = sum(2 * sum(map(is_value, texts)) > len(texts) for texts in below)
    return 2 * n_with_values > len(columns)


class _LaterHeaders:
    """Finds headers further down, which name the columns again: two tables were read as one."""

    def __init__(self, grid: Grid, first: int, end: int) -> None:
        """first, end: range of the header rows at the top."""
        self._grid, self._end = grid, end
        self._header = grid.texts[first:end]
        columns = [
            [texts[col] for texts in grid.texts[end:] if kind_of(texts[col])]
            for col in range(grid.n_columns)
        ]
        self._has_values = [any(map(is_value, texts)) for texts in columns]
        self._is_of_values = [2 * sum(map(is_value, texts)) > len(texts) for texts in columns]

    def begins_at(self, row: int) -> bool:
        """Whether a row is a later header. One of these must hold: it repeats a row of the header,
        perhaps with other numbers ("2019 | 2018" below "2020 | 2019"); the source marks it; it has
        names in columns of values; it and the header are in capitals."""
        grid, (name, *texts) = self._grid, self._grid.texts[row]
        if row < self._end or not any(texts):
            return False
        similar = [
            over for over in self._header if [*map(shape_of, over[1:])] == [*map(shape_of, texts)]
        ]
        if similar and _has_only_words(texts):
            is_same = any(over[1:] == texts for over in similar) and not any(
                text[:4].isdigit() for text in texts
            )
            header_names = [over[0] for over in self._header]
            return is_same or not name or name in header_names or self._repeats_rows(row)
        if len(grid.text_cells(row)) < 2:
            return False
        if _is_marked(grid, row) or (not name and self._names_columns_of_values(row)):
            return True
        are_columns = [bool(text) for text in texts] == self._has_values[1:]
        are_capitals = all(
            "".join(row_texts).isupper() for row_texts in (grid.texts[row], self._header[-1])
        )
        return are_columns and _has_only_words(grid.texts[row]) and are_capitals

    def is_banner(self, row: int) -> bool:
        """Whether a row right above a later header belongs to it: only words, which name groups of
        columns."""
        name, *texts = self._grid.texts[row]
        return (
            not name
            and any(texts)
            and _has_only_words(texts)
            and not all(map(is_aside, filter(None, texts)))
        )

    def _names_columns_of_values(self, row: int) -> bool:
        """Whether all texts of a row are different names, in columns that contain mostly values,
        and there is a value right below one of them."""
        texts, rows_below = self._grid.texts[row], self._grid.texts[row + 1 : row + 2]
        columns = [col for col, text in enumerate(texts) if text]
        is_above_value = any(is_value(below[col]) for below in rows_below for col in columns)
        return (
            is_above_value
            and 1 < len({texts[col] for col in columns}) == len(columns)
            and all(self._is_of_values[col] and kind_of(texts[col]) == "words" for col in columns)
            and not any(is_aside(texts[col]) or texts[col][0].islower() for col in columns)
        )

    def _repeats_rows(self, row: int) -> bool:
        """Whether the name of one of the next two rows is also the name of a row above, as in a
        second table with the same rows."""
        names = [texts[0] for texts in self._grid.texts]
        return any(name and name in names[self._end : row] for name in names[row + 1 : row + 3])
