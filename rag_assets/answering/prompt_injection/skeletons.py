"""A text as a model reads it: letters without the disguises they come in, each mapped back to its place.

Used to recognise wording that hides behind zero-width characters, full-width or accented letters, letters of another
script that look the same, or letters set apart. What is recognised is said in `instructions`. Finding quotes is the
business of `rag_assets.text.folding`, which must not equate what only looks alike.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_LOOKALIKES = dict(
    zip(
        "авекмнорстухіѕјһԁԛԝɡɩıοανικρτυχεηωϲ",
        "abekmhopctyxisjhdqwgiioavikptuxenwc",
        strict=True,
    )
)
_FILLERS = "\u115f\u1160\u3164\uffa0\u2800"
_HIDDEN_CATEGORIES = ("Cc", "Cf", "Mn", "Me")
_LETTERS_SET_APART = re.compile(r"(?<![^\W_])[^\W\d_](?:(?:[^\w\n]|_){1,4}[^\W\d_](?![^\W_])){6,400}")
_BROKEN_WORD = re.compile(r"(?<=[a-z])-[^\S\n]*\n\s*(?=[a-z])")


@dataclass(frozen=True)
class Skeleton:
    """`text` is lower case without accents or invisible characters; `origins[i]` is where its character i stood."""

    text: str
    origins: tuple[int, ...]

    @classmethod
    def of(cls, original: str) -> "Skeleton":
        characters: list[str] = []
        origins: list[int] = []
        for offset, character in enumerate(original):
            for plain in _plain(character):
                characters.append(plain)
                origins.append(offset)
        return cls("".join(characters), tuple(origins)).without(_BROKEN_WORD)

    def without(self, pattern: re.Pattern[str]) -> "Skeleton":
        """The same with every match of `pattern` taken out."""
        dropped = {i for match in pattern.finditer(self.text) for i in range(*match.span())}
        if not dropped:
            return self
        kept = [i for i in range(len(self.text)) if i not in dropped]
        return Skeleton("".join(self.text[i] for i in kept), tuple(self.origins[i] for i in kept))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in the original of `text[start:end]`, which must not be empty."""
        return self.origins[start], self.origins[end - 1] + 1

    def letters_set_apart(self) -> list["Skeleton"]:
        """Runs such as "i g n o r e  t h i s", each as its letters without anything between them."""
        return [
            Skeleton(
                "".join(self.text[i] for i in range(*match.span()) if self.text[i].isalpha()),
                tuple(self.origins[i] for i in range(*match.span()) if self.text[i].isalpha()),
            )
            for match in _LETTERS_SET_APART.finditer(self.text)
        ]


@lru_cache(maxsize=8192)
def _plain(character: str) -> str:
    if character in "\n\t\r":
        return character
    if character.isspace():
        return " "
    if character in _FILLERS:
        return ""
    shown = (c for c in unicodedata.normalize("NFKD", character) if unicodedata.category(c) not in _HIDDEN_CATEGORIES)
    return "".join(_LOOKALIKES.get(c, c) for c in "".join(shown).casefold())
