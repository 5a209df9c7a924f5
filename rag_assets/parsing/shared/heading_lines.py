"""Which lines are headings, for the formats that know no fonts (ADE, Markdown, text).

A line alone is a heading by a known name or capitals. Numbered lines are judged with the whole
document in view: list items, entries of a reference list and affiliations start with numbers too,
so a heading must start a paragraph, read like a title, carry on the numbers of the headings before
it, and not be one of several numbered lines in a row.

The lines of a table of contents repeat the headings and say nothing of their own.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from rag_assets.core.text.folding import letters_of
from rag_assets.core.text.headings import (
    HeadingNumber,
    NumberStyle,
    Values,
    heading_number,
    is_plain_section_name,
    is_section_name,
    names_references,
)

_NAME = re.compile(r"(?:table of )?contents|list of (?:figures|tables)")
_PAGE = re.compile(r"(?:(?:[.·]\s?){3,}|[…_]{2,}|\s{2}|\t)\s*\d{1,4}\s*$")
"""Behind a row of points or a gap."""
_LINK = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[([^\]]*)\]\(#[^)]*\)\s*$")
_ENDS_OF_ENTRY = ".·…_)"
"""Before its page number, or behind its link: a gap alone may be one between the columns of a
table."""
_MAX_CHARS = 200
_LEAST_ENTRIES, _LEAST_SIGNS = 3, 2


def lines_of_contents(lines: Sequence[str]) -> frozenset[int]:
    """Indices of the lines of tables of contents, their names included.

    An entry has a page number behind a row of points or is a link into the text, and its title
    stands alone on another line, which the names of a table's rows do not. Below a name
    ("Contents") one of both is enough, for three entries or more.
    """
    short = {at: line for at, line in enumerate(lines) if line.strip() and len(line) <= _MAX_CHARS}
    marked = {at for at, line in short.items() if _PAGE.search(line) or _LINK.match(line)}
    titles = {
        at: letters_of(_LINK.sub(r"\1", _PAGE.sub("", line))).lstrip("0123456789")
        for at, line in short.items()
    }
    n_alone = Counter(title for at, title in titles.items() if at not in marked)
    found: set[int] = set()
    seen: set[str] = set()
    below: list[int] = []
    """A name and the entries right below it."""
    for at, line in short.items():
        title, is_marked = titles[at], at in marked
        stands_again = n_alone[title] > (not is_marked) and title not in seen
        is_sure = stands_again and is_marked and line.rstrip("0123456789 \t")[-1:] in _ENDS_OF_ENTRY
        if not title or is_marked + stands_again + bool(below) < _LEAST_SIGNS:
            below = [at] if _NAME.fullmatch(line.strip(" #*_:").casefold()) else []
        else:
            below += [at] if below else []
            seen.add(title)
            found.update(
                below
                if len(below) == _LEAST_ENTRIES + 1
                else [at]
                if is_sure or len(below) > _LEAST_ENTRIES
                else []
            )
    return frozenset(found if len(found) >= _LEAST_ENTRIES else ())


MAX_TITLE_WORDS = 14
_MAX_NAME_CHARS = 80
_MAX_SHARE_OF_NEXT_LINE = 0.8
"""A heading directly above its text ends well before the margin; the first line of a list item does
not."""
_MAX_NUMBER_GAP = 2
_MAX_CAPITALS_WORDS = 10
_MAX_LINES_OF_ITEM = 8
_MAX_GAP_LINES = 3
_ENTRY_OF_CONTENTS = re.compile(r"(?:\.{3,}|(?:\. ){3,}|…{2,}|_{3,})\s*\d{1,4}$")
"""A title, a row of points and the page: "5.5 Buttons ..... 34"."""
_MAX_END_OF_ENTRY = 20
"""Only the end of a row of points is matched: it may be as long as the line."""
_ENDS_LIKE_PROSE = re.compile(
    r"[.,;:\-–—]$|\b(?:and|or|of|the|in|for|with|to|a|by|on)$", re.IGNORECASE
)

_SPEAKER = re.compile(r"[^\W\d_][^.:!?]{0,30}:(?=\s)")


def speaker(line: str) -> str:
    """What a line says before its colon, "Q:", if it may be who speaks; empty otherwise."""
    match = _SPEAKER.match(line)
    return match[0] if match and line[0].isupper() else ""


def speakers(lines: Iterable[str]) -> frozenset[str]:
    """The openings with a colon that several lines share, as the turns of an interview do."""
    n_times = Counter(filter(None, map(speaker, lines)))
    return frozenset(name for name, n in n_times.items() if n > 1)


def numbered_heading_lines(lines: Sequence[str]) -> frozenset[int]:
    """Indices of the lines that are numbered headings.

    lines: all lines in reading order, empty ones where a paragraph ends. A line with the usual name
    of a section ("1. Introduction") is believed unless it is in a list, and one with the mark of a
    Markdown heading always; the others must fit into the outline. One numbered line without a name
    makes no outline. A line of a table of contents counts as empty. Linear in the number of lines.
    """
    lines = ["" if _is_entry_of_contents(line) else line for line in lines]
    numbers = {at: number for at, line in enumerate(lines) if (number := heading_number(line))}
    outline = _NumberedHeadings()
    previous: tuple[int, HeadingNumber] | None = None
    for at, line in enumerate(lines):
        number = numbers.get(at)
        is_name = _is_marked(line) or (
            _starts_paragraph(lines, at)
            and len(line) <= _MAX_NAME_CHARS
            and is_plain_section_name(line)
        )
        if number is None:
            if is_name:
                outline.enter_unnumbered(line)
            continue
        below = _next_with_text(lines, at)
        is_item = len(number.parts) == 1 and (
            (below is not None and is_next(number, numbers.get(below)))
            or (previous is not None and _is_item_after(previous, (at, number), outline))
        )
        if _is_marked(line) or (
            is_name and _may_precede(lines, at) and not _is_in_tight_list(lines, at, number)
        ):
            outline.enter_name(at, line, number)
        elif not is_name and not is_item and _reads_like_title(lines, at, number):
            outline.enter_if_fitting(at, number)
        outline.see(at, number)
        previous = (at, number)
    return outline.lines()


def looks_like_heading(line: str) -> bool:
    """Whether a line by itself looks like a heading: a known name, or capitals, but no number."""
    words = line.split()
    if not 0 < len(words) <= MAX_TITLE_WORDS or not any(character.isalpha() for character in line):
        return False
    if is_plain_section_name(line) and not line.rstrip().endswith(":"):
        return True
    if _ends_like_prose(line) or _is_entry_of_contents(line):
        return False
    if is_section_name(line):
        return True
    if heading_number(line) is not None:
        return False
    n_letters = sum(character.isalpha() for character in line)
    is_wordy = n_letters >= 5 and n_letters > 0.6 * len(line.replace(" ", ""))
    return line.isupper() and is_wordy and len(words) <= _MAX_CAPITALS_WORDS and "," not in line


def _is_entry_of_contents(line: str) -> bool:
    return _ENTRY_OF_CONTENTS.search(line.rstrip()[-_MAX_END_OF_ENTRY:]) is not None


def _ends_like_prose(line: str) -> bool:
    """Whether a line ends as no title does: with a stop or in the middle of a phrase."""
    return _ENDS_LIKE_PROSE.search(line) is not None


def follows(before: Values, number: Values) -> bool:
    """Whether a heading of that number can come after the last one; one missing number in between
    is forgiven."""
    if number[: len(before)] == before:
        return all(part <= 1 for part in number[len(before) :]) and len(number) > len(before)
    shared = 0
    while shared < min(len(before), len(number)) and before[shared] == number[shared]:
        shared += 1
    if shared == len(number) or shared == len(before):
        return False
    gap = number[shared] - before[shared]
    return 0 < gap <= _MAX_NUMBER_GAP and all(part <= 1 for part in number[shared + 1 :])


def is_next(number: HeadingNumber, other: HeadingNumber | None) -> bool:
    """Whether `other` is the next number of the same rank, as the next item of a list would be."""
    if other is None or number.style != other.style or number.label != other.label:
        return False
    return number.values[:-1] == other.values[:-1] and other.values[-1] == number.values[-1] + 1


def _is_marked(line: str) -> bool:
    return line.startswith("#")


def _starts_paragraph(lines: Sequence[str], at: int) -> bool:
    return at == 0 or not lines[at - 1].strip() or _is_marked(lines[at - 1])


def _next_with_text(lines: Sequence[str], at: int) -> int | None:
    """Index of the next line that is not empty, if only a small gap lies between."""
    return next(
        (
            below
            for below in range(at + 1, min(at + 1 + _MAX_GAP_LINES, len(lines)))
            if lines[below].strip()
        ),
        None,
    )


def _may_precede(lines: Sequence[str], at: int) -> bool:
    """Whether the line directly below, if there is one, can begin the text under a heading."""
    return at + 1 == len(lines) or not lines[at + 1].strip()[:1].islower()


def _reads_like_title(lines: Sequence[str], at: int, number: HeadingNumber) -> bool:
    """Whether a line begins a paragraph and reads like a title by itself."""
    line = lines[at].strip(" *_")
    if not _starts_paragraph(lines, at) or not _may_precede(lines, at):
        return False
    if not number.starts_title or len(line.split()) > MAX_TITLE_WORDS or _ends_like_prose(line):
        return False
    below = lines[at + 1].strip() if at + 1 < len(lines) else ""
    return not below or len(line) <= _MAX_SHARE_OF_NEXT_LINE * len(below)


def _is_in_tight_list(lines: Sequence[str], at: int, number: HeadingNumber) -> bool:
    """Whether the line directly below has the next number, as in a table of contents."""
    return at + 1 < len(lines) and is_next(number, heading_number(lines[at + 1]))


def _is_item_after(
    previous: tuple[int, HeadingNumber],
    item: tuple[int, HeadingNumber],
    outline: "_NumberedHeadings",
) -> bool:
    """Whether a numbered line goes on with one shortly before it that is no heading, as list items
    do."""
    (at_previous, number_previous), (at, number) = previous, item
    is_near = at - at_previous <= _MAX_LINES_OF_ITEM
    return is_near and is_next(number_previous, number) and not outline.holds(at_previous)


@dataclass
class _NumberedHeadings:
    """The numbered headings found so far."""

    _names: set[int] = field(default_factory=set)
    _others: dict[int, HeadingNumber] = field(default_factory=dict)
    """Headings without a usual name, in order."""
    _since_name: list[int] = field(default_factory=list)
    """The headings of `_others` after the last name."""
    _last: dict[NumberStyle, Values] = field(default_factory=dict)
    """Number of the last heading of each style."""
    _entries: set[Values] | None = None
    """Numbers seen since the reference list began; None outside of it."""
    _has_references: bool = False

    def holds(self, at: int) -> bool:
        return at in self._names or at in self._others

    def see(self, at: int, number: HeadingNumber) -> None:
        """Note a numbered line that may be an entry of the reference list."""
        if self._entries is not None and not self.holds(at):
            self._entries.add(number.values)

    def enter_unnumbered(self, line: str) -> None:
        """Take a section name without a number."""
        is_references = names_references(line)
        self._entries = set() if is_references else None
        self._has_references |= is_references

    def enter_name(self, at: int, line: str, number: HeadingNumber) -> None:
        """Take a named heading; lines taken before it for the same number, or for a later one, were
        list items."""
        values = number.values
        for other in self._since_name:
            earlier = self._others[other]
            is_later = earlier.values > values and values != (
                1,
            )  # from 1 on, a new part is counted
            if earlier.style == number.style and (earlier.values == values or is_later):
                del self._others[other]
        self._since_name = []
        self._names.add(at)
        self._move_to(number.style, values)
        self.enter_unnumbered(line)

    def enter_if_fitting(self, at: int, number: HeadingNumber) -> None:
        """Take a heading without a usual name, if its number fits in here."""
        number = self._as_letter(number)
        if number.label:
            self._names.add(at)
        elif not (self._fits_style(number) and self._fits_number(number)):
            return
        self._others[at] = number
        self._since_name.append(at)
        self._move_to(number.style, number.values)
        self._entries = None

    def lines(self) -> frozenset[int]:
        is_outline = bool(self._names) or len(self._others) > 1
        return frozenset(self._names.union(self._others)) if is_outline else frozenset()

    def _move_to(self, style: NumberStyle, values: Values) -> None:
        self._last[style] = values
        if style == "roman":
            self._last.pop("letter", None)

    def _fits_number(self, number: HeadingNumber) -> bool:
        before, values = self._last.get(number.style, ()), number.values
        if self._entries is not None and number.style == "arabic":
            before_this = (*values[:-1], values[-1] - 1)
            if values[-1] == 1 or before_this in self._entries:
                return False
        if not before and number.style == "roman":
            return (
                values[0] <= _MAX_NUMBER_GAP
            )  # "I Introduction" without a stop is not known as a number
        if len(values) > 1 and (number.style == "arabic" or self._has_references):
            # "4.2" is seldom an item: some headings before it may have been missed
            return values > before and values[0] <= (before or (1,))[0] + _MAX_NUMBER_GAP
        return follows(before, values)

    def _fits_style(self, number: HeadingNumber) -> bool:
        """Whether a letter or a roman numeral is a number here, and not the initial of a person."""
        if number.style == "arabic" or len(number.parts) > 1:
            return True
        if "," in number.title or ". " in number.title:
            return False
        is_inside = "roman" in self._last or self._has_references  # a subsection, or an appendix
        return is_inside or (number.style == "roman" and len(number.title.split()) > 1)

    def _as_letter(self, number: HeadingNumber) -> HeadingNumber:
        """ "I." after "H." is a letter."""
        if number.style != "roman" or len(number.parts[0]) > 1 or "letter" not in self._last:
            return number
        letter = replace(number, style="letter")
        return letter if follows(self._last["letter"], letter.values) else number
