"""Reads the authors from the lines between the title and the abstract of a printed page.

A byline is read completely or not at all: if two names, or a name and an institution, cannot be
separated, it gives no authors.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import chain, takewhile

from nameparser import HumanName

from rag_assets.core.domain import Person
from rag_assets.core.text.folding import letters_of
from rag_assets.core.text.headings import is_section_name, starts_abstract
from rag_assets.core.text.names import (
    ASIDE,
    BETWEEN_NAMES,
    NUMBER,
    begins_with_a_name,
    is_degree,
    is_person_name,
    joins_names,
    names_an_institution,
    names_in,
    ordinary_words,
)

_LETTER_MARKS = re.compile(r"a[ ,]?[A-ZÀ-Ý]")
"""An affiliation whose mark is a letter ("a University of ..."). Then a letter is attached to every
name as well."""
_DATE = re.compile(
    r"\W*(?:\d{1,2} \w+ \d{4}|\w+ \d{1,2}, \d{4}|\d{4}[-/]\d\d[-/]\d\d|(?:received|accepted|published|draft)\b.{0,80})\W*",
    re.IGNORECASE,
)
_MARKED = re.compile(r"\W*\d|[*†‡§¶∗¹²³⁴⁵⁶⁷⁸⁹]|[a-f][A-Z]")
"""The beginning of an affiliation or a footnote."""
_TORN = re.compile(r"[\W\d]*,")
"""A line that begins with the end of a list. The names before it were read elsewhere, so their
order is unknown."""
_SPACED_DASH = re.compile(r"\s[/–—-]\s")
_TWO_CAPITALS = re.compile(r"[^\W\d_a-z]\w{1,60} [^\W\d_a-z]\w")
_MOST_BEFORE = 2
"""Most lines without a name before the first author: the rest of a title, the journal's address."""
_MOST_CHARS = 8_000
Lines = Sequence[str]


def below_title(lines: Lines, title: str) -> list[str] | None:
    """The lines from the end of the title to the abstract; None if the title is not found in the
    lines. The title may be printed on several lines."""
    title_letters = letters_of(title)
    first_lines = (
        index
        for index, line in enumerate(lines)
        if (line_letters := letters_of(line))
        and title_letters.startswith(line_letters[: len(title_letters)])
    )
    for index in first_lines:
        end, joined = index, letters_of(lines[index])
        while len(joined) < len(title_letters) and end + 1 < len(lines):
            end += 1
            joined += letters_of(lines[end])
        if title_letters and joined.startswith(title_letters):
            # what follows the title on its last line
            n_left = len(joined) - len(title_letters)
            rest = lines[end][-n_left:] if n_left else ""
            return [line for line in (rest, *_until_text(lines[end + 1 :])) if line.strip()]
    return None


def _until_text(lines: Lines) -> list[str]:
    """The lines before the abstract or the first section."""
    return list(takewhile(lambda line: not (starts_abstract(line) or is_section_name(line)), lines))


@dataclass(frozen=True)
class Byline:
    """The lines between title and abstract that name authors, and the persons in them."""

    lines: tuple[str, ...] = ()
    persons: tuple[Person, ...] = ()
    """Empty if the names cannot be separated from each other or from institutions."""
    is_sure: bool = False
    """False if an institution below a name may have been read as another person."""


def byline(lines: Lines, page: str) -> Byline:
    """Read the authors from the lines below the title.

    page: the text of the page. A word that it also writes in small letters is not taken for a name.
    """
    ordinary = ordinary_words(page)
    is_reliable, is_sure, is_marked = True, True, False
    authors: list[Person] = []
    byline_lines: list[str] = []
    n_name_tabs = 0
    for block in (line[:_MOST_CHARS] for line in lines):
        line, n_tabs = block.replace("\n", " "), block.partition("\n")[0].count("\t")
        # a line with as many columns as the names above: probably their institutions
        is_below_names = 0 < n_tabs == n_name_tabs
        is_reliable &= _TORN.match(line) is None
        persons_by_line = _persons_by_line(block, ordinary)
        if persons := persons_in(line, ordinary) or list(chain.from_iterable(persons_by_line)):
            authors += persons
            is_reliable &= not is_below_names  # institutions may look like names
            n_name_tabs = n_tabs
            # with names on several lines, the lines below may be names or institutions
            lines_below = block.split("\n")[len(persons_by_line) :]
            is_sure &= not lines_below or len(persons_by_line) <= 1
            is_reliable &= not any(_continues_names(below, ordinary) for below in lines_below)
            # below an institution and above another line: probably the next author
            is_reliable &= not any(persons_in(below, ordinary) for below in lines_below[1:-1])
            is_marked |= any(character.isnumeric() for character in line)
        elif joins_names(line, ordinary) or (
            begins_with_a_name(line, ordinary)
            and not (is_marked or is_below_names or _MARKED.match(line))
        ):
            is_reliable = False  # the line has names, but not only names that can be separated
        elif (authors or len(byline_lines) >= _MOST_BEFORE) and not _is_aside(line):
            break  # the byline ends here
        byline_lines.append(block)
    names = [author.name for author in authors]
    is_reliable &= len(set(names)) == len(names) and not any(
        _LETTER_MARKS.match(line) for line in byline_lines
    )
    return Byline(tuple(byline_lines), tuple(authors) if is_reliable else (), is_sure)


_MOST_STYLES = 8


