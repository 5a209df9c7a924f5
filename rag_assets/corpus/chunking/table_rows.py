"""A table becomes one unit per row, each readable by itself: "Site: Group / Label | Upper lower
header: 12".

What the cells of a table are, `parsing.tables` has decided. The words of the header are repeated in
every row, so they make no unit of their own, unless a label would be lost: that of a column without
values. The name of a group makes one where it is not certain that all rows below belong to it. A
table whose source tells no cells apart keeps its lines as they are; so does one without a header
and groups.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from rag_assets.core.domain import GROUP_SEPARATOR, Box, Span, all_boxes, any_by_ocr, spans_between
from rag_assets.corpus.chunking.units import (
    PlacedBlock,
    Unit,
    line_spans,
    repeated_title,
    verbatim_units,
    with_caption,
)
from rag_assets.parsing.tables import Grid, numbered_columns

CELL_SEPARATOR = " | "
_LINES = re.compile(r"^.*$", re.MULTILINE)


def row_units(placed: PlacedBlock) -> list[Unit]:
    """The caption's sentences, then the rows, each with its own cells' boxes."""
    text, title = placed.block.text, repeated_title(placed.block)
    lines = [match.span() for match in _LINES.finditer(text)]
    table = _Table(Grid.of(placed.block.cells))
    written = list(table.lines()) if len(table.grid.rows) == len(lines) else []
    if not any(line for _, line in written) or not table.names_something:
        return with_caption(placed, verbatim_units(placed, line_spans(text), title))
    units: list[Unit] = []
    for row, line in written:
        if not line:
            continue
        place = (
            lines[row][0] if units else 0,
            lines[row][1],
        )  # the first one includes the header rows
        units.append(
            Unit(
                text=line,
                start=placed.start + place[0],
                end=placed.start + place[1],
                spans=(
                    _row_span(
                        placed, table.grid.own_boxes(row), (lines[row][0], place[1]), len(line)
                    ),
                ),
                kind=placed.block.kind,
                block=placed.index,
                section_path=placed.block.section_path,
                gap="\n" if units else "",
                prefix=title[0],
                prefix_spans=title[1],
                is_linearised=True,
            )
        )
    return with_caption(placed, units)


class _Table:
    """A table whose rows are written with their names."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        cells = [[cell for cell in row if cell] for row in grid.rows]
        self._is_header = [bool(row) and all(cell.is_header for cell in row) for row in cells]
        self._is_group = [any(cell.is_group for cell in row) for row in cells]

    @property
    def names_something(self) -> bool:
        """Whether it has a header or groups, and rows below."""
        return any(self._is_group) or (any(self._is_header) and not all(self._is_header))

    def lines(self) -> Iterator[tuple[int, str]]:
        """Each row that is written, and its text."""
        labels = [""] * self.grid.n_columns
        for row, texts in enumerate(self.grid.texts):
            if self._is_header[row]:
                if not (row and self._is_header[row - 1]):
                    labels = self._labels(row)
                    if self._has_unused(labels, row):
                        yield row, CELL_SEPARATOR.join(filter(None, labels))
            elif self._is_group[row]:
                if not self._is_carried(row):
                    yield row, self.grid.named(row)[0].text
            else:
                yield row, self._row(row, texts, labels)

    def _labels(self, first: int) -> list[str]:
        """One label per column: the header cells above it, joined, equal ones once."""
        rows = takewhile(self._is_header.__getitem__, range(first, len(self.grid.rows)))
        texts = [
            (dict(enumerate(self.grid.texts[row])) | numbered_columns(self.grid, row)).values()
            for row in rows
        ]
        labels = (
            " ".join(dict.fromkeys(filter(None, column))) for column in zip(*texts, strict=True)
        )
        return [" ".join(label.split()).rstrip(":") for label in labels]

    def _has_unused(self, labels: Sequence[str], header: int) -> bool:
        """Whether a label is used in no row, because its column has no value."""
        below = [
            row for row in self._body(header) if len(self.grid.named(row)) > 1
        ]  # a lone cell takes no label
        used = {
            label
            for row in below
            for label, text in zip(labels, self.grid.texts[row], strict=True)
            if text
        }
        return not used.issuperset(filter(None, labels))

    def _body(self, header: int) -> list[int]:
        """The rows below a header, up to the next one."""
        below = range(header, len(self.grid.rows))
        first = next((row for row in below if not self._is_header[row]), len(self.grid.rows))
        return list(
            takewhile(lambda row: not self._is_header[row], range(first, len(self.grid.rows)))
        )

    def _is_carried(self, group: int) -> bool:
        """Whether the rows of a group are written with its name: it is certain which these are, or
        all rows up to the next name are."""
        if self.grid.named(group)[0].group:
            return True
        name = self.grid.named(group)[0].text
        below = range(group + 1, len(self.grid.rows))
        if (
            below and self._is_group[below[0]]
        ):  # the next one is a level deeper, or the second line of this one
            return True
        rows = takewhile(lambda row: not self._is_group[row] and not self._is_header[row], below)
        return all(any(level.endswith(name) for level in self._groups(row)) for row in rows)

    def _groups(self, row: int) -> tuple[str, ...]:
        first = self.grid.rows[row][0]
        return first.group if first else ()

    def _row(self, row: int, texts: Sequence[str], labels: Sequence[str]) -> str:
        """ "label: value" for every cell that is not blank, the first with the names of its groups;
        without labels, every cell. A lone cell stays as it is."""
        groups = self._groups(row)
        if len(self.grid.named(row)) == 1 and not groups:
            return self.grid.named(row)[0].text
        name = GROUP_SEPARATOR.join(
            filter(None, (*(group.rstrip(": ") for group in groups), texts[0]))
        )
        pieces = [
            f"{label}: {text}" if label and text else text
            for label, text in zip(labels, (name, *texts[1:]), strict=True)
            if text or not any(labels)
        ]
        return " ".join(CELL_SEPARATOR.join(pieces).split("\n"))


def _row_span(
    placed: PlacedBlock, own: tuple[Box, ...], line: tuple[int, int], length: int
) -> Span:
    """The whole row as one span at the place of its line, with the boxes of its own cells if they
    have any."""
    source_start = placed.start + line[0]
    if own:
        first, last = min(box.page for box in own), max(box.page for box in own)
        label_of = {span.page_start: span.label_start for span in placed.block.spans}
        label_of |= {span.page_end: span.label_end for span in placed.block.spans}
        labels = label_of.get(first), label_of.get(last)
        is_by_ocr = any_by_ocr(placed.block.spans, *line)
        return Span(0, length, first, last, own, source_start, None, *labels, is_by_ocr)
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
        any(span.is_by_ocr for span in around),
    )
