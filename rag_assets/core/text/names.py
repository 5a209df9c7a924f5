"""Finds words and periods that name papers, and lines of text that list persons or name an
institution.

Names are compared case folded and without stemming. Periods are years and quarters as people and
file names write them: "FY2018", "FY18", "Q2 2023", "2023Q2", "2Q23", "Q22023". The terms of the
word index are in `search.indexing`.
"""

import re
from collections.abc import Set
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


_NAME = (
    r"[^\W\d_a-z][\w.’'-]*(?: (?:[^\W\d_a-z][\w.’'-]*|de|van|von|der|den|la|di|da|dos|el|al)){1,4}"
)
_SEPARATOR = r"(?:\s*(?:,|;|&|\||\band\b)\s*)+"
_NAMES = re.compile(rf"{_NAME}(?:{_SEPARATOR}{_NAME}){{1,40}}[\s,.]*")
_BESIDE_NAMES = re.compile(
    r"\[[\d -]+\]|\b[A-Z]\w{0,3}\.?(?:[A-Z]\.){1,3}(?=[\s,;]|$)|\b(?:MD|PhD|MSc|BSc|MB|ChB|Jr)\b\.?"
    r"|[\d*†‡§¶∗¹²³⁴⁵⁶⁷⁸⁹⁰]+"
)
"""Identifiers, initials after names, degrees, and marks of footnotes."""
_INSTITUTION = re.compile(
    r"(?:universi\w*|(?<![^\W\d_])(?:institut(?:e|es|o|ion)?|colleges?|departments?|schools?|faculty|laborator\w+|labs?|centers?|centres?|"
    r"hospitals?|research|company|inc|ltd|corporation|academy|ministry|polit[ée]cni\w+|polytechni\w+|hochschule|"
    r"observato\w+|foundation|clinic|division|branch))\b",
    re.IGNORECASE,
)
_MARK = re.compile(r"(?<=[^\W\d_])\s?(?:[*†‡§¶∗¹²³⁴⁵⁶⁷⁸⁹⁰]\s?)+(?=\s[A-Z])")
"""A footnote mark between two names separates them like a comma."""
_WITH_ADDRESS = re.compile(rf"{_NAME} ?[\w.+-]{{1,64}}@[\w.-]{{1,64}}")
_MAX_CHARS = 2000
_ADDRESS = re.compile(r"\S+@\S+|https?://\S+|\bwww\.\S+|\{[^{}\n]*\}@?\S*")
_MOST_ORDINARY = 0.25
"""Largest share of the words in a name that may be ordinary words of the paper too ("Roman
Bondar")."""
_WORDS_OF_INSTITUTION = 3
"""If a word such as "University" is among this many first words ("National Defence University"),
they are an institution, not a person."""
_SMALL_WORD = re.compile(r"\b[a-z]{3,}\b")
_IN_NAMES = frozenset("and van von der den del los las dos mac".split())
_FIRST_WORDS = re.compile(r"\W*((?:[^\W\d_a-z][\w.’'-]*,?\s+){1,3}[^\W\d_a-z][\w.’'-]+)")


def lists_names(line: str) -> bool:
    """Whether a line consists of the names of two or more persons, or of one name with an e-mail
    address. False if it names an institution, or contains a name twice."""
    if len(line) > _MAX_CHARS or _INSTITUTION.search(line):
        return False
    separated = _MARK.sub(",", line.title() if line.isupper() else line)
    bare = " ".join(_BESIDE_NAMES.sub(" ", separated).split())
    bare = re.sub(r"(?:\s*,)+", ",", bare).strip(" ,|")
    names = [name.strip() for name in re.split(_SEPARATOR, bare)]
    without_commas = " ".join(bare.replace(",", " ").split())
    is_list = _NAMES.fullmatch(bare) or _WITH_ADDRESS.fullmatch(without_commas)
    return len(set(names)) == len(names) and is_list is not None


def ordinary_words(text: str) -> frozenset[str]:
    """The words that occur in small letters in a text, so that they are probably no names."""
    return frozenset(_SMALL_WORD.findall(_ADDRESS.sub(" ", text))) - _IN_NAMES


def names_only(line: str, ordinary: Set[str]) -> bool:
    """Whether a line consists of names of one or more persons: capitalised words of which few are
    ordinary words of the paper. ordinary: see `ordinary_words`."""
    is_one_word = line.isupper() and " " not in line.strip()
    if len(line) > _MAX_CHARS or _INSTITUTION.search(line) or is_one_word:
        return False
    separated = _BESIDE_NAMES.sub(" ", _MARK.sub(",", line.title() if line.isupper() else line))
    words = [
        word
        for word in re.sub(r"[,;&|]", " ", separated).split()
        if word not in _IN_NAMES and not (len(word) == 1 and word.islower())
    ]
    are_capitalised = len(words) > 1 and all(
        word[0].isupper() and not word.endswith(":") for word in words
    )
    n_ordinary = sum(_bare(word) in ordinary for word in words)
    return are_capitalised and n_ordinary <= _MOST_ORDINARY * len(words) and _is_long_enough(words)


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
