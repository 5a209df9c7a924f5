"""Finds sentences that look like prompt injection: they give a model orders, or imitate its conversation or sources.

`source_fences` leaves them out of the prompt and `citations.verification` accepts no quote of them. This catches common
English attempts only; what it misses still stands inside a fence, reaches a model without tools, and must pass
verification.

The price: a paper about prompt injection that spells an attack out loses that sentence. Reports of what people were
told ("participants were instructed to ignore ...") are left alone, unless the sentence also speaks to a model.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from rag_assets.answering.prompt_injection.patterns import (
    AFTERMATH,
    ANYWHERE,
    COMMANDS,
    IMITATIONS,
    IN_COMMAND,
    REPORTED,
    SPOKEN_TO,
    WITHOUT_SPACES,
)
from rag_assets.text.folding import Folded
from rag_assets.text.sentences import sentence_spans

_LOOKALIKES = str.maketrans("авекмнорстухіѕјһԁԛԝɡɩıοανικρτυχεηωϲ", "abekmhopctyxisjhdqwgiioavikptuxenwc")
_FILLERS = "\u115f\u1160\u3164\uffa0\u2800"
_HIDDEN_CATEGORIES = ("Cc", "Cf", "Mn", "Me")
_LETTERS_SET_APART = re.compile(r"(?<![^\W_])[^\W\d_](?:(?:[^\w\n]|_){1,4}[^\W\d_](?![^\W_])){6,400}")
_NO_LETTER = re.compile(r"[\W\d_]+")
_BROKEN_WORD = re.compile(r"(?<=[a-z])-[^\S\n]*\n\s*(?=[a-z])")
_LINE_START = re.compile(r"\n\s*(?=[^a-z\s])")


def instruction_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of the sentences of `text` that address a model or imitate its conversation, in order, not overlapping.

    A line's end also ends a sentence, unless the next line goes on in lower case, so that one row of a table does not
    take the whole table along. Neighbouring sentences that go on giving orders are found with it.
    """
    found = list(_found(unmasked(text)))
    if not found:
        return []
    sentences = _sentences(text)
    flagged = {i for i, (start, end) in enumerate(sentences) if any(a < end and start < b for a, b in found)}
    for direction in (1, -1):
        flagged |= _aftermath(text, sentences, flagged, direction)
    return [sentences[i] for i in sorted(flagged)]


def unmasked(text: str) -> Folded:
    """A text in lower case without accents and invisible characters, with the Latin letters that letters of other
    scripts look like, and with words put together that a line's end breaks."""
    return Folded.of_pieces((at, _plain(character)) for at, character in enumerate(text)).without(_BROKEN_WORD)


@lru_cache(maxsize=8192)
def _plain(character: str) -> str:
    if character in "\n\t\r":
        return character
    if character.isspace():
        return " "
    if character in _FILLERS:
        return ""
    shown = (c for c in unicodedata.normalize("NFKD", character) if unicodedata.category(c) not in _HIDDEN_CATEGORIES)
    return "".join(shown).casefold().translate(_LOOKALIKES)


def _found(folded: Folded) -> Iterator[tuple[int, int]]:
    """Offsets in the original of the wordings that match."""
    plain = folded.text
    for match in IMITATIONS.finditer(plain):
        yield folded.span(*match.span())
    for match in ANYWHERE.finditer(plain):
        if not _is_reported(plain, *match.span()):
            yield folded.span(*match.span())
    for match in COMMANDS.finditer(plain):
        start, end = match.span()
        if IN_COMMAND.search(plain, max(0, start - 30), start) and not _is_reported(plain, start, end):
            yield folded.span(start, end)
    for match in _LETTERS_SET_APART.finditer(plain):
        if WITHOUT_SPACES.search(_NO_LETTER.sub("", match[0])):
            yield folded.span(*match.span())


def _is_reported(plain: str, start: int, end: int) -> bool:
    """Whether the sentence reports what people were told, and does not itself speak to a model."""
    before = re.split(r"[.!?\n]", plain[max(0, start - 200) : start])[-1]
    return bool(REPORTED.search(before)) and not SPOKEN_TO.search(before + plain[start : end + 100])


def _sentences(text: str) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        cuts = [start, *(match.end() for match in _LINE_START.finditer(text, start, end)), end]
        for a, b in pairwise(cuts):
            stripped = text[a:b].rstrip()
            if stripped:
                pieces.append((a, a + len(stripped)))
    return pieces


def _aftermath(text: str, sentences: Sequence[tuple[int, int]], flagged: set[int], direction: int) -> set[int]:
    """The unbroken run of further orders that follows (or precedes) each flagged sentence."""
    taken: set[int] = set()
    for i in flagged:
        at = i + direction
        while 0 <= at < len(sentences) and at not in flagged and at not in taken:
            if not AFTERMATH.search(unmasked(text[slice(*sentences[at])]).text):
                break
            taken.add(at)
            at += direction
    return taken
