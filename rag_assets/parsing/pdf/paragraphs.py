"""Putting the text of a PDF back together: hyphens at line ends, and paragraphs that go on in the next column.

What a hyphen at a line end means cannot be told from the line alone; the rest of the document decides. Nothing here
knows fonts or headings.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rag_assets.model import Box, Span

_WORD = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_SOFT_HYPHEN = "\u00ad"
_BROKEN_WORD = re.compile(r"([^\W\d_]+)([-‐\u00ad])$")
_STARTS_WORD = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_ENDS_WITH_HYPHEN = re.compile(r"\w[-‐\u00ad]$")
_MIN_PART = 3
_AFTER_SUSPENDED = frozenset({"and", "or", "to", "nor", "versus", "und", "oder", "et", "ou"})
_ENDED = re.compile(r"[.?!:;][\"'”’)\]*†‡\d,]*$")
_OPENING = "\"'“‘(["


@dataclass(frozen=True)
class Vocabulary:
    """How often each word stands whole within a line of the document, in lower case."""

    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, lines: Iterable[str]) -> "Vocabulary":
        counts: Counter[str] = Counter()
        starts_broken = False
        for line in lines:
            words = [word.lower().replace("‐", "-") for word in _WORD.findall(line)]
            ends_broken = bool(_BROKEN_WORD.search(line))
            counts.update(words[starts_broken : len(words) - ends_broken])  # half a word is no word
            starts_broken = ends_broken
        return cls(counts)

    def keeps_hyphen(self, first: str, second: str) -> bool:
        """Whether `first-second`, broken at the end of a line, is a compound rather than one word."""
        joined, compound = self.counts[(first + second).lower()], self.counts[f"{first}-{second}".lower()]
        if joined or compound:
            return compound > joined
        if not second[0].islower():
            return True
        are_words = self.counts[first.lower()] > 0 and self.counts[second.lower()] > 0
        return are_words and min(len(first), len(second)) >= _MIN_PART


def joined(texts: Sequence[str], vocabulary: Vocabulary) -> str:
    """Lines of prose as one text without line breaks, hyphens at their ends resolved."""
    return _joined_open(texts, vocabulary).replace(_SOFT_HYPHEN, "")


def _joined_open(texts: Sequence[str], vocabulary: Vocabulary) -> str:
    """As `joined`, but a soft hyphen at the very end stays for what follows."""
    text = ""
    for line in texts:
        clean = line[:-1].replace(_SOFT_HYPHEN, "") + line[-1:]
        text = clean if not text else _glued(text, clean, vocabulary)
    return text


def _glued(text: str, line: str, vocabulary: Vocabulary) -> str:
    if not _ENDS_WITH_HYPHEN.search(text) or not line[:1].isalnum():
        return f"{text} {line}"
    broken, start = _BROKEN_WORD.search(text), _STARTS_WORD.match(line)
    if broken is None or start is None:  # COVID-/19
        return text + line
    if start[0] in _AFTER_SUSPENDED:  # short-/and long-term
        return f"{text} {line}"
    if broken[2] == _SOFT_HYPHEN or not (
        _is_inside_compound(text, broken.start()) or vocabulary.keeps_hyphen(broken[1], start[0])
    ):
        return text[:-1] + line
    return text + line


def _is_inside_compound(text: str, start: int) -> bool:
    """Whether the broken word is itself the tail of a compound (state-of-/the-art)."""
    return start > 1 and text[start - 1] in "-‐" and text[start - 2].isalnum()


def goes_on(text: str, next_text: str) -> bool:
    """Whether a sentence that ends a column goes on with `next_text` in the next."""
    if not text or not next_text or _ENDED.search(text):
        return False
    starts_inside = next_text.lstrip(_OPENING)[:1].islower() or next_text[0] in ",;)%="
    return starts_inside or bool(_ENDS_WITH_HYPHEN.search(text)) or text[-1] in ",("


def is_unfinished(text: str) -> bool:
    """Whether a text stops without any sign of an end."""
    return not _ENDED.search(text)


@dataclass(frozen=True)
class Part:
    """A piece of a paragraph that stands in one column."""

    lines: tuple[str, ...]
    box: Box


def joined_parts(parts: Sequence[Part], vocabulary: Vocabulary) -> tuple[str, tuple[Span, ...]]:
    """One paragraph from the pieces it stands in, with one span a piece: its page and its box."""
    text = ""
    starts: list[int] = []
    for part in parts:
        piece = _joined_open(part.lines, vocabulary)
        text = _glued(text, piece, vocabulary) if text else piece
        starts.append(len(text) - len(piece))
    text = text.removesuffix(_SOFT_HYPHEN)
    ends = [*starts[1:], len(text)][: len(parts)]
    return text, tuple(
        Span(start, end, part.box.page, part.box.page, (part.box,))
        for part, start, end in zip(parts, starts, ends, strict=True)
        if end > start
    )
