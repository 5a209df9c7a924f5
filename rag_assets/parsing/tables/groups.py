"""Groups of rows: a lone name opens one for the rows below, and it holds as long as that is
certain.

A lone name right below another goes a level deeper, or is its second line. A group ends at the next
one of its level, at a new header, where the indentation returns, and where a row may stand outside
of it: "Net revenues: Net income" would be false. Rows of which that is not known get no group.
"""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace

from rag_assets.core.domain import Cell
from rag_assets.parsing.tables.grid import Grid, kind_of

_MOST_CHANGED = 0.5
"""Share of a row's values that may be of another kind than those of the group's first row."""
_LEAST_ALIKE = 1
"""With more groups than this of the same names, another one that has them is whole."""
_LEAST_INDENT = 0.004
"""Of the page's width."""
_MOST_PARTS = 40
"""Rows that are summed up to look for their total."""
_OPEN_END = re.compile(r"[,(–-]\Z|\([^()]*\Z")
_NUMBER = re.compile(r"[-−–+(]?\s?[$€£]?\s?(\d[\d,]*(?:\.\d+)?)\)?")


@dataclass
class _GroupPath:
    """The groups that are open at a row."""

    path: tuple[Cell, ...] = ()
    at: int = -1
    """The row of the last name."""
    rows: list[int] = field(default_factory=list)
    """The rows below the last name so far."""
    is_certain: bool = True


