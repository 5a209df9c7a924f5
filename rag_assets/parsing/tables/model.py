"""Finds out which cells of a table name columns, rows and groups of rows, and how many of them; the
same for all formats. Entry point: `read_table`.

Several printed lines may be one row (`joined_lines`), and a name that is printed once may name
several rows (`with_row_names_extended`). A name centred above six columns is put by layout tools on
the one or two columns in the middle (`with_column_names_widened`). It is widened over blank
neighbours to a whole block of columns. A block is known by the names below: they are repeated ("b |
p | b | p"), or differ only in numbers. That the name is in the middle of some columns is no proof,
because there may be one column more or one less.

A lone name (a row whose only text is a name) opens a group for the rows below it. A lone name right
below another one opens a group inside that group, or is its second line. A group ends at the next
group of the same level, at a new header, and where the indentation goes back. A row that may be
outside of the group, and all rows after it, get no group, because a false group ("Net revenues: Net
income") is worse than none.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise

from rag_assets.core.domain import Cell
from rag_assets.parsing.tables.grid import (
    Grid,
    is_aside,
    is_value,
    kind_of,
    shape_of,
    without_empty_rows,
    without_merged_values,
)
from rag_assets.parsing.tables.headers import MOST_HEADER_ROWS, header_rows, n_title_rows

_MOST_CHANGED = 0.5
"""Largest share of a row's values that may have another kind than those of the first row of its
group."""
_LEAST_ALIKE = 1
"""If more groups than this have the same row names, a group is complete when it has these names."""
_LEAST_INDENT = 0.004
"""A smaller difference of left edges is no indentation; as a fraction of the page's width."""
_MOST_PARTS = 40
"""Largest number of rows that are added up to look for their total."""
_OPEN_END = re.compile(r"[,(–-]\Z|\([^()]*\Z")
_NUMBER = re.compile(r"[-−–+(]?\s?[$€£]?\s?(\d[\d,]*(?:\.\d+)?)\)?")


@dataclass
class _GroupPath:
    """The groups that are open while the rows are read from top to bottom."""

    path: tuple[Cell, ...] = ()
    """Names of the open groups, outermost first."""
    name_row: int = -1
    """The row of the last lone name."""
    rows: list[int] = field(default_factory=list)
    """The rows below the last lone name so far."""
    is_certain: bool = True
    """False from the first row that may be outside of the groups."""


