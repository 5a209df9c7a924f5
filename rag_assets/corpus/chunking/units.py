"""The smallest pieces a chunk is made of, which it never cuts: a sentence, list item, table row or
code line.

Rows of tables are in `table_rows`; `sections` chooses the function for each kind of block. `cuts`
decides which units share a chunk, and cuts a unit that is longer than a whole chunk.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_assets.core.domain import Block, BlockKind, Span, UnitKind, spans_between
from rag_assets.core.text.sentences import sentence_spans

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
