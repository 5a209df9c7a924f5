"""Putting the text of a PDF back together: lines to prose, and paragraphs that go on in the next column."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.core.domain import Box, Span
from rag_assets.parsing.shared.hyphenation import SOFT_HYPHEN, Vocabulary, ends_with_hyphen, glued

_ENDED = re.compile(r"[.?!:;][\"'”’)\]*†‡\d,]*(?:[⁰¹²³⁴-⁹][⁰¹²³⁴-⁹⁻–,]*)?$")
_OPENING = "\"'“‘(["


def joined(texts: Sequence[str], vocabulary: Vocabulary) -> str:
    """Lines of prose as one text without line breaks, hyphens at their ends resolved."""
    return _joined_open(texts, vocabulary).replace(SOFT_HYPHEN, "")


def _joined_open(texts: Sequence[str], vocabulary: Vocabulary) -> str:
    """As `joined`, but a soft hyphen at the very end stays for what follows."""
    text = ""
    for line in texts:
        clean = line[:-1].replace(SOFT_HYPHEN, "") + line[-1:]
        text = clean if not text else glued(text, clean, vocabulary)
    return text


def goes_on(text: str, next_text: str) -> bool:
    """Whether a sentence that ends a column goes on with `next_text` in the next."""
    if not text or not next_text or _ENDED.search(text):
        return False
    starts_inside = next_text.lstrip(_OPENING)[:1].islower() or next_text[0] in ",;)%="
    return starts_inside or ends_with_hyphen(text) or text[-1] in ",("


def is_unfinished(text: str) -> bool:
    """Whether a text stops without any sign of an end."""
    return not _ENDED.search(text)


@dataclass(frozen=True)
class Part:
    """A piece of a paragraph that stands in one column."""

    lines: tuple[str, ...]
    box: Box


def joined_parts(parts: Sequence[Part], vocabulary: Vocabulary) -> tuple[str, tuple[Span, ...]]:
    """One paragraph from the pieces it stands in, with one span per piece: its page and its box."""
    text = ""
    starts: list[int] = []
    for part in parts:
        piece = _joined_open(part.lines, vocabulary)
        text = glued(text, piece, vocabulary) if text else piece
        starts.append(len(text) - len(piece))
    text = text.removesuffix(SOFT_HYPHEN)
    ends = [*starts[1:], len(text)][: len(parts)]
    return text, tuple(
        Span(start, end, part.box.page, part.box.page, (part.box,))
        for part, start, end in zip(parts, starts, ends, strict=True)
        if end > start
    )
