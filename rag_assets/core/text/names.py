"""Words and periods that name papers: in a text, in the name of a file, and in a question.

Names are compared case folded and without stemming. Periods are years and quarters as people and file names write
them: "FY2018", "FY18", "Q2 2023", "2023Q2", "2Q23", "Q22023". The terms of the word index are in `indexing`.
"""

import re
from itertools import pairwise

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_PIECE = re.compile(r"[^\W_]+")
_LETTERS_OR_DIGITS = re.compile(r"[^\W\d_]+|\d+")
_CAPITALISED_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")
_SENTENCE_END = re.compile(r"(?:^|[.?!:])[\s\"'“‘(]*$")
_MIN_PART_CHARS = 3
"""Shorter parts of a piece ("K" of "10K") name nothing by themselves."""
_MAX_SHARE_CAPITALISED, _FEW_WORDS = 0.6, 4
"""A longer text with a larger share of capitalised words is written in title case, which marks no names."""
_YEAR = r"(?:19|20)\d\d"
_SHORT_YEAR = r"\d\d"
_FISCAL = r"(?:FY|fiscal(?:[\s-]+year)?)"
_FISCAL_YEAR = re.compile(rf"\b{_FISCAL}[\s-]*['’]?({_YEAR}|{_SHORT_YEAR})(?!\d)", re.IGNORECASE)
_ANY_YEAR = re.compile(rf"(?<!\d)({_YEAR})(?!\d)")
_QUARTER = re.compile(
    rf"(?<![^\W\d_])Q([1-4])(?:({_YEAR})(?!\d)|(?!\d)(?:\s*(?:of\s+)?(?:{_FISCAL}\s*['’]?|['’])({_SHORT_YEAR})(?!\d))?)",
    re.IGNORECASE,
)
_COUNTED_QUARTER = re.compile(rf"\b([1-4])Q(?:['’]?({_YEAR}|{_SHORT_YEAR})(?!\d)|(?!\d))", re.IGNORECASE)
_SPELT_QUARTER = re.compile(
    r"\b(first|second|third|fourth|1st|2nd|3rd|4th)[\s-]+(?:fiscal[\s-]+)?quarter\b", re.IGNORECASE
)
_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "1st": "1", "2nd": "2", "3rd": "3", "4th": "4"}


def words_of(text: str) -> list[str]:
    """All words, case folded, in order; a word keeps the hyphens inside it."""
    return [match.group().casefold() for match in _WORD.finditer(text)]


def words_of_file_name(paper_id: str) -> list[str]:
    """The words in the name of a paper's file, each once, case folded; its folder is not part of it.

    "AMCOR_2023Q2_10Q" gives amcor, 2023q2, 2023, 10q; "BestBuy2019" gives bestbuy2019, bestbuy, 2019, best, buy.
    """
    found: list[str] = []
    for piece in _PIECE.findall(paper_id.rpartition("/")[2]):
        runs = _LETTERS_OR_DIGITS.findall(piece)
        parts = [part for run in runs for part in _CAPITALISED_PART.findall(run)]
        found += [piece, *(part for part in (*runs, *parts) if len(part) >= _MIN_PART_CHARS)]
    return list(dict.fromkeys(word.casefold() for word in found))


def joined_pairs(text: str) -> list[str]:
    """Each two neighbouring words as one, case folded: files are called "FootLocker" or "10K"."""
    pieces = [match.group().casefold() for match in _PIECE.finditer(text)]
    return [first + second for first, second in pairwise(pieces)]


def words_written_as_names(question: str) -> set[str]:
    """The words that are written as names, case folded: with a capital (not only that of a sentence), or with letters
    and digits. Empty for a longer text in title case or capitals."""
    words = list(_WORD.finditer(question))
    names = {word.group().casefold() for word in words if _is_name(word, question)}
    is_title_case = len(words) > _FEW_WORDS and len(names) > _MAX_SHARE_CAPITALISED * len(words)
    return set() if is_title_case else names


def _is_name(word: re.Match[str], text: str) -> bool:
    letters = word.group()
    if any(letter.isupper() for letter in letters[1:]):
        return True
    if any(map(str.isdigit, letters)) and any(map(str.isalpha, letters)):
        return True
    return letters[0].isupper() and not _SENTENCE_END.search(text[: word.start()])


def periods_in(text: str) -> frozenset[str]:
    """The years ("2023") and quarters ("q2") that a text names; of a year in two digits, that of this century."""
    quarters = [match.groups() for pattern in (_QUARTER, _COUNTED_QUARTER) for match in pattern.finditer(text)]
    of_quarters = [year for _, *stated in quarters for year in stated if year]
    years = [*_FISCAL_YEAR.findall(text), *_ANY_YEAR.findall(text), *of_quarters]
    numbers = [number for number, *_ in quarters]
    numbers += [_ORDINALS[match[1].casefold()] for match in _SPELT_QUARTER.finditer(text)]
    return frozenset(year if len(year) == 4 else f"20{year}" for year in years) | {f"q{number}" for number in numbers}
