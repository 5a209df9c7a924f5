"""The number that a heading starts with, in every form that papers use: 1, 2.1, 2.1., IV., A.1,
Appendix A.

A number alone makes no heading: list items, affiliations and references have one too (see
`heading_lines`).
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Literal

NumberStyle = Literal["arabic", "roman", "letter"]
Values = tuple[int, ...]

_MAX_CHARS = 400
"""Longer lines are not headings, but may be items of a list, so their number is read too."""
_MARKUP = re.compile(r"\*\*|__|\\(?=[.)])")
"""Emphasis of Markdown, and the backslash with which converters keep "1." from becoming a list."""
_SPACE = r"(?:\s+(?=\S*[^\W\d_])|(?<=[.)])(?=[^\W\d_][^\W\d_]))"
"""White space before a word; it may be missing after a stop ("1.Introduction")."""
_ARABIC = re.compile(r"(?P<number>[1-9]\d?(?:\.\d{1,2}){0,4})[.):]?" + _SPACE)
_ROMAN = re.compile(r"(?P<number>X{0,3}(?:IX|IV|V?I{0,3}))(?P<stop>[.):]?)\s+(?=[^\W\d_])")
_LETTER = re.compile(
    r"(?P<number>[A-Z](?:\.\d{1,2}){1,4})[.):]?\s+(?=[^\W\d_])|(?P<stopped>[A-Z]\d{0,2})[.):]\s+(?=[^\W\d_])"
)
_LABELLED = re.compile(
    r"(?i:appendix|annex|supplement)\s+(?P<number>(?:[A-Z]|[IVX]{1,5}|\d{1,2})(?:\.\d{1,2})*)\b(?!-)[\s.:)|–—-]*"
)
_PARTS = re.compile(r"\d+|[A-Za-z]+")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10}


@dataclass(frozen=True, slots=True)
class HeadingNumber:
    """The number before a title, read from one line."""

    parts: tuple[str, ...]
    """The parts as printed: ("3", "1"), ("IV",), ("A", "1")."""
    style: NumberStyle
    title: str
    """What follows the number, without marks of Markdown; may be empty after "Appendix A"."""
    label: str = ""
    """ "appendix", "annex" or "supplement" where the line says so, else empty."""

    @property
    def text(self) -> str:
        """The number as printed, without a final stop: "3.1"."""
        return ".".join(self.parts)

    @property
    def values(self) -> Values:
        """The number for comparing: 3.1 is (3, 1), IV is (4,), B.2 is (2, 2)."""
        first = self.parts[0]
        if self.style == "roman":
            start = _roman_value(first)
        else:
            start = ord(first.upper()) - ord("A") + 1 if first.isalpha() else int(first)
        return (start, *(int(part) for part in self.parts[1:]))

    @property
    def starts_title(self) -> bool:
        """Whether what follows begins as titles do: with a capital, or a word with one inside
        (mRNA, α-Synuclein)."""
        word = self.title.split(" ", 1)[0]
        first = next((character for character in word if character.isalpha()), "")
        return not first.islower() or any(character.isupper() for character in word)


def heading_number(line: str) -> HeadingNumber | None:
    """The number that a line starts with, or None.

    A single capital needs a stop ("A. Proofs", "I. Introduction"): without one it is a word.
    """
    text = " ".join(_MARKUP.sub("", line[:_MAX_CHARS].strip().strip("#* ")).split())
    if match := _LABELLED.match(text):
        parts = tuple(_PARTS.findall(match["number"]))
        label = text.split(" ", 1)[0].lower()
        return HeadingNumber(parts, _style_of(parts[0]), text[match.end() :], label)
    if match := _ARABIC.match(text):
        return HeadingNumber(tuple(match["number"].split(".")), "arabic", text[match.end() :])
    if (
        (match := _ROMAN.match(text))
        and match["number"]
        and (match["stop"] or len(match["number"]) > 1)
    ):
        return HeadingNumber((match["number"],), "roman", text[match.end() :])
    if match := _LETTER.match(text):
        return HeadingNumber(
            tuple(_PARTS.findall(match["number"] or match["stopped"])),
            "letter",
            text[match.end() :],
        )
    return None


def heading_depth(title: str, styles: Container[NumberStyle] = ()) -> int | None:
    """Depth stated by a number before the title ("3.1 Cohort", "A.1 Proofs" are 2), None without a
    number.

    styles: those of the other headings' numbers. A letter alone is one level below roman numerals
    ("II. Methods", "A. Subjects"); elsewhere it states no depth.
    """
    number = heading_number(title)
    if number is None:
        return None
    is_letter = number.style == "letter" and not number.label
    if is_letter and "roman" in styles:
        return 1 + len(number.parts)
    return None if is_letter and len(number.parts) == 1 else len(number.parts)


def number_styles(titles: Iterable[str]) -> frozenset[NumberStyle]:
    """The styles of the numbers that the titles start with."""
    return frozenset(number.style for title in titles if (number := heading_number(title)))


def _style_of(part: str) -> NumberStyle:
    if part.isdigit():
        return "arabic"
    return "roman" if len(part) > 1 else "letter"


def _roman_value(text: str) -> int:
    digits = [_ROMAN_DIGITS.get(character, 0) for character in text.upper()]
    following = [*digits[1:], 0]
    return sum(
        -digit if digit < after else digit for digit, after in zip(digits, following, strict=True)
    )
