"""Headings of a Markdown file that are not marked as such: "1. Introduction", "**2. Methods**", "References".

To Markdown the first is a list with one item and the others are paragraphs. They are marked with `#` before the text
is cut into blocks.
"""

import re
from collections.abc import Sequence

from rag_assets.core.text.heading_numbers import heading_depth, number_styles
from rag_assets.core.text.section_names import is_plain_section_name
from rag_assets.parsing.shared.heading_lines import numbered_heading_lines
from rag_assets.parsing.shared.table_rows import plain_rows

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKED = re.compile(r" {0,3}(#{1,6})\s+(\S.*)")
_NOT_PROSE = re.compile(r"\s{4}|\t|\s*[|<>]|\s*[-*+]\s|\s*(?:-{2,}|={2,})\s*$")
"""Code, tables, HTML, quotes, items and the underlines of headings."""
_EMPHASIS = re.compile(r"\*\*|__")
_HIDDEN = "(no prose)"
_MAX_NAME_CHARS = 80
_MAX_LEVEL = 6


def with_marked_headings(text: str) -> str:
    """`text` with `#` before the numbered and named headings that lack it."""
    lines = text.split("\n")
    seen = _seen(lines)
    found = numbered_heading_lines(seen) | _names_alone(seen)
    found = frozenset(at for at in found if _MARKED.match(seen[at]) is None)
    if not found:
        return text
    offset, styles = _level_offset(seen), number_styles(seen[at] for at in found)
    for at in found:
        title = _EMPHASIS.sub("", seen[at]).strip()
        level = min(max((heading_depth(title, styles) or 1) + offset, 1), _MAX_LEVEL)
        lines[at] = f"\n{'#' * level} {title}\n"
    return "\n".join(lines)


def _seen(lines: Sequence[str]) -> list[str]:
    """The lines as they are judged: marked headings and prose as they are, everything else hidden."""
    seen: list[str] = []
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            seen.append(_HIDDEN)
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif mark:
            fence = mark[1]
            seen.append(_HIDDEN)
        else:
            is_hidden = bool(line.strip()) and (_NOT_PROSE.match(line) is not None or plain_rows(line) is not None)
            seen.append(_HIDDEN if is_hidden else line.strip())
    return seen


def _names_alone(lines: Sequence[str]) -> frozenset[int]:
    """Lines that hold the name of a section and no more, with a gap above and below."""
    return frozenset(
        at
        for at, line in enumerate(lines)
        if 0 < len(line) <= _MAX_NAME_CHARS
        and (at == 0 or not lines[at - 1])
        and (at + 1 == len(lines) or not lines[at + 1])
        and not line.endswith((".", ":"))
        and _is_capitalised(line)
        and is_plain_section_name(line)
    )


def _is_capitalised(line: str) -> bool:
    return next((character for character in line if character.isalpha()), "a").isupper()


def _level_offset(lines: Sequence[str]) -> int:
    """How many levels the marked headings of main sections stand below the first level."""
    for line in lines:
        match = _MARKED.match(line)
        if match is None:
            continue
        depth = heading_depth(match[2]) or (1 if is_plain_section_name(match[2]) else 0)
        if depth:
            return len(match[1]) - depth
    return 0
