"""Finds words and periods that name papers, and lines of text that list persons or name an
institution.

Names are compared case folded and without stemming. Periods are years and quarters as people and
file names write them: "FY2018", "FY18", "Q2 2023", "2023Q2", "2Q23", "Q22023". The terms of the
word index are in `search.indexing`.
"""

import re
from collections.abc import Set
from functools import cache
from itertools import pairwise

from rag_assets.core.text.folding import plain, plain_lower
from rag_assets.core.text.terms import QUESTION_WORDS

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_PIECE = re.compile(r"[^\W_]+")
_LETTERS_OR_DIGITS = re.compile(r"[^\W\d_]+|\d+")
_CAPITALISED_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")
_SENTENCE_END = re.compile(r"[.?!:;](?=\W)|[\n\t•]")
_WORD_BEFORE = re.compile(r"[^\W\d_]{2}|\bA $", re.IGNORECASE)
_LOOK_BACK_CHARS = 200
_MIN_PART_CHARS = 3
"""Shorter parts of a word ("K" of "10K") are no names by themselves."""
_SHARE_CAPITALISED, _FEW_WORDS = 0.6, 4
_YEAR = r"(?:19|20)\d\d"
_SHORT_YEAR = r"\d\d"
_FISCAL = r"(?:FY|fiscal(?:[\s-]+year)?)"
_FISCAL_YEAR = re.compile(rf"\b{_FISCAL}[\s-]*['’]?({_YEAR}|{_SHORT_YEAR})(?!\d)", re.IGNORECASE)
_ANY_YEAR = re.compile(rf"(?<!\d)({_YEAR})(?!\d)")
_QUARTER = re.compile(
    rf"(?<![^\W\d_])Q([1-4])(?:({_YEAR})(?!\d)|(?!\d)(?:\s*(?:of\s+)?(?:{_FISCAL}\s*['’]?|['’])({_SHORT_YEAR})(?!\d))?)",
    re.IGNORECASE,
)
_COUNTED_QUARTER = re.compile(
    rf"\b([1-4])Q(?:['’]?({_YEAR}|{_SHORT_YEAR})(?!\d)|(?!\d))", re.IGNORECASE
)
_SPELT_QUARTER = re.compile(
    r"\b(first|second|third|fourth|1st|2nd|3rd|4th)[\s-]+(?:fiscal[\s-]+)?quarter\b", re.IGNORECASE
)
_ORDINALS = {
    "first": "1",
    "second": "2",
    "third": "3",
    "fourth": "4",
    "1st": "1",
    "2nd": "2",
    "3rd": "3",
    "4th": "4",
}


def words_of(text: str) -> list[str]:
    """All words of a text, case folded, in order; a word keeps the hyphens inside it."""
    return _WORD.findall(plain_lower(text))


def pieces_of(text: str) -> tuple[str, ...]:
    """All runs of letters and digits of a text, case folded, in order: "step-back" gives two."""
    return tuple(_PIECE.findall(plain_lower(text)))


def words_of_file_name(paper_id: str) -> list[str]:
    """The words in the file name of a paper, without its folder, each once, case folded.

    "AMCOR_2023Q2_10Q" gives amcor, 2023q2, 2023, 10q; "BestBuy2019" gives bestbuy2019, bestbuy,
    2019, best, buy.
    """
    words: list[str] = []
    for piece in _PIECE.findall(paper_id.rpartition("/")[2]):
        runs = _LETTERS_OR_DIGITS.findall(piece)
        parts = [part for run in runs for part in _CAPITALISED_PART.findall(run)]
        words += [piece, *(part for part in (*runs, *parts) if len(part) >= _MIN_PART_CHARS)]
    return list(dict.fromkeys(map(plain_lower, words)))


def joined_pairs(text: str) -> list[str]:
    """Each pair of neighbouring words as one word, case folded: "Foot Locker" -> "footlocker", as
    file names have it."""
    return [first + second for first, second in pairwise(pieces_of(text))]


def words_written_as_names(question: str) -> set[str]:
    """The words of a question that look like names, case folded: they have a capital letter that is
    not that of a sentence start, or both letters and digits. Empty if nearly all words have
    capitals."""
    question = plain(question)
    if is_in_title_case(question):
        return set()
    return {
        word.group().casefold() for word in _WORD.finditer(question) if _is_name(word, question)
    }


def is_in_title_case(text: str) -> bool:
    """Whether most words after the first one have capitals, so that a capital is no sign of a
    name."""
    words = [word for word in text.split() if word[0].isalpha()][1:]
    n_capitalised = sum(word[0].isupper() for word in words)
    return len(words) >= _FEW_WORDS and n_capitalised >= _SHARE_CAPITALISED * len(words)


def _is_name(word: re.Match[str], text: str) -> bool:
    """Whether a word looks like a name: "BERT", "GPT2", or "Lund" inside a sentence."""
    letters = word.group()
    if any(letter.isupper() for letter in letters[1:]):
        return True
    if any(map(str.isdigit, letters)) and any(map(str.isalpha, letters)):
        return True
    return letters[0].isupper() and capital_tells_a_name(text, word.start(), word.end())