class Groups:
    """The groups of the rows of a table.

    header: rows that name columns. rows_are_lines: a row may be one of several printed lines.
    """

    def __init__(self, grid: Grid, header: Set[int], *, rows_are_lines: bool) -> None:
        self._grid, self._header, self._rows_are_lines = grid, header, rows_are_lines
        self.lone = self._lone_rows()
        """Row -> the lone name in it, which opens a group."""
        self._name_chars = max((len(texts[0]) for texts in grid.texts if texts), default=0)
        """Length of the longest name in the first column."""
        names = self._names_below()
        n_groups = Counter(map(frozenset, names.values()))
        self._repeated = {below for below, n in n_groups.items() if n > _LEAST_ALIKE}
        """Sets of row names that several groups have."""
        self._sizes = set(map(len, self._repeated))
        self._n_groups_with = Counter(name for below in names.values() for name in set(below))
        self._n_groups_with.update(cell.text for cell in self.lone.values())
        """Name -> number of groups in which a row has this name, or that have it themselves."""
        self.open_ended: set[int] = set()
        """Rows of lone names whose group has no certain end."""
        self.of_row = self._groups_of_rows()
        """Row -> names of its groups, outermost first; only rows whose groups are certain."""

    def _lone_rows(self) -> dict[int, Cell]:
        """Row -> its lone name. Lone names at the end of the table are notes, and left out."""
        grid, found = self._grid, {}
        is_note = True
        for row in reversed(range(len(grid.rows))):
            cell = None if row in self._header else grid.lone_name(row)
            is_note = is_note and cell is not None
            if cell and not is_note:
                found[row] = cell
        return dict(reversed(found.items()))

    def _names_below(self) -> dict[int, list[str]]:
        """Row of a lone name -> the names of the rows below it, up to the next lone name or
        header."""
        names: dict[int, list[str]] = {}
        name_row = -1
        for row, texts in enumerate(self._grid.texts):
            if row in self.lone:
                name_row = row
            elif row in self._header:
                name_row = -1
            elif name_row >= 0:
                names.setdefault(name_row, []).append(texts[0])
        return names

    def _groups_of_rows(self) -> dict[int, tuple[Cell, ...]]:
        """The value of `of_row`; also fills `open_ended`."""
        of_row: dict[int, tuple[Cell, ...]] = {}
        open_ = _GroupPath()
        for row in range(len(self._grid.rows)):
            if row in self._header:
                open_ = open_ if not open_.rows else _GroupPath()
            elif row in self.lone:
                open_ = _GroupPath(self._path_after_name(open_, row), row)
            else:
                if (indented := self._path_by_indentation(open_, row)) is not None:
                    open_.path = indented
                elif open_.path and self._may_be_outside(open_, row):
                    open_.is_certain = False
                    self.open_ended.add(open_.name_row)
                open_.rows.append(row)
                if open_.is_certain:
                    of_row[row] = open_.path
        return of_row

    def _path_after_name(self, open_: _GroupPath, row: int) -> tuple[Cell, ...]:
        """The names of the groups that are open after the lone name in `row`."""
        name = self.lone[row]
        if open_.path and not open_.rows and self._is_second_line(open_.path[-1], name):
            *outer, first_line = open_.path
            return (*outer, replace(first_line, text=f"{first_line.text} {name.text}"))
        if not open_.path or (open_.rows and self._is_title(name)):
            return (name,)
        if not open_.rows:
            return (*open_.path, name)
        left = _left(name)
        lefts = [*map(_left, open_.path), left]
        if max(lefts) - min(lefts) > _LEAST_INDENT:  # names are indented: the outer ones stay
            outer = [cell for cell in open_.path if _left(cell) + _LEAST_INDENT < left]
            return (*outer, name)
        # a name that is repeated, or follows a repeated one, is below the same outer groups
        is_repeated = max(self._n_groups_with[cell.text] for cell in (name, open_.path[-1])) > 1
        inner = [cell for cell in open_.path if not self._is_title(cell)]
        return (*filter(self._is_title, open_.path), *(inner[:-1] if is_repeated else ()), name)

    def _path_by_indentation(self, open_: _GroupPath, row: int) -> tuple[Cell, ...] | None:
        """The names of the groups that a row is in by its indentation; None if the rows of the
        innermost group are not indented below its name."""
        first_row = open_.rows[0] if open_.rows else row
        first_left, left = (_left(self._grid.rows[at][0]) for at in (first_row, row))
        if not open_.path or first_left <= _left(open_.path[-1]) + _LEAST_INDENT:
            return None
        return tuple(name for name in open_.path if _left(name) + _LEAST_INDENT < left)

    def _is_title(self, cell: Cell) -> bool:
        """Whether a lone name is printed over all columns or in their middle. Its group contains
        the groups of names in the first column."""
        return cell.col > 0 or cell.col_span == self._grid.n_columns

    def _is_second_line(self, above: Cell, cell: Cell) -> bool:
        """Whether a lone name is the second line of the one above: it begins with a small letter or
        a bracket, the one above ends with a comma or an open bracket, or its first word would not
        fit into the line above."""
        if self._is_title(above) != self._is_title(cell):
            return False
        if cell.text[0].islower() or cell.text[0] == "(" or _OPEN_END.search(above.text):
            return True
        n_chars = len(above.text) + 1 + len(cell.text.split()[0])
        return self._rows_are_lines and n_chars > self._name_chars

    def _may_be_outside(self, open_: _GroupPath, row: int) -> bool:
        """Whether a row may be outside of the open groups: the group is complete (it has all the
        row names of several other groups), its last row is the total, or the row has other kinds
        of values than its first row. A name that occurs in several groups is inside."""
        if not open_.rows or self._n_groups_with[self._grid.texts[row][0]] > 1:
            return False
        names = (self._grid.texts[other][0] for other in open_.rows)
        is_complete = len(open_.rows) in self._sizes and frozenset(names) in self._repeated
        *parts, last_row = open_.rows
        is_after_total = 1 < len(parts) < _MOST_PARTS and self._is_total(last_row, parts)
        return is_complete or is_after_total or self._has_other_kinds(open_.rows[0], row)

    def _has_other_kinds(self, first: int, row: int) -> bool:
        """Whether more than half of the values of a row have another kind than in the first row of
        the group."""
        pairs = zip(self._grid.texts[first][1:], self._grid.texts[row][1:], strict=True)
        kinds = [(kind_of(text_first), kind_of(text)) for text_first, text in pairs]
        differ = [kind_first != kind for kind_first, kind in kinds if kind_first and kind]
        return sum(differ) > _MOST_CHANGED * len(differ)

    def _is_total(self, row: int, parts: Sequence[int]) -> bool:
        """Whether each number of a row is the sum of the numbers of `parts` in its column."""
        differences: list[float] = []
        for col in range(1, self._grid.n_columns):
            total, *numbers = (_number(self._grid.texts[at][col]) for at in (row, *parts))
            if total is not None:
                differences.append(total - sum(filter(None, numbers)))
        return bool(differences) and all(round(each, 6) == 0 for each in differences)


