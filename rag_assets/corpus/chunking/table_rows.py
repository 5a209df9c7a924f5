"""A table becomes one unit per row, each readable by itself: "Group: A | Ferritin (ng/mL): 12".

The words of the header are repeated in every row, so they make no unit of their own, unless a label would be lost: that
of a column without values. A table without a header keeps its lines as they are; so does one whose source tells no
cells apart (a PDF whose columns are in doubt), where a label might land on the wrong column.

Header rows are those the source marks, or else rows of words above rows of values (most sources mark none). A matrix of
correlations numbers its columns as its rows, "3. Working memory": the number is replaced by the name of that row.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_assets.core.domain import Box, Cell, Span, all_boxes, spans_between
from rag_assets.corpus.chunking.units import PlacedBlock, Unit, line_spans, repeated_title, verbatim_units, with_caption

CELL_SEPARATOR = " | "


@dataclass(frozen=True)
class Grid:
    """A table's cells by position; a merged cell is at every position it covers."""

    rows: tuple[tuple[Cell | None, ...], ...]

    def texts(self, row: int) -> list[str]:
        return [cell.text.strip() if cell else "" for cell in self.rows[row]]

    def joined(self, first: int, end: int) -> list[str]:
        """The texts of rows `[first, end)`, column by column."""
        columns = zip(*(self.texts(row) for row in range(first, end)), strict=True)
        return [" ".join(text for text in column if text) for column in columns]

    def n_distinct(self, row: int) -> int:
        """Cells of the row that are not blank, a merged one counted once."""
        return len({id(cell) for cell in self.rows[row] if cell and cell.text.strip()})

    def own_boxes(self, row: int) -> tuple[Box, ...]:
        """Boxes of the cells with text that begin in this row, each once."""
        above = {id(cell) for cell in self.rows[row - 1]} if row else set()
        own = (cell for cell in self.rows[row] if cell and cell.text.strip() and id(cell) not in above)
        return tuple(dict.fromkeys(box for cell in own for box in cell.boxes))


def row_units(placed: PlacedBlock) -> list[Unit]:
    """The caption's sentences, then the rows, each with its own cells' boxes."""
    text, title = placed.block.text, repeated_title(placed.block)
    lines = [match.span() for match in _LINES.finditer(text)]
    grid = grid_of(placed.block.cells, len(lines))
    n_header = n_header_rows(grid) if placed.block.cells else 0
    if n_header == 0:
        return with_caption(placed, verbatim_units(placed, line_spans(text), title))
    labels = column_labels(grid, n_header)
    header = CELL_SEPARATOR.join(label for label in labels if label).replace("\n", " ")
    rows = [(first, end, _linearised(grid, first, end, labels)) for first, end in printed_rows(grid, n_header)]
    if any(line for _, _, line in rows) and _has_unused(labels, grid, n_header):
        rows.insert(0, (0, n_header, header))
    units: list[Unit] = []
    for first, end, line in rows:
        if not line:
            continue
        place = (lines[first][0] if units else 0, lines[end - 1][1])  # the first one includes the header rows
        boxes = tuple(box for row in range(first, end) for box in grid.own_boxes(row))
        units.append(
            Unit(
                text=line,
                start=placed.start + place[0],
                end=placed.start + place[1],
                spans=(_row_span(placed, boxes, (lines[first][0], place[1]), len(line)),),
                kind=placed.block.kind,
                block=placed.index,
                section_path=placed.block.section_path,
                gap="\n" if units else "",
                prefix=title[0],
                prefix_spans=title[1],
                is_linearised=True,
            )
        )
    if not units:  # nothing below the header has text
        return with_caption(placed, verbatim_units(placed, line_spans(text), title))
    return with_caption(placed, units)


def _has_unused(labels: Sequence[str], grid: Grid, n_header: int) -> bool:
    """Whether a label is used in no row, because its column has no value."""
    below = [row for row in range(n_header, len(grid.rows)) if grid.n_distinct(row) > 1]  # a lone cell takes no label
    used = {label for row in below for label, text in zip(labels, grid.texts(row), strict=True) if text}
    return not used.issuperset(label for label in labels if label)


def _linearised(grid: Grid, first: int, end: int, labels: Sequence[str]) -> str:
    """ "label: value" for every cell that is not blank; a lone cell (a heading within the table) stays as it is."""
    texts = grid.joined(first, end)
    if end == first + 1 and grid.n_distinct(first) == 1:
        return next(text for text in texts if text)
    return CELL_SEPARATOR.join(
        f"{label}: {text}" if label else text for label, text in zip(labels, texts, strict=True) if text
    ).replace("\n", " ")


