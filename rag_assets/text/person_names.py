"""Recognises a line that lists persons: names, and beside them degrees, identifiers, addresses and marks of footnotes.

Latin letters only. What such a line is good for is decided by those who read it.
"""

import re

_NAME = r"[^\W\d_a-z][\w.’'-]*(?: (?:[^\W\d_a-z][\w.’'-]*|de|van|von|der|den|la|di|da|dos|el|al)){1,4}"
_SEPARATOR = r"(?:\s*(?:,|;|&|\||\band\b)\s*)+"
_NAMES = re.compile(rf"{_NAME}(?:{_SEPARATOR}{_NAME}){{1,40}}[\s,.]*")
_BESIDE_NAMES = re.compile(
    r"\[[\d -]+\]|\b[A-Z]\w{0,3}\.?(?:[A-Z]\.){1,3}(?=[\s,;]|$)|\b(?:MD|PhD|MSc|BSc|MB|ChB|Jr)\b\.?"
    r"|[\d*†‡§¶∗¹²³⁴⁵⁶⁷⁸⁹⁰]+"
)
"""Identifiers, degrees and marks of footnotes."""
_INSTITUTION = re.compile(
    r"\b(?:universit\w*|institut\w*|colleges?|departments?|schools?|faculty|laborator\w+|labs?|centers?|centres?|"
    r"hospitals?|research|company|inc|ltd|corporation|academy|ministry)\b",
    re.IGNORECASE,
)
_MARK = re.compile(r"(?<=[^\W\d_])\s?(?:[*†‡§¶∗¹²³⁴⁵⁶⁷⁸⁹⁰]\s?)+(?=\s[A-Z])")
"""A footnote's mark between two names parts them as a comma does."""
_WITH_ADDRESS = re.compile(rf"{_NAME} ?[\w.+-]{{1,64}}@[\w.-]{{1,64}}")
_MAX_CHARS = 2000


def lists_names(line: str) -> bool:
    """Whether a line is a list of persons, two or one with an address, and no sentence. Institutions are none, and no
    name stands in it twice."""
    if len(line) > _MAX_CHARS or _INSTITUTION.search(line):
        return False
    parted = _MARK.sub(",", line.title() if line.isupper() else line)
    bare = " ".join(_BESIDE_NAMES.sub(" ", parted).split())
    bare = re.sub(r"(?:\s*,)+", ",", bare).strip(" ,|")
    names = [name.strip() for name in re.split(_SEPARATOR, bare)]
    is_list = _NAMES.fullmatch(bare) or _WITH_ADDRESS.fullmatch(" ".join(bare.replace(",", " ").split()))
    return len(set(names)) == len(names) and is_list is not None
