"""Finds groups of rows. A lone name (a row whose only text is a name) opens a group for the rows
below it.

A lone name right below another one opens a group inside that group, or is its second line. A group
ends at the next group of the same level, at a new header, and where the indentation goes back. A
row that may be outside of the group, and all rows after it, get no group, because a false group
("Net revenues: Net income") is worse than none.
"""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace

from rag_assets.core.domain import Cell
from rag_assets.parsing.tables.grid import Grid, kind_of

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
