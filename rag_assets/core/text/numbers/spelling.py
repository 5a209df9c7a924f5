"""One spelling for numbers and their units, so that `quantities` finds all of them.

"９０﹪", "90 %" with an invisible character in between, "[90]%", "x90%" and "1O%" all become a number before a per cent
sign, "0·71" becomes "0.71" and "2002–03" becomes "2002–2003". Offsets are not kept.
"""

import re
import unicodedata

from rag_assets.core.text.numbers.units import SYMBOL

_PERCENT = r"(?:%|percent\b|per[ -]?cent\b|pct\b)"
_TAG = re.compile(r"<(?:(sup)|/?[a-z]{1,6})>", re.IGNORECASE)
_RAISED = re.compile(r"(?<=\w)[⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_SIGNS = str.maketrans({"º": "°", "˚": "°", "½": ".5", "¼": ".25", "¾": ".75", "٪": "%", "⁒": "%", "٫": "."})
_AFTER_FOLDING = str.maketrans(
    {"μ": "µ", "\u039c": "µ", "−": "-", "‐": "-", "‑": "-", "﹣": "-", "\u0131": "i", "\u0130": "I"}
)
"""With the Greek capital mu and the Turkish letters i, which case-insensitive patterns take for µ and i."""
_BLANKS = re.compile(r"\s+")
_ROUND_LETTERS = "oO\u043e\u041e\u03bf\u039f"
"""The letter O in Latin, Cyrillic and Greek."""
_AS_ZERO = str.maketrans(dict.fromkeys(_ROUND_LETTERS, "0"))
_LETTER_O = re.compile(
    rf"(?<![0-9{_ROUND_LETTERS}])([{_ROUND_LETTERS}]*+)([0-9][0-9{_ROUND_LETTERS}]*+)(?=\s?{_PERCENT})", re.IGNORECASE
)
_SHORT_YEAR = re.compile(r"(?<![\w.,-])(1[5-9]|20)(\d\d)[-–/](\d\d)\b(?![-–/.,]\d)")
_REWRITTEN = tuple(
    (re.compile(pattern, re.IGNORECASE), written)
    for pattern, written in (
        (rf"(?<=\d)\s?[(\[{{]\s?({_PERCENT})\s?[)\]}}]", r" \1"),
        (rf"[(\[{{]\s?(\d[\d.,]{{0,20}})\s?[)\]}}](?=\s?{SYMBOL})", r" \1"),
        (rf"(?<=\d)[^\w\s%+<>=-]{{1,4}}\s?(?={_PERCENT})", " "),
        (rf"(?<=\d)[*_`]{{1,3}}\s?(?={SYMBOL})", " "),
        (r"(?<!\w)_{1,3}(?=\d)", " "),
        (r"(?<=[^\W\d])[-./]?(?=\.?\d[\d.,]{0,20}%)", " "),
        (r"(?<=[^\W\d])[-./]?(?=\.?\d[\d.,]{0,20}\s(?:percent|per[ -]?cent|pct)\b)", " "),
        (r"(?<!10)\^(?=\d{1,6}\s?%)", " "),
        (r"(?<=\d)[·∙⋅](?=\d)(?!10\^)", "."),
        (r"(?<![\d.,])(\d{1,3}), (?=0\d\d(?!\d))", r"\1,"),
    )
)
"""Brackets and marks between a number and its unit, letters glued to one before a per cent sign, the decimal point in
the middle of the line, a blank inside "2, 000"."""


def normalized_numbers(text: str) -> str:
    """The text in plain characters and single blanks, powers as "10^5", numbers beside their unit."""
    untagged = _TAG.sub(lambda match: "^" if match[1] else "", text)
    raised = _RAISED.sub(lambda match: "^" + match[0].translate(_LOWERED), untagged.translate(_SIGNS))
    folded = unicodedata.normalize("NFKC", raised).translate(_AFTER_FOLDING)
    visible = "".join(_plain(character) for character in folded)
    plain = _LETTER_O.sub(lambda match: match[1] + match[2].translate(_AS_ZERO), _BLANKS.sub(" ", visible))
    for pattern, written in _REWRITTEN:
        plain = pattern.sub(written, plain)
    return _SHORT_YEAR.sub(_in_full, plain)


def _plain(character: str) -> str:
    """Digits of every script as 0-9, nothing for an invisible character."""
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return "" if unicodedata.category(character) == "Cf" else character


def _in_full(years: re.Match[str]) -> str:
    """ "2002–03" as "2002–2003"; "2020-03" is March."""
    century, first, second = years.groups()
    return f"{century}{first}–{century}{second}" if second > first else years[0]
