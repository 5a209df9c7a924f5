"""The rows of a table that name its columns: those the source marks, or else rows of words above
rows of values.

A matrix of correlations numbers its columns as its rows, "3. Working memory": such a row is a
header too.
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
    """The rows that name columns, in order; none where nothing would be left to name.

    Those at the top come first; a run of others further down names the columns anew from there on.
    The titles of the parts of a table name no columns; where the header of the first part is below
    its title, so is that of each other.
    """
    first, end = _top(grid)
    if not end:
        return []
    titles = _titles_of_parts(grid, first, end)
    below = (
        [row + 1 for row in titles if row >= end] if titles and titles[0] == first < end - 1 else []
    )
    of_parts = {at for row in below for at in range(row, row + _n_inferred(Grid(grid.rows[row:])))}
    anew = _NewHeaders(grid, first, end)
    found: set[int] = set()
    for row in reversed(range(first, len(grid.rows))):
        is_above = row + 1 in found and row > end and anew.is_banner(row)
        if row not in titles and (row < end or row in of_parts or is_above or anew.begins_at(row)):
            found.add(row)
    return sorted(found)


def _titles_of_parts(grid: Grid, first: int, end: int) -> list[int]:
    """Rows with one name only, above the same columns in the header and again further down; a name
    above one column only differs in its numbers."""
    kinds = {
        row: (cell.col, cell.col_span, cell.col_span > 1 or shape_of(cell.text))
        for row in range(first, len(grid.rows))
        if (cell := grid.lone(row)) and cell.col
    }
    again = {kinds[row] for row in kinds if row < end} & {kinds[row] for row in kinds if row > end}
    return [row for row in kinds if kinds[row] in again]


def n_title_rows(grid: Grid) -> int:
    """Leading rows with one cell each above the rows that name the columns: a title, or its end."""
    return _top(grid)[0]


def _top(grid: Grid) -> tuple[int, int]:
    """The first rows that name columns, `[first, end)`; both 0 where there are none."""
    n_lone = 0
    while n_lone < len(grid.rows) and _may_be_title(grid, n_lone):
        n_lone += 1
    for first in dict.fromkeys((n_lone, 0)):
        below = Grid(grid.rows[first:])
        n_top = _n_marked(below) or _n_inferred(below)
        if 0 < n_top < len(below.rows):
            is_split = below.texts[0][0][
                :1
            ].islower()  # the lone words are the first line of the corner
            return (0 if is_split else first), first + n_top
    return 0, 0


def _may_be_title(grid: Grid, row: int) -> bool:
    cell = grid.lone(row)
    return cell is not None and cell.col == 0 and (not cell.is_header or is_table_title(cell.text))


def numbered_columns(grid: Grid, row: int) -> dict[int, str]:
    """Column -> name of the row that has its number, in a matrix: "Variable | M | 1 | 2" above "1.
    Age", "2. Sex"."""
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
        and _holds_words_only(others)
    )
    return {col: names[number] for col, number in numbers.items()} if is_matrix else {}


def _n_marked(grid: Grid) -> int:
    """Leading rows that the source marks, and those that go on with them: many formats have one
    header row only."""
    n_marked = 0
    while (
        n_marked < len(grid.rows)
        and _is_marked(grid, n_marked)
        and not (n_marked and _opens_group(grid, n_marked))
    ):
        n_marked += 1
    while (
        0 < n_marked < len(grid.rows)
        and _may_go_below(grid, n_marked)
        and _goes_below(grid, n_marked)
    ):
        n_marked += 1
    return n_marked


def _opens_group(grid: Grid, row: int) -> bool:
    cell = grid.lone(row)
    return cell is not None and (cell.col == 0 or not cell.is_header)


def _may_go_below(grid: Grid, row: int) -> bool:
    """Whether a row has no name, or the one that the header's first column has or leaves to it."""
    name, above = grid.texts[row][0], {texts[0] for texts in grid.texts[:row]}
    return name in ("", grid.texts[0][0]) or (above == {""} and _is_above_values(grid, row))


def _is_marked(grid: Grid, row: int) -> bool:
    cells = grid.named(row)
    others = [cell for cell in cells if cell.col > 0]
    return bool(cells) and all(cell.is_header for cell in others or cells)


def _n_inferred(grid: Grid) -> int:
    """The header rows of a table that marks none.

    The first row names the columns when it holds words only and the rows below hold values, or are
    many columns of words; further rows belong to it while the row above leaves something open
    (merged, blank or repeated cells).
    """
    n_most = min(MOST_HEADER_ROWS, len(grid.rows) - 1)
    n_header = next((row for row in range(n_most) if grid.texts[row][0]), n_most)
    if 0 < n_header < n_most and grid.lone(n_header) and grid.texts[n_header + 1][0][:1].islower():
        n_header += 1  # the name of the first column over two lines
    if not (
        0 < n_header < n_most
        and _names_columns(grid, n_header)
        and _is_above_values(grid, n_header)
    ):
        n_header = 0  # the first row with a name does not name the first column
    while n_header < n_most and _stands_above(grid, n_header):
        n_header += 1
    while n_header < n_most and (
        _goes_below(grid, n_header) if n_header else _names_columns(grid, n_header)
    ):
        n_header += 1
    if not any(_names_columns(grid, row) for row in range(n_header)):
        return 0
    if (
        n_header < n_most
        and (cell := grid.lone(n_header))
        and cell.col == 0
        and cell.text[0].islower()
    ):
        n_header += 1  # the second line of the corner
    below = [text for texts in grid.texts[n_header:] for text in texts[1:] if text]
    has_values = sum(map(is_value, below)) >= _LEAST_VALUES_BELOW * max(len(below), 1)
    return n_header if below and (has_values or grid.n_columns > 2) else 0


