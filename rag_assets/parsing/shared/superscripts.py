"""Raised and lowered digits as characters of their own, whatever the markup that sets them apart.

Plain digits are wrong: "exacerbated.29" glues two sentences together, and "109" may be 10 to the
9th. Letters stay as they are ("1st", "Tmax").
"""

import re
from collections.abc import Callable

Written = Callable[[str, str], str]
"""From the text before and a text that is raised or lowered behind it to how this is written."""
_SUPERSCRIPT = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
_SUBSCRIPT = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_MINUS = re.compile(r"(?<!\d)[‐‑–—](?=\d)|(?<=\d)[‐‑–—](?!\d)")
"""A dash in place of the minus of an exponent or a charge; between digits it is that of a range."""
_EXPONENT_N = re.compile(r"(?<![^\W\d_])n(?![^\W\d_])")
_WORD = re.compile(r"[^\W\d_]{4}")
"""Four letters are a word; units, symbols and formulas (km², CO²⁻, R²) are shorter."""
_WRITTEN = re.compile(
    r"<(?P<tag>su[pb])(?: [^<>]{0,80})?>(?P<tagged>[\w .,;:=+−‐‑–-]{1,20})</(?P=tag)>"
    r"|(?<=[^\s^])\^(?P<sup>[+−‐‑–-]?\d[\d,–-]{0,10}[+−]?)\^(?![\d^])"
    r"|(?<=[^\W_])~(?P<sub>\d[\d.]{0,5}[+−-]?)~(?![\d~])"
    r"|\$(?:\{ ?\})?(?P<latex>[\^_]) ?\{? ?(?P<digits>[\d+−=(),.–-]{1,12}) ?\}?\$",
    re.IGNORECASE,
)
"""HTML, Pandoc's "10^5^" and "H~2~O", and digits alone between the dollars of LaTeX."""


def raised(text: str) -> str:
    """`text` in superscript characters, as far as they exist: 10<sup>9</sup> must not read 109."""
    return _EXPONENT_N.sub("ⁿ", _MINUS.sub("-", text)).translate(_SUPERSCRIPT)


def lowered(text: str) -> str:
    """`text` in subscript characters, as far as they exist."""
    return text.translate(_SUBSCRIPT)


def lowered_after(_before: str, text: str) -> str:
    return lowered(text)


def raised_after(before: str, text: str) -> str:
    """`text` as it follows `before` when it is raised: a mark after a whole word is set apart from
    it by a space.

    Otherwise "analyses⁵⁴" is one word, which a search for "analyses" does not find.
    """
    is_mark = (
        any(character.isdigit() for character in text) and _WORD.fullmatch(before[-4:]) is not None
    )
    return f" {raised(text)}" if is_mark else raised(text)


def mark_after(before: str, text: str) -> str:
    """The number of a note or reference as it follows `before`: "250⁹" would be a power, "250 ⁹" is
    not."""
    is_glued = before[-1:].isalnum() or before[-1:] in (")", "]")
    return f" {raised(text)}" if is_glued else raised(text)


def with_scripts(text: str) -> str:
    """`text` with the digits that are marked in it as raised or lowered in such characters."""

    def written(match: re.Match[str]) -> str:
        is_lowered = match["sub"] or match["latex"] == "_" or (match["tag"] or "").lower() == "sub"
        own = match["tagged"] or match["sup"] or match["sub"] or match["digits"]
        return (
            lowered(own)
            if is_lowered
            else raised_after(text[max(0, match.start() - 4) : match.start()], own)
        )

    return _WRITTEN.sub(written, text)
