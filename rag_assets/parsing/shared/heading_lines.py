"""Finds heading lines in formats that know no fonts (ADE, Markdown, text).

A line without a number is a heading if it is a usual section name or in capitals. For numbered
lines the whole document is needed, because list items, entries of a reference list and affiliations
start with numbers too: a numbered heading must start a paragraph, look like a title, continue the
numbers of the headings before it, and not be one of several numbered lines in a row.

The module also finds the lines of tables of contents, which only repeat the headings.
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
"""A page number after a row of points or a gap."""
_LINK = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[([^\]]*)\]\(#[^)]*\)\s*$")
_ENDS_OF_ENTRY = ".·…_)"
"""Last characters of a sure entry without its page number: leader points, or the end of a link. A
gap alone may be one between two columns of a table."""
_MAX_CHARS = 200
_LEAST_ENTRIES, _LEAST_SIGNS = 3, 2


def lines_of_contents(lines: Sequence[str]) -> frozenset[int]:
    """Indices of the lines of tables of contents, with the line "Contents" above them.

    A line is an entry if two of three signs are found: it is marked (a page number after a row of
    points or a gap, or a link into the text), its title is repeated alone on another line, or it is
    in a row of entries below a line "Contents". Such a row counts from three entries on; without
    it, an entry must have the first two signs and leader points or a link.
    """
    short = {
        index: line for index, line in enumerate(lines) if line.strip() and len(line) <= _MAX_CHARS
    }
    marked = {index for index, line in short.items() if _PAGE.search(line) or _LINK.match(line)}
    titles = {
        index: letters_of(_LINK.sub(r"\1", _PAGE.sub("", line))).lstrip("0123456789")
        for index, line in short.items()
    }
    n_unmarked = Counter(title for index, title in titles.items() if index not in marked)
    found: set[int] = set()
    seen_titles: set[str] = set()
    row: list[int] = []
    """A line "Contents" and the entries right below it; empty elsewhere."""
    for index, line in short.items():
        title, is_marked = titles[index], index in marked
        is_repeated = n_unmarked[title] > (not is_marked) and title not in seen_titles
        is_sure = is_repeated and is_marked and line.rstrip("0123456789 \t")[-1:] in _ENDS_OF_ENTRY
        if not title or is_marked + is_repeated + bool(row) < _LEAST_SIGNS:
            row = [index] if _NAME.fullmatch(line.strip(" #*_:").casefold()) else []
            continue
        seen_titles.add(title)
        if row:
            row.append(index)
        if len(row) == _LEAST_ENTRIES + 1:  # enough now: those before count too
            found.update(row)
        elif is_sure or len(row) > _LEAST_ENTRIES:
            found.add(index)
    return frozenset(found if len(found) >= _LEAST_ENTRIES else ())


MAX_TITLE_WORDS = 14
_MAX_NAME_CHARS = 80
_MAX_SHARE_OF_NEXT_LINE = 0.8
"""A heading directly above its text is at most this part as long as the line below; the first line
of a list item is longer."""
_MAX_NUMBER_GAP = 2
_MAX_CAPITALS_WORDS = 10
_MAX_LINES_OF_ITEM = 8
_MAX_GAP_LINES = 3
_ENTRY_OF_CONTENTS = re.compile(r"(?:\.{3}|(?:\. ){3}|…{2}|_{3})\s*\d{1,4}$")
"""A title, a row of points and the page: "5.5 Buttons ..... 34"."""
_MAX_END_OF_ENTRY = 20
"""Number of characters at the end of a line that are searched for points and page: the row of
points may be as long as the line."""
_ENDS_LIKE_PROSE = re.compile(
    r"[.,;:\-–—]$|\b(?:and|or|of|the|in|for|with|to|a|by|on)$", re.IGNORECASE
)

_SPEAKER = re.compile(r"[^\W\d_][^.:!?]{0,30}:(?=\s)")


def speaker(line: str) -> str:
    """The start of a line up to its colon, "Q:", if it may name a speaker; else empty."""
    match = _SPEAKER.match(line)
    return match[0] if match and line[0].isupper() else ""


def speakers(lines: Iterable[str]) -> frozenset[str]:
    """The starts with a colon that several lines share, as in an interview ("Q:", "A:")."""
    n_times = Counter(filter(None, map(speaker, lines)))
    return frozenset(name for name, n in n_times.items() if n > 1)


def numbered_heading_lines(lines: Sequence[str]) -> frozenset[int]:
    """Indices of the lines that are numbered headings.

    lines: all lines in reading order, with an empty line where a paragraph ends. A numbered line
    with a usual section name ("1. Introduction") is a heading unless it is in a list; with the mark
    of a Markdown heading ("#") it is always one. Any other numbered line must fit into the outline
    of the numbers before it; if there is only one such line and no named one, it is no heading. A
    line of a table of contents counts as empty. Takes time linear in the number of lines.
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
        outline.note_reference_entry(at, number)
        previous = (at, number)
    return outline.lines()


def looks_like_heading(line: str) -> bool:
    """Whether a line without a number looks like a heading by itself: a usual section name, or a
    few words in capitals."""
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
    """Whether a line ends as titles do not: with a punctuation mark, or in the middle of a phrase
    ("... of the")."""
    return _ENDS_LIKE_PROSE.search(line) is not None


def follows(before: Values, number: Values) -> bool:
    """Whether a heading `number` can come after the heading `before`: 2.1 after 2, 2.3 or 3 after
    2.2. One heading may be missing in between, so 2.4 can follow 2.2."""
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
    """Whether `other` is the next number of the same level, like the next item of a list: 2.4 after
    2.3."""
    if other is None or number.style != other.style or number.label != other.label:
        return False
    return number.values[:-1] == other.values[:-1] and other.values[-1] == number.values[-1] + 1


