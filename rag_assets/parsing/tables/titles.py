"""Recognises the titles of tables ("Table 2. ..."), and finds the title and the unit of a table in
the lines before and after it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag_assets.core.domain import Block, BlockKind
from rag_assets.parsing.shared.sections import LevelledBlock

_TITLE = re.compile(
    r"(?:supplementary |extended data )?(?:table|tab\.)\s+(?:[A-Z]\.?)?(?:\d+(?:\.\d+)?[a-z]?|[IVX]+)(?!\w)",
    re.IGNORECASE,
)
_MAX_TITLE_CHARS = 400
_UNIT = re.compile(r"\([^()]{2,120}\)")
"""A line in brackets right above a table: "(in millions, except per share data)"."""


def is_table_title(text: str) -> bool:
    """Whether a paragraph is the title of a table ("Table 2. ..."), not a sentence about one."""
    match = _TITLE.match(text)
    if match is None or len(text) > _MAX_TITLE_CHARS:
        return False
    rest = text[match.end() :].lstrip()
    return not rest or rest[0] in ".:|(*—–-" or rest[0].isupper()


def paired(gaps: Mapping[tuple[int, int], float]) -> dict[int, int]:
    """Table -> its caption. Both are positions in reading order. A caption that may belong to two
    tables is given to none.

    gaps: (table, caption) -> the space between them, for each table and each caption near it.

    Of the captions above a table only the nearest is considered, and so below it. Most documents
    have all captions on one side of their tables; that side is found from the pairs without an
    alternative. If it is clear, a caption on the other side is accepted only without an
    alternative, and at no larger distance than the others.
    """
    candidates = [
        pair
        for pair, gap in gaps.items()
        if all(
            gap <= other_gap
            for other, other_gap in gaps.items()
            if (pair[0] == other[0]) != (pair[1] == other[1])
            and _is_above(pair) == _is_above(other)
        )
    ]
    n_captions_of = Counter(table for table, _ in candidates)
    n_tables_of = _n_tables_by_caption(candidates)
    alone = [pair for pair in candidates if n_captions_of[pair[0]] == n_tables_of[pair[1]] == 1]
    n_above = sum(map(_is_above, alone))
    n_below = len(alone) - n_above
    if n_above > 2 * n_below or n_below > 2 * n_above:
        usual = n_above > n_below
        farthest = max(gaps[pair] for pair in alone if _is_above(pair) == usual)
        candidates = [
            pair
            for pair in candidates
            if _is_above(pair) == usual or (pair in alone and gaps[pair] <= farthest)
        ]
    found: dict[int, int] = {}
    while candidates:  # each pair that is accepted may make others certain
        n_tables_of = _n_tables_by_caption(candidates)
        certain = [pair for pair in candidates if n_tables_of[pair[1]] == 1]
        if not certain:
            break
        table, caption = min(certain, key=gaps.__getitem__)
        found[table] = caption
        candidates = [pair for pair in candidates if table not in pair and caption not in pair]
    return found


def _is_above(pair: tuple[int, int]) -> bool:
    """Whether the caption of a pair is above the table."""
    table, caption = pair
    return caption < table


def _n_tables_by_caption(pairs: Sequence[tuple[int, int]]) -> Counter[int]:
    return Counter(caption for _, caption in pairs)


def with_titles_in_tables(blocks: Sequence[LevelledBlock]) -> list[LevelledBlock]:
    """The blocks; a paragraph or heading "Table 2. ..." right before or after a table becomes the
    title of the table, and a line in brackets right before it ("(in millions)") is added to the
    title."""
    units = {
        at: at - 1
        for at, levelled in enumerate(blocks)
        if levelled.block.kind is BlockKind.TABLE and at and _is_unit(blocks[at - 1].block)
    }
    gaps = {
        (at, neighbour): 1.0
        for at, levelled in enumerate(blocks)
        if levelled.block.kind is BlockKind.TABLE and not levelled.block.title
        for neighbour in (units.get(at, at) - 1, at + 1)
        if 0 <= neighbour < len(blocks) and _is_title(blocks[neighbour].block)
    }
    titles = paired(gaps)
    moved = {*titles.values(), *units.values()}
    titled = []
    for at, levelled in enumerate(blocks):
        block = levelled.block
        for line in (titles.get(at), units.get(at)):
            block = block if line is None else _with_title(block, blocks[line].block)
        if at not in moved:
            titled.append(replace(levelled, block=block))
    return titled


def _with_title(table: Block, line: Block) -> Block:
    """The table with the text of another block at the end of its title."""
    if not table.title:
        return replace(table, title=line.text, title_spans=line.spans)
    start = len(table.title) + 1
    moved = (replace(span, start=span.start + start, end=span.end + start) for span in line.spans)
    spans = (*table.title_spans, *moved) if table.title_spans else ()
    return replace(table, title=f"{table.title} {line.text}", title_spans=spans)


def _is_unit(block: Block) -> bool:
    return block.kind is not BlockKind.TABLE and _UNIT.fullmatch(block.text) is not None


def _is_title(block: Block) -> bool:
    return block.kind in (BlockKind.PARAGRAPH, BlockKind.HEADING) and is_table_title(block.text)
