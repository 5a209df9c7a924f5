"""The numbers that headings of a PDF start with; stricter than elsewhere, since any line may start with one."""

import re

DECIMAL = re.compile(r"(?P<number>[1-9]\d?(?:\.\d{1,2})*)\.?\s+(?=[^\W\d_])")
ROMAN = re.compile(r"(?P<number>[IVX]{1,5})[.:]\s+(?=[^\W\d_])")
_LETTER = re.compile(r"(?P<number>[A-Z](?:\.\d{1,2})*)[.)]\s+(?=[^\W\d_])|(?P<sub>[A-Z](?:\.\d{1,2})+)\s+(?=[^\W\d_])")


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
