"""The smallest pieces a chunk is made of, which it never cuts: a sentence, list item, table row or
code line.

`sections` chooses the function for each kind of block. `cuts` decides which units share a chunk,
and splits a unit that is longer than a whole chunk.

A table becomes one unit per row, which can be read without the header: "Site: Group / Label | Upper
lower header: 12". `parsing.tables` has decided which cells are headers and groups. The words of a
header are repeated in every row below, so a header is no unit of its own, unless one of its labels
would be lost because its column has no values. A group's name is a unit of its own if it is not
certain that all rows below belong to the group. A table without known cells, and one without header
and groups, keeps its lines as they are.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from rag_assets.core.domain import (
    GROUP_SEPARATOR,
    Block,
    BlockKind,
    Box,
    Span,
    UnitKind,
    all_boxes,
    any_by_ocr,
    spans_between,
)
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.parsing.tables import Grid, numbered_columns

PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.FOOTNOTE, BlockKind.FORMULA})
_UNIT_KINDS = {
    BlockKind.HEADING: UnitKind.HEADING,
    BlockKind.PARAGRAPH: UnitKind.SENTENCE,
    BlockKind.FOOTNOTE: UnitKind.NOTE,
    BlockKind.FIGURE: UnitKind.SENTENCE,
    BlockKind.FORMULA: UnitKind.FORMULA,
    BlockKind.LIST: UnitKind.ITEM,
    BlockKind.CODE: UnitKind.LINE,
    BlockKind.TABLE: UnitKind.ROW,
}
_NOWHERE = Span(0, 0, None, None)
_LINE = re.compile(r"[^\n]*\S")


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of text that is not cut."""

    text: str
    start: int
    """Offset in the document of the text it was made from. A caption is not in the document; it has
    the empty range before its block."""
    end: int
    spans: tuple[Span, ...]
    """Relative to `text`."""
    kind: BlockKind
    block: int
    """Index of the unit's block in the document."""
    section_path: tuple[str, ...] = ()
    gap: str = ""
    """Text between this unit and the one before it in its block."""
    prefix: str = ""
    """Title of the table or figure, which a chunk beginning with this unit repeats."""
    prefix_spans: tuple[Span, ...] = ()
    """Relative to `prefix`."""
    is_caption: bool = False
    is_linearised: bool = False
    """A row of a table written as "label: value"."""
    is_fragment: bool = False
    """A piece of a unit that was longer than a whole chunk."""

    @property
    def unit_kind(self) -> UnitKind:
        is_untitled = self.kind is BlockKind.FIGURE and not self.prefix  # its text is its caption
        return UnitKind.CAPTION if self.is_caption or is_untitled else _UNIT_KINDS[self.kind]

    @property
    def is_verbatim(self) -> bool:
        """Whether the text is a slice of the document."""
        return not self.is_caption and not self.is_linearised


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    block: Block
    index: int
    start: int
    """Offset in the document."""


def sentence_units(placed: PlacedBlock) -> list[Unit]:
    return verbatim_units(placed, sentence_spans(placed.block.text))


def figure_units(placed: PlacedBlock) -> list[Unit]:
    """The sentences of the figure's title, then those of its text."""
    spans = sentence_spans(placed.block.text)
    return with_caption(placed, verbatim_units(placed, spans, repeated_title(placed.block)))


def line_units(placed: PlacedBlock) -> list[Unit]:
    """One unit per line that is not blank, with its indentation."""
    return verbatim_units(placed, line_spans(placed.block.text))


def whole_unit(placed: PlacedBlock) -> list[Unit]:
    text = placed.block.text
    start = len(text) - len(text.lstrip())
    return verbatim_units(placed, [(start, len(text.rstrip()))] if text.strip() else [])


def with_caption(placed: PlacedBlock, body: Sequence[Unit]) -> list[Unit]:
    """Put the sentences of a table's or figure's title before its units.

    The title is not in the document's text, so its spans have no document offset.
    """
    title, caption_spans = placed.block.caption, placed.block.caption_spans
    if not title:
        return list(body)
    units, previous_end = [], 0
    for start, end in sentence_spans(title):
        units.append(
            Unit(
                text=title[start:end],
                start=placed.start,
                end=placed.start,
                spans=clipped_spans(caption_spans, start, end, None),
                kind=placed.block.kind,
                block=placed.index,
                section_path=placed.block.section_path,
                gap=title[previous_end:start],
                is_caption=True,
            )
        )
        previous_end = end
    return [*units, *(replace(unit, gap="\n") for unit in body[:1]), *body[1:]]


