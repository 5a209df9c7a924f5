"""Puts texts into forms in which they can be compared.

White space, hyphenation at line ends, ligatures, quotation marks and dashes differ between a PDF,
its TEI and a quote by a model. `Folded` removes these differences and knows the offset of every
character in the original; it is used to verify quotes and to align a text with its PDF. `plain`
removes accents and other special characters, to compare words and names.
"""

import re
import unicodedata
from dataclasses import dataclass

_SINGLE_QUOTES = "‘’‚‛′`´ʼ"
_DOUBLE_QUOTES = "“”„‟″«»"
_DASHES = "‐‑‒–—―−﹘﹣-"  # the plain hyphen last, where a character class takes it literally
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""Soft hyphen, zero-width characters and the byte order mark."""
_FOLDS = {
    **dict.fromkeys(_SINGLE_QUOTES, "'"),
    **dict.fromkeys(_DOUBLE_QUOTES, '"'),
    **dict.fromkeys(_DASHES, "-"),
    **dict.fromkeys(INVISIBLE, ""),
    "…": "...",
}
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+-=()")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_SCRIPT_RUN = re.compile(
    r"(?P<raised>(?<=[^\W⁰¹²³⁴-⁹])[⁰¹²³⁴-⁹⁺⁻ⁿ]+"
    r"|(?<![^\s(\[/–-])[⁰¹²³⁴-⁹]+(?=m?[A-Z][a-z]?(?![^\W\d_])))"
    r"|[₀-₎]+"
)
"""Raised characters after a word, or before the symbol of an element (an isotope, "¹⁴C"); lowered
characters anywhere."""
_HYPHEN_IN_WORD = re.compile(rf"(?<=\w)[\u00ad{_DASHES}]\s*(?=\w)")


@dataclass(frozen=True)
class Folded:
    """A folded text. `origins[i]` is the offset in the original of the folded character i."""

    text: str
    origins: tuple[int, ...]

    @classmethod
    def of(cls, original: str) -> "Folded":
        """Fold a text: small letters, single spaces, ligatures as letters, one kind of quotes and
        of dashes.

        A hyphen inside a word is removed with the white space after it, because a line end does not
        tell whether "well-\\nknown" is "well-known" or "wellknown".
        """
        removed = {i for match in _HYPHEN_IN_WORD.finditer(original) for i in range(*match.span())}
        characters: list[str] = []
        origins: list[int] = []
        for offset, character in enumerate(original):
            if offset in removed:
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
        """Start and end in the original of the first occurrence of `quote`, from the folded offset
        `start` on; None if there is none."""
        found = self.text.find(quote.text, start) if quote.text else -1
        return None if found < 0 else self.span(found, found + len(quote.text))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Start and end in the original of `text[start:end]`, which must not be empty."""
        return self.origins[start], self.origins[end - 1] + 1

    def without(self, pattern: re.Pattern[str]) -> "Folded":
        """The folded text without the matches of `pattern`."""
        dropped = {i for match in pattern.finditer(self.text) for i in range(*match.span())}
        kept = [i for i in range(len(self.text)) if i not in dropped]
        return Folded("".join(self.text[i] for i in kept), tuple(self.origins[i] for i in kept))


_NO_LETTERS = re.compile(r"[\W_]+")
"""A regular expression, because a test of each character takes ten times as long."""


def letters_of(text: str) -> str:
    """Only the letters and digits of `plain_lower(text)`: "Multi-Head" -> "multihead", "Paré" ->
    "pare"."""
    return _NO_LETTERS.sub("", plain_lower(text))


_LEAST_TITLE_CHARS = 12


def title_key(title: str | None) -> str | None:
    """A key that is equal for different writings of one title; None for a short title, such as
    "Introduction", which several works may have."""
    key = letters_of(title or "")
    return key if len(key) >= _LEAST_TITLE_CHARS else None


_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon "
    "phi chi psi omega"
).split()
_SPELT_LOWER = {
    **dict(zip(map(chr, range(ord("α"), ord("ω") + 1)), _GREEK, strict=True)),
    "ß": "ss",
    "ø": "o",
    "æ": "ae",
    "œ": "oe",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ı": "i",
}
_SPELT = str.maketrans(
    {
        **_SPELT_LOWER,
        **{
            letter.upper(): name.capitalize()
            for letter, name in _SPELT_LOWER.items()
            if len(letter.upper()) == 1
        },
        **dict.fromkeys(INVISIBLE, ""),
        "‐": "-",
        "‑": "-",
    }
)
"""Special letters without an accent that could be removed -> how they are typed on an English
keyboard."""
_ACCENTS = re.compile("[\u0300-\u036f]")
_MARKS_OF_NOTES = re.compile("[⁰¹²³⁴-⁹⁺⁻ⁿ]+")
"""Raised characters that are left after the digits of formulas became plain."""
THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[,'’\u00a0\u2007\u2009\u202f]\d{3})+(?![\d,])")
"""A number with separators between groups of three digits. A normal blank is no separator, because
another number may follow it."""


def plain(text: str) -> str:
    """The text as it would be typed on an English keyboard, so that words, names and numbers of
    different texts are equal: "José Åkesson" -> "Jose Akesson", "TNF-α" -> "TNF-alpha", "CO₂" ->
    "CO2", "1,450" -> "1450". Keeps capitals.
    """
    text = THOUSANDS.sub(lambda number: re.sub(r"\D", "", number[0]), text)
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", _MARKS_OF_NOTES.sub(" ", scripts_as_plain(text)))
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed).translate(_SPELT))


def plain_lower(text: str) -> str:
    """`plain` in small letters."""
    return plain(text).casefold()


def lowered_as_plain(text: str) -> str:
    """`text` with plain digits for lowered ones; offsets stay the same."""
    return text.translate(_LOWERED)


def scripts_as_plain(text: str) -> str:
    """`text` with plain digits for raised and lowered ones: "CO₂" -> "CO2", "m²" -> "m2", "¹⁴C" ->
    "14C".

    After a digit, a sign is put before them: "10⁵" -> "10^5", "SO₄²⁻" -> "SO4^2-". A raised number
    that touches no word is the mark of a note or reference, and stays as it is.
    """

    def plain(run: re.Match[str]) -> str:
        digits = run[0].translate(_RAISED).translate(_LOWERED)
        follows_digit = text[max(0, run.start() - 1) : run.start()].isdigit()
        if follows_digit and any(map(str.isdigit, run[0])):
            return f"^{digits}" if run["raised"] else f"_{digits}"
        return digits

    return _SCRIPT_RUN.sub(plain, text)


def _fold(character: str) -> str:
    if character in _FOLDS:
        return _FOLDS[character]
    if character.isascii():
        return character.lower()
    return "".join(
        _FOLDS.get(part, part) for part in unicodedata.normalize("NFKC", character).casefold()
    )
