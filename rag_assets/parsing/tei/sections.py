"""Which section a heading opens, by its number.

GROBID writes all sections side by side, so the hierarchy is in the numbers alone: 3.1 lies in 3, A.1 in A, and a
letter lies in a roman numeral (the IEEE habit: "II. METHODS", "A. Subjects"). A heading without a number lies
directly in the section that encloses the whole outline.
"""

import re
from dataclasses import dataclass

from rag_assets.parsing.conventions.heading_numbers import heading_number

_PARTS = re.compile(r"[^\W_]+")
_ROMAN = re.compile(r"[IVXL]+")
_NESTING = {"roman": 0, "letter": 1, "arabic": 2}
_MAX_NUMBER_PARTS = 6


@dataclass(frozen=True)
class _Open:
    parts: tuple[str, ...]
    style: str
    title: str


class Outline:
    """The sections open at one place of the text; `open` moves on to the next heading."""

    def __init__(self, base: tuple[str, ...]) -> None:
        self.base = base
        """Titles of the sections that enclose the outline."""
        self._open: list[_Open] = []

    @property
    def path(self) -> tuple[str, ...]:
        """Titles of the sections open now, outermost first."""
        return (*self.base, *(section.title for section in self._open))

    def open(self, number: str, title: str) -> tuple[str, ...]:
        """Open the section of a heading; returns its path, its own title last."""
        parts = _number_parts(number or _number_in(title))
        style = self._style(parts)
        while self._open and not self._encloses(self._open[-1], parts, style):
            self._open.pop()
        self._open.append(_Open(parts, style, title))
        return self.path

    def _encloses(self, section: _Open, parts: tuple[str, ...], style: str) -> bool:
        if not section.parts or not parts:
            return False
        if len(parts) > 1:
            return len(section.parts) < len(parts) and parts[: len(section.parts)] == section.parts
        starts_roman = self._open[0].style == "roman"
        return starts_roman and len(section.parts) == 1 and _NESTING[section.style] < _NESTING[style]

    def _style(self, parts: tuple[str, ...]) -> str:
        """Roman, letter or arabic; "C" is a letter where "B" or letters are open, else a roman numeral."""
        if not parts or parts[0].isdigit():
            return "arabic"
        if not _ROMAN.fullmatch(parts[0].upper()):
            return "letter"
        if len(parts[0]) > 1:
            return "roman"
        letters = [section.parts[0] for section in self._open if section.style == "letter"]
        follows = any(len(letter) == 1 and ord(parts[0]) == ord(letter) + 1 for letter in letters)
        return "letter" if follows else "roman"


def printed_title(number: str, title: str) -> str:
    """A heading as printed: its number, if the title does not carry it, and the title."""
    number = " ".join(number.split())
    if not number or title.startswith(number):
        return title
    return f"{number} {title}".strip()


def _number_in(title: str) -> str:
    number = heading_number(title)
    return number.text if number and number.style == "arabic" else ""


def _number_parts(number: str) -> tuple[str, ...]:
    """ "3.1." -> ("3", "1"); words such as "Chapter" are not numbers."""
    parts = tuple(_PARTS.findall(number))
    if len(parts) > _MAX_NUMBER_PARTS:
        return ()
    if all(part.isdigit() or len(part) == 1 or _ROMAN.fullmatch(part.upper()) for part in parts):
        return parts
    return ()
