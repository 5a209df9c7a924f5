"""Which groups of lines are headings, and how deep: learned from those that are sure.

Sure headings are in the file's own outline, have the usual name of a section, or have a number. A
group in the style of one of them, or larger or bolder than the body, is a heading too if it is
alone above the text that it opens.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from rag_assets.core.text.folding import letters_of
from rag_assets.core.text.headings import (
    NumberStyle,
    Values,
    heading_number,
    is_plain_section_name,
    names_closing_matter,
    names_references,
)
from rag_assets.core.text.names import lists_names
from rag_assets.parsing.formats.pdf.blocks import (
    MOST,
    BodyStyle,
    GroupKind,
    HeadingStyle,
    LineGroup,
    caption_kind,
    font_of,
    is_caps,
    leaves_room,
    stands_out,
)
from rag_assets.parsing.formats.pdf.file import Outline
from rag_assets.parsing.formats.pdf.run_in import BRACKETS, RunIn, run_ins
from rag_assets.parsing.formats.pdf.sections import MAX_LEVEL, levels_of, number_form
from rag_assets.parsing.formats.pdf.text import is_one_size

_NOT_SMALLER = 0.85
_SMALL_CAPITALS = 0.65
"""Small capitals are capitals of a smaller size; names of sections may be as small."""
_MAX_WORDS = 20
_MAX_LINES = 4
_TOUCHING, _SPACED = 0.75, 1.3
"""White space between two lines of one heading, at most: in heights of a line, and compared with
lines of the body."""
_APART, _FEWEST_APART = 0.3, 3
_MAX_PASSED = 12
_WORDS_OF_PROSE = 8
_NOT_IN_HEADINGS = re.compile(r"@|https?://|www\.|\.{4,}|…{2,}|\w_\w|^\[")


def with_headings_joined(groups: Sequence[LineGroup], body: BodyStyle) -> list[LineGroup]:
    """The groups, with the lines of one heading or title joined into one group."""
    joined: list[LineGroup] = []
    for group in groups:
        if joined and _goes_on(joined[-1], group, body):
            joined[-1] = replace(joined[-1], lines=(*joined[-1].lines, *group.lines))
        else:
            joined.append(group)
    return joined


def _goes_on(above: LineGroup, group: LineGroup, body: BodyStyle) -> bool:
    """Whether a group is a further line of the heading or title in the group above it.

    Both are in one column with little white space between, have the same style, and the upper one
    looks unlike the body. A group with a number or a usual name of a section begins a new
    heading."""
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
    if is_prose(group, body):
        return False
    # An indented line that is not centred continues only a numbered heading, whose later lines
    # begin below its title.
    middles = ((last.left + last.right) / 2, (first.left + first.right) / 2)
    is_indented = first.left - last.left > first.size and abs(middles[0] - middles[1]) > first.size
    if is_indented and heading_number(above.plain_text) is None:
        return False
    style, other = HeadingStyle.of(above), HeadingStyle.of(group)
    # A line in small letters may follow one in capitals, but not the other way round.
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
    entries: Outline
    ordinary: Set[str]
    """Words that the paper writes in small letters: no names of persons."""

    def outline(self) -> tuple[list[LineGroup], dict[int, int]]:
        """The groups, and the level of each heading (1 for main sections) by the `id` of its group.

        A paragraph that begins with a heading is cut behind it into two groups."""
        body = BodyStyle.of(self.groups)
        opened = run_ins(self.groups, body)
        taken = {at + n for at, run_in in opened.items() for n in range(run_in.n_groups)}
        may_be = [
            at not in taken and _may_be_heading(group, body) and not self._is_title(group)
            for at, group in enumerate(self.groups)
        ]
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
        found |= self._set_apart({at for at in opening if at >= start} - found, found, body)
        headings = sorted(found)
        levels = levels_of([self.groups[at] for at in headings], self.entries)
        return self._with_run_ins(dict(zip(headings, levels, strict=True)), opened, start)

    def _with_run_ins(
        self, displayed: Mapping[int, int], opened: Mapping[int, RunIn], start: int
    ) -> tuple[list[LineGroup], dict[int, int]]:
        """The groups and the levels, with the headings that open paragraphs.

        Each is below the displayed heading above it, a weaker face below a stronger one. A
        reference list has no such headings. displayed: the levels of the other headings by
        index."""
        groups: list[LineGroup] = []
        levels: dict[int, int] = {}
        main = [self.groups[at].plain_text for at, level in displayed.items() if level == 1]
        forms = set(map(number_form, main)) - {None}
        """An item of a list may be numbered as the sections are."""
        above, is_back, at = 0, False, 0
        weights: list[tuple[bool, bool]] = []
        while at < len(self.groups):
            group, run_in = self.groups[at], opened.get(at)
            if at in displayed:
                above, is_back = displayed[at], names_references(group.plain_text)
                levels[id(group)], weights = above, []
            if (
                run_in is None
                or (is_back or at < start or group is self.title)
                or number_form(run_in.text) in forms
            ):
                groups.append(group)
                at += 1
                continue
            weights = [weight for weight in weights if weight > run_in.weight] + [run_in.weight]
            number = heading_number(run_in.text)
            depth = len(number.parts) if number and len(number.parts) > 1 else above + len(weights)
            levels[id(run_in.parts[0])] = (
                1 if names_closing_matter(run_in.text) else min(depth, MAX_LEVEL)
            )
            groups += run_in.parts
            at += run_in.n_groups
        return groups, levels

    def _is_title(self, group: LineGroup) -> bool:
        """Whether a group is the title, or has the same words, as where a later page repeats the
        title."""
        return group is self.title or (
            self.title is not None
            and letters_of(group.plain_text) == letters_of(self.title.plain_text)
        )

    def _is_sure(self, at: int, group: LineGroup, body: BodyStyle) -> bool:
        """Whether the text of a group alone proves that it is a heading: it is in the file's
        outline, or it is the usual name of a section, or it is a number and a title.

        List items have numbers such as "2." too, so a number of one part is a proof only in italics
        or in a style that is unlike the body's; a number of several parts, such as "2.1", is one in
        any style."""
        text = group.plain_text.strip()
        if self.entries.depth(text, group.page) is not None:
            return True
        # The first half of a paper may have a box with its funding, which is no section. A small
        # letter and a full stop are the end of a sentence ("... these results.").
        if is_plain_section_name(text):
            is_early = names_closing_matter(text) and 2 * at < len(self.groups)
            return not is_early and not (text[0].islower() and text.endswith("."))
        number = heading_number(text)
        if number is None or not number.starts_title or text.endswith("."):
            return False
        return len(number.parts) > 1 or group.italic > MOST or stands_out(group, body)

    def _out_of_sequence(self, sure: Sequence[int]) -> set[int]:
        """The indices of numbered groups that are probably items of a list.

        Their numbers are outside the longest series of rising numbers of their kind, and no heading
        of such a series has their style."""
        numbered: dict[NumberStyle, list[tuple[int, Values]]] = defaultdict(list)
        for at in sure:
            number = heading_number(self.groups[at].plain_text)
            if number and not number.label:
                numbered[number.style].append((at, number.values))
        row = {at for own in numbered.values() for at in _longest_rising(own)}
        styles = {HeadingStyle.of(self.groups[at]) for at in row}
        every = {at for own in numbered.values() for at, _ in own}
        return {at for at in every if HeadingStyle.of(self.groups[at]) not in styles}

    def _end_of_head(self, sure: Set[int]) -> int:
        """The index of the first group after the journal's name, the title and the authors.

        This is the first heading on the first page with a usual name or a number; without one, the
        group after the title; 0 without a title."""
        first_page = self.title.page if self.title else 1
        for at in sorted(sure):
            text = self.groups[at].plain_text
            is_opening = is_plain_section_name(text) and not names_references(text)
            if self.groups[at].page == first_page and (is_opening or heading_number(text)):
                return at
        return next((at + 1 for at, group in enumerate(self.groups) if group is self.title), 0)

    def _is_like(self, group: LineGroup, is_learned: bool, body: BodyStyle) -> bool:
        """Whether a group reads like a heading and looks like one: its style is unlike the body's,
        or it is a style of sure headings (`is_learned`) in italics or in another font than the
        body."""
        text = group.plain_text.strip()
        if text.endswith((".", ";", ":")) or text[0].islower() or group.kind is GroupKind.ITEM:
            return False
        first_page = self.title.page if self.title else 1
        if group.page == first_page and lists_names(text, self.ordinary):
            return False
        return stands_out(group, body) or (
            is_learned and (group.italic > MOST or font_of(group) not in ("", body.font))
        )

    def _set_apart(self, opening: Set[int], found: Set[int], body: BodyStyle) -> set[int]:
        """The indices of headings in the style of the body: short lines with more white space above
        than below, or right below another heading.

        Empty if there are fewer than three, because a single such line may be anything."""
        apart: set[int] = set()
        for at in sorted(opening - {len(self.groups) - 1}):
            group, above, below = self.groups[at], self.groups[at - 1], self.groups[at + 1]
            line, first = group.lines[-1], below.lines[0]
            text = group.plain_text.strip()
            if (
                len(group.lines) > 1
                or len(below.lines) < 2
                or line.column != first.column
                or not is_one_size(group.size, body.size)
                or not text[0].isupper()
                or not text[-1].isalnum()
                or group.kind is GroupKind.ITEM
                or not leaves_room(line, first)
            ):
                continue
            over, under = line.top - above.bottom, first.top - line.bottom
            is_below_heading = at - 1 in found | apart and above.page == group.page
            is_top = above.lines[0].column != line.column or above.page != group.page
            if is_below_heading or (not is_top and over > under + _APART * line.height):
                apart.add(at)
        return apart if len(apart) >= _FEWEST_APART else set()


def _longest_rising(numbered: Sequence[tuple[int, Values]]) -> set[int]:
    """The indices of the headings in the longest series of rising numbers. If the numbers are 1, 2,
    7, 3, 4, these are all headings but the 7.

    numbered: the index and the number of each heading, in reading order."""
    # `ends[n]` is the lowest number that ends a series of n + 1 numbers; `places` has the place of
    # each number in the longest series that it ends.
    ends: list[Values] = []
    places: list[int] = []
    for _, values in numbered:
        place = bisect_left(ends, values)
        ends[place : place + 1] = [values]
        places.append(place)
    # From the end back, the series takes the nearest number of each place.
    wanted, row = len(ends) - 1, set[int]()
    for (at, _), place in zip(reversed(numbered), reversed(places), strict=True):
        if place == wanted:
            row.add(at)
            wanted -= 1
    return row


def opening_text(groups: Sequence[LineGroup], may_be: Sequence[bool], body: BodyStyle) -> Set[int]:
    """The indices of the possible headings that are above prose, or above another heading that is.

    Labels in figures, captions and names of journals have something else below them. may_be: for
    each group, whether it is a possible heading."""
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
    """Whether the form of a group allows it to be a heading; its style and what is around it decide
    later.

    A heading is short, hardly smaller than the body, mostly letters, and no caption. Text with
    addresses, rows of dots or an open bracket is not a heading."""
    text = group.plain_text.strip()
    if not group.is_prose or group.is_aside or len(group.lines) > _MAX_LINES:
        return False
    if any(
        len(line.cells) > 1 and line.cells[-1].isdigit() for line in group.lines
    ):  # an entry of contents
        return False
    is_name = is_plain_section_name(text)
    # Names of sections and numbered headings may be in small capitals, which are smaller than the
    # body.
    smallest = (
        _SMALL_CAPITALS if is_name or (is_caps(text) and heading_number(text)) else _NOT_SMALLER
    )
    if group.size < smallest * body.size or len(text.split()) > _MAX_WORDS or text.endswith(","):
        return False
    n_letters = sum(character.isalpha() for character in text)
    if n_letters < 3 or n_letters * 2 < len(text):
        return False
    number = heading_number(text)
    title = number.title if number else text
    is_cut = any(title.count(opens) != title.count(closes) for opens, closes in BRACKETS)
    return not (is_cut or _NOT_IN_HEADINGS.search(text) or caption_kind(group) is not None)