def capital_tells_a_name(text: str, start: int, end: int) -> bool:
    """Whether the word `text[start:end]`, which has a capital letter, must be a name: it is not the
    first word of its sentence, and no usual word of questions."""
    return text[start:end].casefold() not in QUESTION_WORDS and has_words_before(text, start)


def has_words_before(text: str, start: int) -> bool:
    """Whether there are words of the same sentence before the offset `start`. Numbers and single
    letters do not count, because "1) " or "(b) " may begin a line."""
    before = _SENTENCE_END.split(text[max(0, start - _LOOK_BACK_CHARS) : start])[-1]
    return _WORD_BEFORE.search(before) is not None


def periods_in(text: str) -> frozenset[str]:
    """The years ("2023") and quarters ("q2") that a text names. A year with two digits is one of
    this century."""
    years = [*_FISCAL_YEAR.findall(text), *_ANY_YEAR.findall(text)]
    quarters = [_ORDINALS[match[1].casefold()] for match in _SPELT_QUARTER.finditer(text)]
    for pattern in (_QUARTER, _COUNTED_QUARTER):
        for match in pattern.finditer(text):
            quarter, *years_of_quarter = match.groups()
            quarters.append(quarter)
            years += filter(None, years_of_quarter)
    return frozenset(year if len(year) == 4 else f"20{year}" for year in years) | {
        f"q{quarter}" for quarter in quarters
    }


_REPORTED = re.compile(
    r"\b((?:(?!the\b|for\b)[a-z]+[\s-]+){0,2}(?:year|quarter|period|months|weeks)\s+end(?:ed|ing)\s+"
    rf"[a-z]+\s+\d{{1,2}},?\s+{_YEAR})",
    re.IGNORECASE,
)


def reported_period(text: str) -> str | None:
    """The period of a report, in the words of the text: "fiscal year ended June 30, 2022"."""
    match = _REPORTED.search(text)
    return " ".join(match[1].split()) if match else None


def without_reported_periods(text: str) -> str:
    return _REPORTED.sub(" ", text)


