"""A text as anybody would retype it: signs in ASCII or spelt out, numbers without separators, no emphasis.

Who quotes "≤ 1,234 (**52%**)" may write "<= 1234 (52 percent)". Both read the same here, on top of what
`rag_assets.matching` folds; every character leads back to its place in the original. No rule changes what is said.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from rag_assets.matching import Folded

_SPELT = {"%": " percent", "±": "+/-", "≤": "<=", "≥": ">=", "×": "x", "⩽": "<=", "⩾": ">=", "&": "and"}
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_BARE_DECIMAL = re.compile(r"(?<![\w.,])\.(?=\d)")
_SIGN = re.compile(r"[%±≤≥×⩽⩾]|(?<=\s)&(?=\s)")
_DROPPED = re.compile(
    r"\*\*(?=[^\s*])(?=[^*\n]{0,300}\*\*)|(?<=[^\s*])\*\*"
    r"|(?<![\w*])[*_](?=\w[^*_\n]{0,300}[*_](?![\w*]))|(?<=[\w.,;%)])[*_](?![\w*])"
    r"|\[(?=[A-Za-z]\][a-z])|(?<=\[[A-Za-z])\](?=[a-z])"
    r"|(?<=per) (?=cent\b)"
)
"""Marks of emphasis around words, brackets around a capital that was changed, the blank in "per cent"."""
_DIGIT_GROUP = re.compile(r"\d+")


@lru_cache(maxsize=128)
def retyped(text: str) -> Folded:
    """A text retyped and folded, kept because the citations of an answer share their chunks."""
    folded = Folded.of(text)
    characters: list[str] = []
    origins: list[int] = []
    for at, written in _written(folded.text):
        is_second_blank = written.startswith(" ") and characters and characters[-1] == " "
        for character in written[1:] if is_second_blank else written:
            characters.append(character)
            origins.append(folded.origins[at])
    return Folded("".join(characters), tuple(origins))


def begins_and_ends_whole(folded: Folded, start: int, end: int) -> bool:
    """Whether a stretch of retyped text cuts no sign that is spelt with several letters: "=" is not in "≤"."""
    origins = folded.origins
    return (start == 0 or origins[start - 1] != origins[start]) and (
        end == len(origins) or origins[end] != origins[end - 1]
    )


def digit_groups(text: str) -> list[str]:
    """The runs of digits in order: "5-7" has two, whatever a fold makes of its hyphen; "1,234" and "1234" have one."""
    plain = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    return _DIGIT_GROUP.findall(_BARE_DECIMAL.sub("0.", plain))


def _written(text: str) -> Iterator[tuple[int, str]]:
    """Each character of a folded text, with what it becomes."""
    dropped = {match.start() for match in _DROPPED.finditer(text)}
    dropped |= {match.start() + 1 for match in _DROPPED.finditer(text) if match[0] == "**"}
    dropped |= {
        match.start() + i for match in _THOUSANDS.finditer(text) for i, one in enumerate(match[0]) if one == ","
    }
    signs = {match.start() for match in _SIGN.finditer(text)}
    decimals = {match.start() for match in _BARE_DECIMAL.finditer(text)}
    for at, character in enumerate(text):
        if at in dropped:
            continue
        if at in decimals:
            yield at, "0."
        elif at in signs:
            is_glued = character == "%" and text[at + 1 : at + 2].isalpha()
            yield at, f"{_SPELT[character]} " if is_glued else _SPELT[character]
        else:
            yield at, character
