"""Cuts off what stands before or behind a sentence and is no part of it.

Papers of which only the text is left keep the marks of notes and references and the numbers of pages between their
sentences: "3, 4, 6 Our results suggest that the youngest are at risk. 17".
"""

import re

_BEFORE = re.compile(
    r"^\W*(?i:abstract|summary)\s?[:.—–]\s*(?=\S)"
    r"|^(?:\[?\d{1,3}(?:[–-]\d{1,3})?\]?\s*[,;]\s*)+\[?\d{1,3}(?:[–-]\d{1,3})?\]?\s+(?=[A-Z])"
    r"|^\[\d{1,3}\]\s+(?=[A-Z])"
)
"""The label of an abstract; the references of the sentence before. A single number may belong to the sentence."""
_BEHIND = re.compile(r"(?P<end>[.!?][\"”')\]]*)\s+\d{1,3}(?:\s?[,–-]\s?\d{1,3})*$")


def trimmed(text: str) -> str:
    """The text without such pieces: a stretch of it, so that it is found word for word."""
    start = found.end() if (found := _BEFORE.match(text)) else 0
    behind = _BEHIND.search(text, start)
    return text[start : behind.end("end") if behind else len(text)]
