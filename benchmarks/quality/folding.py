"""Texts made comparable: case and white space folded, hyphens inside words dropped.

The parser joins words that a line end parts, while answers that were cut from the raw text still
have them parted.
"""

import re
from functools import lru_cache

_HYPHEN_IN_WORD = re.compile(r"(?<=\w)- ?(?=\w)")


@lru_cache(maxsize=100_000)
def folded(text: str) -> str:
    return _HYPHEN_IN_WORD.sub("", " ".join(text.casefold().split()))