def _left(cell: Cell | None) -> float:
    """The left edge of a cell; 0 if it has no box."""
    return cell.boxes[0].left if cell and cell.boxes else 0.0


def _number(text: str) -> float | None:
    """The number of a cell, "$ 1,200" or "(3.5)" for -3.5; None if there is other text."""
    found = _NUMBER.fullmatch(text)
    if not found:
        return None
    number = float(found[1].replace(",", ""))
    return -number if text[0] in "-−–(" else number


def joined_lines(
    cells: Sequence[Cell], grid: Grid, header: Set[int], *, rows_are_lines: bool
) -> list[Cell]:
    """`cells`, where the printed lines of one row are one row: the texts in a column are joined,
    and the cell spans all lines.

    A line with errors in brackets below values belongs to these, and the rest of a name to its
    beginning. If `rows_are_lines`, further lines of words are joined too.
    """
    first_line_of: dict[int, int] = {}
    """Line -> first line of the same row; only for the further lines."""
    body = [row for row in range(len(grid.rows)) if row not in header]
    names = [name for row in body if (name := grid.texts[row][0])]
    are_small = 4 * sum(name[0].islower() for name in names) > len(names)
    """Whether names of rows often begin with a small letter; then it is no sign of a second
    line."""
    for above, row in pairwise(body):
        first = first_line_of.get(above, above)
        continues = _has_only_asides(grid, first, row) or (
            rows_are_lines and _continues_words(grid, first, row)
        )
        if (
            rows_are_lines
            and not are_small
            and grid.lone_name(first)
            and grid.texts[row][0][:1].islower()
        ):
            continues = True  # a name whose second line has the values
        if above == row - 1 and continues:
            first_line_of[row] = first
    last_line_of = {first_line_of.get(row, row): row for row in range(len(grid.rows))}
    joined: dict[tuple[int, int], Cell] = {}
    for cell in cells:
        first = first_line_of.get(cell.row, cell.row)
        last = max(last_line_of.get(first, first), cell.row + cell.row_span - 1)
        upper = joined.get((first, cell.col))
        if upper:
            text = " ".join(filter(None, (upper.text, cell.text)))
            cell = replace(upper, text=text, boxes=(*upper.boxes, *cell.boxes))
        joined[first, cell.col] = replace(cell, row=first, row_span=last + 1 - first)
    return list(joined.values())


def _has_only_asides(grid: Grid, above: int, row: int) -> bool:
    """Whether a row contains only brackets below values of the row above ("(0.03)" below "0.12"),
    and in the first column at most the rest of its name."""
    name, *values = grid.texts[row]
    _, *values_above = grid.texts[above]
    is_rest_of_name = not name or name[0].islower() or is_aside(name)
    are_asides = all(
        not text or (is_aside(text) and over)
        for text, over in zip(values, values_above, strict=True)
    )
    return (
        is_rest_of_name
        and any(map(is_value, values_above))
        and are_asides
        and bool(name or any(values))
    )


def _continues_words(grid: Grid, above: int, row: int) -> bool:
    """Whether a row without a name contains the second lines of the cells above. There must be no
    text below a blank cell and no words below a value; and either all cells are words below words,
    or at most half of the cells above have a second line."""
    name, *texts = grid.texts[row]
    _, *over = grid.texts[above]
    is_named = bool(name) and not name[0].islower() and not is_aside(name)
    if is_named or any(text and not up for text, up in zip(texts, over, strict=True)):
        return False
    pairs = [(is_value(text), is_value(up)) for text, up in zip(texts, over, strict=True) if text]
    if not pairs or any(is_up_value and not is_text_value for is_text_value, is_up_value in pairs):
        return False
    are_words = not any(map(any, pairs))
    is_open = len(pairs) < len(texts) or bool(name) or texts[0][0].islower()
    return 2 * len(pairs) <= sum(map(bool, over)) or (are_words and is_open)


