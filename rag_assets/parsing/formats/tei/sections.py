"""Which section a heading opens, by its number.

GROBID writes all sections side by side, so the hierarchy is in the numbers alone: 3.1 lies in 3, A.1 in A, and a
letter lies in a roman numeral (the IEEE habit: "II. METHODS", "A. Subjects"). A heading without a number lies
directly in the section that encloses the whole outline.
"""

from dataclasses import replace

from rag_assets.core.text.heading_numbers import HeadingNumber, heading_number

_NESTING = {"roman": 0, "letter": 1, "arabic": 2}


class Outline:
    """The sections open at one place of the text; `open` moves on to the next heading."""

    def __init__(self, base: tuple[str, ...]) -> None:
        self.base = base
        """Titles of the sections that enclose the outline."""
        self._open: list[tuple[HeadingNumber | None, str]] = []

    @property
    def path(self) -> tuple[str, ...]:
        """Titles of the sections open now, outermost first."""
        return (*self.base, *(title for _, title in self._open))

    def open(self, number: str, title: str) -> tuple[str, ...]:
        """Open the section of a heading; returns its path, its own title last."""
        stated = self._settled(heading_number(f"{number.strip(' .:()').upper()}. X") if number else _number_in(title))
        while self._open and not self._encloses(self._open[-1][0], stated):
            self._open.pop()
        self._open.append((stated, title))
        return self.path

    def _encloses(self, outer: HeadingNumber | None, number: HeadingNumber | None) -> bool:
        if outer is None or number is None:
            return False
        if len(number.parts) > 1:
            return len(outer.parts) < len(number.parts) and number.parts[: len(outer.parts)] == outer.parts
        first = self._open[0][0]
        starts_roman = first is not None and first.style == "roman"
        return starts_roman and len(outer.parts) == 1 and _NESTING[outer.style] < _NESTING[number.style]

    def _settled(self, number: HeadingNumber | None) -> HeadingNumber | None:
        """A single roman digit behind its predecessor in the alphabet ("H", "I") is a letter."""
        if number is None or number.style != "roman" or len(number.parts[0]) > 1:
            return number
        letters = [other.parts[0] for other, _ in self._open if other is not None and other.style == "letter"]
        follows = any(ord(number.parts[0]) == ord(letter) + 1 for letter in letters)
        return replace(number, style="letter") if follows else number


def printed_title(number: str, title: str) -> str:
    """A heading as printed: its number, if the title does not carry it, and the title."""
    number = " ".join(number.split())
    if not number or title.startswith(number):
        return title
    return f"{number} {title}".strip()


def _number_in(title: str) -> HeadingNumber | None:
    number = heading_number(title)
    return number if number and number.style == "arabic" else None