def persons_set_alike(texts: Sequence[str], page: str) -> tuple[Person, ...]:
    """The authors found by typography: the persons in the texts that are set in one style below the
    title. Only styles that list persons and nothing else count; the one with most persons is taken,
    of equal ones the first.

    texts: one for each style, as in `PrintedFront.set_alike`. page: the text of the page, see
    `byline`.
    """
    ordinary = ordinary_words(page)
    lists = [_listed(text[:_MOST_CHARS], ordinary) for text in texts[:_MOST_STYLES]]
    longest = max(lists, key=len, default=[])
    return tuple(longest)


def _listed(text: str, ordinary: Set[str]) -> list[Person]:
    """The persons that a text of one style lists; empty if it has anything else.

    All pieces of the text must be names. Or some of its pieces are in capitals, and all of these
    (of more than one word) are names: "ADA LUND, Winter Institute, UK".
    """
    lines = [line for line in ASIDE.sub(" ", text).split("\n") if not _DATE.fullmatch(line)]
    pieces = [piece for piece in _pieces(lines, ordinary) if not is_degree(piece)]
    if any(map(NUMBER.search, lines)):
        return []
    names = [piece for piece in pieces if is_person_name(piece, ordinary)]
    in_capitals = [piece for piece in names if piece.isupper()]
    if len(names) < len(pieces) and any(not piece.isupper() for piece in pieces):
        capitals = [piece for piece in pieces if piece.isupper() and len(piece.split()) > 1]
        names = in_capitals if len(in_capitals) == len(capitals) else []
    elif len(names) < len(pieces) or any(map(names_an_institution, names)):
        return []
    persons = [person_of(piece) for piece in names]
    are_distinct = len({person.name for person in persons}) == len(persons)
    return persons if are_distinct and all(person.given for person in persons) else []


def _pieces(lines: Lines, ordinary: Set[str]) -> list[str]:
    """The pieces of a list, separated by commas, marks or line ends. But a name may continue on the
    next line: "Ada Maria" and "Lund" become one piece if they are a name only together."""
    pieces: list[str] = []
    for line in lines:
        first_piece, *later_pieces = BETWEEN_NAMES.split(line) or [""]
        last_piece = pieces[-1] if pieces else ""
        may_continue = (
            last_piece
            and first_piece
            and not (is_person_name(last_piece, ordinary) and is_person_name(first_piece, ordinary))
        )
        if may_continue and is_person_name(f"{last_piece} {first_piece}", ordinary):
            pieces[-1] = f"{last_piece} {first_piece}"
        else:
            pieces.append(first_piece)
        pieces += later_pieces
    return [piece.strip(" .:-–/()") for piece in pieces if piece.strip(" .:-–/()")]


def _persons_by_line(block: str, ordinary: Set[str]) -> list[list[Person]]:
    """The persons on each of the first lines of a block, whose institutions are on the lines below.
    If every line is "name, institution", the person on each line."""
    lines = block.split("\n")
    first_persons = list(takewhile(bool, (persons_in(line, ordinary) for line in lines)))
    if first_persons:
        return first_persons
    parts = [line.partition(",") for line in lines]
    have_institutions = all(names_an_institution(rest.split(",")[0]) for _, _, rest in parts)
    persons = [persons_in(name, ordinary) for name, _, _ in parts]
    has_one_each = all(len(line_persons) == 1 for line_persons in persons)
    return persons if have_institutions and has_one_each else []


def _continues_names(line: str, ordinary: Set[str]) -> bool:
    """Whether a line below names begins with more names (an institution may follow)."""
    pieces = [piece.strip() for piece in BETWEEN_NAMES.split(line)[:2]]
    are_names = len(pieces) > 1 and all(is_person_name(piece, ordinary) for piece in pieces)
    return are_names or begins_with_a_name(line, ordinary)


def _is_aside(line: str) -> bool:
    """Whether a line can be between the authors: an institution, an address, a date, a footnote."""
    is_address = names_an_institution(line) or ASIDE.search(line) is not None
    return is_address or _DATE.fullmatch(line) is not None or _MARKED.match(line) is not None


def persons_in(line: str, ordinary: Set[str] = frozenset()) -> list[Person]:
    """The persons that a line lists; empty if the line has anything else. ordinary: words that are
    not names."""
    persons = list(map(person_of, names_in(line, ordinary)))
    return persons if all(person.given for person in persons) else []


def may_name_a_person(text: str) -> bool:
    """Whether a text between two names may have a third name in it: two capitalised words that are
    not an institution."""
    pieces = BETWEEN_NAMES.split(ASIDE.sub(" ", text))
    return any(_TWO_CAPITALS.search(piece) and not names_an_institution(piece) for piece in pieces)


def goes_on_with_a_name(rest: str, ordinary: Set[str]) -> bool:
    """Whether what stands behind a name on its line begins with another name."""
    parted = _SPACED_DASH.sub(",", ASIDE.sub(" ", rest))
    pieces = (piece.strip(" .:-–/()") for piece in BETWEEN_NAMES.split(parted))
    first = next(filter(None, pieces), "")
    return is_person_name(first, ordinary) and not names_an_institution(first)


def person_of(name: str) -> Person:
    """The person of a written name, in either order ("Ada Lund", "Lund, Ada"). A name in capitals
    becomes "Ada Lund"."""
    parsed = HumanName(name)
    if name.isupper():
        parsed.capitalize(force=True)
    return Person(parsed.last, f"{parsed.first} {parsed.middle}".strip())
