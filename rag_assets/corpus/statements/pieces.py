"""The statements of one block, before they are numbered and counted."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag_assets.core.domain import (
    BLOCK_SEPARATOR,
    Block,
    BlockKind,
    Span,
    Statement,
    StatementKind,
    n_text_chars,
    spans_between,
)
from rag_assets.core.text.sentences import sentence_spans

_KINDS = {
    BlockKind.HEADING: StatementKind.HEADING,
    BlockKind.PARAGRAPH: StatementKind.SENTENCE,
    BlockKind.FOOTNOTE: StatementKind.NOTE,
    BlockKind.FIGURE: StatementKind.SENTENCE,
    BlockKind.FORMULA: StatementKind.FORMULA,
    BlockKind.LIST: StatementKind.ITEM,
    BlockKind.CODE: StatementKind.LINE,
    BlockKind.TABLE: StatementKind.ROW,
}
_NOWHERE = Span(0, 0, None, None)
_LINE = re.compile(r"(?<![^\n])[^\n]*\S")
Title = tuple[str, tuple[Span, ...]]
"""A title of a table or figure, and its spans."""


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block and its place in the paper."""

    block: Block
    index: int
    start: int
    """Offset in the paper's text."""

    def statement(
        self, text: str, span: tuple[int, int], spans: tuple[Span, ...], gap: str, **more: Any
    ) -> Statement:
        """A statement of this block. span: offsets in the block's text. spans: relative to `text`.
        more: other fields, where they are not those of a sentence, line or item of the block."""
        block = self.block
        fields: dict[str, Any] = {
            "kind": _KINDS[block.kind],
            "n_chars": n_text_chars(text),
            "char_start": self.start + span[0],
            "char_end": self.start + span[1],
        }
        return Statement(
            number=0,
            text=text,
            n_tokens=0,
            section_path=block.section_path,
            zone=block.zone,
            block=self.index,
            block_kind=block.kind,
            gap=gap,
            spans=spans,
            is_generated=block.is_generated,
            **fields | more,
        )


def placed_blocks(blocks: Sequence[Block]) -> Iterator[PlacedBlock]:
    """Each block with its index and its offset in the paper's text."""
    offset = 0
    for index, block in enumerate(blocks):
        yield PlacedBlock(block, index, offset)
        offset += len(block.text) + len(BLOCK_SEPARATOR)


def verbatim(
    placed: PlacedBlock, spans: Sequence[tuple[int, int]], title: Title = ("", ())
) -> list[Statement]:
    """One statement for each range in `spans`, offsets in the block's text. title: what a chunk
    beginning with one of these statements repeats."""
    statements, previous_end = [], 0
    text = placed.block.text
    is_untitled = placed.block.kind is BlockKind.FIGURE and not title[0]  # its text is its caption
    kind = StatementKind.CAPTION if is_untitled else _KINDS[placed.block.kind]
    for start, end in spans:
        statements.append(
            placed.statement(
                text[start:end],
                (start, end),
                clipped_spans(placed.block.spans, start, end, placed.start),
                text[previous_end:start],
                kind=kind,
                title=title[0],
                title_spans=title[1],
            )
        )
        previous_end = end
    return statements


def sentences(placed: PlacedBlock) -> list[Statement]:
    return verbatim(placed, sentence_spans(placed.block.text))


def lines(placed: PlacedBlock) -> list[Statement]:
    """One statement per line that is not blank, with its indentation."""
    return verbatim(placed, line_spans(placed.block.text))


def whole(placed: PlacedBlock) -> list[Statement]:
    text = placed.block.text
    start = len(text) - len(text.lstrip())
    return verbatim(placed, [(start, len(text.rstrip()))] if text.strip() else [])


def figure(placed: PlacedBlock) -> list[Statement]:
    """The sentences of the figure's title, then those of its text."""
    spans = sentence_spans(placed.block.text)
    return with_caption(placed, verbatim(placed, spans, repeated_title(placed.block)))


def with_caption(placed: PlacedBlock, body: Sequence[Statement]) -> list[Statement]:
    """Put the sentences of a table's or figure's title before its statements.

    The title is not in the paper's text, so its spans have no offset there.
    """
    title, caption_spans = placed.block.caption, placed.block.caption_spans
    if not title:
        return list(body)
    captions, previous_end = [], 0
    for start, end in sentence_spans(title):
        captions.append(
            placed.statement(
                title[start:end],
                (0, 0),
                clipped_spans(caption_spans, start, end, None),
                title[previous_end:start],
                kind=StatementKind.CAPTION,
                is_verbatim=False,
            )
        )
        previous_end = end
    return [*captions, *(replace(first, gap="\n") for first in body[:1]), *body[1:]]


def repeated_title(block: Block) -> Title:
    """The title that chunks repeat, and its spans."""
    start, end = len(block.title) - len(block.title.lstrip()), len(block.title.rstrip())
    return block.title[start:end], clipped_spans(block.caption_spans, start, end, None)


def line_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of the lines that are not blank, without white space at their right ends."""
    return [match.span() for match in _LINE.finditer(text)]


def clipped_spans(
    spans: Sequence[Span], start: int, end: int, source_offset: int | None
) -> tuple[Span, ...]:
    """The parts of `spans` within `[start, end)`, with offsets counted from `start`.

    source_offset: where in the paper's text the text of the spans begins; None for captions, which
    are not in it. A span keeps all its boxes even if only a part of its text is in the range. Text
    that no span covers gets a span without a page.
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


Cut = Callable[[PlacedBlock], list[Statement]]
