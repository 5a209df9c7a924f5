"""The smallest pieces a chunk is made of, which it never cuts: a sentence, list item, table row or
code line.

`sections` chooses the function for each kind of block. `cuts` decides which units share a chunk, and
cuts a unit that is longer than a whole chunk.

A table becomes one unit per row, each readable by itself: "Site: Group / Label | Upper lower header:
12". What the cells of a table are, `parsing.tables` has decided. The words of the header are
repeated in every row, so they make no unit of their own, unless a label would be lost: that of a
column without values. The name of a group makes one where it is not certain that all rows below
belong to it. A table whose source tells no cells apart keeps its lines as they are; so does one
without a header and groups.
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
    """A run of text that stays whole."""

    text: str
    start: int
    """Offset in the document of the text it was made from; a caption, which is not in the document,
    has the empty range before its block."""
    end: int
    spans: tuple[Span, ...]
    """Relative to `text`."""
    kind: BlockKind
    block: int
    """Index of its block in the document."""
    section_path: tuple[str, ...] = ()
    gap: str = ""
    """Text between this unit and the one before it in its block."""
    prefix: str = ""
    """Title that a chunk beginning with this unit repeats."""
    prefix_spans: tuple[Span, ...] = ()
    """Relative to `prefix`."""
    is_caption: bool = False
    is_linearised: bool = False
    """A row of a table written as "label: value"."""
    is_fragment: bool = False
    """Cut from a unit that is longer than a whole chunk."""

    @property
    def unit_kind(self) -> UnitKind:
        return UnitKind.CAPTION if self.is_caption else _UNIT_KINDS[self.kind]

    @property
    def is_verbatim(self) -> bool:
        """The text is a slice of the document."""
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
    """The title's sentences, then the text's."""
    spans = sentence_spans(placed.block.text)
    return with_caption(placed, verbatim_units(placed, spans, repeated_title(placed.block)))


def line_units(placed: PlacedBlock) -> list[Unit]:
    """One unit per line that is not blank, its indentation included."""
    return verbatim_units(placed, line_spans(placed.block.text))


def whole_unit(placed: PlacedBlock) -> list[Unit]:
    text = placed.block.text
    start = len(text) - len(text.lstrip())
    return verbatim_units(placed, [(start, len(text.rstrip()))] if text.strip() else [])


def with_caption(placed: PlacedBlock, body: Sequence[Unit]) -> list[Unit]:
    """The sentences of a table's or figure's title before its body, unless the body begins with the
    same words.

    The title is not in the document's text, so its spans have no offset there.
    """
    title, located = placed.block.caption, placed.block.caption_spans
    if not title:
        return list(body)
    units, at = [], 0
    for start, end in sentence_spans(title):
        units.append(
            Unit(
                text=title[start:end],
                start=placed.start,
                end=placed.start,
                spans=clipped_spans(located, start, end, None),
                kind=placed.block.kind,
                block=placed.index,
                section_path=placed.block.section_path,
                gap=title[at:start],
                is_caption=True,
            )
        )
        at = end
    return [*units, *(replace(unit, gap="\n") for unit in body[:1]), *body[1:]]


def repeated_title(block: Block) -> tuple[str, tuple[Span, ...]]:
    """The title as a chunk repeats it, and its spans."""
    start, end = len(block.title) - len(block.title.lstrip()), len(block.title.rstrip())
    return block.title[start:end], clipped_spans(block.caption_spans, start, end, None)


def verbatim_units(
    placed: PlacedBlock,
    spans: Sequence[tuple[int, int]],
    title: tuple[str, tuple[Span, ...]] = ("", ()),
) -> list[Unit]:
    """Units that are slices of the block's text; `title` is what a chunk that begins with one of
    them repeats."""
    units, at = [], 0
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
                gap=placed.block.text[at:start],
                prefix=title[0],
                prefix_spans=title[1],
            )
        )
        at = end
    return units


def line_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of the lines that are not blank, without white space at their ends."""
    return [match.span() for match in _LINE.finditer(text)]


def clipped_spans(
    spans: Sequence[Span], start: int, end: int, source_offset: int | None
) -> tuple[Span, ...]:
    """The spans of `[start, end)` counted from `start`, with their offsets in the document.

    source_offset: where the text the spans count in begins in the document; None for captions,
    which are not in it. A span keeps all its boxes even where only a part of its text is taken.
    Text that no span covers gets one without a page.
    """

    def moved(span: Span, first: int, last: int) -> Span:
        source_start = None if source_offset is None else source_offset + first
        return replace(span, start=first - start, end=last - start, source_start=source_start)

    clipped, at = [], start
    for span in spans_between(spans, start, end):
        if span.start > at:
            clipped.append(moved(_NOWHERE, at, span.start))
        at = max(span.start, at)
        until = min(span.end, end)
        clipped.append(moved(span, at, until))
        at = until
    if at < end:
        clipped.append(moved(_NOWHERE, at, end))
    return tuple(clipped)


def fragments(unit: Unit, pieces: Sequence[tuple[int, int]]) -> list[Unit]:
    """The unit cut at the given offsets of its text."""
    cut: list[Unit] = []
    at = 0
    for start, end in pieces:
        if unit.is_verbatim:
            source = (unit.start + start, unit.start + end)
        else:  # a linearised row has no finer place than its line: the first fragment takes all of it
            source = (unit.end if cut else unit.start, unit.end)
        cut.append(
            replace(
                unit,
                text=unit.text[start:end],
                start=source[0],
                end=source[1],
                spans=_cut_spans(unit, start, end),
                gap=unit.text[at:start] if cut else unit.gap,
                is_fragment=True,
            )
        )
        at = end
    return cut


def _cut_spans(unit: Unit, start: int, end: int) -> tuple[Span, ...]:
    if unit.is_verbatim or unit.is_caption:
        return clipped_spans(unit.spans, start, end, None if unit.is_caption else unit.start)
    return tuple(
        replace(span, start=0, end=end - start) for span in spans_between(unit.spans, start, end)
    )


CELL_SEPARATOR = " | "
_LINES = re.compile(r"^.*$", re.MULTILINE)


def row_units(placed: PlacedBlock) -> list[Unit]:
    """The caption's sentences, then the rows, each with its own cells' boxes."""
    text, title = placed.block.text, repeated_title(placed.block)
    lines = [match.span() for match in _LINES.finditer(text)]
    table = _TableWriter(Grid.of(placed.block.cells))
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


class _TableWriter:
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
