"""The statements of a table: the sentences of its caption, then one per row, which can be read
without the header: "Site: Group / Label | Upper lower header: 12".

`parsing.tables` has decided which cells are headers and groups. The words of a header are repeated
in every row below, so a header is no statement of its own, unless one of its labels would be lost
because its column has no values. A group's name is a statement of its own if it is not certain that
all rows below belong to the group. A table without known cells, and one without header and groups,
keeps its lines as they are.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from rag_assets.core.domain import (
    GROUP_SEPARATOR,
    Box,
    Span,
    Statement,
    all_boxes,
    any_by_ocr,
    n_text_chars,
    spans_between,
)
from rag_assets.corpus.statements.pieces import (
    PlacedBlock,
    line_spans,
    repeated_title,
    verbatim,
    with_caption,
)
from rag_assets.parsing.tables import Grid, numbered_columns

CELL_SEPARATOR = " | "
_LINES = re.compile(r"^.*$", re.MULTILINE)


def rows(placed: PlacedBlock) -> list[Statement]:
    """The sentences of the table's caption, then one statement per row, with the boxes of the row's
    cells. Lines without a row of their own (headers, names of groups) belong to the row after them,
    and those at the end to the last row."""
    text, (title, title_spans) = placed.block.text, repeated_title(placed.block)
    lines = [match.span() for match in _LINES.finditer(text)]
    table = _TableWriter(Grid.of(placed.block.cells))
    # the cells are of no use if they were not read row by row as the lines were
    row_texts = list(table.row_texts()) if len(table.grid.rows) == len(lines) else []
    row_texts = [(row, row_text) for row, row_text in row_texts if row_text]
    if not row_texts or not table.has_labelled_rows:
        return with_caption(placed, verbatim(placed, line_spans(text), (title, title_spans)))
    ends = [*(lines[row][1] for row, _ in row_texts[:-1]), len(text)]
    statements = [
        placed.statement(
            row_text,
            (lines[row][0] if start else 0, end),
            (_row_span(placed, table.grid.own_boxes(row), lines[row], len(row_text)),),
            "\n" if start else "",
            n_chars=n_text_chars(text[start:end]),
            title=title,
            title_spans=title_spans,
            is_verbatim=False,
        )
        for (row, row_text), start, end in zip(row_texts, (0, *ends), ends, strict=False)
    ]
    return with_caption(placed, statements)


class _TableWriter:
    """Writes each row of a table so that it can be read alone: "Site: lung | n: 12"."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        cells = [[cell for cell in row if cell] for row in grid.rows]
        self._is_header = [bool(row) and all(cell.is_header for cell in row) for row in cells]
        self._is_group = [any(cell.is_group for cell in row) for row in cells]

    @property
    def has_labelled_rows(self) -> bool:
        """Whether the table has groups, or a header and rows below it."""
        return any(self._is_group) or (any(self._is_header) and not all(self._is_header))

    def row_texts(self) -> Iterator[tuple[int, str]]:
        """The index and the text of each row that becomes a unit. Headers and group names become
        units only where a word would be lost."""
        labels = [""] * self.grid.n_columns
        for row, texts in enumerate(self.grid.texts):
            if self._is_header[row]:
                # a header of several rows is read as a whole at its first row
                if not (row and self._is_header[row - 1]):
                    labels = self._labels(row)
                    if self._has_unused_label(labels, row):
                        yield row, CELL_SEPARATOR.join(filter(None, labels))
            elif self._is_group[row]:
                if not self._is_in_all_rows_below(row):
                    yield row, self.grid.text_cells(row)[0].text
            else:
                yield row, self._row_text(row, texts, labels)

    def _labels(self, first: int) -> list[str]:
        """One label per column: the texts of the header cells above it, from row `first` down,
        joined by blanks, each text once."""
        rows = takewhile(self._is_header.__getitem__, range(first, len(self.grid.rows)))
        # per row, the text of each column; `numbered_columns` replaces some of them
        texts = [
            (dict(enumerate(self.grid.texts[row])) | numbered_columns(self.grid, row)).values()
            for row in rows
        ]
        labels = (
            " ".join(dict.fromkeys(filter(None, column))) for column in zip(*texts, strict=True)
        )
        return [" ".join(label.split()).rstrip(":") for label in labels]

    def _has_unused_label(self, labels: Sequence[str], header: int) -> bool:
        """Whether a label is written in no row, because its column has no values."""
        # a row of one cell is written without a label
        below = [row for row in self._rows_below(header) if len(self.grid.text_cells(row)) > 1]
        used = {
            label
            for row in below
            for label, text in zip(labels, self.grid.texts[row], strict=True)
            if text
        }
        return not used.issuperset(filter(None, labels))

    def _rows_below(self, header: int) -> list[int]:
        """The rows below the header that begins at row `header`, up to the next header."""
        below = range(header, len(self.grid.rows))
        first = next((row for row in below if not self._is_header[row]), len(self.grid.rows))
        return list(
            takewhile(lambda row: not self._is_header[row], range(first, len(self.grid.rows)))
        )

    def _is_in_all_rows_below(self, group: int) -> bool:
        """Whether the name in row `group` needs no unit of its own, because all rows up to the next
        group or header are written with it."""
        cell = self.grid.text_cells(group)[0]
        if cell.group:  # it is certain which rows belong to the group
            return True
        below = range(group + 1, len(self.grid.rows))
        # the next row may be a group one level deeper, or the second line of this name
        if below and self._is_group[below[0]]:
            return True
        rows = takewhile(lambda row: not self._is_group[row] and not self._is_header[row], below)
        return all(any(level.endswith(cell.text) for level in self._groups(row)) for row in rows)

    def _groups(self, row: int) -> tuple[str, ...]:
        """The names of the groups around a row, outermost first."""
        first = self.grid.rows[row][0]
        return first.group if first else ()

    def _row_text(self, row: int, texts: Sequence[str], labels: Sequence[str]) -> str:
        """The text of a row: "label: value" for every cell that is not blank. Groups are written
        before the first cell: "Site: Group / Label". Without labels, all cells are written. The
        only cell of a row without groups is written as it is."""
        groups = self._groups(row)
        if len(self.grid.text_cells(row)) == 1 and not groups:
            return self.grid.text_cells(row)[0].text
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
    placed: PlacedBlock, own_boxes: tuple[Box, ...], line: tuple[int, int], length: int
) -> Span:
    """One span for a whole row of the text's `length` characters, with the row's own boxes or, if
    it has none, with the place of its line. line: offsets in the block's text."""
    source_start = placed.start + line[0]
    if own_boxes:
        first, last = min(box.page for box in own_boxes), max(box.page for box in own_boxes)
        # the printed page numbers of the first and the last page
        label_of = {span.page_start: span.label_start for span in placed.block.spans}
        label_of |= {span.page_end: span.label_end for span in placed.block.spans}
        labels = label_of.get(first), label_of.get(last)
        is_by_ocr = any_by_ocr(placed.block.spans, *line)
        return Span(0, length, first, last, own_boxes, source_start, None, *labels, is_by_ocr)
    spans_of_line = spans_between(placed.block.spans, *line)
    if not spans_of_line:
        return Span(0, length, None, None, (), source_start)
    return Span(
        0,
        length,
        spans_of_line[0].page_start,
        spans_of_line[-1].page_end,
        all_boxes(spans_of_line),
        source_start,
        spans_of_line[0].page_confidence,
        spans_of_line[0].label_start,
        spans_of_line[-1].label_end,
        any(span.is_by_ocr for span in spans_of_line),
    )