def with_row_names_extended(cells: Sequence[Cell], grid: Grid, header: Set[int]) -> list[Cell]:
    """`cells`, where the name of a row is extended over the rows below whose first cells are blank,
    if these rows have the same subject: "Rats | male | 3" above " | female | 4".

    Such a row has a second name, or values in all columns in which the named row has some. The
    latter is enough only if the table has many such rows, because a single one may be a sum.
    """
    body = {
        row: None for row in range(len(grid.rows)) if row not in header and not grid.lone_name(row)
    }
    first = grid.texts[next(iter(body))] if body else []
    named = next((grid.texts[row] for row in body if grid.texts[row][0]), [])
    is_as_full = all(text or not below for text, below in zip(first[1:], named[1:], strict=False))
    if not named or (not first[0] and is_as_full):
        # the first column names no rows, or its names are printed in the middle of their rows
        return list(cells)
    named_below = [
        bool(grid.texts[below][0]) for row, below in pairwise(body) if grid.texts[row][0]
    ]
    """For each named row, whether the next row is named too."""
    n_blank_runs = named_below.count(False)
    n_blank_rows = sum(not grid.texts[row][0] for row in body)
    are_many = n_blank_rows > n_blank_runs or 2 * n_blank_runs >= len(named_below)
    numbers = sorted({cell.row for cell in cells})
    ends: dict[int, int] = {}
    """Id of a cell -> `Cell.row` of the last row that it names."""
    covered: set[tuple[int, int]] = set()
    """`Cell.row` and column of the blank cells that are replaced."""
    current: list[Cell | None] = []
    """For each column, the cell that names the current row."""
    for row, (texts, row_cells) in enumerate(zip(grid.texts, grid.rows, strict=True)):
        n_blank = next((col for col, text in enumerate(texts) if text), 0)
        if row not in body or (
            n_blank and not _has_same_subject(current, row_cells, n_blank, are_many=are_many)
        ):
            current = []
            continue
        for col, cell in enumerate(current[:n_blank]):
            if cell:
                ends[id(cell)] = numbers[row]
                covered.add((numbers[row], col))
        current = [*current[:n_blank], *row_cells[n_blank:]]
    return [
        replace(cell, row_span=max(cell.row_span, ends.get(id(cell), cell.row) + 1 - cell.row))
        for cell in cells
        if (cell.row, cell.col) not in covered
    ]


def _has_same_subject(
    above: Sequence[Cell | None], row_cells: Sequence[Cell | None], n_blank: int, *, are_many: bool
) -> bool:
    """Whether a row whose first `n_blank` cells are blank has the subject of the rows above.
    are_many: whether the table has so many such rows that they are no sums."""
    pairs = [
        (cell.text if cell else "", up.text if up else "")
        for cell, up in zip(row_cells, above, strict=False)
    ][n_blank:]
    second = row_cells[n_blank]
    is_named = second is not None and (second.is_stub or not is_value(second.text))
    is_full = all(text or not up for text, up in pairs)
    return sum(bool(text) for text, _ in pairs) > 1 and ((is_full and are_many) or is_named)


_LONGEST_RUN = 12
Columns = tuple[int, int]
"""First and last column."""


def with_column_names_widened(cells: Sequence[Cell], header: Sequence[int]) -> list[Cell]:
    """`cells`, where each name in a header row above another header row spans all columns that it
    names. header: the header rows, ascending."""
    cells = list(cells)
    for row in reversed(header):
        if row + 1 not in header:
            end = row + 1
            continue
        grid = Grid.of(cells)
        if end - row > MOST_HEADER_ROWS:
            continue
        blocks = _blocks(
            [tuple(filter(None, column)) for column in zip(*grid.texts[row + 1 : end], strict=True)]
        )
        names = [cell for cell in grid.text_cells(row) if cell.col and cell.row == row]
        spans = {cell: _span(cell, grid.texts[row], blocks) for cell in names}
        covered = {col for first, last in spans.values() for col in range(first, last + 1)}
        cells = [
            replace(cell, col=spans[cell][0], col_span=spans[cell][1] + 1 - spans[cell][0])
            if cell in spans
            else cell
            for cell in cells
            if cell in spans or cell.row != row or cell.col not in covered
        ]
    return cells


