"""Printed lines that are one row, and rows whose name is printed once for several."""

from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import pairwise

from rag_assets.core.domain import Cell
from rag_assets.parsing.tables.grid import Grid
from rag_assets.parsing.tables.values import is_aside, is_value


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
