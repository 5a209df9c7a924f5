"""A table becomes one unit per row, each readable by itself: "Group: A | Ferritin (ng/mL): 12".

The words of the header are repeated in every row, so they make no unit of their own, unless a label would be lost: that
of a column without values. A table without a header keeps its lines as they are; so does one whose source tells no
cells apart (a PDF whose columns are in doubt), where a label might land on the wrong column. What is a header, and
which printed lines are one row, is decided in `table_grid`.
"""

from collections.abc import Sequence

from rag_assets.core.domain import Box, Span, all_boxes, spans_between
from rag_assets.corpus.chunking.table_grid import Grid, column_labels, grid_of, n_header_rows, printed_rows
from rag_assets.corpus.chunking.units import PlacedBlock, Unit, line_spans, repeated_title, verbatim_units, with_caption

CELL_SEPARATOR = " | "


def row_units(placed: PlacedBlock) -> list[Unit]:
    """The caption's sentences, then the rows, each with its own cells' boxes."""
    text, title = placed.block.text, repeated_title(placed.block)
    lines = _all_lines(text)
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
        place = (lines[first][0] if units else 0, lines[end - 1][1])  # the first one stands for the header rows too
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


def _all_lines(text: str) -> list[tuple[int, int]]:
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append((at, at + len(line)))
        at += len(line) + 1
    return lines


def _has_unused(labels: Sequence[str], grid: Grid, n_header: int) -> bool:
    """Whether a label stands in no row, because its column has no value there."""
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
    """The whole row as one span: where its line stands, with its own cells' boxes if they have any."""
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
