"""Which sentences of a document talk to whoever reads it by machine, instead of about its subject.

Papers are data. A sentence that gives a model orders, imitates its conversation, its sources or its reply is found
here; `source_fences` leaves it out of the prompt and `citations.verification` accepts no quote of it. This is one of
several barriers and not the last: what it misses still stands inside a fence, reaches a model without tools, and must
pass verification.

The price: a paper about prompt injection that spells an attack out loses that sentence, which can then not be quoted.
Reports of what people were told ("participants were instructed to ignore ...") are left alone, unless the sentence
also speaks to a model.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rag_assets.answering.prompt_injection.patterns import (
    AFTERMATH,
    ANYWHERE,
    COMMANDS,
    IMITATIONS,
    IN_COMMAND,
    REPORTED,
    SET_APART,
    SPOKEN_TO,
)
from rag_assets.answering.prompt_injection.skeletons import Skeleton
from rag_assets.text.sentences import sentence_spans

_LINE_START = re.compile(r"\n\s*(?=[^a-z\s])")


def instruction_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of the sentences of `text` that address a model or imitate its conversation, in order, apart.

    A sentence here ends at a line's end too, unless the next line goes on in lower case, so that one row of a table
    does not take the whole table along. Sentences beside a found one that go on giving orders are found with it.
    """
    found = list(_found(Skeleton.of(text)))
    if not found:
        return []
    sentences = _sentences(text)
    flagged = {i for i, (start, end) in enumerate(sentences) if any(a < end and start < b for a, b in found)}
    for direction in (1, -1):
        flagged |= _aftermath(text, sentences, flagged, direction)
    return [sentences[i] for i in sorted(flagged)]


def _found(skeleton: Skeleton) -> Iterator[tuple[int, int]]:
    """Offsets in the original of the wording that gives a sentence away."""
    plain = skeleton.text
    for match in IMITATIONS.finditer(plain):
        yield skeleton.span(*match.span())
    for match in ANYWHERE.finditer(plain):
        if not _is_reported(plain, *match.span()):
            yield skeleton.span(*match.span())
    for match in COMMANDS.finditer(plain):
        start, end = match.span()
        if IN_COMMAND.search(plain, max(0, start - 30), start) and not _is_reported(plain, start, end):
            yield skeleton.span(start, end)
    for letters in skeleton.letters_set_apart():
        if SET_APART.search(letters.text):
            yield letters.span(0, len(letters.text))


def _is_reported(plain: str, start: int, end: int) -> bool:
    """Whether the sentence tells what somebody was told, and speaks to no model itself."""
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
            if not AFTERMATH.search(Skeleton.of(text[slice(*sentences[at])]).text):
                break
            taken.add(at)
            at += direction
    return taken
