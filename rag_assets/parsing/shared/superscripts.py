"""Writes raised and lowered digits with Unicode's superscript and subscript characters, for all
kinds of markup.

Written as plain digits they would be wrong: "exacerbated.29" looks like one word, and "109" may
mean 10 to the 9th. Letters stay as they are ("1st", "Tmax").
"""

import re
from collections.abc import Callable

ScriptWriter = Callable[[str, str], str]
"""Function of two texts: the text before, and the raised or lowered text after it. Returns the
second one as it is to be written."""
_SUPERSCRIPT = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
_SUBSCRIPT = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_MINUS = re.compile(r"(?<!\d)[‐‑–—](?=\d)|(?<=\d)[‐‑–—](?!\d)")
"""A dash that means the minus of an exponent or a charge; a dash between digits means a range."""
_EXPONENT_N = re.compile(r"(?<![^\W\d_])n(?![^\W\d_])")
_WORD = re.compile(r"[^\W\d_]{4}")
"""Four letters are a word; units, symbols and formulas (km², CO²⁻, R²) are shorter."""
_MARKUP = re.compile(
    r"<(?P<tag>su[pb])(?: [^<>]{0,80})?>(?P<tagged>[\w .,;:=+−‐‑–-]{1,20})</(?P=tag)>"
    r"|(?<=[^\s^])\^(?P<sup>[+−‐‑–-]?\d[\d,–-]{0,10}[+−]?)\^(?![\d^])"
    r"|(?<=[^\W_])~(?P<sub>\d[\d.]{0,5}[+−-]?)~(?![\d~])"
    r"|\$(?:\{ ?\})?(?P<latex>[\^_]) ?\{? ?(?P<digits>[\d+−=(),.–-]{1,12}) ?\}?\$",
    re.IGNORECASE,
)
"""HTML, Pandoc's "10^5^" and "H~2~O", and digits alone between the dollars of LaTeX."""


def raised(text: str) -> str:
    """`text` in superscript characters, as far as they exist: "9" -> "⁹"."""
    return _EXPONENT_N.sub("ⁿ", _MINUS.sub("-", text)).translate(_SUPERSCRIPT)


def lowered(text: str) -> str:
    """`text` in subscript characters, as far as they exist."""
    return text.translate(_SUBSCRIPT)


def lowered_after(_before: str, text: str) -> str:
    return lowered(text)


def raised_after(before: str, text: str) -> str:
    """The raised text as it is written after `before`. Digits after a whole word are the mark of a
    note, and get a space before them: "analyses⁵⁴" would be one word, which a search for "analyses"
    does not find.
    """
    is_mark = (
        any(character.isdigit() for character in text) and _WORD.fullmatch(before[-4:]) is not None
    )
    return f" {raised(text)}" if is_mark else raised(text)


def mark_after(before: str, text: str) -> str:
    """The raised number of a note or reference as it is written after `before`. After a word, a
    number or a bracket it gets a space, because "250⁹" would be a power."""
    is_glued = before[-1:].isalnum() or before[-1:] in (")", "]")
    return f" {raised(text)}" if is_glued else raised(text)


def with_scripts(text: str) -> str:
    """`text` with markup replaced by superscript and subscript characters: "10<sup>9</sup>" and
    "10^9^" -> "10⁹"."""

    def plain(match: re.Match[str]) -> str:
        is_lowered = match["sub"] or match["latex"] == "_" or (match["tag"] or "").lower() == "sub"
        content = match["tagged"] or match["sup"] or match["sub"] or match["digits"]
        if is_lowered:
            return lowered(content)
        return raised_after(text[max(0, match.start() - 4) : match.start()], content)

    return _MARKUP.sub(plain, text)
