"""Whose finding a sentence tells: the paper's own, or one that it reports of the works it cites.

A sentence with a mention reports, unless its authors speak in it of themselves ("we", "this study"), or it goes on with
a sentence in which they do, or it stands in the methods or results, or it argues in a discussion what may or should
be. A section without a usual name and without a number ("Participants") is of the kind of the last one with a usual
name before it, since readers of PDFs often lose the nesting.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from rag_assets.core.domain import Block, SectionKind
from rag_assets.core.text.heading_numbers import heading_number
from rag_assets.core.text.section_names import section_kinds
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.corpus.references.mentions import Mention

_OWN_VOICE = re.compile(
    r"\b(?:[Ww]e|[Oo]urs?|us|[Mm]y|I(?!\.))\b"
    r"|\b(?:present|current) (?:study|work|paper|article|research|experiment|survey|sample|data)\b"
    r"|\b[Tt]his (?:study|work|paper|article|survey)\b"
)
_GOES_ON = re.compile(r"(?:This|These|Such|The|It|They)\b")
"""Opens a sentence about what the one before told."""
_ARGUES = re.compile(r"\b(?:may|might|can|could|shall|should|will|would|must)\b")
_OWN_SECTIONS = {SectionKind.METHODS, SectionKind.RESULTS}


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence that refers to the reference list: `text[start:end]` of its block."""

    start: int
    end: int
    numbers: tuple[int, ...]
    """`Reference.number` of each entry it refers to."""
    is_reported: bool
    """Tells what those works found or say, not what this paper did."""


def sentences_with_mentions(blocks: Sequence[Block], mentions: Sequence[Sequence[Mention]]) -> Iterator[list[Said]]:
    """For each block of a paper, in order, its sentences with a mention."""
    kinds: frozenset[SectionKind] = frozenset()
    for block, own in zip(blocks, mentions, strict=True):
        own_kinds = section_kinds(block.section_path) - {SectionKind.OTHER}
        if own_kinds or any(map(heading_number, block.section_path)):
            kinds = own_kinds
        yield list(_said(block.text, own, kinds)) if own else []


def _said(text: str, mentions: Sequence[Mention], kinds: Set[SectionKind]) -> Iterator[Said]:
    """mentions: in the order of the text. kinds: of the section it stands in."""
    waiting = deque(mentions)
    is_own_before = False
    for start, end in sentence_spans(text):
        goes_on = is_own_before and _GOES_ON.match(text, start, end) is not None
        argues = SectionKind.DISCUSSION in kinds and _ARGUES.search(text, start, end) is not None
        is_own_before = _OWN_VOICE.search(text, start, end) is not None
        while waiting and waiting[0].end <= start:
            waiting.popleft()
        numbers: list[int] = []
        for one in waiting:
            if one.start >= end:
                break
            numbers += one.numbers
        if numbers:
            is_own = bool(kinds & _OWN_SECTIONS) or is_own_before or goes_on or argues
            yield Said(start, end, tuple(dict.fromkeys(numbers)), not is_own)