def _names_columns(grid: Grid, row: int) -> bool:
    texts = grid.texts[row]
    are_names = _holds_words_only(texts) or bool(numbered_columns(grid, row)) or _counts(texts)
    return len(grid.named(row)) >= 2 and (are_names or (row == 0 and _leaves_corner(texts)))


def _counts(texts: Sequence[str]) -> bool:
    """Whether the columns behind the first are numbered: "Item | 1 | 2 | 3"."""
    numbers = [text for text in texts[1:] if text]
    return len(numbers) > 2 and numbers == [str(nth) for nth in range(1, len(numbers) + 1)]


def _leaves_corner(texts: Sequence[str]) -> bool:
    """Whether all columns but the first have text: a row of values has a name."""
    return len(texts) > 2 and not texts[0] and all(texts[1:])


def _holds_words_only(texts: Sequence[str]) -> bool:
    return all(len(text) <= _LONGEST_LABEL and not is_value(text) for text in texts if text)


def _stands_above(grid: Grid, row: int) -> bool:
    """Whether a row names columns but no rows: words only, and an empty first column."""
    texts = grid.texts[row]
    return not texts[0] and any(texts) and _holds_words_only(texts)


def _goes_below(grid: Grid, row: int) -> bool:
    """Whether the header goes on with a row: it names columns where the rows above leave something
    open, only has words below a blank, or holds asides to the row above, "(n = 20)"."""
    texts, above = grid.texts[row], grid.texts[row - 1]
    stacks = [*zip(*(over[1:] for over in grid.texts[:row]), strict=True)]
    is_open = len(set(stacks)) < len(stacks) or any(not any(stack) for stack in stacks)
    if not _names_columns(grid, row):
        is_below_blank = any(text and not over for text, over in zip(texts, above, strict=True))
        n_values = sum(map(is_value, texts[1:]))  # "0–12 mo" looks like one
        is_divided = is_open and all(texts[1:]) and 2 * n_values < len(texts[1:])
        return (_stands_above(grid, row) and is_below_blank) or (not texts[0] and is_divided)
    are_asides = all(map(is_aside, filter(None, texts[1:])))
    is_unnamed = not texts[0] or not any(over[0] for over in grid.texts[:row])
    return is_open or are_asides or (is_unnamed and _is_above_values(grid, row))


def _is_above_values(grid: Grid, row: int) -> bool:
    """Whether most columns in which the row has text hold values below it."""
    columns = [col for col, text in enumerate(grid.texts[row]) if col and text]
    below = [
        [texts[col] for texts in grid.texts[row + 1 :] if kind_of(texts[col])] for col in columns
    ]
    of_values = sum(2 * sum(map(is_value, texts)) > len(texts) for texts in below)
    return 2 * of_values > len(columns)


class _NewHeaders:
    """Where a header further down names the columns anew: two tables that were read as one."""

    def __init__(self, grid: Grid, first: int, end: int) -> None:
        self._grid, self._end = grid, end
        self._header = grid.texts[first:end]
        columns = [
            [texts[col] for texts in grid.texts[end:] if kind_of(texts[col])]
            for col in range(grid.n_columns)
        ]
        self._has_values = [any(map(is_value, texts)) for texts in columns]
        self._is_of_values = [2 * sum(map(is_value, texts)) > len(texts) for texts in columns]

    def begins_at(self, row: int) -> bool:
        """Whether a row says what a row of the header says, in the same columns and but for numbers
        ("2019 | 2018" below "2020 | 2019"), is marked, is written in capitals as the header is, or
        has names in columns of values."""
        grid, (name, *texts) = self._grid, self._grid.texts[row]
        if row < self._end or not any(texts):
            return False
        alike = [
            over for over in self._header if [*map(shape_of, over[1:])] == [*map(shape_of, texts)]
        ]
        if alike and _holds_words_only(texts):
            is_same = any(over[1:] == texts for over in alike) and not any(
                text[:4].isdigit() for text in texts
            )
            return (
                is_same
                or name in ("", *(over[0] for over in self._header))
                or self._repeats_rows(row)
            )
        if len(grid.named(row)) < 2:
            return False
        if _is_marked(grid, row) or (not name and self._names_values(row)):
            return True
        are_columns = [bool(text) for text in texts] == self._has_values[1:]
        is_capital = all("".join(one).isupper() for one in (grid.texts[row], self._header[-1]))
        return are_columns and _holds_words_only(grid.texts[row]) and is_capital

    def is_banner(self, row: int) -> bool:
        """Whether a row above a new header has names above several of its columns only."""
        name, *texts = self._grid.texts[row]
        return (
            not name
            and any(texts)
            and _holds_words_only(texts)
            and not all(map(is_aside, filter(None, texts)))
        )

    def _names_values(self, row: int) -> bool:
        """Whether a row without a name has different names in columns of values, with values right
        below."""
        texts, below = self._grid.texts[row], [*self._grid.texts[row + 1 : row + 2]]
        named = [col for col, text in enumerate(texts) if text]
        is_above = any(is_value(one[col]) for one in below for col in named)
        return (
            is_above
            and 1 < len({texts[col] for col in named}) == len(named)
            and all(self._is_of_values[col] and kind_of(texts[col]) == "words" for col in named)
            and not any(is_aside(texts[col]) or texts[col][0].islower() for col in named)
        )

    def _repeats_rows(self, row: int) -> bool:
        """Whether the names of rows above come again below."""
        names = [texts[0] for texts in self._grid.texts]
        return any(name and name in names[self._end : row] for name in names[row + 1 : row + 3])
