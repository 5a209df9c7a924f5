"""One reading of a table for all formats: which cells name columns, rows and groups of rows, and
how far they reach.

Printed lines may be one row, and a name printed once may be that of several. Layout tools put words
that are centred above six columns on the one or two in the middle. Such a name is widened over
blank neighbours to the whole of a block of columns whose names come again ("b | p | b | p") or
differ in their numbers only. Being in the middle of some columns is no proof: they may be one more
or one less.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise

from rag_assets.core.domain import Cell
from rag_assets.parsing.tables.grid import (
    Grid,
    is_aside,
    is_value,
    shape_of,
    taken_apart,
    without_empty_rows,
)
from rag_assets.parsing.tables.groups import Groups
from rag_assets.parsing.tables.headers import MOST_HEADER_ROWS, header_rows, n_title_rows


def joined_lines(
    cells: Sequence[Cell], grid: Grid, header: Set[int], *, rows_are_lines: bool
) -> list[Cell]:
    """`cells` with the printed lines of a row in one row: their texts joined, each cell over all of
    the lines.

    Errors in brackets below their values belong to these, and the rest of a name to its beginning.
    Where the rows are printed lines, so do the further lines of words.
    """
    first_of: dict[int, int] = {}
    body = [row for row in range(len(grid.rows)) if row not in header]
    names = [name for row in body if (name := grid.texts[row][0])]
    begin_low = 4 * sum(name[0].islower() for name in names) > len(names)
    for above, row in pairwise(body):
        first = first_of.get(above, above)
        goes_on = _goes_on(grid, first, row) or (
            rows_are_lines and _goes_on_in_words(grid, first, row)
        )
        if (
            rows_are_lines
            and not begin_low
            and grid.lone(first)
            and grid.texts[row][0][:1].islower()
        ):
            goes_on = True  # a name whose second line has the values
        if above == row - 1 and goes_on:
            first_of[row] = first
    last_of: dict[int, int] = {}
    for row in range(len(grid.rows)):
        last_of[first_of.get(row, row)] = row
    whole: dict[tuple[int, int], Cell] = {}
    for cell in cells:
        first = first_of.get(cell.row, cell.row)
        last = max(last_of.get(first, first), cell.row + cell.row_span - 1)
        over = whole.get((first, cell.col))
        text = " ".join(filter(None, (over.text if over else "", cell.text)))
        boxes = (*(over.boxes if over else ()), *cell.boxes)
        base = over or cell
        whole[first, cell.col] = replace(
            base, row=first, text=text, row_span=last + 1 - first, boxes=boxes
        )
    return list(whole.values())


def _goes_on(grid: Grid, above: int, row: int) -> bool:
    """Whether a row holds nothing but asides to the values of the one above and, at most, the rest
    of its name."""
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


def _goes_on_in_words(grid: Grid, above: int, row: int) -> bool:
    """Whether a row without a name of its own holds further lines of the cells above: no text
    stands below a blank, and there are words below words, or half as many cells as above at
    most."""
    name, *texts = grid.texts[row]
    _, *over = grid.texts[above]
    is_named = bool(name) and not name[0].islower() and not is_aside(name)
    if is_named or any(text and not up for text, up in zip(texts, over, strict=True)):
        return False
    pairs = [(is_value(text), is_value(up)) for text, up in zip(texts, over, strict=True) if text]
    if not pairs or any(
        up and not text for text, up in pairs
    ):  # words below a value are no line of it
        return False
    are_words = not any(map(any, pairs))
    is_open = len(pairs) < len(texts) or bool(name) or texts[0][0].islower()
    return 2 * len(pairs) <= sum(map(bool, over)) or (are_words and is_open)


def filled(cells: Sequence[Cell], grid: Grid, header: Set[int]) -> list[Cell]:
    """`cells` with the names of a row over the rows below that have none, where rows of one subject
    follow each other: these have a second name; or text where the named row has it, if several such
    rows stand below one name or half of the names have one: a single one may be a sum."""
    body = {row: None for row in range(len(grid.rows)) if row not in header and not grid.lone(row)}
    first = grid.texts[next(iter(body))] if body else []
    named = next((grid.texts[row] for row in body if grid.texts[row][0]), [])
    is_as_full = all(text or not below for text, below in zip(first[1:], named[1:], strict=False))
    if not named or (not first[0] and is_as_full):
        return list(
            cells
        )  # the first column names no rows, or its names may stand in the middle of theirs
    named_below = [
        bool(grid.texts[below][0]) for row, below in pairwise(body) if grid.texts[row][0]
    ]
    n_blank_runs, n_blank_rows = (
        named_below.count(False),
        sum(not grid.texts[row][0] for row in body),
    )
    recur = n_blank_rows > n_blank_runs or 2 * n_blank_runs >= len(named_below)
    numbers = sorted({cell.row for cell in cells})
    ends: dict[int, int] = {}
    covered: set[tuple[int, int]] = set()
    current: list[Cell | None] = []
    for row, (texts, own) in enumerate(zip(grid.texts, grid.rows, strict=True)):
        n_blank = next((col for col, text in enumerate(texts) if text), 0)
        if row not in body or (n_blank and not _has_subject_of(current, own, n_blank, recur=recur)):
            current = []
            continue
        for col, cell in enumerate(current[:n_blank]):
            if cell:
                ends[id(cell)] = numbers[row]
                covered.add((numbers[row], col))
        current = [*current[:n_blank], *own[n_blank:]]
    return [
        replace(cell, row_span=max(cell.row_span, ends.get(id(cell), cell.row) + 1 - cell.row))
        for cell in cells
        if (cell.row, cell.col) not in covered
    ]


def _has_subject_of(
    above: Sequence[Cell | None], own: Sequence[Cell | None], n_blank: int, *, recur: bool
) -> bool:
    """Whether a row whose first cells are blank has the subject of the rows above. recur: such rows
    are no single sum."""
    pairs = [
        (cell.text if cell else "", up.text if up else "")
        for cell, up in zip(own, above, strict=False)
    ][n_blank:]
    second = own[n_blank]
    is_named = second is not None and (second.is_stub or not is_value(second.text))
    is_full = all(text or not up for text, up in pairs)
    return sum(bool(text) for text, _ in pairs) > 1 and ((is_full and recur) or is_named)


_LONGEST_RUN = 12
Columns = tuple[int, int]
"""First and last column."""


def widened(cells: Sequence[Cell], header: Sequence[int]) -> list[Cell]:
    """`cells` with the names above others, in rows that name columns, over all their columns."""
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
        names = [cell for cell in grid.named(row) if cell.col and cell.row == row]
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
    """Runs of columns that belong together by their names below, each from the top: a run of two or
    more lowest names comes again, or the names differ in their numbers only."""
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
    first, last = cell.col, cell.col + cell.col_span - 1
    touched = [block for block in blocks if block[0] <= last and first <= block[1]]
    if touched:
        wide = min(first, touched[0][0]), max(last, touched[-1][1])
        if not any(texts[col] for col in range(wide[0], wide[1] + 1) if not first <= col <= last):
            return wide
    return first, last  # the first line of a name of its own, or nothing tells how far it reaches


_BORDER = " | "
"""Stands between the cells of a row; inside a cell it is text."""


def read_table(cells: Sequence[Cell], *, rows_are_lines: bool = False) -> list[Cell]:
    """`cells` in reading order with the flags `is_header`, `is_stub`, `is_group` and the groups of
    each row.

    Cells that hold the values of several columns are taken apart, printed lines of one row are put
    together, and a name that is printed once for several rows spans them; a row in which no cell
    begins any more belongs to the one above. Where the source tells groups, as indentation on a
    page does, no others are looked for. rows_are_lines: rows and columns were found on a page
    (GROBID, a PDF): a row may be one printed line of several, and a name may stand over a part of
    its columns only.
    """
    cells = taken_apart(
        replace(cell, text=cell.text.replace(_BORDER, "|")) for cell in without_empty_rows(cells)
    )
    header = header_rows(Grid.of(cells))
    cells = widened(cells, header)
    cells = joined_lines(cells, Grid.of(cells), frozenset(header), rows_are_lines=rows_are_lines)
    numbers = {row: at for at, row in enumerate(sorted({cell.row for cell in cells}))}
    names_columns = frozenset(numbers[row] for row in header)
    cells = filled(cells, Grid.of(cells), names_columns)
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
    grouped = []
    for cell in cells:
        row = numbers[cell.row]
        group = tuple(one.text for one in groups.of_row.get(row, ())) if cell.col == 0 else ()
        if row in groups.lone and cell.text and row not in groups.open_ended:
            group = (cell.text,)
        grouped.append(replace(cell, is_group=row in groups.lone, group=group))
    return grouped


def split_title(cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """The cells above the header that are the table's title, or its end, and the others. Where a
    header comes again further down, they name what is above that one only, and are left to
    `read_table`."""
    cells = without_empty_rows(cells)
    grid = Grid.of(cells)
    header, n_title = header_rows(grid), n_title_rows(grid)
    is_group = any(cell.is_group for cell in cells if cell.row < n_title)
    if not n_title or is_group or header[-1] - header[0] >= len(header):
        return [], cells
    title = [cell for cell in cells if cell.row < n_title and cell.text]
    return title, [replace(cell, row=cell.row - n_title) for cell in cells if cell.row >= n_title]
