"""Statements: the smallest pieces of a paper, which are never cut apart when it is quoted: a
sentence, table row, list item, line of code, formula, heading, or sentence of a caption.

They are made once per paper, from its blocks (`corpus.statements`). A statement is identified by its
paper and its number; its neighbours have the numbers before and after.
"""

from dataclasses import dataclass
from enum import StrEnum

from rag_assets.core.domain.documents import BlockKind, Zone
from rag_assets.core.domain.places import Span


class StatementKind(StrEnum):
    """What a statement is."""

    HEADING = "heading"
    SENTENCE = "sentence"
    NOTE = "note"
    """A sentence of a footnote."""
    CAPTION = "caption"
    """A sentence of a table's or figure's title, or the whole title where a chunk repeats it."""
    ROW = "row"
    ITEM = "item"
    LINE = "line"
    FORMULA = "formula"


@dataclass(frozen=True, slots=True)
class Statement:
    """A piece of a paper that is not cut; only one that is longer than a chunk is."""

    number: int
    """Place in the paper, from 0."""
    kind: StatementKind
    """heading, sentence, note, caption, row, item, line or formula."""
    text: str
    """What is read and quoted. Verbatim, except for a table row, which is written with its labels:
    "Site: lung | n: 12"."""
    n_tokens: int
    """Tokens of gap and text, at least 1, as chunking.tokenizer counts."""
    n_chars: int
    """Characters of its block that it stands for, without white space and cell borders; for a row,
    of its line and of the header and group lines before it."""
    section_path: tuple[str, ...]
    """Titles of the enclosing sections, outermost first; a heading's path ends with its own
    title."""
    zone: Zone
    """title_page, front, body, annex, statements or back (the reference list)."""
    block: int
    """`ordinal` of its block in the paper."""
    block_kind: BlockKind
    """heading, paragraph, list, table, figure, formula, code or footnote."""
    char_start: int
    """Offset in the paper's text, which is its blocks joined with blank lines. A caption is not in
    that text; it has the empty range before its block."""
    char_end: int
    """End in the paper's text, exclusive."""
    gap: str
    """Text between it and the statement before it: a blank line at the beginning of a block."""
    spans: tuple[Span, ...]
    """Pages and boxes along the text."""
    is_verbatim: bool = True
    """Whether the text is a slice of the paper's text: not for captions and rows with labels."""
    title: str = ""
    """Title of its table or figure, which a chunk beginning with it repeats; empty for captions."""
    title_spans: tuple[Span, ...] = ()
    """Pages and boxes along the title."""
    is_generated: bool = False
    """Written by a model (a figure's description), not by the paper's authors."""

    @property
    def is_heading(self) -> bool:
        return self.kind is StatementKind.HEADING
