"""Texts with their numbers written in one way, so that no way of writing hides one.

"９０﹪", "90 %" with an invisible character in between, "[90]%", "x90%" and "1O%" all become a number before a per cent
sign. Offsets are not kept.
"""

import re
import unicodedata

_PERCENT = r"(?:%|percent\b|per[ -]?cent\b|pct\b)"
_RAISED = re.compile(r"(?<=\w)[⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_SIGNS = str.maketrans({"º": "°", "˚": "°", "½": ".5", "¼": ".25", "¾": ".75", "٪": "%", "⁒": "%", "٫": "."})
_AFTER_FOLDING = str.maketrans({"μ": "µ", "−": "-", "‐": "-", "‑": "-", "﹣": "-"})
_BLANKS = re.compile(r"\s+")
_LETTER_O = re.compile(rf"\d[\doO]*[oO][\doO]*(?=\s?{_PERCENT})", re.IGNORECASE)
_REWRITTEN = tuple(
    (re.compile(pattern, re.IGNORECASE), written)
    for pattern, written in (
        (rf"(?<=\d)\s?[(\[{{]\s?({_PERCENT})\s?[)\]}}]", r" \1"),
        (rf"[(\[{{]\s?(\d[\d.,]{{0,20}})\s?[)\]}}](?=\s?{_PERCENT})", r" \1"),
        (rf"(?<=\d)[^\w\s%+<>=-]{{1,4}}\s?(?={_PERCENT})", " "),
        (r"(?<=[^\W\d])[-./]?(?=\.?\d[\d.,]{0,20}%)", " "),
        (r"(?<=[^\W\d])[-./]?(?=\.?\d[\d.,]{0,20}\s(?:percent|per[ -]?cent|pct)\b)", " "),
        (r"(?<!10)\^(?=\d{1,6}\s?%)", " "),
    )
)
"""Brackets and marks between a number and its per cent sign, letters glued to such a number."""


def legible_numbers(text: str) -> str:
    """The text in plain characters and single blanks, powers as "10^5", numbers beside their per cent sign."""
    raised = _RAISED.sub(lambda match: "^" + match[0].translate(_LOWERED), text.translate(_SIGNS))
    folded = unicodedata.normalize("NFKC", raised).translate(_AFTER_FOLDING)
    visible = "".join(character for character in folded if unicodedata.category(character) != "Cf")
    plain = _LETTER_O.sub(lambda match: re.sub("[oO]", "0", match[0]), _BLANKS.sub(" ", visible))
    for pattern, written in _REWRITTEN:
        plain = pattern.sub(written, plain)
    return plain
