"""Words that a line end cut in two, put together again where a source kept the lines of the page.

Whether "well-\\nknown" is one word or two, the rest of the document says: the form it uses elsewhere wins, and a word
it never uses is joined. For sources whose lines lie in the text (ADE); formats that know their line ends do better.
"""

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CUT_WORD = re.compile(r"(?<![\w-])((?:[^\W\d_]+-)*[^\W\d_]{2,})-[ \n]+([^\W\d_]{2,})")
_NOT_A_SECOND_HALF = frozenset({"and", "or", "to", "nor", "but", "versus", "und", "oder", "et", "ou"})


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of a document in lower case, hyphens inside them kept; a word cut by a line end counts as its parts."""
    return frozenset(word.casefold() for text in texts for word in _WORD.findall(text))


def mended(text: str, words: frozenset[str]) -> str:
    """`text` with "diag-\\nnosis" and "diag- nosis" joined; "short- and long-term" stays."""

    def joined(match: re.Match[str]) -> str:
        first, second = match.groups()
        if not second[0].islower() or second in _NOT_A_SECOND_HALF:
            return match.group()
        with_hyphen = f"{first}-{second}".casefold()
        keeps_hyphen = with_hyphen in words and f"{first}{second}".casefold() not in words
        return f"{first}-{second}" if keeps_hyphen else f"{first}{second}"

    return _CUT_WORD.sub(joined, text)