def repeated_title(block: Block) -> tuple[str, tuple[Span, ...]]:
    """The title that chunks repeat, and its spans."""
    start, end = len(block.title) - len(block.title.lstrip()), len(block.title.rstrip())
    return block.title[start:end], clipped_spans(block.caption_spans, start, end, None)


def verbatim_units(
    placed: PlacedBlock,
    spans: Sequence[tuple[int, int]],
    title: tuple[str, tuple[Span, ...]] = ("", ()),
) -> list[Unit]:
    """One unit for each range in `spans`, offsets in the block's text. title: what a chunk
    beginning with one of these units repeats, with its spans."""
    units, previous_end = [], 0
    for start, end in spans:
        units.append(
            Unit(
                text=placed.block.text[start:end],
                start=placed.start + start,
                end=placed.start + end,
                spans=clipped_spans(placed.block.spans, start, end, placed.start),
                kind=placed.block.kind,
                block=placed.index,
                section_path=placed.block.section_path,
                gap=placed.block.text[previous_end:start],
                prefix=title[0],
                prefix_spans=title[1],
            )
        )
        previous_end = end
    return units


def line_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of the lines that are not blank, without white space at their right ends."""
    return [match.span() for match in _LINE.finditer(text)]


def clipped_spans(
    spans: Sequence[Span], start: int, end: int, source_offset: int | None
) -> tuple[Span, ...]:
    """The parts of `spans` within `[start, end)`, with offsets counted from `start`.

    source_offset: where in the document the text of the spans begins; None for captions, which are
    not in the document. A span keeps all its boxes even if only a part of its text is in the range.
    Text that no span covers gets a span without a page.
    """

    def moved(span: Span, first: int, last: int) -> Span:
        source_start = None if source_offset is None else source_offset + first
        return replace(span, start=first - start, end=last - start, source_start=source_start)

    clipped, covered_end = [], start
    for span in spans_between(spans, start, end):
        if span.start > covered_end:
            clipped.append(moved(_NOWHERE, covered_end, span.start))
        covered_end = max(span.start, covered_end)
        span_end = min(span.end, end)
        clipped.append(moved(span, covered_end, span_end))
        covered_end = span_end
    if covered_end < end:
        clipped.append(moved(_NOWHERE, covered_end, end))
    return tuple(clipped)


def fragments(unit: Unit, pieces: Sequence[tuple[int, int]]) -> list[Unit]:
    """Split a unit into the given ranges of its text."""
    cut_units: list[Unit] = []
    previous_end = 0
    for start, end in pieces:
        if unit.is_verbatim:
            document_range = (unit.start + start, unit.start + end)
        else:
            # a row written as "label: value" cannot be mapped to the characters of its line: the
            # first fragment gets the whole line, the others an empty range at its end
            document_range = (unit.end if cut_units else unit.start, unit.end)
        cut_units.append(
            replace(
                unit,
                text=unit.text[start:end],
                start=document_range[0],
                end=document_range[1],
                spans=_cut_spans(unit, start, end),
                gap=unit.text[previous_end:start] if cut_units else unit.gap,
                is_fragment=True,
            )
        )
        previous_end = end
    return cut_units


def _cut_spans(unit: Unit, start: int, end: int) -> tuple[Span, ...]:
    """The spans of a unit's characters `[start, end)`. In a table row written as "label: value"
    each fragment has the place of the whole row."""
    if unit.is_verbatim or unit.is_caption:
        return clipped_spans(unit.spans, start, end, None if unit.is_caption else unit.start)
    return tuple(
        replace(span, start=0, end=end - start) for span in spans_between(unit.spans, start, end)
    )


CELL_SEPARATOR = " | "
_LINES = re.compile(r"^.*$", re.MULTILINE)


def row_units(placed: PlacedBlock) -> list[Unit]:
    """The sentences of the table's caption, then one unit per row, with the boxes of the row's
    cells."""
    text, title = placed.block.text, repeated_title(placed.block)
    lines = [match.span() for match in _LINES.finditer(text)]
    table = _TableWriter(Grid.of(placed.block.cells))
    # the cells are of no use if they were not read row by row as the lines were
    row_texts = list(table.row_texts()) if len(table.grid.rows) == len(lines) else []
    if not any(row_text for _, row_text in row_texts) or not table.has_labelled_rows:
        return with_caption(placed, verbatim_units(placed, line_spans(text), title))
    units: list[Unit] = []
    for row, row_text in row_texts:
        if not row_text:
            continue
        own_boxes = table.grid.own_boxes(row)
        units.append(
            Unit(
                text=row_text,
                # the first unit includes the lines of the header
                start=placed.start + (lines[row][0] if units else 0),
                end=placed.start + lines[row][1],
                spans=(_row_span(placed, own_boxes, lines[row], len(row_text)),),
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
