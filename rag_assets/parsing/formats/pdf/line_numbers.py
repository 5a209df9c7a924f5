"""The numbers that manuscripts print beside their lines. They are in a margin, rise by one or by
five, and do not belong to the text."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, pairwise
from statistics import median
from typing import Protocol

from rag_assets.parsing.formats.pdf.glyphs import Glyph

_DIGITS = frozenset("0123456789")
_MIN_NUMBERS = 4
_MAX_DIGITS = 4
_MOST, _MANY = 0.8, 0.5
_OUTLIERS = 0.05
_SAME_PITCH = 0.25
_WORDS_OF_PROSE = 5


class WordRun(Protocol):
    """A run of words on one line: a `Segment` of `text`, which imports this module."""

    @property
    def text(self) -> str: ...

    @property
    def top(self) -> float: ...

    @property
    def bottom(self) -> float: ...

    @property
    def glyphs(self) -> tuple[Glyph, ...]: ...


@dataclass(frozen=True)
class _NumberedRun:
    """A run of words that begins or ends with a number, with places counted from the margin
    inwards."""

    value: int
    inner: float
    """Where the number ends."""
    middle: float
    glyphs: tuple[Glyph, ...]
    n_words: int
    """Words beside it in the same run."""


def line_numbers(segments: Sequence[WordRun]) -> set[int]:
    """The `id` of each character of a line number in the left or right margin of a page with
    upright text.

    Line numbers are outside of the text, but for a few outliers. They rise by a constant step over
    lines with one distance, and most are beside prose or an empty line, unlike the numbers of a
    list, of references or of the rows of a table."""
    return {
        id(glyph)
        for side in (1, -1)
        for number in _column(segments, side)
        for glyph in number.glyphs
    }


def _column(segments: Sequence[WordRun], side: int) -> list[_NumberedRun]:
    """The line numbers in one margin from top to bottom; empty if the numbers there do not count
    lines.

    side: 1 for the left margin, -1 for the right one. Horizontal places are multiplied by it, so
    that in both margins a smaller value is farther out."""
    numbers: list[_NumberedRun] = []
    edges: list[float] = []
    for segment in segments:
        drawn = [glyph for glyph in segment.glyphs if not glyph.text.isspace()]
        # In the right margin a run is read from its end, so its digits are turned round again
        # below.
        digits = list(
            _digits(list(dropwhile(lambda glyph: glyph.text.isspace(), segment.glyphs[::side])))
        )
        rest = drawn[len(digits) :] if side > 0 else drawn[: len(drawn) - len(digits)]
        if digits:
            value = int("".join(glyph.text for glyph in digits[::side]))
            inner = max(side * edge for glyph in digits for edge in (glyph.left, glyph.right))
            middle = (segment.top + segment.bottom) / 2
            numbers.append(
                _NumberedRun(value, inner, middle, tuple(digits), len(segment.text.split()) - 1)
            )
        if rest:
            edges.append(min(side * edge for glyph in rest for edge in (glyph.left, glyph.right)))
    if len(numbers) < _MIN_NUMBERS or not edges:
        return []
    # The outer edge of the text, but for the few runs that reach farther out.
    edge = sorted(edges)[int(_OUTLIERS * len(edges))]
    column = sorted((one for one in numbers if one.inner <= edge + 1), key=lambda one: one.middle)
    return column if _counts_lines(column, segments) else []


def _digits(glyphs: Sequence[Glyph]) -> Iterator[Glyph]:
    """The digits that a run begins with, if white space or nothing follows them and they are not
    too many for a line number."""
    n = next((at for at, glyph in enumerate(glyphs) if glyph.text not in _DIGITS), len(glyphs))
    if n <= _MAX_DIGITS and (n == len(glyphs) or glyphs[n].text.isspace()):
        yield from glyphs[:n]


def _counts_lines(column: Sequence[_NumberedRun], segments: Sequence[WordRun]) -> bool:
    """Whether numbers below each other count the lines of a page.

    They rise by one step, most are at the same distance, together they count at least half of the
    lines, and most are beside prose or an empty line."""
    if len(column) < _MIN_NUMBERS:
        return False
    pairs = list(pairwise(column))
    step, n_steps = Counter(below.value - above.value for above, below in pairs).most_common(1)[0]
    pitches = [below.middle - above.middle for above, below in pairs]
    usual = median(pitches)
    n_usual = sum(abs(pitch - usual) <= _SAME_PITCH * usual for pitch in pitches)
    if step < 1 or n_steps < _MOST * len(pairs) or n_usual < _MANY * len(pairs):
        return False
    # Lines of the page, and for each number the most words of a run on its line: one word at most,
    # the number itself, means an empty line.
    rows = {round((segment.top + segment.bottom) / 2) for segment in segments}
    words = {round(one.middle): one.n_words for one in column}
    for segment in segments:
        for row in range(round(segment.top), round(segment.bottom) + 1):
            if row in words:
                words[row] = max(words[row], len(segment.text.split()))
    n_beside = sum(n >= _WORDS_OF_PROSE or n <= 1 for n in words.values())
    return step * len(column) >= _MANY * len(rows) and n_beside >= _MANY * len(column)
