"""Reads the authors that stand between the title and the abstract of a printed page.

A byline is read as a whole or not at all: names that run into each other, or into a place of work,
give no authors.
"""

import re
from collections.abc import Sequence, Set
from functools import cache
from itertools import takewhile

from nameparser import HumanName

from rag_assets.core.domain import Person
from rag_assets.core.text.folding import letters_of
from rag_assets.core.text.headings import is_section_name, starts_abstract
from rag_assets.core.text.names import begins_with_a_name, names_an_institution, ordinary_words

_MARKS = r"[\d*†‡§¶∗⋆♦♠#|,;&+¹²³⁴⁵⁶⁷⁸⁹⁰\ue000-\uf8ff\x80-\x9f\t]|\b(?:and|AND|und|et|[Bb]y)\b"
_BETWEEN = re.compile(rf"\s*(?:{_MARKS}|\s)*(?:{_MARKS})(?:{_MARKS}|\s)*")
_ASIDE = re.compile(
    r"\[[\d X–-]{10,30}\]|\([^()]{0,60}\)|\{[^{}]{0,200}\}@?\S*|\S+@\S+|https?://\S+"
)
"""ORCIDs, addresses, and what stands in brackets."""
_WORD = re.compile(r"[^\W\d_][^\W\d_]*(?:[.'’`´‐‑-]+[^\W\d_]*)*")
_PARTICLES = frozenset(
    "de van von der den del della la le di da dos do du el al bin ibn ten ter zu y e".split()
)
_LETTER_MARKS = re.compile(r"a[ ,]?[A-ZÀ-Ý]")
"""An affiliation that begins with a letter as its mark: then a letter hangs at every name."""
_DATE = re.compile(
    r"\W*(?:\d{1,2} \w+ \d{4}|\w+ \d{1,2}, \d{4}|\d{4}[-/]\d\d[-/]\d\d|(?:received|accepted|published|draft)\b.{0,80})\W*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{3}")
"""A year or the number of a report: marks are shorter."""
_MARKED = re.compile(r"\W*\d|[*†‡§¶∗¹²³⁴⁵⁶⁷⁸⁹]|[a-f][A-Z]")
"""Opens an affiliation or a footnote."""
_TORN = re.compile(r"[\W\d]*,")
"""Begins with the end of a list: what stands before it was read elsewhere, so the order is lost."""
_TWO_CAPITALS = re.compile(r"[^\W\d_a-z]\w+ [^\W\d_a-z]\w+")
_ONE_REVERSED = r"\s*[^\W\d_a-z][\w'’-]+(?: [^\W\d_a-z][\w'’-]+)?, [^\W\d_a-z][\w.'’-]*(?: [^\W\d_a-z][\w.'’-]*)?[\s*†‡§¶∗]*"
_REVERSED = re.compile(rf"{_ONE_REVERSED}(?:;{_ONE_REVERSED}){{0,100}};?\s*")
"""Names as catalogues write them: "Lund, Ada; Moe, Bo"; a single one only beside an address."""
_MOST_FULL_WORDS, _MOST_WORDS = 3, 6
_MOST_BEFORE = 2
"""Lines between the title and the first name: the rest of a title, an address of the journal."""
_MOST_CHARS = 8_000
Lines = Sequence[str]


def below_title(lines: Lines, title: str) -> list[str] | None:
    """The lines from the end of the title to the abstract; None where the title is not found."""
    wanted = letters_of(title)
    starts = (
        at
        for at, line in enumerate(lines)
        if (opening := letters_of(line)) and wanted.startswith(opening[: len(wanted)])
    )
    for at in starts:
        end, joined = at, letters_of(lines[at])
        while len(joined) < len(wanted) and end + 1 < len(lines):
            end += 1
            joined += letters_of(lines[end])
        if wanted and joined.startswith(wanted):
            rest = lines[end][-(len(joined) - len(wanted)) :] if len(joined) > len(wanted) else ""
            return [line for line in (rest, *_until_text(lines[end + 1 :])) if line.strip()]
    return None


def _until_text(lines: Lines) -> list[str]:
    for at, line in enumerate(lines):
        if starts_abstract(line) or is_section_name(line):
            return list(lines[:at])
    return list(lines)


def byline(lines: Lines, page: str) -> tuple[list[str], tuple[Person, ...] | None]:
    """The lines that tell of authors, and the authors; None where they cannot be told apart.

    lines: those below the title. page: the text of the page; words that it writes in small letters
    are no names.
    """
    ordinary, is_clear, is_marked = ordinary_words(page), True, False
    found: list[Person] = []
    region: list[str] = []
    n_names = 0
    for block in (line[:_MOST_CHARS] for line in lines):
        line, n_gaps = block.replace("\n", " "), block.partition("\n")[0].count("\t")
        is_below_names = 0 < n_gaps == n_names
        is_clear &= _TORN.match(line) is None
        if persons := persons_in(line, ordinary) or _persons_above(block, ordinary):
            found += persons
            is_clear &= not is_below_names  # places of work with the words of names?
            n_names = n_gaps
            is_marked |= any(character.isnumeric() for character in line)
        elif _runs_on(line, ordinary) or (
            begins_with_a_name(line, ordinary)
            and not (is_marked or is_below_names or _MARKED.match(line))
        ):
            is_clear = False
        elif (found or len(region) >= _MOST_BEFORE) and not _is_aside(line):
            break
        region.append(line)
    names = [one.name for one in found]
    is_clear &= len(set(names)) == len(names) and not any(
        _LETTER_MARKS.match(line) for line in region
    )
    return region, tuple(found) if found and is_clear else None


_MOST_STYLES = 8


