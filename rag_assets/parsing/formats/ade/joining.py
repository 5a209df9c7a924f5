"""Paragraphs that ADE cut at the end of a column or page, in one piece again.

What stood between (figures, tables, boxes) follows the joined paragraph.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_assets.core.domain import Block, BlockKind, Box, Span
from rag_assets.parsing.shared.hyphenation import Vocabulary, mended
from rag_assets.parsing.shared.running_text import opens_box
from rag_assets.parsing.shared.sections import LevelledBlock

_ENDS_SENTENCE = re.compile(r"(?:[.!?:;]|(?<![\d.])[.!?][\"'”’)\]]*[\s\d⁰¹²³⁴⁵⁶⁷⁸⁹,–-]{1,14})[\"'”’)\]]*$")
_ENDS_OPEN = re.compile(r"\b(?:and|or|of|the|in|for|with|to|a|by|on|from|is|are|was|were|as|than|between)$")
_ENDS_IN_ADDRESS = re.compile(r"(?:\b10\.\d{4,}/|https?://|www\.|\S@)\S*$")
_INTERRUPTIONS = frozenset({BlockKind.TABLE, BlockKind.FIGURE, BlockKind.FOOTNOTE})
_MAX_INTERRUPTIONS = 4
_MAX_BLOCKS_PASSED = 12
"""The boxes at the foot of a first page, and a table on top of the next."""
_MIN_WORDS_AFTER_BOXES = 5
_SAME_COLUMN = 0.05


def with_joined_paragraphs(blocks: Sequence[LevelledBlock], vocabulary: Vocabulary) -> list[LevelledBlock]:
    """`blocks` with each paragraph that was cut put together."""
    joined: list[LevelledBlock] = []
    last: int | None = None
    n_since = 0
    for levelled in blocks:
        block = levelled.block
        kind = block.kind
        at = _place_of_start(joined, last, block) if kind is BlockKind.PARAGRAPH else None
        if at is None:
            joined.append(levelled)
        else:
            joined[at] = replace(joined[at], block=_merged(joined[at].block, block, vocabulary))
        if kind is BlockKind.PARAGRAPH:
            last, n_since = len(joined) - 1 if at is None else at, 0
        elif kind in _INTERRUPTIONS and n_since < _MAX_INTERRUPTIONS:
            n_since += 1
        else:
            last = None
    return joined


def _place_of_start(blocks: Sequence[LevelledBlock], last: int | None, block: Block) -> int | None:
    """Index of the paragraph that `block` goes on with; `last` is the last one, if only a few floats came after it."""
    if opens_box(block.text):
        return None
    if last is not None and _continues(blocks[last].block, block):
        return last
    return _open_before_boxes(blocks, block)


def _open_before_boxes(blocks: Sequence[LevelledBlock], block: Block) -> int | None:
    """Index of a paragraph that ends in the middle of a phrase, for one that begins in the middle of a sentence."""
    if not block.text[:1].islower() or len(block.text.split()) < _MIN_WORDS_AFTER_BOXES:
        return None
    for index in range(len(blocks) - 1, max(len(blocks) - 1 - _MAX_BLOCKS_PASSED, -1), -1):
        earlier = blocks[index].block
        if earlier.kind is BlockKind.HEADING:
            return None
        if earlier.kind is BlockKind.PARAGRAPH and _ENDS_OPEN.search(earlier.text):
            return index
    return None


def _continues(first: Block, second: Block) -> bool:
    is_lower = second.text[:1].islower()
    if _ENDS_OPEN.search(first.text):
        return is_lower or not _stands_below(first, second)
    if _ENDS_IN_ADDRESS.search(first.text):
        return False
    return is_lower and not _ENDS_SENTENCE.search(first.text)


def _stands_below(first: Block, second: Block) -> bool:
    """Whether `second` stands in the column of `first`, where no end of a column can have cut a sentence."""
    above, below = _last_box(first), _first_box(second)
    if above is None or below is None or above.page != below.page:
        return False
    return abs(above.left - below.left) <= _SAME_COLUMN and below.top >= above.top


def _last_box(block: Block) -> Box | None:
    return block.spans[-1].boxes[-1] if block.spans and block.spans[-1].boxes else None


def _first_box(block: Block) -> Box | None:
    return block.spans[0].boxes[0] if block.spans and block.spans[0].boxes else None


def _merged(first: Block, second: Block, vocabulary: Vocabulary) -> Block:
    text = mended(f"{first.text} {second.text}", vocabulary)
    start = len(text) - len(second.text)  # a mended word loses characters before this place or at it, never after
    before = (*first.spans[:-1], replace(first.spans[-1], end=start))
    return replace(first, text=text, spans=(*before, *_moved(second.spans, start)))


def _moved(spans: Sequence[Span], by: int) -> Iterator[Span]:
    return (replace(span, start=span.start + by, end=span.end + by) for span in spans)