def _is_marked(line: str) -> bool:
    """Whether a line has the mark of a Markdown heading; the "#" of "#5 mesh" is text."""
    return line.startswith("#") and line.lstrip("#")[:1].strip() == ""


def _starts_paragraph(lines: Sequence[str], at: int) -> bool:
    return at == 0 or not lines[at - 1].strip() or _is_marked(lines[at - 1])


def _next_with_text(lines: Sequence[str], at: int) -> int | None:
    """Index of the next line that is not empty, among the next three."""
    return next(
        (
            below
            for below in range(at + 1, min(at + 1 + _MAX_GAP_LINES, len(lines)))
            if lines[below].strip()
        ),
        None,
    )


def _may_precede(lines: Sequence[str], at: int) -> bool:
    """Whether the line can be a heading by the line directly below: that one must not begin with a
    small letter."""
    return at + 1 == len(lines) or not lines[at + 1].strip()[:1].islower()


def _reads_like_title(lines: Sequence[str], at: int, number: HeadingNumber) -> bool:
    """Whether a line begins a paragraph and looks like a title by itself."""
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
    """Whether a numbered line is the next item of a list: the numbered line shortly before it has
    the number before, and is no heading.

    previous, item: index and number of the two lines.
    """
    (at_previous, number_previous), (at, number) = previous, item
    is_near = at - at_previous <= _MAX_LINES_OF_ITEM
    return is_near and is_next(number_previous, number) and not outline.is_heading(at_previous)


@dataclass
class _NumberedHeadings:
    """The numbered headings found so far. `at` is the index of a line."""

    _names: set[int] = field(default_factory=set)
    """Lines of the headings with a usual name."""
    _others: dict[int, HeadingNumber] = field(default_factory=dict)
    """Line and number of the headings without a usual name, in order."""
    _since_name: list[int] = field(default_factory=list)
    """Lines of `_others` after the last heading with a usual name."""
    _last: dict[NumberStyle, Values] = field(default_factory=dict)
    """Number of the last heading of each style."""
    _entry_numbers: set[Values] | None = None
    """Numbers of the entries of the reference list being read; None outside of it."""
    _has_references: bool = False

    def is_heading(self, at: int) -> bool:
        return at in self._names or at in self._others

    def note_reference_entry(self, at: int, number: HeadingNumber) -> None:
        """Inside the reference list, a numbered line that is no heading is an entry."""
        if self._entry_numbers is not None and not self.is_heading(at):
            self._entry_numbers.add(number.values)

    def enter_unnumbered(self, line: str) -> None:
        """Take a section name without a number: it opens the reference list or ends it."""
        is_references = names_references(line)
        self._entry_numbers = set() if is_references else None
        self._has_references |= is_references

    def enter_name(self, at: int, line: str, number: HeadingNumber) -> None:
        """Take a numbered heading with a usual name. Headings without a usual name that were taken
        since the last named one, and have the same or a later number, were list items: they are
        removed."""
        values = number.values
        for other_at in self._since_name:
            other = self._others[other_at]
            # with the number 1 a new part of the document begins: later numbers before it are fine
            is_later = other.values > values and values != (1,)
            if other.style == number.style and (other.values == values or is_later):
                del self._others[other_at]
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
        self._entry_numbers = None

    def lines(self) -> frozenset[int]:
        """The lines of all headings; none if there is only one and it has no usual name."""
        is_outline = bool(self._names) or len(self._others) > 1
        return frozenset(self._names.union(self._others)) if is_outline else frozenset()

    def _move_to(self, style: NumberStyle, values: Values) -> None:
        self._last[style] = values
        if style == "roman":  # letters are counted anew below each roman number
            self._last.pop("letter", None)

    def _fits_number(self, number: HeadingNumber) -> bool:
        """Whether the number can follow the last heading of its style, and continues no reference
        list."""
        before, values = self._last.get(number.style, ()), number.values
        if self._entry_numbers is not None and number.style == "arabic":
            predecessor = (*values[:-1], values[-1] - 1)
            if values[-1] == 1 or predecessor in self._entry_numbers:
                return False
        if not before and number.style == "roman":
            return (
                values[0] <= _MAX_NUMBER_GAP
            )  # "I Introduction" without a stop is not known as a number
        if len(values) > 1 and (number.style == "arabic" or self._has_references):
            # "4.2" is seldom a list item, so headings before it may be missing
            return values > before and values[0] <= (before or (1,))[0] + _MAX_NUMBER_GAP
        return follows(before, values)

    def _fits_style(self, number: HeadingNumber) -> bool:
        """Whether a letter or a roman numeral is a heading's number here, and not the initial of a
        person ("C. Smith")."""
        if number.style == "arabic" or len(number.parts) > 1:
            return True
        if "," in number.title or ". " in number.title:
            return False
        is_inside = "roman" in self._last or self._has_references  # a subsection, or an appendix
        return is_inside or (number.style == "roman" and len(number.title.split()) > 1)

    def _as_letter(self, number: HeadingNumber) -> HeadingNumber:
        """The number as a letter if it is read as roman but follows a letter: "I." after "H."."""
        if number.style != "roman" or len(number.parts[0]) > 1 or "letter" not in self._last:
            return number
        letter = replace(number, style="letter")
        return letter if follows(self._last["letter"], letter.values) else number