def persons_set_alike(texts: Sequence[str], page: str) -> tuple[Person, ...]:
    """The persons that one style of letters below the title lists, and nothing else: of two such
    styles the one that lists most, or the first; none if each lists one.

    texts: as `PrintedFront.set_alike`.
    """
    ordinary = ordinary_words(page)
    lists = (_listed(text[:_MOST_CHARS], ordinary) for text in texts[:_MOST_STYLES])
    found = [persons for persons in lists if persons]
    best = max(found, key=len, default=[])
    return () if len(found) > 1 and len(best) == 1 else tuple(best)


def _listed(text: str, ordinary: Set[str]) -> list[Person]:
    lines = [line for line in _ASIDE.sub(" ", text).split("\n") if not _DATE.fullmatch(line)]
    pieces = [piece for piece in _pieces(lines, ordinary) if not _is_degree(piece)]
    if any(map(_NUMBER.search, lines)):
        return []
    named = [piece for piece in pieces if _is_name(piece, ordinary)]
    in_capitals = [piece for piece in named if piece.isupper()]
    if len(named) < len(pieces) and any(not piece.isupper() for piece in pieces):
        # "ADA LUND, Winter Institute, UK": only the capitals are names
        capitals = [piece for piece in pieces if piece.isupper() and len(piece.split()) > 1]
        named = in_capitals if len(in_capitals) == len(capitals) else []
    elif len(named) < len(pieces) or any(map(names_an_institution, named)):
        return []
    persons = [person_of(piece) for piece in named]
    are_different = len({person.name for person in persons}) == len(persons)
    return persons if are_different and all(person.given for person in persons) else []


def _pieces(lines: Lines, ordinary: Set[str]) -> list[str]:
    """The pieces of a list. The end of a line parts two names unless one of them is cut there."""
    pieces: list[str] = []
    for line in lines:
        first, *others = _BETWEEN.split(line) or [""]
        last = pieces[-1] if pieces else ""
        is_cut = last and first and not (_is_name(last, ordinary) and _is_name(first, ordinary))
        if is_cut and _is_name(f"{last} {first}", ordinary):
            pieces[-1] = f"{last} {first}"
        else:
            pieces.append(first)
        pieces += others
    return [piece.strip(" .:-–/()") for piece in pieces if piece.strip(" .:-–/()")]


def _persons_above(block: str, ordinary: Set[str]) -> list[Person]:
    """The persons on the first lines of a block, above where they work."""
    by_line = takewhile(bool, (persons_in(line, ordinary) for line in block.split("\n")))
    return [person for persons in by_line for person in persons]


def _is_aside(line: str) -> bool:
    """Whether a line may stand among the authors: a place of work, an address, a date, a
    footnote."""
    is_address = names_an_institution(line) or _ASIDE.search(line) is not None
    return is_address or _DATE.fullmatch(line) is not None or _MARKED.match(line) is not None


def _runs_on(line: str, ordinary: Set[str]) -> bool:
    """Whether a line holds more words of names than one person has, with nothing between them."""
    pieces = [piece.split() for piece in _BETWEEN.split(_ASIDE.sub(" ", line)) if piece.strip()]
    words = [word for piece in pieces for word in piece]
    are_names = all(
        _WORD.fullmatch(word) and word[0].isupper() and word.lower() not in ordinary
        for word in words
    )
    return (
        are_names
        and max(map(len, pieces), default=0) > _MOST_FULL_WORDS
        and not names_an_institution(line)
    )


def persons_in(line: str, ordinary: Set[str] = frozenset()) -> list[Person]:
    """The persons a line lists; empty if it holds anything else."""
    bare = _ASIDE.sub(" ", line)
    if names_an_institution(line) or _NUMBER.search(bare):
        return []
    if reversed_ := _REVERSED.fullmatch(bare if bare != line or ";" in line else ""):
        return [person_of(one.strip(" *†‡§¶∗")) for one in reversed_[0].split(";") if one.strip()]
    pieces = [piece.strip(" .:-–/()") for piece in _BETWEEN.split(bare)]
    named = [piece for piece in pieces if piece and not _is_degree(piece)]
    persons = [person_of(piece) for piece in named if _is_name(piece, ordinary)]
    are_whole = len(persons) == len(named) and all(person.given for person in persons)
    return persons if are_whole else []


def may_name_one(text: str) -> bool:
    """Whether a text between two names may hold a third one: two words in capitals that are no
    place of work."""
    pieces = _BETWEEN.split(_ASIDE.sub(" ", text))
    return any(_TWO_CAPITALS.search(piece) and not names_an_institution(piece) for piece in pieces)


def person_of(name: str) -> Person:
    """A name as people write it, in either order; capitals all through become title case."""
    parsed = HumanName(name)
    if name.isupper():
        parsed.capitalize(force=True)
    return Person(parsed.last, f"{parsed.first} {parsed.middle}".strip())


def _is_name(piece: str, ordinary: Set[str]) -> bool:
    words = piece.split()
    if not all(_WORD.fullmatch(word) for word in words) or not 2 <= len(words) <= _MOST_WORDS:
        return False
    full = [
        word
        for word in words
        if word.lower() not in _PARTICLES and len(word.strip(".")) > 1 and not _is_degree(word)
    ]
    are_capitals = all(word[0].isupper() or word in _PARTICLES for word in words)
    n_ordinary = sum(word.lower() in ordinary for word in full)
    return are_capitals and 1 <= len(full) <= _MOST_FULL_WORDS and 2 * n_ordinary < len(full)


def _is_degree(piece: str) -> bool:
    return all(word.replace(".", "").casefold() in _degrees() for word in piece.split())


@cache
def _degrees() -> frozenset[str]:
    constants = HumanName("").C
    known = {*constants.suffix_acronyms, *constants.suffix_not_acronyms}
    return frozenset(word.replace(".", "").casefold() for word in known)
