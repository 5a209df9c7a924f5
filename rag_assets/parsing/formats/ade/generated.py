"""Tells what a model wrote in a text of ADE from what it read on the page: ADE puts marks around the model's words.

    <::A photo of a flower: figure::>                             the whole mark, with a word for its kind or without
    <::transcription of the content: chart::>12 % of ...<::>      up to the closing mark, whatever the first mark says

A mark may hold others. One that is not closed goes on to the end of the region; what only a closing mark ends began
at the mark before it. In doubt a model wrote it: its words, quoted as the authors', are a false citation.
"""

import re
from dataclasses import dataclass

_MARK = re.compile(r"<::\s*>|<::|::>")
_BEGINS_TRANSCRIPTION = re.compile(r"\s*transcription of (?:the )?content\b", re.IGNORECASE)
_NAME_OF_KIND = re.compile(r"^\s*[a-z][a-z_ ]{2,30}:\s+(?=\S)|\s*:\s*[a-z][a-z_ ]{2,20}\s*$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a region's text that has one author."""

    text: str
    is_generated: bool


def pieces_of(text: str) -> list[Piece]:
    """`text` without the marks, cut where its author may change; pieces may be blank."""
    pieces: list[Piece] = []
    at = depth = 0
    is_transcribed = False
    for mark in _MARK.finditer(text):
        piece, at = text[at : mark.start()], mark.end()
        opens = mark[0] == "<::"
        if not opens and _BEGINS_TRANSCRIPTION.match(piece):  # a label, not a description
            is_transcribed = True
        else:
            pieces.append(_piece(piece, is_generated=is_transcribed or depth > 0 or not opens))
        if opens:
            depth += 1
        elif mark[0] == "::>":
            depth = max(0, depth - 1)
        else:
            depth, is_transcribed = 0, False
    return [*pieces, _piece(text[at:], is_generated=is_transcribed or depth > 0)]


def has_marks(text: str) -> bool:
    return _MARK.search(text) is not None


def without_marks(text: str) -> str:
    return _MARK.sub(" ", text)


def _piece(text: str, *, is_generated: bool) -> Piece:
    return Piece(_NAME_OF_KIND.sub("", text) if is_generated else text, is_generated)
