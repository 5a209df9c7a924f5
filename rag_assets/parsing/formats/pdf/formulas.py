"""Which lines of a column are pieces of displayed formulas: hardly any words, mathematical signs,
set apart from prose.

A formula inside a sentence stays in its line of prose.
"""

import re
from collections.abc import Sequence, Set
from unicodedata import category

from rag_assets.parsing.formats.pdf.layout import Line

_MOST_IN_WORDS, _MOST_IN_WORDS_NUMBERED, _MOST_IN_WORDS_BESIDE = 0.4, 0.6, 0.75
"""Share of the characters of a line that may belong to words: "Precision", "if", "otherwise"."""
_MOST_WORDS = 6
_LEAST_WORDS_OF_PROSE = 4
_WORD = re.compile("[^\\W\\d_\U0001d400-\U0001d7ff]{3,}[.,;:]?")
"""A word, not one in Unicode's mathematical letters."""
_EQUATION_NUMBER = re.compile(r"\((?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3})*[a-z]?\)")
_ADDRESS = re.compile(r"@|://|www\.")
_SIGNS, _NO_SIGNS = frozenset(("Sm", "Co")), frozenset("∗|~")
"""Unicode's mathematical signs, and the private code points of brackets that are put together from
pieces; those that stand in prose too prove nothing."""
_SET_APART_EMS, _SET_APART_HEIGHTS = 1.0, 0.35
_NEAR = 0.5
"""White space between two pieces of one formula, in heights of the higher one, at most."""


def formula_lines(lines: Sequence[Line], usual_gap: float) -> Set[int]:
    """Indices of the lines of one column, in reading order, that belong to displayed formulas.

    `usual_gap` is the white space between two lines of a paragraph, in points.
    """
    words = [[token for token in line.text.split() if _WORD.fullmatch(token)] for line in lines]
    left, indented = min((line.left for line in lines), default=0.0), []
    for line, own in zip(lines, words, strict=True):
        indented.append(line.left > left + _SET_APART_EMS * line.size)
        left = line.left if len(own) >= _LEAST_WORDS_OF_PROSE and not line.table else left
    found = {
        at
        for at, line in enumerate(lines)
        if _reads_as_formula(line, words[at])
        and (indented[at] or _stands_alone(lines, at, usual_gap))
    }
    for order in (range(1, len(lines)), range(len(lines) - 2, -1, -1)):
        for at in order:
            line, beside = lines[at], lines[at - order.step]
            is_step = indented[at] or _is_sign(line.text[:1])
            if at - order.step in found and is_step and _is_near(line, beside):
                found |= {at} if _has_few(line, words[at], _MOST_IN_WORDS_BESIDE) else set()
    return found


def _reads_as_formula(line: Line, words: Sequence[str]) -> bool:
    *_, last = line.text.split() or [""]
    is_numbered = bool(_EQUATION_NUMBER.fullmatch(last))
    if not _has_few(line, words, _MOST_IN_WORDS_NUMBERED if is_numbered else _MOST_IN_WORDS):
        return False
    is_signed = any(map(str.isalpha, line.text)) and any(map(_is_sign, line.text))
    return (is_numbered or is_signed) and not _ADDRESS.search(line.text)


def _has_few(line: Line, words: Sequence[str], most: float) -> bool:
    n_chars = sum(not character.isspace() for character in line.text)
    return not line.table and len(words) <= _MOST_WORDS and sum(map(len, words)) <= most * n_chars


def _is_sign(character: str) -> bool:
    return bool(character) and category(character) in _SIGNS and character not in _NO_SIGNS


def _stands_alone(lines: Sequence[Line], at: int, usual_gap: float) -> bool:
    """Whether there is more white space above and below a line than between those of a
    paragraph."""
    least = usual_gap + _SET_APART_HEIGHTS * lines[at].height
    above = lines[at].top - lines[at - 1].bottom if at else least
    below = lines[at + 1].top - lines[at].bottom if at + 1 < len(lines) else least
    return min(above, below) >= least


def _is_near(line: Line, other: Line) -> bool:
    return max(line.top - other.bottom, other.top - line.bottom) <= _NEAR * max(
        line.height, other.height
    )
