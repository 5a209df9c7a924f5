"""Tables without rules: runs of lines whose cells are below each other, in the lines of one column
of text."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rag_assets.parsing.formats.pdf.layout import Line
from rag_assets.parsing.tables.values import is_value

_MIN_ROWS = 2
_MAX_LABEL_FILL = 0.65
"""Lines between the rows of a table (labels, wrapped cells) are shorter than this share of the
column."""
_MAX_ROW_PITCH = 3.0
_STUB_EMS = 2.0
_HEADER_GAP = 1.5
_APART = 0.9


def runs_of_rows(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Runs [start, end) of table rows with the labels between them; at least two rows whose cells
    are aligned.

    A run ends above names of columns that come after values and a line apart: there another table
    begins.
    """
    for start, end in _aligned_runs(lines):
        has_values = False
        last = start
        for at in range(start, end):
            if not _is_row(lines[at]):
                continue
            names_columns = all(map(_is_name, lines[at].cells[1:]))
            if (
                names_columns
                and has_values
                and lines[at].top - lines[last].bottom >= _APART * lines[at].height
            ):
                yield start, last + 1
                start, has_values = _with_names_above(lines, at, last + 1, lines[at:end]), False
            has_values = has_values or any(map(is_value, lines[at].cells[1:]))
            last = at
        yield start, end


def _is_name(text: str) -> bool:
    return any(map(str.isalnum, text)) and not is_value(text)


def _aligned_runs(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    at = start = 0
    while at < len(lines):
        if not _is_row(lines[at]):
            at += 1
            continue
        end, rows = at + 1, [lines[at]]
        for index in range(at + 1, len(lines)):
            if not _goes_on(lines[index - 1], lines[index]):
                break
            if _is_row(lines[index]):
                rows.append(lines[index])
                end = index + 1
        if len(rows) >= _MIN_ROWS and _are_aligned(rows):
            while end < len(lines) and _wraps_cell(
                rows[-1], lines[end], lines[end].top - lines[end - 1].bottom
            ):
                end += 1
            yield _with_names_above(lines, at, start, lines[at:end]), end
        at = start = end


def _with_names_above(lines: Sequence[Line], at: int, first: int, run: Sequence[Line]) -> int:
    """The first of the single lines above the row `at`, from line `first` on, that are part of its
    header.

    run: the lines from the row on.
    """
    edge = (
        min(line.left for line in run) + _STUB_EMS * run[0].size
    )  # names of rows begin left of it
    most = max(len(line.cells) for line in run)
    names_end = max(line.cell_rights[0] for line in run if len(line.cells) == most)
    while at > first and _stands_above(lines[at], lines[at - 1], edge, names_end):
        at -= 1
    return at


def _is_row(line: Line) -> bool:
    return len(line.cells) > 1


def _goes_on(above: Line, line: Line) -> bool:
    if (
        line.table
        or above.table
        or not -0.5 * line.height <= line.top - above.bottom <= _MAX_ROW_PITCH * line.height
    ):
        return False
    return _is_row(line) or (line.right - line.left) <= _MAX_LABEL_FILL * line.column.width


def _stands_above(row: Line, line: Line, edge: float, names_end: float) -> bool:
    """Whether a single line above the first row is part of the header: right of `edge` and over
    cells of the row, or directly above it, with its middle over them and right of all names of
    rows, which end at `names_end`: the names of columns may be wider than their values."""
    if line.table or row.column != line.column or row.top - line.bottom > _HEADER_GAP * line.height:
        return False
    is_over = line.left >= row.left - line.size and line.right <= row.right + line.size
    is_around = (
        _is_row(row)
        and line.left >= names_end
        and row.left <= (line.left + line.right) / 2 <= row.right
    )
    return line.left >= edge and (is_over or is_around)


def _wraps_cell(row: Line, line: Line, gap: float) -> bool:
    """Whether a single line beside the first or last row, `gap` points from the table, is part of a
    cell of it."""
    if _is_row(line) or line.table or gap > 0.5 * line.height or row.column != line.column:
        return False
    cells = zip(row.cell_lefts[1:], row.cell_rights[1:], strict=True)
    return line.left >= row.cell_rights[0] and any(
        abs(left - line.left) <= 0.3 * line.size or (line.left < right and left < line.right)
        for left, right in cells
    )


def _are_aligned(rows: Sequence[Line]) -> bool:
    """Whether most neighbouring rows share the edge of a cell after the first."""
    shared = 0
    for above, row in pairwise(rows):
        tolerance = 0.6 * row.size
        lefts = any(
            abs(a - b) <= tolerance for a in above.cell_lefts[1:] for b in row.cell_lefts[1:]
        )
        rights = any(
            abs(a - b) <= tolerance for a in above.cell_rights[1:] for b in row.cell_rights[1:]
        )
        centres = any(
            abs(a - b) <= 2 * tolerance for a in _centres(above)[1:] for b in _centres(row)[1:]
        )
        shared += lefts or rights or centres
    return shared * 2 >= len(rows) - 1


def _centres(row: Line) -> list[float]:
    return [left + right for left, right in zip(row.cell_lefts, row.cell_rights, strict=True)]
