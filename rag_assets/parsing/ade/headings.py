"""Numbered headings among ADE's regions, marked as headings before the Markdown of a region is read.

To Markdown "1. Introduction" is a list with one item, so the lines of all regions are judged together first
(`conventions.numbered_lines`).
"""

from collections.abc import Mapping, Sequence

from rag_assets.parsing.ade.shapes import Region
from rag_assets.parsing.conventions.heading_numbers import heading_number
from rag_assets.parsing.conventions.numbered_lines import MAX_TITLE_WORDS, numbered_heading_lines
from rag_assets.parsing.conventions.section_names import is_plain_section_name

UNKNOWN_LEVEL = 6
"""A Markdown level that ADE itself does not write: a heading whose level is not known."""
_NOT_TEXT = frozenset({"table", "figure"})
_MARKED = "#" * UNKNOWN_LEVEL


def with_numbered_headings(regions: Sequence[Region]) -> Mapping[int, str]:
    """New texts of the regions that hold numbered headings, by the index of the region."""
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    for index, region in enumerate(regions):
        own = ["(no text)"] if region.kind in _NOT_TEXT else _lines_of(region.text)
        lines.extend([*own, ""])
        places.extend((index, at) for at in range(len(own) + 1))
    texts: dict[int, list[str]] = {}
    for at in numbered_heading_lines(lines):
        index, own_at = places[at]
        if not lines[at].startswith("#"):
            own = texts.setdefault(index, _lines_of(regions[index].text))
            own[own_at] = f"\n{_MARKED} {own[own_at]}\n"
    return {index: "\n".join(own) for index, own in texts.items()}


def _lines_of(text: str) -> list[str]:
    """The lines of a region; a numbered title that ADE kept wrapped as it was printed is one line."""
    lines = [line.strip() for line in text.strip().split("\n")]
    return [" ".join(lines)] if _is_wrapped_title(lines) else lines


def _is_wrapped_title(lines: Sequence[str]) -> bool:
    first, rest = lines[0], lines[1:]
    if not rest or not all(rest) or sum(len(line.split()) for line in lines) > MAX_TITLE_WORDS:
        return False
    if is_plain_section_name(first) or heading_number(first) is None:
        return False
    return not any(heading_number(line) for line in rest)