def _blocks(names: Sequence[tuple[str, ...]]) -> list[Columns]:
    """Runs of columns that belong together: a run of two or more lowest names is repeated ("b | p |
    b | p" has two blocks), or else the names differ only in numbers ("2019 | 2020" is one block).

    names: the names of each column, from top to bottom.
    """
    lowest = [name[-1] if name else "" for name in names]
    for length in range(2, min(len(names) // 2, _LONGEST_RUN) + 1):
        for start in range(1, len(names) - 2 * length + 1):
            run = lowest[start : start + length]
            n_times = 1
            while lowest[start + n_times * length : start + (n_times + 1) * length] == run:
                n_times += 1
            if n_times > 1 and len(set(run)) == length:
                return [
                    (at, at + length - 1) for at in range(start, start + n_times * length, length)
                ]
    blocks: list[Columns] = []
    for col in range(1, len(names)):
        is_alike = names[col] and [*map(shape_of, names[col])] == [*map(shape_of, names[col - 1])]
        if blocks and is_alike and names[col] != names[col - 1]:
            blocks[-1] = (blocks[-1][0], col)
        else:
            blocks.append((col, col))
    return [block for block in blocks if block[0] < block[1]]


def _span(cell: Cell, texts: Sequence[str], blocks: Sequence[Columns]) -> Columns:
    """The columns that a name spans: all blocks that it touches, if the other cells above them are
    blank; else its own columns. texts: of its row."""
    first, last = cell.col, cell.col + cell.col_span - 1
    touched = [block for block in blocks if block[0] <= last and first <= block[1]]
    if touched:
        wide = min(first, touched[0][0]), max(last, touched[-1][1])
        if not any(texts[col] for col in range(wide[0], wide[1] + 1) if not first <= col <= last):
            return wide
    return first, last


_BORDER = " | "
"""Separates the cells of a row in the text of a table, so inside a cell it is replaced by "|"."""


def read_table(cells: Sequence[Cell], *, rows_are_lines: bool = False) -> list[Cell]:
    """`cells` in reading order with the flags `is_header`, `is_stub`, `is_group` and the groups of
    each row.

    Cells with the values of several columns are split, printed lines of one row are joined, and a
    name that is printed once for several rows spans them. If the source marks groups, as by
    indentation on a page, no others are searched. rows_are_lines: rows and columns were found on a
    page (GROBID, a PDF), so a row may be one of several printed lines, and a name may cover only a
    part of its columns.
    """
    cells = without_merged_values(
        replace(cell, text=cell.text.replace(_BORDER, "|")) for cell in without_empty_rows(cells)
    )
    header = header_rows(Grid.of(cells))
    cells = with_column_names_widened(cells, header)
    cells = joined_lines(cells, Grid.of(cells), frozenset(header), rows_are_lines=rows_are_lines)
    # `Cell.row` -> row of the grid: a row in which no cell begins any more is part of the one above
    numbers = {row: index for index, row in enumerate(sorted({cell.row for cell in cells}))}
    names_columns = frozenset(numbers[row] for row in header)
    cells = with_row_names_extended(cells, Grid.of(cells), names_columns)
    if not any(cell.is_group for cell in cells):
        cells = _grouped(
            cells, numbers, Groups(Grid.of(cells), names_columns, rows_are_lines=rows_are_lines)
        )
    marked = []
    for cell in sorted(cells, key=lambda cell: (cell.row, cell.col)):
        is_header = numbers[cell.row] in names_columns
        is_stub = not is_header and not cell.is_group and (cell.col == 0 or cell.is_stub)
        marked.append(replace(cell, is_header=is_header, is_stub=is_stub))
    return marked


def _grouped(cells: Sequence[Cell], numbers: Mapping[int, int], groups: Groups) -> list[Cell]:
    """`cells` with their groups. numbers: `Cell.row` -> row of the grid."""
    grouped = []
    for cell in cells:
        row = numbers[cell.row]
        group = tuple(name.text for name in groups.of_row.get(row, ())) if cell.col == 0 else ()
        if row in groups.lone and cell.text and row not in groups.open_ended:
            group = (cell.text,)
        grouped.append(replace(cell, is_group=row in groups.lone, group=group))
    return grouped


def split_title(cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """The cells above the header, which contain the title of the table or its last lines, and the
    other cells. If there is a second header further down, the cells above the first one are the
    title of one part only, and stay in the table."""
    cells = without_empty_rows(cells)
    grid = Grid.of(cells)
    header, n_title = header_rows(grid), n_title_rows(grid)
    is_group = any(cell.is_group for cell in cells if cell.row < n_title)
    if not n_title or is_group or header[-1] - header[0] >= len(header):
        return [], cells
    title = [cell for cell in cells if cell.row < n_title and cell.text]
    return title, [replace(cell, row=cell.row - n_title) for cell in cells if cell.row >= n_title]
