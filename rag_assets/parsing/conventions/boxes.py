"""Boxes on a page that are no part of the running text: citation, copyright, correspondence, dates.

A sentence that the end of a column left open does not go on in one, whatever stands next in the file.
"""

import re

_OPENS_BOX = re.compile(
    r"\W{0,4}(?:"
    r"(?:how to cite|cite this|citation|copyright|©|correspond(?:ence|ing author)|competing interests?|"
    r"conflicts? of interests?|funding|abbreviations|academic editor|(?:handling |associate )?editor|edited by|"
    r"reviewed by|received|accepted|published|submitted|available online|key ?words|open access|doi|e-?mail|"
    r"licensee|issn|to whom correspondence)\b"
    r"|this is an open[ -]access\b|supplement(?:ary|al) material)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\*{0,2}[A-Z][\w’'/ -]{2,40}:(?=\*{0,2}\s)")


def opens_box(text: str) -> bool:
    """Whether a paragraph begins like a box: with its usual first word in capitals, or with a label and a colon."""
    first = next((character for character in text if character.isalpha() or character == "©"), "")
    if first.islower():
        return False
    return _OPENS_BOX.match(text) is not None or _LABEL.match(text) is not None
