"""Raised digits as superscript characters, apart from the word before them.

Plain digits are wrong: "exacerbated.29" glues two sentences together, and "109" may be 10 to the 9th.
"""

import re

_SUPERSCRIPT = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_SUBSCRIPT = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_WORD = re.compile(r"[^\W\d_]{4}")
"""Four letters are a word; units, symbols and formulas (km², CO²⁻, R²) are shorter."""


def raised(text: str) -> str:
    """`text` in superscript characters, as far as they exist: 10<sup>9</sup> must not read 109."""
    return text.translate(_SUPERSCRIPT)


def lowered(text: str) -> str:
    """`text` in subscript characters, as far as they exist."""
    return text.translate(_SUBSCRIPT)


def raised_after(before: str, text: str) -> str:
    """`text` as it follows `before` when it is raised: a mark after a whole word is set apart from it by a space.

    Otherwise "analyses⁵⁴" is one word, which a search for "analyses" does not find.
    """
    is_mark = any(character.isdigit() for character in text) and _WORD.fullmatch(before[-4:]) is not None
    return f" {raised(text)}" if is_mark else raised(text)
