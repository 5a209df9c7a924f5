"""Boxes on a page that are no part of the running text: citation, copyright, correspondence, dates.

A sentence that the end of a column left open does not go on in one, whatever stands next in the file.
"""

import re

_OPENS_BOX = re.compile(
    r"\W{0,4}(?:"
    r"(?:citation|competing interests?|conflicts? of interests?|funding|abbreviations|(?:\w+ )?editors?|key ?words|"
    r"e-?mail|supplement(?:ary|al) material)\W{0,3}:"
    r"|(?:received|accepted|published|submitted)(?: online)?(?::| \d| (?:on )?[a-z]{3,9} \d)"
    r"|(?:table|figure|fig\.|box) ?[A-Z]?\d{1,3}[:.|]"
    r"|(?:how to cite|cite this|copyright|correspondence|corresponding author|edited by|reviewed by|available online|"
    r"to whom correspondence|this is an open[ -]access|doi|issn)\b|©)",
    re.IGNORECASE,
)


def opens_box(text: str) -> bool:
    """Whether a paragraph begins like a box or a caption: with the usual first words, the first in capitals."""
    first = next((character for character in text if character.isalpha() or character == "©"), "")
    if first.islower():
        return False
    return _OPENS_BOX.match(text) is not None
