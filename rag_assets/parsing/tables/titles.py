"""The titles of tables, as publishers number them, and the lines around a table that hold its title
and unit."""

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
    """Table -> its caption, by their places in reading order; a caption that may be that of two
    tables is of none.

    gaps: the space between each table and each caption near it. A caption is of the nearest table
    on either side, and on the side where the document has its captions, as those show that are near
    one table only. On the other side one is believed that is near no other table, and as near as
    the others.
    """
    open_pairs = [
        (table, caption)
        for (table, caption), gap in gaps.items()
        if all(
            gap <= other
            for pair, other in gaps.items()
            if (table == pair[0]) != (caption == pair[1]) and _is_above(pair) == (caption < table)
        )
    ]
    tables, captions = Counter(table for table, _ in open_pairs), _counted(open_pairs)
    alone = [pair for pair in open_pairs if tables[pair[0]] == captions[pair[1]] == 1]
    [usual, n_usual], *rare = Counter(map(_is_above, alone)).most_common() or [(True, 0)]
    if n_usual > 2 * sum(n for _, n in rare):
        farthest = max(gaps[pair] for pair in alone if _is_above(pair) == usual)
        open_pairs = [
            pair
            for pair in open_pairs
            if _is_above(pair) == usual or (pair in alone and gaps[pair] <= farthest)
        ]
    found: dict[int, int] = {}
    while open_pairs:
        n_tables = _counted(open_pairs)
        certain = [pair for pair in open_pairs if n_tables[pair[1]] == 1]
        if not certain:
            break
        table, caption = min(certain, key=gaps.__getitem__)
        found[table] = caption
        open_pairs = [pair for pair in open_pairs if table not in pair and caption not in pair]
    return found


def _is_above(pair: tuple[int, int]) -> bool:
    table, caption = pair
    return caption < table


def _counted(pairs: Sequence[tuple[int, int]]) -> Counter[int]:
    return Counter(caption for _, caption in pairs)


def with_titles_in_tables(blocks: Sequence[LevelledBlock]) -> list[LevelledBlock]:
    """The paragraph or heading "Table 2. ..." right before or after each table without a title as
    its title, and a line in brackets between them as its unit."""
    units = {
        at: at - 1
        for at, levelled in enumerate(blocks)
        if levelled.block.kind is BlockKind.TABLE and at and _is_unit(blocks[at - 1].block)
    }
    gaps = {
        (at, beside): 1.0
        for at, levelled in enumerate(blocks)
        if levelled.block.kind is BlockKind.TABLE and not levelled.block.title
        for beside in (units.get(at, at) - 1, at + 1)
        if 0 <= beside < len(blocks) and _is_title(blocks[beside].block)
    }
    titles = paired(gaps)
    taken = {*titles.values(), *units.values()}
    titled = []
    for at, levelled in enumerate(blocks):
        block = levelled.block
        for line in (titles.get(at), units.get(at)):
            block = block if line is None else _with_title(block, blocks[line].block)
        if at not in taken:
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