def _row_span(placed: PlacedBlock, own: tuple[Box, ...], line: tuple[int, int], length: int) -> Span:
    """The whole row as one span at the place of its line, with the boxes of its own cells if they have any."""
    source_start = placed.start + line[0]
    if own:
        first, last = min(box.page for box in own), max(box.page for box in own)
        label_of = {span.page_start: span.label_start for span in placed.block.spans}
        label_of |= {span.page_end: span.label_end for span in placed.block.spans}
        return Span(0, length, first, last, own, source_start, None, label_of.get(first), label_of.get(last))
    around = spans_between(placed.block.spans, *line)
    if not around:
        return Span(0, length, None, None, (), source_start)
    return Span(
        0,
        length,
        around[0].page_start,
        around[-1].page_end,
        all_boxes(around),
        source_start,
        around[0].page_confidence,
        around[0].label_start,
        around[-1].label_end,
    )


_MOST_COLUMNS = 500
_MOST_HEADER_ROWS = 4
_LONGEST_LABEL = 80
_YEAR = re.compile(r"(?:19|20)\d\d(?:\s?[-–/]\s?(?:(?:19|20)?\d\d))?")
_SAMPLE_SIZE = re.compile(r"\bn\s*=\s*[\d,]+", re.IGNORECASE)
_NUMBERED_NAME = re.compile(r"\(?(\d{1,2})[.):]?\s+\D.*", re.DOTALL)
_NUMBER = re.compile(r"\(?(\d{1,2})[.)]?")
_LEAST_NUMBERED = 2
_MOST_LETTERS_IN_VALUE = 0.34
_LEAST_VALUES_BELOW = 0.3
_BRACKET = r"\([^()]*\)|\[[^\[\]]*\]"
_VALUE = r"(?:[<>≤≥=]\s?)?[-−–+]?\s?[$€£]?\.?\d[\d.,]*%?(?:\s?[*†‡]+)?"
_VALUES = (re.compile(rf"{_VALUE}(?:\s*(?:{_BRACKET}))?"), re.compile(rf"{_VALUE}|{_BRACKET}"))
"""A value with the bracket that follows it, "0.12 (0.04)", or a value or a bracket by itself."""
_ASIDE = re.compile(rf"(?:{_BRACKET}|\s)+")
_DIGITS = re.compile(r"\d+")
_LINES = re.compile(r"^.*$", re.MULTILINE)


def grid_of(cells: Sequence[Cell], n_lines: int) -> Grid:
    """The cells by line and column.

    A row all of whose cells began above has no line. No rows at all when the cells do not go with the lines: their
    text has no place in the block then.
    """
    numbers = sorted({cell.row for cell in cells})
    if len(numbers) != n_lines:
        return Grid(())
    n_cols = min(max(cell.col + cell.col_span for cell in cells), _MOST_COLUMNS)
    rows: list[list[Cell | None]] = [[None] * n_cols for _ in numbers]
    for cell in cells:
        first, last = bisect_left(numbers, cell.row), bisect_left(numbers, cell.row + cell.row_span)
        columns = range(cell.col, min(cell.col + cell.col_span, n_cols))
        own = _cells_in(cell, len(columns))
        for row in rows[first:last]:
            row[columns.start : columns.stop] = own
    return Grid(tuple(tuple(row) for row in rows))


def _cells_in(cell: Cell, n_columns: int) -> list[Cell]:
    """The cell of each column: the cell itself, or a piece for each column if several cells were read as one
    ("2.8 (2.2) 2.6 (2.2)" over two columns)."""
    pieces = (_values_in(cell.text, n_columns) or _repeats_in(cell.text, n_columns)) if n_columns > 1 else None
    if pieces is None:
        return [cell] * n_columns
    return [replace(cell, col=cell.col + nth, col_span=1, text=text) for nth, text in enumerate(pieces)]


def _values_in(text: str, n_columns: int) -> list[str] | None:
    """One value for each column, the first of which may be the row's name; None for any other text."""
    for pattern in _VALUES:
        values = list(pattern.finditer(text))
        between = pattern.sub("", text).strip()
        if len(values) == n_columns and not between:
            return [value[0].strip() for value in values]
        if len(values) == n_columns - 1 > 1 and text.startswith(between) and not between[:1].isdigit():
            return [between, *(value[0].strip() for value in values)]
    return None


def _repeats_in(text: str, n_columns: int) -> list[str] | None:
    """One label for each column; they differ in their numbers only: "Age 23 (n = 12) Age 33 (n = 14)"."""
    words = text.split()
    each, rest = divmod(len(words), n_columns)
    labels = [" ".join(words[at : at + each]) for at in range(0, len(words), each)] if each and not rest else []
    shapes = {_DIGITS.sub("0", label).replace(",0", "") for label in labels}
    return labels if len(shapes) == 1 and _DIGITS.search(text) and len(set(labels)) == n_columns else None


def n_header_rows(grid: Grid) -> int:
    """How many leading rows name the columns; 0 when none does, or nothing would be left to name."""
    n_rows = len(grid.rows)
    marked = 0
    while marked < n_rows and (cells := list(filter(None, grid.rows[marked]))) and all(one.is_header for one in cells):
        marked += 1
    n_header = marked or _n_inferred(grid)
    return n_header if n_header < n_rows else 0


