"""Which groups of lines are headings, and how deep: learned from those that are sure.

Sure are the entries of the file's own outline, the usual names of sections, and numbers. What is
set like one of them, or larger or bolder than the body, is a heading too where it stands alone
above the text that it opens.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby

from rag_assets.core.text.headings import (
    NumberStyle,
    heading_depth,
    heading_number,
    is_plain_section_name,
    names_closing_matter,
    names_references,
    zone_named,
)
from rag_assets.core.text.names import lists_names, names_only
from rag_assets.parsing.formats.pdf.blocks import (
    MOST,
    BodyStyle,
    GroupKind,
    HeadingStyle,
    LineGroup,
    caption_kind,
    font_of,
    is_caps,
    stands_out,
)
from rag_assets.parsing.formats.pdf.file import Outline

_NOT_SMALLER = 0.85
_SMALL_CAPITALS = 0.65
"""Small capitals are capitals of a smaller size; names of sections may be as small."""
_MAX_WORDS = 20
_MAX_LINES = 4
_MAX_LEVEL = 6
_TOUCHING, _SPACED = 0.75, 1.3
"""White space between two lines of one heading, at most: in heights of a line, and compared with
lines of the body."""
_MAX_PASSED = 12
_WORDS_OF_PROSE = 8
_NAMED_LEVELS = (
    (re.compile(r"(?:part|chapter)\s+(?:[ivx]+|\d+)\b", re.IGNORECASE), 1),
    (re.compile(r"appendix\b|annex\b", re.IGNORECASE), 1),
    (re.compile(r"item\s+\d+[a-z]?\b", re.IGNORECASE), 2),
)
_NOT_IN_HEADINGS = re.compile(r"@|https?://|www\.|\.{4,}|…{2,}")


def with_headings_joined(groups: Sequence[LineGroup], body: BodyStyle) -> list[LineGroup]:
    """The groups, those put together that are lines of one heading or title: set alike, unlike the
    body, touching."""
    joined: list[LineGroup] = []
    for group in groups:
        if joined and _goes_on(joined[-1], group, body):
            joined[-1] = replace(joined[-1], lines=(*joined[-1].lines, *group.lines))
        else:
            joined.append(group)
    return joined


def _goes_on(above: LineGroup, group: LineGroup, body: BodyStyle) -> bool:
    if not above.is_prose or group.kind is not GroupKind.TEXT or above.is_aside or group.is_aside:
        return False
    last, first = above.lines[-1], group.lines[0]
    gap = first.top - last.bottom
    touching = max(_TOUCHING, _SPACED * body.gap)  # manuscripts leave a line between two lines
    is_below = last.frame == first.frame and abs(gap) <= touching * min(last.height, first.height)
    if not is_below or min(last.right, first.right) <= max(last.left, first.left):
        return False
    if len(above.lines) + len(group.lines) > _MAX_LINES or not stands_out(above, body):
        return False
    style, other = HeadingStyle.of(above), HeadingStyle.of(group)
    is_alike = style.is_caps >= other.is_caps and replace(style, is_caps=False) == replace(
        other, is_caps=False
    )
    texts = (above.plain_text, group.plain_text)
    return (
        is_alike and heading_number(texts[1]) is None and not any(map(is_plain_section_name, texts))
    )


@dataclass(frozen=True)
class Headings:
    """Finds the headings among the groups of a document, in reading order, and their levels."""

    groups: Sequence[LineGroup]
    title: LineGroup | None
    outline: Outline
    ordinary: Set[str]
    """Words that the paper writes in small letters: no names of persons."""

    def levels(self) -> dict[int, int]:
        """The level of each heading, 1 for main sections, by the `id` of its group."""
        body = BodyStyle.of(self.groups)
        may_be = [group is not self.title and _may_be_heading(group, body) for group in self.groups]
        sure = {
            at
            for at, group in enumerate(self.groups)
            if may_be[at] and self._is_sure(at, group, body)
        }
        sure -= self._out_of_sequence(sorted(sure))
        start = self._end_of_head(sure)
        learned = {HeadingStyle.of(self.groups[at]) for at in sure}
        found = {at for at in sure if at >= start}
        opening = opening_text(self.groups, may_be, body)
        for at in [at for at, may in enumerate(may_be) if may and at >= start]:
            is_like = HeadingStyle.of(self.groups[at]) in learned
            if (at in opening or is_like) and self._is_like(
                self.groups[at], is_like and at in opening, body
            ):
                found.add(at)
        found |= self._parents(found, may_be)
        headings = [self.groups[at] for at in sorted(found)]
        return dict(zip(map(id, headings), self._levels_of(headings), strict=True))

    def _is_sure(self, at: int, group: LineGroup, body: BodyStyle) -> bool:
        text = group.plain_text.strip()
        if self.outline.depth(text, group.page) is not None:
            return True
        if is_plain_section_name(text):  # in a box of the first page, closing matter closes nothing
            is_early = names_closing_matter(text) and 2 * at < len(self.groups)
            return not is_early and not (text[0].islower() and text.endswith("."))
        number = heading_number(text)
        if number is None or not number.starts_title or text.endswith("."):
            return False
        return len(number.parts) > 1 or group.italic > MOST or stands_out(group, body)

    def _out_of_sequence(self, sure: Sequence[int]) -> set[int]:
        """Numbered ones that are items of a list: outside the longest rising row of numbers, and
        set otherwise."""
        numbered = [
            (at, n.values)
            for at in sure
            if (n := heading_number(self.groups[at].plain_text)) and not n.label
        ]
        ends: list[tuple[int, ...]] = []
        places: list[int] = []
        for _, values in numbered:
            place = bisect_left(ends, values)
            ends[place : place + 1] = [values]
            places.append(place)
        wanted, row = len(ends) - 1, set[int]()
        for (at, _), place in zip(reversed(numbered), reversed(places), strict=True):
            if place == wanted:
                row.add(at)
                wanted -= 1
        styles = {HeadingStyle.of(self.groups[at]) for at in row}
        return {at for at, _ in numbered if HeadingStyle.of(self.groups[at]) not in styles}

    def _end_of_head(self, sure: Set[int]) -> int:
        """The index after the journal's name, the title and the authors: that of the first heading
        with a usual name or a number on the first page, or else the one after the title."""
        for at in sorted(sure):
            text = self.groups[at].plain_text
            is_opening = is_plain_section_name(text) and not names_references(text)
            if self.groups[at].page == 1 and (is_opening or heading_number(text)):
                return at
        return next((at + 1 for at, group in enumerate(self.groups) if group is self.title), 0)

    def _is_like(self, group: LineGroup, is_learned: bool, body: BodyStyle) -> bool:
        """Whether a group in a style that stands out from the body's, or in a learned one, reads
        like a heading."""
        text = group.plain_text.strip()
        if text.endswith((".", ";", ":")) or text[0].islower() or group.kind is GroupKind.ITEM:
            return False
        if group.page == 1 and (lists_names(text) or names_only(text, self.ordinary)):
            return False
        return stands_out(group, body) or (
            is_learned and (group.italic > MOST or font_of(group) not in ("", body.font))
        )

    def _parents(self, found: Set[int], may_be: Sequence[bool]) -> set[int]:
        """The "3" before each "3.1" that has none yet: the nearest line above with that number."""
        others: dict[tuple[str, ...], int] = {}
        known, parents = set[tuple[str, ...]](), set[int]()
        for at in (at for at, may in enumerate(may_be) if may):
            if (number := heading_number(self.groups[at].plain_text)) is None:
                continue
            if at not in found:
                others[number.parts] = at
                continue
            parent = number.parts[:-1]
            if parent in others and parent not in known:
                parents.add(others[parent])
            known |= {number.parts, parent}
        return parents

    def _levels_of(self, headings: Sequence[LineGroup]) -> list[int]:
        """Numbers, then the outline, state a level; the others have the level of those they look
        like, or one below all that stand out more."""
        styles = [HeadingStyle.of(heading) for heading in headings]
        stated = self._stated(headings)
        votes: dict[HeadingStyle, Counter[int]] = defaultdict(Counter)
        for style, level in zip(styles, stated, strict=True):
            if level:
                votes[style][level] += 1
        names = [is_plain_section_name(heading.plain_text) for heading in headings]
        settled = {style: levels.most_common(1)[0][0] for style, levels in votes.items()}
        opening = [
            style
            for style, heading, is_name in zip(styles, headings, names, strict=True)
            if is_name and zone_named(heading.plain_text) is None
        ]
        if opening:  # Introduction, Methods, Results; references are often set smaller
            settled.setdefault(max(opening, key=lambda style: style.weight), 1)
        deepest = 0
        ordered = sorted(set(styles), key=lambda style: style.weight, reverse=True)
        for _, alike in groupby(ordered, key=lambda style: style.weight):
            deepest = max([settled.setdefault(style, deepest + 1) for style in alike] + [deepest])
        levels: list[int] = []
        for style, level, is_name in zip(styles, stated, names, strict=True):
            wanted = level or (1 if is_name else settled[style])
            levels.append(min(wanted, levels[-1] + 1 if levels else 1, _MAX_LEVEL))
        return levels

    def _stated(self, headings: Sequence[LineGroup]) -> list[int | None]:
        texts = [heading.plain_text for heading in headings]
        numbered = [number.style for text in texts if (number := heading_number(text))]
        is_letter = (
            "letter" in numbered[: numbered.index("roman")] if "roman" in numbered else False
        )
        numbers: set[NumberStyle] = set(numbered) - (
            {"roman"} if is_letter else set()
        )  # "I." after "H."
        depths = [self.outline.depth(heading.plain_text, heading.page) for heading in headings]
        known = {depth for depth in depths if depth}
        stated: list[int | None] = []
        for heading, depth in zip(headings, depths, strict=True):
            text = heading.plain_text.strip()
            named = next((level for pattern, level in _NAMED_LEVELS if pattern.match(text)), None)
            nested = depth - min(known) + 1 if depth and len(known) > 1 else None
            stated.append(named or heading_depth(text, numbers) or nested)
        return stated


def opening_text(groups: Sequence[LineGroup], may_be: Sequence[bool], body: BodyStyle) -> Set[int]:
    """Indices of the possible headings that stand above prose, or above another heading that does.

    Below a label in a figure, a caption or a journal's name stands something else.
    """
    opening: set[int] = set()
    for at in reversed([at for at, may in enumerate(may_be) if may]):
        group = groups[at]
        for below in range(at + 1, min(at + 1 + _MAX_PASSED, len(groups))):
            other = groups[below]
            if is_prose(other, body) or below in opening:
                opening.add(at)
            if may_be[below] or at in opening or _is_under(other, group):
                break
    return opening


def is_prose(group: LineGroup, body: BodyStyle) -> bool:
    """Whether a group is running text: no caption, no label and not set apart like a heading."""
    is_text = group.is_prose and not group.is_aside and caption_kind(group) is None
    is_set_apart = len(group.lines) <= _MAX_LINES and stands_out(group, body)
    return is_text and len(group.plain_text.split()) >= _WORDS_OF_PROSE and not is_set_apart


def _is_under(group: LineGroup, above: LineGroup) -> bool:
    is_below = (
        group.lines[0].frame == above.lines[0].frame
        and group.top >= above.bottom - _TOUCHING * above.size
    )
    return is_below and min(group.right, above.right) > max(group.left, above.left)


def _may_be_heading(group: LineGroup, body: BodyStyle) -> bool:
    text = group.plain_text.strip()
    if not group.is_prose or group.is_aside or len(group.lines) > _MAX_LINES:
        return False
    if any(
        len(line.cells) > 1 and line.cells[-1].isdigit() for line in group.lines
    ):  # an entry of contents
        return False
    is_name = is_plain_section_name(text)
    smallest = (
        _SMALL_CAPITALS if is_name or (is_caps(text) and heading_number(text)) else _NOT_SMALLER
    )
    if group.size < smallest * body.size or len(text.split()) > _MAX_WORDS or text.endswith(","):
        return False
    n_letters = sum(character.isalpha() for character in text)
    if n_letters < 3 or n_letters * 2 < len(text):
        return False
    return not (_NOT_IN_HEADINGS.search(text) or caption_kind(group) is not None)
