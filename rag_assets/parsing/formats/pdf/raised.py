"""Raised digits of a PDF, known by the size and the place of their characters."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from rag_assets.parsing.shared.superscripts import raised_after

_SMALLER = 0.85
_HIGHER = 0.1
"""How far above the line a raised character ends, as a share of the font size of the line."""
_RAISED_TEXT = re.compile(r"[\d,;()*∗†‡§+−–-]*\d[\d,;()*∗†‡§+−–-]*")
_STOPS = tuple('.,;:!?)]”’"')


@dataclass(frozen=True, slots=True)
class PlacedCharacter:
    """The place of one character of a segment."""

    index: int
    """Its place among the characters of the segment, spaces included."""
    size: float
    """Font size in points."""
    bottom: float
    """Lower edge in points from the top of the page."""


def with_superscripts(
    characters: Sequence[str], placed: Sequence[PlacedCharacter], size: float
) -> str:
    """The text of a segment whose font size is `size`, with raised digits as superscript
    characters.

    PDFium returns digits that are smaller than their line and set higher as plain ones: 10 to the
    9th as 109. Raised characters at the start stay as they are: the number of a footnote or of an
    affiliation.
    """
    parts: list[str] = []
    at = 0
    for start, end in _raised_runs(placed, size):
        parts.append("".join(characters[at:start]))
        run, at = "".join(characters[start:end]), end
        if start and _RAISED_TEXT.fullmatch(run):
            if parts[-1].rstrip().endswith(_STOPS):
                parts[-1] = parts[-1].rstrip()
            run = raised_after(parts[-1], run)
            is_glued = parts[-1].endswith(_STOPS) and "".join(characters[end : end + 1]).isalpha()
            run += " " if is_glued else ""  # the next sentence follows without a space
        parts.append(run)
    return "".join([*parts, *characters[at:]])


def with_stars(characters: Sequence[str], placed: Sequence[PlacedCharacter], size: float) -> str:
    """The text of a segment with a star for each raised run without digits: what refers from a name
    to a footnote or a place of work, "a,b" or "$", would else be read as the end of the name."""
    text = list(characters)
    for start, end in _raised_runs(placed, size):
        if not any(map(str.isdigit, text[start:end])):
            text[start:end] = ["*", *[""] * (end - start - 1)]
    return "".join(text).strip()


def _raised_runs(placed: Sequence[PlacedCharacter], size: float) -> list[tuple[int, int]]:
    """Runs [start, end) of neighbouring characters that are raised."""
    small = [character for character in placed if character.size <= _SMALLER * size]
    if not small:
        return []
    line = median(character.bottom for character in placed if character.size > _SMALLER * size)
    runs: list[tuple[int, int]] = []
    for character in small:
        if character.bottom > line - _HIGHER * size:
            continue
        if runs and runs[-1][1] == character.index:
            runs[-1] = (runs[-1][0], character.index + 1)
        else:
            runs.append((character.index, character.index + 1))
    return runs
