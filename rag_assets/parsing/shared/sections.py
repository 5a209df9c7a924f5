"""Which section and zone each block is in, from the headings before it.

For sources that say little about structure (ADE, Docling, Markdown). Levels that a vision model
guesses page by page contradict each other; numbering and the usual names of a paper's sections (`headings`)
do not, so these win.
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
    """The title of the document; it opens no section, so that it does not head every path."""

    @property
    def is_heading(self) -> bool:
        return self.block.kind is BlockKind.HEADING and not self.is_title


@dataclass(frozen=True)
class OpenSection:
    """A section that the text being read is in."""

    level: int
    title: str
    zone: Zone


class OpenSections:
    """The open sections while a document is read from top to bottom."""

    def __init__(self) -> None:
        self.open: tuple[OpenSection, ...] = ()
        """Outermost first; their levels ascend."""

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(section.title for section in self.open)

    @property
    def zone(self) -> Zone:
        return self.open[-1].zone if self.open else Zone.BODY

    def enter(self, level: int, title: str, named_zone: Zone | None = None) -> tuple[str, ...]:
        """Open a section in the zone of its name or parent, closing those of its level and below;
        its path."""
        self.open = tuple(section for section in self.open if section.level < level)
        self.open = (*self.open, OpenSection(level, title, named_zone or self.zone))
        return self.path


def with_settled_levels(blocks: Sequence[LevelledBlock]) -> list[LevelledBlock]:
    """`blocks` with levels of 1 or more for the headings, that numbering and section names agree
    with.

    A number states the depth; a known section name without number is a main section. Where a
    document has two such anchors at the top, every other heading after the first of them that
    claims the top level is put one below. A heading of unknown level is put below an anchor, and on
    the level of any other heading before it.
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
            depth = max(heading.level or _beside(levels, depths), 2 if index > first_anchor else 1)
        levels.append(depth)
    settled = iter(levels)
    return [replace(block, level=next(settled)) if block.is_heading else block for block in blocks]


def with_sections(blocks: Sequence[LevelledBlock]) -> list[Block]:
    """The blocks with section path and zone filled in.

    Acknowledgements and the like have no subsections: any heading closes them. Competing interests
    in the first half of the text (a box on page 1) are no sign that the paper's body is over.
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
    """Characters of the back matter, which no count of a source's text includes."""
    return sum(block.n_chars for block in blocks if block.zone is Zone.BACK)


def _with_abstract(blocks: Sequence[Block]) -> list[Block]:
    """`blocks` with a paragraph that begins with "Abstract", and the labelled ones after it, as
    front matter."""
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
    n_chars = 0
    for levelled in blocks:
        if levelled.block.kind is BlockKind.HEADING and names_references(levelled.block.text):
            break
        n_chars += len(levelled.block.text)
    return n_chars


def _beside(levels: Sequence[int], depths: Sequence[int | None]) -> int:
    if not levels:
        return 1
    return levels[-1] if depths[len(levels) - 1] is None else levels[-1] + 1
