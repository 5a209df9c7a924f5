"""Puts texts into forms in which they can be compared.

White space, hyphenation at line ends, ligatures, quotation marks and dashes differ between a PDF,
its TEI and a quote by a model. `Folded` removes these differences and knows the offset of every
character in the original; it is used to verify quotes and to align a text with its PDF. `plain`
removes accents and other special characters, to compare words and names.

`normalized` gives texts that are typed differently one form: signs in ASCII or spelt out, numbers
without separators, no emphasis. "≤ 1,234 (**52%**)" and "<=1234 (52 percent)" read the same.
Different numbers may read the same ("57" and "5-7", "105" and "10⁵"): compare `digit_groups` too.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_SINGLE_QUOTES = "‘’‚‛′`´ʼ"
_DOUBLE_QUOTES = "“”„‟″«»"
_DASHES = "‐‑‒–—―−﹘﹣-"  # the plain hyphen last, where a character class takes it literally
UNREAD = "\ufffd"
"""Stands for a character of a PDF of which neither font nor drawing tells which one it is."""
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


RAISED_MARK = re.compile(r"(?<![\w)])[⁰¹²³⁴-⁹][⁰¹²³⁴-⁹⁻,;–-]*")
"""A raised number apart from what is before it, as in "exacerbated.²⁹" and "reviews ⁵⁴": a mark,
not a quantity."""

_LOOKALIKES = str.maketrans(
    {"º": "°", "˚": "°", "◦": "°", "∼": "~", "≈": "~", "∙": "·", "─": "-", "➖": "-"}
)
_SPELT_SIGNS = {
    "%": " percent",
    "±": "+/-",
    "≤": "<=",
    "≥": ">=",
    "×": "x",
    "⩽": "<=",
    "⩾": ">=",
    "&": "and",
    "·": ".",
    "μ": "u",
}
_MARKUP = re.compile(r"</?(?:i|b|em|strong)>|&(?:lt|gt|amp);")
_ESCAPED = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_INVISIBLE = "\u200b"
_SIGN = re.compile(r"[%±≤≥×⩽⩾]|(?<=\s)&(?=\s)|(?<=\d)·(?=\d)|(?<![^\W\d_])μ(?=[a-z]{1,3}\b)")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[,'’\s]\d{3})+(?![\d,])")
_BARE_DECIMAL = re.compile(r"(?<![\w.,])\.(?=\d)")
_RELATIONS = "=<>~±≤≥×⩽⩾"
_DROPPED = re.compile(
    # marks of emphasis around words
    r"\*{2,3}(?=[^\s*])(?=[^*\n]{0,300}\*\*)|(?<=[^\s*])\*{2,3}"
    r"|(?<![\w*])[*_](?=\w[^*_\n]{0,300}[*_](?![\w*]))|(?<=[\w.,;%)])[*_](?![\w*])"
    # brackets around a capital that was changed
    r"|\[(?=[A-Za-z]\][a-z])|(?<=\[[A-Za-z])\](?=[a-z])"
    # the blank in "per cent", "can not", "37 °C", beside a relation, behind its minus, around the
    # dash of a range
    rf"|(?<=per) (?=cent\b)|(?<=\bcan) (?=not\b)|(?<=\d) (?=°)|(?<=°) (?=[cf]\b)"
    rf"| (?=[{_RELATIONS}])|(?<=[{_RELATIONS}]) |(?<=[{_RELATIONS}]-) (?=\.?\d)|(?<=[{_RELATIONS}] -) (?=\.?\d)"
    r"|(?<=\d) - (?=\d)|(?<=\d) (?=x \d)|(?<=\d x) (?=\d)"
    # a dash typed as two hyphens, the marks of an exponent
    r"|(?<=\w)--(?=\w)|(?<=\s)-(?=-)|(?<=\d)\^(?=-?\d)|(?<=[^\W\d])(?:\^-?|-)(?=\d)"
)
_DIGIT_GROUP = re.compile(r"(?<=\d)\^[-−]?\d+|\d+")


@lru_cache(maxsize=128)
def normalized(text: str) -> Folded:
    """Returns a text in the form that this module describes, with the offset in the original of
    each character. The result is cached, because the citations of an answer share their chunks."""
    plain = _MARKUP.sub(
        lambda match: _ESCAPED.get(match[0], "").ljust(len(match[0]), _INVISIBLE), text
    )
    folded = Folded.of(plain.translate(_LOOKALIKES))
    characters: list[str] = []
    origins: list[int] = []
    for at, written in _written(folded.text):
        is_second_blank = written.startswith(" ") and characters and characters[-1] == " "
        for character in written[1:] if is_second_blank else written:
            if characters and (composed := _composed(characters[-1], character)):
                characters[-1] = composed
                continue
            characters.append(character)
            origins.append(folded.origins[at])
    return Folded("".join(characters), tuple(origins))


def begins_and_ends_whole(folded: Folded, start: int, end: int) -> bool:
    """Whether `text[start:end]` of a folded text begins and ends between characters of the
    original. A sign of the original may have become several characters: "=" must not be found in
    "≤", which is folded to "<="."""
    origins = folded.origins
    return (start == 0 or origins[start - 1] != origins[start]) and (
        end == len(origins) or origins[end] != origins[end - 1]
    )


def digit_groups(text: str) -> list[str]:
    """The runs of digits in order: two in "5-7", one in "1,234" and "1234".

    Exponents stay apart: "10⁵" and "10^5" are neither "105" nor "10-5".
    """
    plain = _THOUSANDS.sub(lambda match: re.sub(r"\D", "", match[0]), scripts_as_plain(text))
    return [
        group.replace("−", "-") for group in _DIGIT_GROUP.findall(_BARE_DECIMAL.sub("0.", plain))
    ]


def _written(text: str) -> Iterator[tuple[int, str]]:
    """Yields each offset of a text with the characters that replace the character there: " percent"
    for "%", "0." for the point of ".5". Characters that the form drops are left out, such as the
    commas of "1,234"."""
    becomes = {at: "" for match in _DROPPED.finditer(text) for at in range(*match.span())}
    becomes |= {
        match.start() + i: ""
        for match in _THOUSANDS.finditer(text)
        for i, one in enumerate(match[0])
        if not one.isdigit()
    }
    becomes |= {match.start(): "0." for match in _BARE_DECIMAL.finditer(text)}
    for match in _SIGN.finditer(text):
        is_glued = match[0] == "%" and text[match.end() : match.end() + 1].isalpha()
        becomes |= dict.fromkeys(range(*match.span()), "")
        becomes[match.start()] = (
            f"{_SPELT_SIGNS[match[0]]} " if is_glued else _SPELT_SIGNS[match[0]]
        )
    for at, character in enumerate(text):
        if written := becomes.get(at, character):
            yield at, written


def _composed(base: str, mark: str) -> str:
    """The letter with a combining mark as one character; empty if `mark` does not combine with
    it."""
    composed = unicodedata.normalize("NFC", base + mark) if unicodedata.combining(mark) else ""
    return composed if len(composed) == 1 else ""
