"""Finds the section and zone of each block from the headings before it.

For sources without reliable structure (ADE, Docling, Markdown). The heading levels that a vision
model guesses page by page contradict each other, so the numbers of headings and the usual names of
sections (`core.text.headings`) are preferred.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_assets.core.domain import Block, BlockKind, Zone
from rag_assets.core.text.headings import (
    heading_depth,
    is_section_name,
    names_closing_matter,
    names_references,
    number_styles,
    starts_abstract,
    zone_named,
)

_ABSTRACT_LABEL = re.compile(
    r"(?:background|objectives?|aims?|purpose|design|setting|methods?|patients|participants|results?|findings|"
    r"conclusions?|interpretation|funding)\b[.:]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class LevelledBlock:
    """A block whose section is not known yet."""

    block: Block
    level: int = 0
    """Level of a heading: 1 is the highest, 0 is unknown; 0 for other blocks."""
    is_title: bool = False
    """Whether it is the title of the document. The title opens no section, because it would be the
    first part of every section path."""

    @property
    def is_heading(self) -> bool:
        return self.block.kind is BlockKind.HEADING and not self.is_title


@dataclass(frozen=True)
class OpenSection:
    """A section that encloses the current block."""

    level: int
    title: str
    zone: Zone


class OpenSections:
    """The sections that enclose the current block while a document is read from top to bottom."""

    def __init__(self) -> None:
        self.open: tuple[OpenSection, ...] = ()
        """Outermost section first, so the levels ascend."""

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(section.title for section in self.open)

    @property
    def zone(self) -> Zone:
        return self.open[-1].zone if self.open else Zone.BODY

    def enter(self, level: int, title: str, named_zone: Zone | None = None) -> tuple[str, ...]:
        """Close the sections of the same or a deeper level, then open a section; its zone is
        `named_zone`, or that of its parent. Returns its path."""
        self.open = tuple(section for section in self.open if section.level < level)
        self.open = (*self.open, OpenSection(level, title, named_zone or self.zone))
        return self.path


def with_settled_levels(blocks: Sequence[LevelledBlock]) -> list[LevelledBlock]:
    """The blocks; each heading has a level of at least 1 that agrees with numbers and section
    names.

    A heading is an anchor if its depth is known: by its number ("2.1" is level 2), or by a usual
    section name without number, which is level 1. A document with two or more anchors of level 1
    keeps that level for anchors: after the first of them, the other headings have level 2 or more.
    A heading of unknown level gets the level of the heading before it, or one more if that one is
    an anchor.
    """
    headings = [block for block in blocks if block.is_heading]
    titles = [heading.block.text for heading in headings]
    styles = number_styles(titles)
    depths = [
        heading_depth(title, styles) or (1 if is_section_name(title) else None) for title in titles
    ]
    first_anchor = depths.index(1) if depths.count(1) >= 2 else len(depths)
    levels: list[int] = []
    for index, (heading, depth) in enumerate(zip(headings, depths, strict=True)):
        if depth is None:
            level = heading.level or _level_after(levels, depths)
            depth = max(level, 2 if index > first_anchor else 1)
        levels.append(depth)
    remaining = iter(levels)
    return [
        replace(block, level=next(remaining)) if block.is_heading else block for block in blocks
    ]


def with_sections(blocks: Sequence[LevelledBlock]) -> list[Block]:
    """The blocks with section path and zone filled in.

    Acknowledgements and similar sections have no subsections, so any heading closes them. In the
    first half of the text, such a heading ("Competing interests" in a box on page 1) does not end
    the body of the paper.
    """
    sections, placed = OpenSections(), []
    n_chars, n_before = _n_chars_before_references(blocks), 0
    for levelled in blocks:
        block = levelled.block
        if levelled.is_title:
            placed.append(replace(block, section_path=(block.text,), zone=Zone.FRONT))
            continue
        if levelled.is_heading:
            if sections.open and names_closing_matter(sections.path[-1]):
                sections.open = sections.open[:-1]
            is_early = names_closing_matter(block.text) and 2 * n_before < n_chars
            sections.enter(levelled.level, block.text, None if is_early else zone_named(block.text))
        n_before += len(block.text)
        zone = block.zone if block.zone is not Zone.BODY else sections.zone
        placed.append(replace(block, section_path=sections.path, zone=zone))
    return _with_abstract(placed)


def n_chars_of_back(blocks: Sequence[Block]) -> int:
    """Number of characters of the back matter, which is left out of the counts of source text."""
    return sum(block.n_chars for block in blocks if block.zone is Zone.BACK)


def _with_abstract(blocks: Sequence[Block]) -> list[Block]:
    """The blocks; a paragraph that begins with "Abstract" becomes front matter, and so do the
    paragraphs after it that begin with a label such as "Methods:"."""
    placed: list[Block] = []
    is_inside = False
    for block in blocks:
        is_labelled = is_inside and _ABSTRACT_LABEL.match(block.text) is not None
        is_inside = block.kind is BlockKind.PARAGRAPH and (
            is_labelled or starts_abstract(block.text)
        )
        placed.append(replace(block, zone=Zone.FRONT) if is_inside else block)
    return placed


def _n_chars_before_references(blocks: Sequence[LevelledBlock]) -> int:
    """Number of characters before the reference list, or of all blocks if there is none."""
    n_chars = 0
    for levelled in blocks:
        if levelled.block.kind is BlockKind.HEADING and names_references(levelled.block.text):
            break
        n_chars += len(levelled.block.text)
    return n_chars


def _level_after(levels: Sequence[int], depths: Sequence[int | None]) -> int:
    """The level of a heading without a level: that of the heading before it, or one more if that
    one is an anchor. levels: of the headings before it; depths: of all headings, None for no
    anchor."""
    if not levels:
        return 1
    return levels[-1] if depths[len(levels) - 1] is None else levels[-1] + 1