_MARKS = r"[^\w\s.'’`´¨¯¸^~\u02c2-\u02df\u0300-\u036f‐‑–—\-/():?!\"“”„]|[\d¹²³⁴⁵⁶⁷⁸⁹⁰\t]|\b(?:and|AND|und|et|[Bb]y)\b"
"""Commas, digits and any sign that a name, a title or a sentence has not: publishers part names and
mark them with many ("·", "⇑", "◦", private signs of a font)."""
BETWEEN_NAMES = re.compile(rf"(?:(?<!\s)\s+)?(?:{_MARKS})(?:{_MARKS}|\s)*")
ASIDE = re.compile(
    r"\[[\d X–-]{10,30}\]|\([^()]{0,60}\)|\{[^{}]{0,200}\}@?\S*|\S{1,99}@\S+|https?://\S+"
)
"""ORCIDs, addresses, and text in brackets."""
_NAME_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[.'’`´‐‑-])*")
_PARTICLES = frozenset(
    "de van von der den del della la le di da dos do du el al bin ibn ten ter zu y e".split()
)
NUMBER = re.compile(r"\d{3}")
"""A year or the number of a report; marks of affiliations have fewer digits."""
_ONE_REVERSED = r"\s*[^\W\d_a-z][\w'’-]+(?: [^\W\d_a-z][\w'’-]+)?, [^\W\d_a-z][\w.'’-]*(?: [^\W\d_a-z][\w.'’-]*)?[\s*†‡§¶∗]*+"
_REVERSED = re.compile(rf"{_ONE_REVERSED}(?:;{_ONE_REVERSED}){{0,100}};?\s*")
"""Names with the family name first, as catalogues write them: "Lund, Ada; Moe, Bo". A single such
name is read only on a line with an address."""
_MOST_FULL_WORDS, _MOST_WORDS = 3, 6
_INSTITUTION = re.compile(
    r"(?:universi\w*|(?<![^\W\d_])(?:institut(?:e|es|o|ion)?|colleges?|departments?|schools?|faculty|laborator\w+|labs?|centers?|centres?|"
    r"hospitals?|research|company|inc|ltd|corporation|academy|ministry|polit[ée]cni\w+|polytechni\w+|hochschule|"
    r"observato\w+|foundation|clinic|division|branch))\b",
    re.IGNORECASE,
)
_MAX_CHARS = 2000
_ADDRESS = re.compile(r"\S{1,99}@\S+|https?://\S+|\bwww\.\S+|\{[^{}\n]*\}@?\S*")
_WORDS_OF_INSTITUTION = 3
"""If a word such as "University" is among this many first words ("National Defence University"),
they are an institution, not a person."""
_SMALL_WORD = re.compile(r"\b[a-z]{3,}\b")
_IN_NAMES = frozenset("and van von der den del los las dos mac".split())
_FIRST_WORDS = re.compile(r"\W*((?:[^\W\d_a-z][\w.’'-]*,?\s+){1,3}[^\W\d_a-z][\w.’'-]+)")


def ordinary_words(text: str) -> frozenset[str]:
    """The words that occur in small letters in a text, so that they are probably no names."""
    return frozenset(_SMALL_WORD.findall(_ADDRESS.sub(" ", text))) - _IN_NAMES


def lists_names(line: str, ordinary: Set[str]) -> bool:
    """Whether a line consists of names of persons, also where nothing separates them."""
    return bool(names_in(line, ordinary)) or joins_names(line, ordinary)


def names_in(line: str, ordinary: Set[str] = frozenset()) -> list[str]:
    """The names of persons that a line lists; empty if the line has anything else. ordinary: see
    `ordinary_words`."""
    bare = ASIDE.sub(" ", line)
    if len(line) > _MAX_CHARS or names_an_institution(line) or NUMBER.search(bare):
        return []
    # a single "Lund, Ada" could be two names, so it counts only on a line with an address or a ";"
    if reversed_ := _REVERSED.fullmatch(bare if bare != line or ";" in line else ""):
        return [name.strip(" *†‡§¶∗") for name in reversed_[0].split(";") if name.strip()]
    pieces = [piece.strip(" .:-–/()") for piece in BETWEEN_NAMES.split(bare)]
    names = [piece for piece in pieces if piece and not is_degree(piece)]
    return names if all(is_person_name(piece, ordinary) for piece in names) else []


def joins_names(line: str, ordinary: Set[str]) -> bool:
    """Whether a line has names without separators: more words in a row than one name has."""
    pieces = [piece.split() for piece in BETWEEN_NAMES.split(ASIDE.sub(" ", line)) if piece.strip()]
    words = [word for piece in pieces for word in piece]
    are_names = all(
        _NAME_WORD.fullmatch(word) and word[0].isupper() and word.lower() not in ordinary
        for word in words
    )
    return (
        are_names
        and max(map(len, pieces), default=0) > _MOST_FULL_WORDS
        and not names_an_institution(line)
    )


def is_person_name(piece: str, ordinary: Set[str]) -> bool:
    """Whether a piece looks like a person's name: two to six capitalised words. One to three of
    them are full words (no initial, particle or degree); at most half of these are ordinary words,
    and the last one, the family name, is not."""
    words = piece.split()
    if not all(map(_NAME_WORD.fullmatch, words)) or not 2 <= len(words) <= _MOST_WORDS:
        return False
    full_words = [
        word
        for word in words
        if word.lower() not in _PARTICLES and len(word.strip(".")) > 1 and not is_degree(word)
    ]
    are_capitals = all(word[0].isupper() or word in _PARTICLES for word in words)
    n_ordinary = sum(word.lower() in ordinary for word in full_words)
    is_uncommon = (
        full_words and full_words[-1].lower() not in ordinary and 2 * n_ordinary <= len(full_words)
    )
    return bool(are_capitals and is_uncommon and len(full_words) <= _MOST_FULL_WORDS)


def is_degree(piece: str) -> bool:
    """Whether all words of a piece are degrees or titles after a name ("PhD", "Jr.")."""
    return all(word.replace(".", "").casefold() in _degrees() for word in piece.split())


@cache
def _degrees() -> frozenset[str]:
    from nameparser import HumanName  # loads data of many languages

    constants = HumanName("").C
    degrees = {*constants.suffix_acronyms, *constants.suffix_not_acronyms}
    return frozenset(word.replace(".", "").casefold() for word in degrees)


def begins_with_a_name(line: str, ordinary: Set[str]) -> bool:
    """Whether a line begins with the name of a person, and an institution or an address follows, as
    in a list of authors with their affiliations. ordinary: see `ordinary_words`."""
    opening_words = _FIRST_WORDS.match(line)
    if (
        len(line) > _MAX_CHARS
        or opening_words is None
        or not (_INSTITUTION.search(line) or _ADDRESS.search(line))
    ):
        return False
    opening = opening_words[1].split(",")[0].split()[:_WORDS_OF_INSTITUTION]
    words = [word.strip(",") for word in opening_words[1].split()[:2]]
    are_ordinary = any(_bare(word) in ordinary for word in words)
    return (
        not _INSTITUTION.search(" ".join(opening)) and not are_ordinary and _is_long_enough(words)
    )


def names_an_institution(line: str) -> bool:
    """Whether a line names an institution and is no sentence."""
    n_small_words = len(_SMALL_WORD.findall(line))
    is_sentence = line.rstrip().endswith(".") and n_small_words * 2 > len(line.split())
    return len(line) <= _MAX_CHARS and not is_sentence and _INSTITUTION.search(line) is not None


def _bare(word: str) -> str:
    return word.strip(".’'-").lower()


def _is_long_enough(words: list[str]) -> bool:
    """Whether one of the words has at least three letters: "A. M." has only initials and is no
    name."""
    return any(sum(letter.isalpha() for letter in word) > 2 for word in words)
