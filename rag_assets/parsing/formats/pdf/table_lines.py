"""The words of a printed table as lines of cell texts: which words beside each other are one text.

Coordinates are points of a reading frame.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from rag_assets.parsing.formats.pdf.drawings import Rule
from rag_assets.parsing.formats.pdf.text import Segment
from rag_assets.parsing.tables.values import is_value

_SAME_LINE = 0.4
"""Words whose middles are at most this share of their height apart are on one line."""
_SMALL, _HALF = 0.85, 0.5
_TOUCHING, _NEAR, _WORD_SPACE = 0.18, 0.45, 0.6
"""White space in ems: inside a word, between a number and what goes with it, between words of one
text."""
_ALIGNED = 0.35
"""Edges or middles at most so many ems apart are aligned."""
_CURRENCY = re.compile(r"[$€£¥]")
_LONGEST_SIGN_GAP = 20.0
"""In ems: the sign of a currency or of a share may stand in a column of its own."""
_CLOSING = re.compile(r"[)%\]]+\S{0,2}")
_JOINS = re.compile(r"[±×·+<>≤≥=≈/−–-]")
_NOT_LETTERS = re.compile(r"[\d.,()\[\]%$€£¥±×·+<>≤≥=≈/−–*†‡-]*\d[^a-zA-Z]*")


@dataclass(frozen=True)
class Text:
    """Words of one line that belong together: a cell, or one line of it."""

    words: tuple[Segment, ...]

    @property
    def left(self) -> float:
        return self.words[0].left

    @property
    def right(self) -> float:
        return max(word.right for word in self.words)

    @property
    def centre(self) -> float:
        return (self.left + self.right) / 2

    @property
    def place(self) -> tuple[float, float]:
        """Its left and right edge."""
        return self.left, self.right

    def is_aligned(self, place: tuple[float, float], *, may_begin: bool = True) -> bool:
        """Whether it ends or has its middle where a place does, or, if that counts, begins
        there."""
        edges = [(self.right, place[1]), (self.centre, sum(place) / 2), (self.left, place[0])]
        return any(
            abs(mine - its) <= _ALIGNED * self.words[0].size for mine, its in edges[: 2 + may_begin]
        )

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def is_bold(self) -> bool:
        return all(word.bold > 0.5 for word in self.words)

    @property
    def is_value(self) -> bool:
        return is_value(self.text)


@dataclass(frozen=True)
class PrintedLine:
    """The texts of one line of a table, from left to right."""

    texts: tuple[Text, ...]

    @property
    def words(self) -> list[Segment]:
        return [word for text in self.texts for word in text.words]

    @property
    def left(self) -> float:
        return self.texts[0].left

    @property
    def right(self) -> float:
        return self.texts[-1].right

    @property
    def top(self) -> float:
        return min(word.top for word in self.words)

    @property
    def bottom(self) -> float:
        return max(word.bottom for word in self.words)

    @property
    def middle(self) -> float:
        return fmean(_middle(word) for word in self.words)

    @property
    def value_share(self) -> float:
        """Share of values, or dashes instead of them, among the texts behind the first."""
        behind = [text.is_value or not any(map(str.isalnum, text.text)) for text in self.texts[1:]]
        return sum(behind) / max(len(behind), 1)


def printed_lines(words: Sequence[Segment], down: Sequence[Rule] = ()) -> list[PrintedLine]:
    """The lines of some words, from top to bottom; a vertical rule parts texts."""
    return [PrintedLine(tuple(_texts(line, down))) for line in _on_lines(words)]


def _middle(word: Segment) -> float:
    return (word.top + word.bottom) / 2


def _on_lines(words: Sequence[Segment]) -> list[list[Segment]]:
    lines: list[list[Segment]] = []
    for word in sorted(words, key=_middle):
        line = lines[-1] if lines else []
        height = min([word.bottom - word.top, *(other.bottom - other.top for other in line)])
        if line and _middle(word) - fmean(map(_middle, line)) <= _SAME_LINE * height:
            line.append(word)
        else:
            lines.append([word])
    whole: list[list[Segment]] = []
    for line in lines:
        if whole and (_is_beside(line, whole[-1]) or _is_beside(whole[-1], line)):
            whole[-1].extend(line)
        else:
            whole.append(line)
    return [sorted(line, key=lambda word: word.left) for line in whole]


def _is_beside(small: Sequence[Segment], line: Sequence[Segment]) -> bool:
    """Whether all words of a line are raised or lowered characters of words on another."""
    return all(
        any(
            word.bottom - word.top <= _SMALL * (other.bottom - other.top)
            and min(word.bottom, other.bottom) - max(word.top, other.top)
            >= _HALF * (word.bottom - word.top)
            and -_HALF * word.size <= word.left - other.right <= _HALF * word.size
            for other in line
        )
        for word in small
    )


def _texts(line: Sequence[Segment], down: Sequence[Rule]) -> list[Text]:
    texts: list[list[Segment]] = []
    for word in line:
        if texts and _belongs(texts[-1], word) and not _is_parted(texts[-1][-1], word, down):
            texts[-1].append(word)
        else:
            texts.append([word])
    return [Text(tuple(words)) for words in texts]


def _is_parted(word: Segment, following: Segment, down: Sequence[Rule]) -> bool:
    middle = _middle(word)
    return any(
        word.right - 1 <= rule.at <= following.left + 1 and rule.start <= middle <= rule.end
        for rule in down
    )


def _belongs(text: Sequence[Segment], word: Segment) -> bool:
    last = text[-1]
    gap = (word.left - max(other.right for other in text)) / max(min(word.size, last.size), 1.0)
    if gap <= _TOUCHING:
        return True
    if _CURRENCY.fullmatch(last.text):
        return gap <= (_WORD_SPACE if any(map(str.isalpha, word.text)) else _LONGEST_SIGN_GAP)
    if _CURRENCY.fullmatch(word.text):
        return gap <= _NEAR and not is_value(last.text)
    if word.text == "%" and is_value(last.text):
        return gap <= _LONGEST_SIGN_GAP
    if (
        last.text.endswith(",")
        or _CLOSING.fullmatch(word.text)
        or _JOINS.fullmatch(word.text)
        or _JOINS.fullmatch(last.text)
    ):
        return gap <= _WORD_SPACE
    if _NOT_LETTERS.fullmatch(last.text) and _NOT_LETTERS.fullmatch(word.text):
        return (
            gap <= _NEAR
            and word.text.startswith(("(", "["))
            and not last.text.startswith(("(", "["))
        )
    return gap <= _WORD_SPACE
