"""Recognises a line that lists persons: names, and beside them degrees, identifiers, addresses and marks of footnotes.

A single name looks like any words in capitals ("Deep Learning"), so it counts only if the paper does not write its
words in small letters elsewhere. Latin letters only.
"""

import re
from collections.abc import Set

_NAME = r"[^\W\d_a-z][\w.’'-]*(?: (?:[^\W\d_a-z][\w.’'-]*|de|van|von|der|den|la|di|da|dos|el|al)){1,4}"
_SEPARATOR = r"(?:\s*(?:,|;|&|\||\band\b)\s*)+"
_NAMES = re.compile(rf"{_NAME}(?:{_SEPARATOR}{_NAME}){{1,40}}[\s,.]*")
_BESIDE_NAMES = re.compile(
    r"\[[\d -]+\]|\b[A-Z]\w{0,3}\.?(?:[A-Z]\.){1,3}(?=[\s,;]|$)|\b(?:MD|PhD|MSc|BSc|MB|ChB|Jr)\b\.?"
    r"|[\d*†‡§¶∗¹²³⁴⁵⁶⁷⁸⁹⁰]+"
)
"""Identifiers, degrees and marks of footnotes."""
_INSTITUTION = re.compile(
    r"(?<![^\W\d_])(?:universi\w*|institut(?:e|es|o|ion)?|colleges?|departments?|schools?|faculty|laborator\w+|labs?|centers?|centres?|"
    r"hospitals?|research|company|inc|ltd|corporation|academy|ministry|polit[ée]cni\w+|polytechni\w+|hochschule|"
    r"observato\w+|foundation|clinic)\b",
    re.IGNORECASE,
)
_MARK = re.compile(r"(?<=[^\W\d_])\s?(?:[*†‡§¶∗¹²³⁴⁵⁶⁷⁸⁹⁰]\s?)+(?=\s[A-Z])")
"""A footnote's mark between two names parts them as a comma does."""
_WITH_ADDRESS = re.compile(rf"{_NAME} ?[\w.+-]{{1,64}}@[\w.-]{{1,64}}")
_MAX_CHARS = 2000
_ADDRESS = re.compile(r"\S+@\S+|https?://\S+|\bwww\.\S+|\{[^{}\n]*\}@?\S*")
_MOST_ORDINARY = 0.25
"""Share of the words of names that may be ordinary ones too, as in "Roman Bondar"."""
_SMALL_WORD = re.compile(r"\b[a-z]{3,}\b")
_IN_NAMES = frozenset("and van von der den del los las dos mac".split())
_FIRST_WORDS = re.compile(r"\W*((?:[^\W\d_a-z][\w.’'-]*,?\s+){1,3}[^\W\d_a-z][\w.’'-]+)")


def lists_names(line: str) -> bool:
    """Whether a line lists two persons or more, or one with an address. A line that names an institution, or a name
    twice, does not count."""
    if len(line) > _MAX_CHARS or _INSTITUTION.search(line):
        return False
    parted = _MARK.sub(",", line.title() if line.isupper() else line)
    bare = " ".join(_BESIDE_NAMES.sub(" ", parted).split())
    bare = re.sub(r"(?:\s*,)+", ",", bare).strip(" ,|")
    names = [name.strip() for name in re.split(_SEPARATOR, bare)]
    is_list = _NAMES.fullmatch(bare) or _WITH_ADDRESS.fullmatch(" ".join(bare.replace(",", " ").split()))
    return len(set(names)) == len(names) and is_list is not None


def ordinary_words(text: str) -> frozenset[str]:
    """The words that a paper writes in small letters, which are not names."""
    return frozenset(_SMALL_WORD.findall(_ADDRESS.sub(" ", text))) - _IN_NAMES


def names_only(line: str, ordinary: Set[str]) -> bool:
    """Whether a line holds nothing but names of persons, one or more, in words that are not ordinary in its paper."""
    if len(line) > _MAX_CHARS or _INSTITUTION.search(line) or (line.isupper() and " " not in line.strip()):
        return False
    parted = _BESIDE_NAMES.sub(" ", _MARK.sub(",", line.title() if line.isupper() else line))
    words = re.sub(r"[,;&|]", " ", parted).split()
    named = [word for word in words if word not in _IN_NAMES and not (len(word) == 1 and word.islower())]
    are_capitals = len(named) > 1 and all(word[0].isupper() and not word.endswith(":") for word in named)
    n_ordinary = sum(_bare(word) in ordinary for word in named)
    return are_capitals and n_ordinary <= _MOST_ORDINARY * len(named) and _is_long_enough(named)


def begins_with_a_name(line: str, ordinary: Set[str]) -> bool:
    """Whether a line begins with a person's name and goes on with a place of work or an address: a list of authors
    with theirs, one after the other."""
    found = _FIRST_WORDS.match(line)
    if len(line) > _MAX_CHARS or found is None or not (_INSTITUTION.search(line) or _ADDRESS.search(line)):
        return False
    words = [word.strip(",") for word in found[1].split()[:2] if not _INSTITUTION.search(word)]
    return len(words) > 1 and not any(_bare(word) in ordinary for word in words) and _is_long_enough(words)


def names_an_institution(line: str) -> bool:
    """Whether a line that is no sentence names an institution."""
    is_sentence = line.rstrip().endswith(".") and len(_SMALL_WORD.findall(line)) * 2 > len(line.split())
    return len(line) <= _MAX_CHARS and not is_sentence and _INSTITUTION.search(line) is not None


def _bare(word: str) -> str:
    return word.strip(".’'-").lower()


def _is_long_enough(words: list[str]) -> bool:
    """Whether a word is long enough for a family name: "A. M." has initials only."""
    return any(sum(letter.isalpha() for letter in word) > 2 for word in words)
