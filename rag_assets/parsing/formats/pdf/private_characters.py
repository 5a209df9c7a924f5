"""Characters of Unicode's private area that PDF fonts use, as the characters that they show.

Symbol fonts are mapped to U+F000 plus the code of the font; which font decides what a code is. Sources: the Symbol
encoding of PDF 1.7 (annex D.5), Adobe's Glyph List (small capitals, old-style figures), and Apple's use of U+F001 and
U+F002 for the ligatures fi and fl.
"""

import re

_FIRST, _LAST = "\ue000", "\uf8ff"
_SYMBOL_AREA = 0xF000
_GREEK = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_CAPITAL_GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_SYMBOL = {
    **{ord("a") + n: letter for n, letter in enumerate(_GREEK)},
    **{ord("A") + n: letter for n, letter in enumerate(_CAPITAL_GREEK)},
    **{code: chr(code) for code in range(0x20, 0x40)},
    0x2D: "−",
    0x7E: "∼",
    0xA3: "≤",
    0xA5: "∞",
    0xAE: "→",
    0xB0: "°",
    0xB1: "±",
    0xB2: "″",
    0xB3: "≥",
    0xB4: "×",
    0xB5: "∝",
    0xB6: "∂",
    0xB7: "•",
    0xB8: "÷",
    0xB9: "≠",
    0xBA: "≡",
    0xBB: "≈",
    0xD7: "⋅",
    0xE5: "∑",
    0xF2: "∫",
}
_DINGBATS = {
    0x6C: "●",
    0x6E: "■",
    0x6F: "□",
    0x71: "□",
    0x75: "◆",
    0x76: "❖",
    0x77: "◆",
    0x9F: "•",
    0xA7: "▪",
    0xA8: "□",
    0xB7: "•",
    0xD8: "➢",
    0xE0: "→",
    0xF0: "➢",
    0xFC: "✓",
    0xFE: "✓",
}
_ANY_FONT = {
    **{0xF730 + n: str(n) for n in range(10)},
    **{0xF761 + n: chr(ord("A") + n) for n in range(26)},
    0xF001: "ﬁ",
    0xF002: "ﬂ",
    0xF0B7: "•",
    0xF0A7: "▪",
    0xF0D8: "➢",
}
_IS_SYMBOL = re.compile(r"symbol", re.IGNORECASE)
_IS_DINGBATS = re.compile(r"dings", re.IGNORECASE)


def shown_character(character: str, font: str) -> str:
    """What a character of a font looks like; unknown private ones stay as they are."""
    if not _FIRST <= character <= _LAST:
        return character
    code = ord(character)
    fonts = ((_IS_SYMBOL, _SYMBOL), (_IS_DINGBATS, _DINGBATS))
    table = next((table for name, table in fonts if name.search(font)), {})
    return table.get(code - _SYMBOL_AREA) or _ANY_FONT.get(code, character)
