"""Texts in a form in which they can be compared, with the place of every character in the original.

White space, hyphenation at line ends, ligatures, quotation marks and dashes differ between a PDF,
its TEI and what a model repeats. What is found in the folded form has exact offsets in the
original. Used to verify citations and to align a text with the pages of its PDF.
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
"""Raised behind a word, or as the mass of an isotope before the symbol of its element; lowered
anywhere."""
_HYPHEN_IN_WORD = re.compile(rf"(?<=\w)[\u00ad{_DASHES}]\s*(?=\w)")


@dataclass(frozen=True)
class Folded:
    """A text in folded form; `origins[i]` is the offset of folded character i in the original."""

    text: str
    origins: tuple[int, ...]

    @classmethod
    def of(cls, original: str) -> "Folded":
        """Fold white space to one space, compatibility forms (ligatures), quotes, dashes and case.

        A hyphen inside a word is dropped with the white space after it: whether "well-\\nknown" is
        "well-known" or "wellknown" cannot be told from a line end, so both read the same.
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
        return self.span(at, at + len(quote.text))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in the original of `text[start:end]`, which must not be empty."""
        return self.origins[start], self.origins[end - 1] + 1

    def without(self, pattern: re.Pattern[str]) -> "Folded":
        """The same with every match of `pattern` taken out."""
        dropped = {i for match in pattern.finditer(self.text) for i in range(*match.span())}
        kept = [i for i in range(len(self.text)) if i not in dropped]
        return Folded("".join(self.text[i] for i in kept), tuple(self.origins[i] for i in kept))


_NO_LETTERS = re.compile(r"[\W_]+")
"""A test of each character takes ten times as long."""


def letters_of(text: str) -> str:
    """Letters and digits alone, in `plain_lower`: "Paré" and "Pare´", "Multi-Head" and "multihead"
    are the same."""
    return _NO_LETTERS.sub("", plain_lower(text))


_LEAST_TITLE_CHARS = 12


def title_key(title: str | None) -> str | None:
    """What two writings of one title share; None for one so short, "Introduction", that several
    works may have it."""
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
"""What has no accent to take off, as it is typed on another keyboard."""
_ACCENTS = re.compile("[\u0300-\u036f]")
_MARKS_OF_NOTES = re.compile("[⁰¹²³⁴-⁹⁺⁻ⁿ]+")
"""What is still raised when the digits of formulas are plain."""
THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[,'’\u00a0\u2007\u2009\u202f]\d{3})+(?![\d,])")
"""A number with signs between its groups of digits; after a plain blank another number may
begin."""


def plain(text: str) -> str:
    """`text` as it is typed on any keyboard, so that its names, words and numbers are equal to
    those of other texts: "Jose Akesson" for "José Åkesson", "Munster", "TNF-alpha", "CO2", "1450"
    for "1,450". Keeps capitals.
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
    """`text` with plain digits for lowered ones, every character in its place."""
    return text.translate(_LOWERED)


def scripts_as_plain(text: str) -> str:
    """`text` with plain digits for raised and lowered ones: "CO2" for "CO₂", "m2" for "m²", "14C"
    for "¹⁴C".

    Behind a digit they stay apart from it: "10^5" for "10⁵", "SO4^2-" for "SO₄²⁻". A raised number
    that touches no word is the mark of a note or reference, and stays as it is.
    """

    def plain(run: re.Match[str]) -> str:
        is_apart = text[max(0, run.start() - 1) : run.start()].isdigit() and any(
            map(str.isdigit, run[0])
        )
        sign = ("^" if run["raised"] else "_") if is_apart else ""
        return sign + run[0].translate(_RAISED).translate(_LOWERED)

    return _SCRIPT_RUN.sub(plain, text)


def _fold(character: str) -> str:
    if character in _FOLDS:
        return _FOLDS[character]
    if character.isascii():
        return character.lower()
    return "".join(
        _FOLDS.get(part, part) for part in unicodedata.normalize("NFKC", character).casefold()
    )
