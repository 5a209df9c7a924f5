"""The cells of a table by row and column, and tests on the text of a cell: is it a value or a
name?"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rag_assets.core.domain import Box, Cell

_SAMPLE_SIZE = re.compile(r"\bn\s*=\s*[\d,]+", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\w.,$€£-])(?:19|20)\d\d(?:[-–/](?:(?:19|20)?\d\d))?(?![\d%]|[.,]\d)")
_STATISTIC = re.compile(r"[^\W\d_]{1,3}²?\([\d.,=nN]+\)")
"""A statistic with its degrees of freedom, "F(1, 194)", without a result."""
_CODE = re.compile(r"[^\W\d_](?:[^\W\d]|-)*+\d[\w-]*")
_MOST_LETTERS_IN_VALUE = 0.34
_BRACKET = r"\([^()]*\)|\[[^\[\]]*\]"
_VALUE = r"(?:[<>≤≥=]\s?)?[-−–+]?\s?[$€£]?\.?\d[\d.,]*%?(?:\s?[*†‡]+)?"
_VALUES = (re.compile(rf"{_VALUE}(?:\s*(?:{_BRACKET}))?"), re.compile(rf"{_VALUE}|{_BRACKET}"))
"""A value with the bracket that follows it, "0.12 (0.04)", or a value or a bracket by itself."""
_ASIDE = re.compile(rf"(?:{_BRACKET}|\s)+")
_MARKS = re.compile(r"[%±/×]|[(\[](?=[^\d\n]{0,99}\d)|\.\d|(?<=\d)[-–]\d")
_DIGITS = re.compile(r"\d+")


def is_value(text: str) -> bool:
    """Whether a cell contains a value rather than a name: digits and few letters. Years ("2018 vs
    2017"), "n = 20", "F(1, 194)" and codes such as "BMS-986158" are names."""
    bare = "".join(_YEAR.sub("", _SAMPLE_SIZE.sub("", text)).split()).replace("()", "")
    is_name = _STATISTIC.fullmatch(bare) or _CODE.fullmatch(text.strip())
    if is_name or bare.endswith(",") or not any(map(str.isdecimal, bare)):
        return False
    return sum(map(str.isalpha, bare)) < _MOST_LETTERS_IN_VALUE * len(bare)


def is_aside(text: str) -> bool:
    """Whether a cell contains nothing but brackets, like the error that is printed below a value:
    "(0.03)"."""
    return _ASIDE.fullmatch(text) is not None


def kind_of(text: str) -> str:
    """The kind of a cell, which the cells of a column share: "words" for a name; for a value
    "value" and its marks, such as "%" and brackets; empty for a cell without content, such as
    "-"."""
    if not is_value(text):
        return "words" if any(map(str.isalnum, text)) else ""
    return "value" + "".join(sorted({_DIGITS.sub("0", mark) for mark in _MARKS.findall(text)}))


def shape_of(text: str) -> str:
    """The text with "0" for each number, so that texts that differ only in numbers have the same
    shape: "Age 23" and "Age 33"."""
    return _DIGITS.sub("0", text).replace(",0", "")


def values_in(text: str, n_columns: int) -> list[str] | None:
    """The values of a cell that spans `n_columns` columns, one per column: "2.8 (2.2) 2.6 (2.2)" ->
    "2.8 (2.2)", "2.6 (2.2)". The first may be the name of the row. None if the numbers of values
    and columns differ ("May 31, 2018")."""
    for pattern in _VALUES:
        values = [match[0] for match in pattern.finditer(text)]
        if not all(map(is_value, values)):
            continue
        values = [value.strip() for value in values]
        rest = pattern.sub("", text).strip()
        if len(values) == n_columns and not rest:
            return values
        is_name = text.startswith(rest) and not rest[:1].isdigit()
        if len(values) == n_columns - 1 > 1 and is_name:
            return [rest, *values]
    return None


def repeats_in(text: str, n_columns: int) -> list[str] | None:
    """The labels of a header cell that spans `n_columns` columns, if they differ only in numbers:
    "Age 23 Age 33" -> "Age 23", "Age 33". Else None."""
    words = text.split()
    each, rest = divmod(len(words), n_columns)
    labels = (
        [" ".join(words[at : at + each]) for at in range(0, len(words), each)]
        if each and not rest
        else []
    )
    is_alike = len(set(map(shape_of, labels))) == 1 and _DIGITS.search(text) is not None
    return labels if is_alike and len(set(labels)) == n_columns else None


_MOST_COLUMNS = 500


@dataclass(frozen=True)
class Grid:
    """The cells of a table by row and column; a merged cell is at every position that it covers."""

    rows: tuple[tuple[Cell | None, ...], ...]
    """Only rows in which a cell begins, so an index here may differ from `Cell.row`."""

    @classmethod
    def of(cls, cells: Sequence[Cell]) -> "Grid":
        numbers = sorted({cell.row for cell in cells})
        n_cols = min(max((cell.col + cell.col_span for cell in cells), default=0), _MOST_COLUMNS)
        rows: list[list[Cell | None]] = [[None] * n_cols for _ in numbers]
        for cell in cells:
            columns = range(min(cell.col, n_cols), min(cell.col + cell.col_span, n_cols))
            for row in rows[
                bisect_left(numbers, cell.row) : bisect_left(numbers, cell.row + cell.row_span)
            ]:
                row[columns.start : columns.stop] = [cell] * len(columns)
        return cls(tuple(map(tuple, rows)))

    @cached_property
    def texts(self) -> list[list[str]]:
        """The texts of each row, one per column; empty if there is no cell."""
        return [[cell.text.strip() if cell else "" for cell in row] for row in self.rows]

    @property
    def n_columns(self) -> int:
        return len(self.rows[0]) if self.rows else 0

    def text_cells(self, row: int) -> list[Cell]:
        """The cells of a row that have text; a merged cell only once."""
        return list(
            {id(cell): cell for cell in self.rows[row] if cell and cell.text.strip()}.values()
        )

    def lone_name(self, row: int) -> Cell | None:
        """The only cell with text in a row, if that is a name; else None. Such a row may open a
        group of rows."""
        cells = self.text_cells(row)
        if len(cells) != 1 or self.n_columns < 2:
            return None
        is_name = not is_value(cells[0].text) or (
            cells[0].col == 0 and any(map(str.isalpha, cells[0].text))
        )
        return cells[0] if is_name else None

    def own_boxes(self, row: int) -> tuple[Box, ...]:
        """The boxes of the cells with text that begin in this row, each once."""
        above = {id(cell) for cell in self.rows[row - 1]} if row else set()
        begun = (cell for cell in self.text_cells(row) if id(cell) not in above)
        return tuple(dict.fromkeys(box for cell in begun for box in cell.boxes))


def without_empty_rows(cells: Sequence[Cell]) -> list[Cell]:
    """`cells` in reading order, without the rows that have no text; the other rows are renumbered
    from 0."""
    kept_rows = sorted({cell.row for cell in cells if cell.text})
    new_row = {row: index for index, row in enumerate(kept_rows)}
    kept = []
    for cell in sorted(cells, key=lambda cell: (cell.row, cell.col)):
        if cell.row in new_row:
            end = bisect_left(kept_rows, cell.row + cell.row_span)
            kept.append(replace(cell, row=new_row[cell.row], row_span=end - new_row[cell.row]))
    return kept


def without_merged_values(cells: Iterable[Cell]) -> list[Cell]:
    """`cells`, where a cell over several columns that contains one value per column, such as
    "2.8 (2.2) 2.6 (2.2)", is split into one cell per column.

    Words are not split, because two columns may share a heading of two words.
    """
    split: list[Cell] = []
    for cell in cells:
        n_columns = min(cell.col_span, _MOST_COLUMNS)
        pieces = (
            (values_in(cell.text, n_columns) or repeats_in(cell.text, n_columns))
            if n_columns > 1
            else None
        )
        texts = pieces or [cell.text]
        span = 1 if pieces else cell.col_span
        split += [
            replace(cell, col=cell.col + nth, col_span=span, text=text)
            for nth, text in enumerate(texts)
        ]
    return split
