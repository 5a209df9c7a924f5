"""Headings that open a paragraph: its first words, in bold, italics or a font that the words after
them do not have.

    **Participants.** Nineteen millers took part in the spring.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag_assets.core.text.headings import heading_number, is_plain_section_name
from rag_assets.core.text.works import looks_like_reference
from rag_assets.parsing.formats.pdf.blocks import (
    BodyStyle,
    GroupKind,
    LineGroup,
    kind_of_caption,
    leaves_room,
)
from rag_assets.parsing.formats.pdf.layout import Line
from rag_assets.parsing.formats.pdf.leads import Face, face_of
from rag_assets.parsing.formats.pdf.text import is_one_size

_MAX_WORDS, _MAX_WORDS_SLANTED = 20, 12
_MAX_LINES = 3
_MIN_LETTERS = 3
_LEAST_SIZE, _LEAST_SIZE_OF_NAME = 0.85, 0.65
_QUOTES = ("”", '"')
_STOPS, _DASHES = (".", ":", "?", "!", "—", "–"), " -–—"
_ENDS, _RAGGED = (".", ":", ";", "?", "!", ".)", *_QUOTES), 0.15
BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))
_FEWEST_ALIKE, _PITCH, _MAX_GROUPS = 2, 2.0, 2
_MIN_WORDS_BELOW = 8


@dataclass(frozen=True)
class RunIn:
    """A heading that opens a paragraph."""

    parts: tuple[LineGroup, ...]
    """The heading, and what is left of the groups that it is printed in."""
    n_groups: int
    """How many groups `parts` stand for."""
    face: Face
    is_sure: bool
    """It ends with a stop, and a sentence begins behind it."""

    @property
    def text(self) -> str:
        return self.parts[0].plain_text.strip()

    @property
    def weight(self) -> tuple[bool, bool]:
        """Orders faces by how much they stand out."""
        is_bold, is_italic, _ = self.face
        return is_bold, not is_italic


def run_ins(groups: Sequence[LineGroup], body: BodyStyle) -> dict[int, RunIn]:
    """The headings that open paragraphs, by the index of the group that they begin in.

    A sure heading in bold or with a number counts alone. Any other counts only if at least two
    headings in its face are sure."""
    read = {at: run_in for at in range(len(groups)) if (run_in := _run_in(groups, at, body))}
    n_sure = Counter(run_in.face for run_in in read.values() if run_in.is_sure)
    return {
        at: run_in
        for at, run_in in read.items()
        if n_sure[run_in.face] >= _FEWEST_ALIKE
        or (run_in.is_sure and (run_in.face[0] or heading_number(run_in.text)))
    }


def _run_in(groups: Sequence[LineGroup], at: int, body: BodyStyle) -> RunIn | None:
    """The heading that group `at` begins with; None if it begins like any paragraph.

    Its first words are in a face unlike the body's and read like a heading, and the text after them
    is in another face. A sentence must begin after them, and they end with a stop or are in bold;
    after a colon the text may begin with a small letter ("Design: a survey")."""
    group = groups[at]
    if not group.is_prose or group.is_aside or group.size < _LEAST_SIZE_OF_NAME * body.size:
        return None
    face = face_of(group.lines[0])
    if face is None or not _stands_out(face, body):
        return None
    cut = _cut(groups, at, face)
    if cut is None:
        return None
    parts, n_groups = cut
    below = parts[1] if len(parts) > 1 else groups[at + 1]
    text, rest = parts[0].plain_text.strip(), below.plain_text.strip()
    if not _may_open(parts[0], below, face, body) or _is_item(group):
        return None
    # The stop may be in the face of the heading or in that of the text, and dashes may follow it.
    has_stop = text.endswith(_STOPS) or rest.startswith(_STOPS)
    has_stop |= text.rstrip(_DASHES).endswith(_STOPS)
    first = next(filter(str.isalnum if has_stop else str.isalpha, rest), "")
    opens_sentence = not first.islower()
    is_label = has_stop and ":" in (text.rstrip(_DASHES)[-1], rest[0])
    if not (is_label or (opens_sentence and (has_stop or face[0]))):
        return None
    return RunIn(parts, n_groups, face, has_stop and opens_sentence)


def _cut(
    groups: Sequence[LineGroup], at: int, face: Face
) -> tuple[tuple[LineGroup, ...], int] | None:
    """The first words of group `at`, which are in a face, and the rest, as groups, with the number
    of groups that they were printed in. None if the words take too many lines, a sentence in them
    ends its line early, or nothing follows them.

    If the words fill the group, it is the heading of the group below, or they end in the first line
    of a next group, which is then joined."""
    group = groups[at]
    n_whole = next(
        (n for n, line in enumerate(group.lines) if line.parts or face_of(line) != face),
        len(group.lines),
    )
    if n_whole > _MAX_LINES or any(
        above.text.endswith((*_STOPS, *_QUOTES)) and leaves_room(above, line)
        for above, line in pairwise(group.lines[: n_whole + 1])
    ):
        return None
    lines, below = group.lines, groups[at + 1 : at + 1 + _MAX_GROUPS]
    if n_whole == len(lines) and group.plain_text.rstrip().endswith((".", ":")):
        return ((group,), 1) if below and _is_opened(group, below[0], face) else None
    n_groups = 1
    for other in below:
        is_in_face = n_whole < len(lines) or face_of(other.lines[0]) == face
        if n_whole + 1 < len(lines) or not (is_in_face and _goes_on(lines[-1], other)):
            break
        lines, n_groups = (*lines, *other.lines), n_groups + 1
    heading, rest = list(lines[:n_whole]), list(lines[n_whole:])
    if rest and rest[0].parts and face_of(rest[0]) == face:
        lead, rest[0] = rest[0].parts
        heading.append(lead)
    if not rest:
        return None
    return (
        LineGroup(GroupKind.TEXT, tuple(heading)),
        replace(group, kind=GroupKind.TEXT, lines=tuple(rest)),
    ), n_groups


def _is_opened(group: LineGroup, below: LineGroup, face: Face) -> bool:
    """Whether a group in one face is directly above prose in another face, so that it may be its
    heading."""
    if not below.is_prose or below.is_aside or is_plain_section_name(group.plain_text):
        return False
    is_below = below.lines[0].column == group.lines[-1].column and below.page == group.page
    n_words = len(below.plain_text.split())
    return is_below and face_of(below.lines[0]) != face and n_words >= _MIN_WORDS_BELOW


def _goes_on(last: Line, below: LineGroup) -> bool:
    """Whether a group continues the paragraph of the line above it, although the two were grouped
    apart."""
    first = below.lines[0]
    return (
        below.kind is GroupKind.TEXT
        and first.column == last.column
        and is_one_size(last.size, first.size)
        and 0 <= first.top - last.top <= _PITCH * last.height
        and not leaves_room(last, first)
    )


def _stands_out(face: Face, body: BodyStyle) -> bool:
    is_bold, is_italic, font = face
    return (is_bold and not body.is_bold) or is_italic or (bool(font) and font != body.font)


def _may_open(heading: LineGroup, below: LineGroup, face: Face, body: BodyStyle) -> bool:
    """Whether words read like a heading, and the text below them like the text of that heading."""
    text, rest = heading.plain_text.strip(), below.plain_text.strip()
    n_letters = sum(map(str.isalpha, text))
    if n_letters < max(_MIN_LETTERS, 0.5 * len(text.replace(" ", ""))) or text[:1].islower():
        return False
    if len(text.split()) > (_MAX_WORDS if face[0] else _MAX_WORDS_SLANTED):
        return False
    least = _LEAST_SIZE_OF_NAME if is_plain_section_name(text) else _LEAST_SIZE
    if heading.size < least * body.size or not any(map(str.isalpha, rest)):
        return False
    last = below.lines[-1]
    if len(below.lines) == 1 and not (
        rest.endswith(_ENDS) or last.column.right - last.right < _RAGGED * last.column.width
    ):
        return False
    number = heading_number(text)
    title = number.title if number else text
    if any(title.count(opens) != title.count(closes) for opens, closes in BRACKETS):
        return False
    whole = f"{text} {rest}"
    return kind_of_caption(whole, 1.0) is None and not looks_like_reference(whole)


def _is_item(group: LineGroup) -> bool:
    """Whether a group is an item of a list: it has a bullet, not a number, or its second line is
    indented."""
    if group.kind is not GroupKind.ITEM:
        return False
    hangs = len(group.lines) > 1 and group.lines[1].left > group.lines[0].left
    return hangs or heading_number(group.plain_text) is None
