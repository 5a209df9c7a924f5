"""Finding a quote in a text that was typeset, extracted or retyped differently.

White space, hyphenation at line ends, ligatures, quotation marks and dashes differ between a PDF, its TEI and what a
model repeats. `Folded` maps a text to a folded form and every folded character back to its place in the original, so
that a match found in the folded form has exact offsets in the original. Used to verify citations and to align a
text with the pages of its PDF.
"""

import re
import unicodedata
from dataclasses import dataclass

_SINGLE_QUOTES = "‘’‚‛′`´ʼ"
_DOUBLE_QUOTES = "“”„‟″«»"
_DASHES = "‐‑‒–—―−﹘﹣-"  # the plain hyphen last, where a character class takes it literally
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_FOLDS = {
    **dict.fromkeys(_SINGLE_QUOTES, "'"),
    **dict.fromkeys(_DOUBLE_QUOTES, '"'),
    **dict.fromkeys(_DASHES, "-"),
    **dict.fromkeys(_INVISIBLE, ""),
    "…": "...",
}
_HYPHEN_IN_WORD = re.compile(rf"(?<=\w)[\u00ad{_DASHES}]\s*(?=\w)")


@dataclass(frozen=True)
class Folded:
    """A text in folded form; `origins[i]` is the offset of folded character i in the original."""

    text: str
    origins: tuple[int, ...]

    @classmethod
    def of(cls, original: str) -> "Folded":
        """Fold white space to one space, compatibility forms (ligatures), quotes, dashes and case.

        A hyphen inside a word is dropped with the white space after it: whether "well-\\nknown" is "well-known" or
        "wellknown" cannot be told from a line end, so both read the same.
        """
        broken = {i for match in _HYPHEN_IN_WORD.finditer(original) for i in range(*match.span())}
        characters: list[str] = []
        origins: list[int] = []
        for offset, character in enumerate(original):
            if offset in broken:
                continue
            if character.isspace():
                if characters and characters[-1] != " ":
                    characters.append(" ")
                    origins.append(offset)
                continue
            for folded in _fold(character):
                characters.append(folded)
                origins.append(offset)
        if characters and characters[-1] == " ":
            characters.pop()
            origins.pop()
        return cls("".join(characters), tuple(origins))

    def find(self, quote: "Folded", start: int = 0) -> tuple[int, int] | None:
        """Offsets in the original of the first match at or after folded offset `start`, or None."""
        if not quote.text:
            return None
        at = self.text.find(quote.text, start)
        if at < 0:
            return None
        return self.origins[at], self.origins[at + len(quote.text) - 1] + 1


def _fold(character: str) -> str:
    if character in _FOLDS:
        return _FOLDS[character]
    if character.isascii():
        return character.lower()
    return "".join(_FOLDS.get(part, part) for part in unicodedata.normalize("NFKC", character).casefold())