class Groups:
    def __init__(self, grid: Grid, header: Set[int], *, rows_are_lines: bool) -> None:
        self._grid, self._header, self._rows_are_lines = grid, header, rows_are_lines
        self.lone = self._lone_rows()
        self._width = max((len(texts[0]) for texts in grid.texts if texts), default=0)
        names = self._names_below()
        n_times = Counter(map(frozenset, names.values()))
        self._repeated = {below for below, n in n_times.items() if n > _LEAST_ALIKE}
        self._sizes = set(map(len, self._repeated))
        self._n_groups_of = Counter(name for below in names.values() for name in set(below))
        self._n_groups_of.update(cell.text for cell in self.lone.values())
        self.open_ended: set[int] = set()
        """Rows of names of which it is not certain which rows below they are the groups of."""
        self.of_row = self._read()

    def _lone_rows(self) -> dict[int, Cell]:
        """Row -> the name that stands alone in it and has rows below."""
        grid, found = self._grid, {}
        is_last = True
        for row in reversed(range(len(grid.rows))):
            cell = None if row in self._header else grid.lone(row)
            if cell and not is_last:
                found[row] = cell
            is_last = is_last and cell is not None  # notes
        return dict(reversed(found.items()))

    def _names_below(self) -> dict[int, list[str]]:
        """The row of a lone name -> the names of the rows up to the next one, or to a header."""
        names: dict[int, list[str]] = {}
        nearest = -1
        for row, texts in enumerate(self._grid.texts):
            nearest = row if row in self.lone else -1 if row in self._header else nearest
            if nearest >= 0 and nearest != row:
                names.setdefault(nearest, []).append(texts[0])
        return names

    def _read(self) -> dict[int, tuple[Cell, ...]]:
        """Row -> the groups that it is in for certain, outermost first."""
        of_row: dict[int, tuple[Cell, ...]] = {}
        now = _GroupPath()
        for row in range(len(self._grid.rows)):
            if row in self._header:
                now = now if not now.rows else _GroupPath()
            elif row in self.lone:
                now = _GroupPath(self._path(now, row), row)
            else:
                if (stay_open := self._by_indentation(now, row)) is not None:
                    now.path = stay_open
                elif now.path and self._may_stand_outside(now, row):
                    now.is_certain = False
                    self.open_ended.add(now.at)
                now.rows.append(row)
                if now.is_certain:
                    of_row[row] = now.path
        return of_row

    def _path(self, now: _GroupPath, row: int) -> tuple[Cell, ...]:
        """The groups that a lone name opens or leaves open."""
        cell = self.lone[row]
        if now.path and not now.rows and self._is_second_line(now.path[-1], cell):
            return (*now.path[:-1], replace(now.path[-1], text=f"{now.path[-1].text} {cell.text}"))
        if not now.path or (now.rows and self._is_title(cell)):
            return (cell,)
        if not now.rows:
            return (*now.path, cell)
        lefts = [_left(one) for one in (*now.path, cell)]
        if max(lefts) - min(lefts) > _LEAST_INDENT:
            return (
                *(
                    one
                    for one, left in zip(now.path, lefts, strict=False)
                    if left + _LEAST_INDENT < lefts[-1]
                ),
                cell,
            )
        comes_again = self._n_groups_of[cell.text] > 1 or self._n_groups_of[now.path[-1].text] > 1
        inner = [one for one in now.path if not self._is_title(one)]
        return (*filter(self._is_title, now.path), *(inner[:-1] if comes_again else ()), cell)

    def _by_indentation(self, now: _GroupPath, row: int) -> tuple[Cell, ...] | None:
        """The groups that stay open at a row; None where rows are not indented below the name of
        their group."""
        first = now.rows[0] if now.rows else row
        *groups, first_left, left = (
            _left(one) for one in (*now.path, *(self._grid.rows[at][0] for at in (first, row)))
        )
        if not groups or first_left <= groups[-1] + _LEAST_INDENT:
            return None
        return tuple(
            one for one, its in zip(now.path, groups, strict=True) if its + _LEAST_INDENT < left
        )

    def _is_title(self, cell: Cell) -> bool:
        """Whether a lone name is printed over all columns or in their middle: it stands above those
        of the first."""
        return cell.col > 0 or cell.col_span == self._grid.n_columns

    def _is_second_line(self, above: Cell, cell: Cell) -> bool:
        """Whether a lone name ends the one above it: it does not begin as a name, the one above is
        left open, or both together are wider than the column."""
        if self._is_title(above) != self._is_title(cell):
            return False
        if cell.text[0].islower() or cell.text[0] == "(" or _OPEN_END.search(above.text):
            return True
        return (
            self._rows_are_lines and len(above.text) + 1 + len(cell.text.split()[0]) > self._width
        )

    def _may_stand_outside(self, now: _GroupPath, row: int) -> bool:
        """Whether a row below a group may belong to none: its values are of other kinds, the group
        has had its total, or it has all the names of several others already."""
        if not now.rows or self._n_groups_of[self._grid.texts[row][0]] > 1:
            return False
        names = (self._grid.texts[other][0] for other in now.rows)
        is_whole = len(now.rows) in self._sizes and frozenset(names) in self._repeated
        is_after_total = 2 < len(now.rows) <= _MOST_PARTS and self._is_total(
            now.rows[-1], now.rows[:-1]
        )
        return is_whole or is_after_total or self._is_of_other_kinds(now.rows[0], row)

    def _is_of_other_kinds(self, first: int, row: int) -> bool:
        pairs = zip(self._grid.texts[first][1:], self._grid.texts[row][1:], strict=True)
        kinds = [(kind_of(one), kind_of(other)) for one, other in pairs]
        known = [one != other for one, other in kinds if one and other]
        return sum(known) > _MOST_CHANGED * len(known)

    def _is_total(self, row: int, parts: Sequence[int]) -> bool:
        """Whether each number of a row is the sum of those above it."""
        columns = [
            [_number(self._grid.texts[at][col]) for at in (row, *parts)]
            for col in range(1, self._grid.n_columns)
        ]
        sums = [
            (column[0], sum(filter(None, column[1:])))
            for column in columns
            if column[0] is not None
        ]
        return bool(sums) and all(round(total - of_parts, 6) == 0 for total, of_parts in sums)


def _left(cell: Cell | None) -> float:
    """The left edge of a cell; 0 where it has none."""
    return cell.boxes[0].left if cell and cell.boxes else 0.0


def _number(text: str) -> float | None:
    found = _NUMBER.fullmatch(text)
    return float(found[1].replace(",", "")) * (-1 if text[0] in "-−–(" else 1) if found else None