def printed_rows(grid: Grid, n_header: int) -> list[tuple[int, int]]:
    """The rows below the header as `[first, end)`: a row with what is printed below it belongs to it, as errors in
    brackets ("(0.03)" below "0.12") and the rest of its name are."""
    found: list[tuple[int, int]] = []
    for row in range(n_header, len(grid.rows)):
        if found and _goes_on(grid, found[-1][0], row):
            found[-1] = (found[-1][0], row + 1)
        else:
            found.append((row, row + 1))
    return found


def _goes_on(grid: Grid, above: int, row: int) -> bool:
    """Whether a row holds nothing but asides to the values of the one above and, at most, the rest of its name."""
    name, *values = grid.texts(row)
    _, *values_above = grid.texts(above)
    is_rest_of_name = not name or name[0].islower() or bool(_ASIDE.fullmatch(name))
    has_values = any(_is_value(text) for text in values_above)
    are_asides = all(
        not text or (_ASIDE.fullmatch(text) and over) for text, over in zip(values, values_above, strict=True)
    )
    return is_rest_of_name and has_values and are_asides and bool(name or any(values))


def _n_inferred(grid: Grid) -> int:
    """The header rows of a table that marks none.

    The first row names the columns when it holds words only and the rows below hold values, or are many columns of
    words; further rows belong to it while the row above leaves something open (merged, blank or repeated cells).
    """
    n_most = min(_MOST_HEADER_ROWS, len(grid.rows) - 1)
    n_header = 0
    while n_header < n_most and _stands_above(grid, n_header):
        n_header += 1
    while n_header < n_most and (_goes_below(grid, n_header) if n_header else _names_columns(grid, n_header)):
        n_header += 1
    if not any(_names_columns(grid, row) for row in range(n_header)):
        return 0
    below = [text for row in range(n_header, len(grid.rows)) for text in grid.texts(row)[1:] if text]
    has_values = sum(_is_value(text) for text in below) >= _LEAST_VALUES_BELOW * max(len(below), 1)
    return n_header if below and (has_values or len(grid.rows[0]) > 2) else 0


def _names_columns(grid: Grid, row: int) -> bool:
    return grid.n_distinct(row) >= 2 and (_holds_words_only(grid.texts(row)) or bool(_numbered_columns(grid, row)))


def _holds_words_only(texts: Sequence[str]) -> bool:
    return all(len(text) <= _LONGEST_LABEL and not _is_value(text) for text in texts if text)


def _stands_above(grid: Grid, row: int) -> bool:
    """Whether a row names columns but no rows: words only, and an empty first column."""
    texts = grid.texts(row)
    return not texts[0] and any(texts) and _holds_words_only(texts)


def _goes_below(grid: Grid, row: int) -> bool:
    """Whether the header goes on with a row: it names columns where the rows above leave something open, only has
    words below a blank, or holds asides to the row above, "(n = 20)"."""
    texts, above = grid.texts(row), grid.texts(row - 1)
    if not _names_columns(grid, row):
        is_below_blank = any(text and not over for text, over in zip(texts, above, strict=True))
        return _stands_above(grid, row) and is_below_blank
    are_asides = all(_ASIDE.fullmatch(text) for text in texts[1:] if text)
    return "" in above[1:] or len(set(above[1:])) < len(above[1:]) or are_asides


def _numbered_columns(grid: Grid, row: int) -> dict[int, str]:
    """Column -> name of the row that has its number, in a matrix: "Variable | M | 1 | 2" above "1. Age", "2. Sex"."""
    texts = grid.texts(row)
    numbers = {col: found[1] for col, text in enumerate(texts) if col and (found := _NUMBER.fullmatch(text))}
    names: dict[str, str] = {}
    for below in range(row + 1, len(grid.rows)):
        found = _NUMBERED_NAME.fullmatch(grid.texts(below)[0])
        if found:
            names.setdefault(found[1], found[0])
    others = [text for col, text in enumerate(texts) if col not in numbers]
    is_matrix = len(numbers) >= _LEAST_NUMBERED and set(numbers.values()) <= set(names) and _holds_words_only(others)
    return {col: names[number] for col, number in numbers.items()} if is_matrix else {}


def _is_value(text: str) -> bool:
    """Whether a cell holds a value rather than a name: digits and few letters, neither a year nor "n = 20"."""
    bare = "".join(_SAMPLE_SIZE.sub("", text).split())
    if not any(character.isdigit() for character in bare) or _YEAR.fullmatch(bare):
        return False
    return sum(character.isalpha() for character in bare) < _MOST_LETTERS_IN_VALUE * len(bare)


def column_labels(grid: Grid, n_header: int) -> list[str]:
    """One label per column: the header cells above it, joined, equal ones once."""
    rows = (dict(enumerate(grid.texts(row))) | _numbered_columns(grid, row) for row in range(n_header))
    columns = zip(*(row.values() for row in rows), strict=True)
    return [" ".join(dict.fromkeys(text for text in column if text)) for column in columns]
