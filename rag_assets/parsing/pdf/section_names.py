"""The numbers and names that sections of papers have: what a text says of itself, whatever it looks like."""

import re

DECIMAL = re.compile(r"(?P<number>[1-9]\d?(?:\.\d{1,2})*)\.?\s+(?=[^\W\d_])")
ROMAN = re.compile(r"(?P<number>[IVX]{1,5})[.:]\s+(?=[^\W\d_])")
_LETTER = re.compile(r"(?P<number>[A-Z](?:\.\d{1,2})*)[.)]\s+(?=[^\W\d_])|(?P<sub>[A-Z](?:\.\d{1,2})+)\s+(?=[^\W\d_])")
_TOP_LEVEL_NAMES = re.compile(
    r"(?:abstract|summary|introduction|background|related works?|literature review|methods?|methodology|"
    r"materials? and methods|results?|results and discussion|discussions?|conclusions?|"
    r"conclusions? and (?:future work|outlook)|limitations|acknowledge?ments?|references|bibliography|"
    r"literature cited|works cited|reference list|appendix|appendices|supplementary (?:materials?|information))[.:]?",
    re.IGNORECASE,
)


def number_of(heading: str) -> str | None:
    """The section number a heading starts with ("3.1", "IV", "A.2"), or None."""
    for pattern in (DECIMAL, ROMAN, _LETTER):
        if match := pattern.match(heading):
            return match["number"] or match["sub"] if pattern is _LETTER else match["number"]
    return None


def without_number(heading: str) -> str:
    """The heading without its section number."""
    for pattern in (DECIMAL, ROMAN, _LETTER):
        if match := pattern.match(heading):
            return heading[match.end() :]
    return heading


def is_top_level_name(heading: str) -> bool:
    """Whether a heading is one that papers give their main sections ("Results", "3 Discussion")."""
    return bool(_TOP_LEVEL_NAMES.fullmatch(without_number(heading.strip())))
