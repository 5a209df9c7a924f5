"""Words that a line end cut in two, put together again.

The rest of the document, then a list of frequent words, decides whether "well-\\nknown" is one word
or two. Formats that know their lines glue them one by one; where line ends lie in the text itself
(ADE) it is mended whole.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from rag_assets.core.text.tokens import is_frequent_word

SOFT_HYPHEN = "\u00ad"
_WORD = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_BROKEN_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]+)([-‐\u00ad])$")
"""Begins where a word does: tried at each of its letters, a line without spaces would take
quadratic time."""
_ENDS_WITH_HYPHEN = re.compile(r"\w[-‐\u00ad]$")
_CUT_WORD = re.compile(r"(?<![\w-])((?:[^\W\d_]+-)*)([^\W\d_]{2,})-[ \n]+([^\W\d_]{2,})")
_MIN_PART = 3
_AFTER_SUSPENDED = frozenset({"and", "or", "to", "nor", "but", "versus", "und", "oder", "et", "ou"})
"""After a hyphen these are words of their own: "short-" + "and long-term"."""


@dataclass(frozen=True)
class Vocabulary:
    """How often each word occurs whole within a line of the document, in lower case."""

    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, lines: Iterable[str]) -> "Vocabulary":
        counts: Counter[str] = Counter()
        starts_broken = False
        for line in lines:
            words = [word.lower().replace("‐", "-") for word in _WORD.findall(line)]
            ends_broken = ends_in_broken_word(line)
            counts.update(words[starts_broken : len(words) - ends_broken])  # half a word is no word
            starts_broken = ends_broken
        return cls(counts)

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> "Vocabulary":
        """The words of texts in which a hyphen may be followed by a line end, or by a space in its
        place."""
        return cls.of(
            line for text in texts for line in _CUT_WORD.sub(r"\1\2-\n\3", text).splitlines()
        )

    def keeps_hyphen(self, first: str, second: str) -> bool:
        """Whether `first-second`, broken at the end of a line, is a compound rather than one
        word."""
        joined, compound = (
            self.counts[(first + second).lower()],
            self.counts[f"{first}-{second}".lower()],
        )
        if joined or compound:
            return compound > joined
        if not second[0].islower():
            return True
        if len(first) == 1:  # X-ray
            return first.isupper()
        if is_frequent_word(first + second):
            return False
        if self.counts[first.lower()] and self.counts[second.lower()]:
            return min(len(first), len(second)) >= _MIN_PART
        are_words = is_frequent_word(first) and is_frequent_word(second)
        return are_words and len(first) >= _MIN_PART and len(second) > _MIN_PART  # not ferry-men


def ends_in_broken_word(line: str) -> bool:
    """Whether a line ends in letters and a hyphen."""
    return _BROKEN_WORD.search(line) is not None


def ends_with_hyphen(line: str) -> bool:
    """Whether a line ends in a letter or digit and a hyphen ("COVID-19-")."""
    return _ENDS_WITH_HYPHEN.search(line) is not None


def glued(text: str, line: str, vocabulary: Vocabulary) -> str:
    """`text` and the line after it, with a space, a hyphen or nothing between them."""
    if not ends_with_hyphen(text) or not line[:1].isalnum():
        return f"{text} {line}"
    broken, start = _BROKEN_WORD.search(text), _WORD.match(line)
    if broken is None or start is None:  # COVID-/19
        return text + line
    if start[0] in _AFTER_SUSPENDED:
        return f"{text} {line}"
    if broken[2] == SOFT_HYPHEN or not (
        _is_inside_compound(text, broken.start()) or vocabulary.keeps_hyphen(broken[1], start[0])
    ):
        return text[:-1] + line
    return text + line


def mended(text: str, vocabulary: Vocabulary) -> str:
    """`text` with "diag-\\nnosis" and "diag- nosis" joined; "short- and long-term" stays."""

    def joined(match: re.Match[str]) -> str:
        before, first, second = match.groups()
        if not second[0].islower() or second in _AFTER_SUSPENDED:
            return match.group()
        keeps_hyphen = bool(before) or vocabulary.keeps_hyphen(first, second)
        return f"{before}{first}-{second}" if keeps_hyphen else f"{before}{first}{second}"

    return _CUT_WORD.sub(joined, text)


def _is_inside_compound(text: str, start: int) -> bool:
    """Whether the broken word is itself the tail of a compound (state-of-/the-art)."""
    return start > 1 and text[start - 1] in "-‐" and text[start - 2].isalnum()
