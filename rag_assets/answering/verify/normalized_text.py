"""One form for texts that are typed differently: signs in ASCII or spelt out, numbers without
separators, no emphasis.

"≤ 1,234 (**52%**)" and "<=1234 (52 percent)" read the same, on top of what
`rag_assets.core.text.folding` folds; every character keeps its place in the original. Different
numbers may read the same ("57" and "5-7", "105" and "10⁵"): compare `digit_groups` as well.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from rag_assets.core.text.folding import Folded, scripts_as_plain

RAISED_MARK = re.compile(r"(?<![\w)])[⁰¹²³⁴-⁹][⁰¹²³⁴-⁹⁻,;–-]*")
"""A raised number apart from what is before it, as in "exacerbated.²⁹" and "reviews ⁵⁴": a mark,
not a quantity."""

_LOOKALIKES = str.maketrans(
    {"º": "°", "˚": "°", "◦": "°", "∼": "~", "≈": "~", "∙": "·", "─": "-", "➖": "-"}
)
_SPELT = {
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
        becomes[match.start()] = f"{_SPELT[match[0]]} " if is_glued else _SPELT[match[0]]
    for at, character in enumerate(text):
        if written := becomes.get(at, character):
            yield at, written


def _composed(base: str, mark: str) -> str:
    """The letter with a combining mark as one character; empty if `mark` does not combine with
    it."""
    composed = unicodedata.normalize("NFC", base + mark) if unicodedata.combining(mark) else ""
    return composed if len(composed) == 1 else ""
