"""Joins words that were hyphenated at a line end.

"diag-\\nnosis" becomes "diagnosis", "well-\\nknown" becomes "well-known": the other words of the
document decide, then a list of frequent words. Formats that know the lines of a page join them one
by one with `glued`; for a text with line ends inside (ADE) there is `mended`.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from rag_assets.core.text.tokens import is_frequent_word

SOFT_HYPHEN = "\u00ad"
_WORD = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_BROKEN_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]+)([-‐\u00ad])$")
"""The look-behind makes a match begin only where a word does; without it, a long line without
spaces would take quadratic time."""
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
            # the first and the last word are left out if a line end cuts them in two
            counts.update(words[starts_broken : len(words) - ends_broken])
            starts_broken = ends_broken
        return cls(counts)

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> "Vocabulary":
        """The vocabulary of texts in which a broken word may look like "diag-\\nnosis" or
        "diag- nosis"."""
        return cls.of(
            line for text in texts for line in _CUT_WORD.sub(r"\1\2-\n\3", text).splitlines()
        )

    def keeps_hyphen(self, first: str, second: str) -> bool:
        """Whether the hyphen between the two halves of a broken word stays: yes for "well" and
        "known", no for "diag" and "nosis"."""
        n_joined = self.counts[(first + second).lower()]
        n_hyphenated = self.counts[f"{first}-{second}".lower()]
        if n_joined or n_hyphenated:
            return n_hyphenated > n_joined
        if not second[0].islower():
            return True
        if len(first) == 1:  # X-ray
            return first.isupper()
        if is_frequent_word(first + second):
            return False
        if self.counts[first.lower()] and self.counts[second.lower()]:
            return min(len(first), len(second)) >= _MIN_PART
        are_words = self._knows(first) and self._knows(second)
        return are_words and len(first) >= _MIN_PART and len(second) > _MIN_PART  # not ferry-men

    def joins(self, first: str, second: str) -> bool:
        """Whether the last word of `first` and the first of `second` are halves of a word."""
        start, end = _BROKEN_WORD.search(f"{first}-"), _WORD.match(second)
        return bool(start and end and self._knows(start[1] + end[0]))

    def _knows(self, word: str) -> bool:
        return bool(self.counts[word.lower()] or is_frequent_word(word))


def ends_in_broken_word(line: str) -> bool:
    """Whether a line ends in letters and a hyphen."""
    return _BROKEN_WORD.search(line) is not None


def ends_with_hyphen(line: str) -> bool:
    """Whether a line ends in a letter or digit and a hyphen ("COVID-19-")."""
    return _ENDS_WITH_HYPHEN.search(line) is not None


def glued(text: str, line: str, vocabulary: Vocabulary) -> str:
    """`text` and the line after it as one text. A word that the line end cut in two is joined;
    else a space is put between them."""
    if text.endswith(" -") and vocabulary.joins(text[:-2], line):  # "esti -" and "mates"
        text = f"{text[:-2]}-"
    if not ends_with_hyphen(text) or not line[:1].isalnum():
        return f"{text} {line}"
    first, second = _BROKEN_WORD.search(text), _WORD.match(line)
    if first is None or second is None:  # COVID-/19
        return text + line
    if second[0] in _AFTER_SUSPENDED:
        return f"{text} {line}"
    if first[2] == SOFT_HYPHEN or not (
        _is_inside_compound(text, first.start()) or vocabulary.keeps_hyphen(first[1], second[0])
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
    """Whether the part of the broken word that begins at `start` follows another hyphen: "of" in
    "state-of-"."""
    return start > 1 and text[start - 1] in "-‐" and text[start - 2].isalnum()
