"""Entries of reference lists, known by their form: authors with initials, a year, and where it was
published.

Lists without a heading, or with one in another language, are found by it. The titles in them are no
findings.
"""

import re

_SURNAME = r"[^\W\d_a-z][\w'’-]{1,30}(?: [^\W\d_a-z][\w'’-]{1,30})?"
_INITIALS = r"(?:[^\W\d_a-z]\.?[ -]?){1,4}"
_MARK = r"(?:\[?\d{1,3}[\].]?\s+|\[\w{1,12}\]\s+)?"
_AUTHORS_FIRST = re.compile(
    _MARK + rf"(?:{_SURNAME},? {_INITIALS}(?=[\s,.(&;:]|$)|{_INITIALS}\s?{_SURNAME},)"
)
_YEAR = re.compile(r"\b(?:1[6-9]|20)\d\d[a-z]?\b")
_YEAR_AFTER_AUTHORS = re.compile(r"^[^()]{3,200}\((?:1[6-9]|20)\d\d[a-z]?\)[.,:]")
_PLACE = re.compile(
    r"\b\d{1,4}\s?(?:\(\d{1,4}\)|\((?:1[6-9]|20)\d\d\))?\s?[,:]\s?(?:p{1,2}\.? ?|e)?\d{1,6}|\b\d{1,5}[–-]\d{1,5}\b"
    r"|\bdoi\b|https?://|\b(?:pp?|vol|no|eds?)\.|(?:Press|Verlag|Proceedings|arXiv)\b",
)
_MAX_CHARS = 600


def looks_like_reference(text: str) -> bool:
    """Whether a text is one entry of a reference list, or several in a row."""
    start = text[:_MAX_CHARS]
    if _AUTHORS_FIRST.match(start) is None:
        return False
    return bool(_YEAR_AFTER_AUTHORS.search(start)) or bool(
        _YEAR.search(start) and _PLACE.search(start)
    )
