"""The titles of tables, as publishers number them."""

import re

_TITLE = re.compile(
    r"(?:supplementary |extended data )?(?:table|tab\.)\s+(?:[A-Z]\.?)?(?:\d+(?:\.\d+)?[a-z]?|[IVX]+)(?!\w)",
    re.IGNORECASE,
)
_MAX_TITLE_CHARS = 400


def is_table_title(text: str) -> bool:
    """Whether a paragraph is the title of a table ("Table 2. ..."), not a sentence about one."""
    match = _TITLE.match(text)
    if match is None or len(text) > _MAX_TITLE_CHARS:
        return False
    rest = text[match.end() :].lstrip()
    return not rest or rest[0] in ".:|(*—–-" or rest[0].isupper()
