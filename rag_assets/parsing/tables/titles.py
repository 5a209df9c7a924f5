"""The titles of tables, as publishers number them, and the lines around a table that hold its title
and unit."""

import re
from collections.abc import Sequence
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


def with_titles_in_tables(blocks: Sequence[LevelledBlock]) -> list[LevelledBlock]:
    """The paragraph or heading "Table 2. ..." right before or after each table without a title as
    its title, and a line in brackets between them as its unit."""
    titled: list[LevelledBlock] = []
    for levelled in blocks:
        block, before = levelled.block, titled[-1].block if titled else None
        if block.kind is BlockKind.TABLE:
            is_unit = (
                before is not None
                and before.kind is not BlockKind.TABLE
                and _UNIT.fullmatch(before.text)
            )
            unit = titled.pop().block if is_unit else None
            title = (
                titled.pop().block
                if titled and _is_untitled(block) and _is_title(titled[-1].block)
                else None
            )
            for one in filter(None, (title, unit)):
                block = _with_title(block, one)
            titled.append(replace(levelled, block=block))
        elif before and _is_untitled(before) and _is_title(block):
            titled[-1] = replace(titled[-1], block=_with_title(before, block))
        else:
            titled.append(levelled)
    return titled


def _with_title(table: Block, line: Block) -> Block:
    """The table with the text of another block at the end of its title."""
    if not table.title:
        return replace(table, title=line.text, title_spans=line.spans)
    start = len(table.title) + 1
    moved = (replace(span, start=span.start + start, end=span.end + start) for span in line.spans)
    spans = (*table.title_spans, *moved) if table.title_spans else ()
    return replace(table, title=f"{table.title} {line.text}", title_spans=spans)


def _is_untitled(block: Block) -> bool:
    return block.kind is BlockKind.TABLE and not block.title


def _is_title(block: Block) -> bool:
    return block.kind in (BlockKind.PARAGRAPH, BlockKind.HEADING) and is_table_title(block.text)
