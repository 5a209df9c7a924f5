"""Which lines are headings, how deep they stand, and which section each block is in.

For sources that say little or nothing about structure (ADE's regions, Docling's PDF headings, Markdown). Levels that
a vision model guesses page by page contradict each other; numbering (`heading_numbers`) and the usual names of a
paper's sections (`section_names`) do not, so these win. TEI states its own structure and does not pass here.
"""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace

from rag_assets.domain import Block, BlockKind, Zone
from rag_assets.parsing.conventions.heading_numbers import NumberStyle, heading_number
from rag_assets.parsing.conventions.numbered_lines import ends_like_prose
from rag_assets.parsing.conventions.section_names import (
    is_plain_section_name,
    is_section_name,
    names_closing_matter,
    names_references,
    zone_named,
)

_RUN_IN_ABSTRACT = re.compile(r"(?:Abstract|ABSTRACT|Summary|SUMMARY)\b(?! of\b)[.:\s—–-]*[A-Z]")
_ABSTRACT_LABEL = re.compile(
    r"(?:background|objectives?|aims?|purpose|design|setting|methods?|patients|participants|results?|findings|"
    r"conclusions?|interpretation|funding)\b[.:]",
    re.IGNORECASE,
)
_MAX_WORDS = 14
_MAX_CAPITALS_WORDS = 10


@dataclass(frozen=True)
class Heading:
    """A heading as found."""

    text: str
    level: int
    """What the source says: 1 is the highest, 0 is not known."""


@dataclass(frozen=True)
class _Open:
    """A section that is still open."""

    heading: Heading
    zone: Zone


@dataclass
class _Sections:
    """The open sections while a document is read from top to bottom, outermost first."""

    open: list[_Open] = field(default_factory=list)

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(section.heading.text for section in self.open)

    @property
    def zone(self) -> Zone:
        return self.open[-1].zone if self.open else Zone.BODY

    def enter(self, heading: Heading, named_zone: Zone | None) -> None:
        """Close the sections at or below the heading's level, and open its own in the zone of its name or parent.

        Acknowledgements and the like have no subsections: any heading closes them.
        """
        while self.open and (self.open[-1].heading.level >= heading.level or self._is_in_closing_matter()):
            self.open.pop()
        self.open.append(_Open(heading, named_zone or self.zone))

    def _is_in_closing_matter(self) -> bool:
        return names_closing_matter(self.open[-1].heading.text)


def heading_depth(title: str, styles: Container[NumberStyle] = ()) -> int | None:
    """Depth stated by a number before the title ("3.1 Cohort", "A.1 Proofs" are 2), None without a number.

    styles: those of the other headings' numbers. A letter alone stands below roman numerals ("II. Methods",
    "A. Subjects"); elsewhere it states no depth.
    """
    number = heading_number(title)
    if number is None:
        return None
    is_letter = number.style == "letter" and not number.label
    if is_letter and "roman" in styles:
        return 1 + len(number.parts)
    return None if is_letter and len(number.parts) == 1 else len(number.parts)


def number_styles(titles: Iterable[str]) -> frozenset[NumberStyle]:
    """The styles of the numbers that the titles start with."""
    return frozenset(number.style for title in titles if (number := heading_number(title)))


def looks_like_heading(line: str) -> bool:
    """Whether a line that stands alone is a heading by its own looks: a known name, or capitals.

    Whether a numbered line without a known name is one, `numbered_lines.numbered_heading_lines` decides.
    """
    words = line.split()
    if not 0 < len(words) <= _MAX_WORDS or not any(character.isalpha() for character in line):
        return False
    if is_plain_section_name(line) and not line.rstrip().endswith(":"):
        return True
    if ends_like_prose(line):
        return False
    if is_section_name(line):
        return True
    if heading_number(line) is not None:
        return False
    n_letters = sum(character.isalpha() for character in line)
    is_wordy = n_letters >= 5 and n_letters > 0.6 * len(line.replace(" ", ""))
    return line.isupper() and is_wordy and len(words) <= _MAX_CAPITALS_WORDS and "," not in line


def settled_levels(headings: Sequence[Heading]) -> list[int]:
    """A level of 1 or more for each heading, in order, that numbering and section names agree with.

    A number states the depth; a known section name without number is a main section. Where a document has two such
    anchors at the top, every other heading after the first of them that claims the top level stands one below. A
    heading of unknown level stands below an anchor, and beside any other heading.
    """
    styles = number_styles(heading.text for heading in headings)
    depths = [_anchored_depth(heading.text, styles) for heading in headings]
    first_anchor = depths.index(1) if depths.count(1) >= 2 else len(depths)
    levels: list[int] = []
    for index, (heading, depth) in enumerate(zip(headings, depths, strict=True)):
        if depth is None:
            depth = max(heading.level or _beside(levels, depths), 2 if index > first_anchor else 1)
        levels.append(depth)
    return levels


def with_sections(blocks: Sequence[Block], levels: Sequence[int]) -> list[Block]:
    """`blocks` with section path and zone filled in; `levels` holds the level of each heading, 0 for other blocks.

    A heading of level 0 is the document's title: it opens no section, so that it does not head every path. Competing
    interests in the first half of the text (a box on page 1) are no sign that the paper's body is over.
    """
    sections, placed = _Sections(), []
    n_chars, n_before = _n_chars_before_references(blocks), 0
    for block, level in zip(blocks, levels, strict=True):
        if block.kind is BlockKind.HEADING and level == 0:
            placed.append(replace(block, section_path=(block.text,), zone=Zone.FRONT))
            continue
        if block.kind is BlockKind.HEADING:
            zone = zone_named(block.text)
            is_early = names_closing_matter(block.text) and 2 * n_before < n_chars
            sections.enter(Heading(block.text, level), None if is_early else zone)
        n_before += len(block.text)
        zone = block.zone if block.zone is not Zone.BODY else sections.zone
        placed.append(replace(block, section_path=sections.path, zone=zone))
    return placed


def starts_abstract(text: str) -> bool:
    """Whether a paragraph begins with the word "Abstract" as a label."""
    return _RUN_IN_ABSTRACT.match(text) is not None


def with_abstract(blocks: Sequence[Block]) -> list[Block]:
    """`blocks` with a paragraph that begins with "Abstract", and the labelled ones after it, as front matter."""
    placed: list[Block] = []
    is_inside = False
    for block in blocks:
        is_labelled = is_inside and _ABSTRACT_LABEL.match(block.text) is not None
        is_inside = block.kind is BlockKind.PARAGRAPH and (is_labelled or starts_abstract(block.text))
        placed.append(replace(block, zone=Zone.FRONT) if is_inside else block)
    return placed


def _n_chars_before_references(blocks: Sequence[Block]) -> int:
    n_chars = 0
    for block in blocks:
        if block.kind is BlockKind.HEADING and names_references(block.text):
            break
        n_chars += len(block.text)
    return n_chars


def _beside(levels: Sequence[int], depths: Sequence[int | None]) -> int:
    if not levels:
        return 1
    return levels[-1] if depths[len(levels) - 1] is None else levels[-1] + 1


def _anchored_depth(title: str, styles: Container[NumberStyle]) -> int | None:
    depth = heading_depth(title, styles)
    return 1 if depth is None and is_section_name(title) else depth
