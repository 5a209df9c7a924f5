"""Whose finding a sentence tells: the paper's own, one that it reports of the works it cites, or no
finding at all.

A sentence with a mention reports, unless its authors speak in it of themselves ("we", "this
study"), or it goes on with a sentence in which they do, or it stands in the methods or results, or
it argues in a discussion what may or should be. A section without a usual name and without a number
("Participants") is of the kind of the last one with a usual name before it, since readers of PDFs
often lose the nesting.

A sentence that tells what somebody expected, believed, claimed, planned or set out to test is no
finding, unless it says what became of it or stands in the results, where the beliefs of those who
were asked are what was found.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from rag_assets.core.domain import Block, SectionKind
from rag_assets.core.text.headings import heading_number, section_kinds
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
_SUPPOSING = (
    r"(?:hypothesi[sz]|expect|anticipat|predict|speculat|suspect|suppos|conjectur|believ|belief|thought|think|claim|"
    r"alleg|rumou?r|hop(?=e|ing)|fear|plan(?=s|n)|intend|intention|aim|propos)"
)
_NO_FINDING = re.compile(
    rf"\b{_SUPPOSING}\w*(?: [\w'’]+){{0,3}}? (?:that|to|would|will)\b"
    r"|\b(?:myths?|legends?|folklore|superstitions?|hearsay|hypothes[ie]s|conjectures?)\b"
    r"|\b(?:says?|said)(?: that)?\b"
    r"|\b(?:test|ask|examin|investigat|explor|determin|assess|evaluat|stud[iy])\w*(?: \w+){0,3}? (?:whether|if)\b"
    r"|\b(?:we|next|future [\w ]{1,20}) (?:will|plan|should)\b|\b(?:remains?|yet) to be\b"
    r"|\bif\b.{1,150}\b(?:were|had)\b.{1,150}\b(?:would|might|could)\b",
    re.IGNORECASE | re.DOTALL,
)
_ASKS_FOR_IT = re.compile(
    rf"\b{_SUPPOSING}|\b(?:myth|legend|folklore|superstition|hypothes|plan|future|next|sa(?:y|id)\b|test)",
    re.IGNORECASE,
)
_SETTLED = re.compile(
    r"\b(?:confirm|support|reject|refut|disprov|contradict|debunk|uph[eo]ld|false|wrong|contrary|untrue)",
    re.IGNORECASE,
)
"""Says what became of an expectation."""


def supposes(sentence: str, section_path: str) -> bool:
    """Whether a sentence tells a hypothesis, a plan, or the claim or belief of others, and no
    finding."""
    is_supposed = _NO_FINDING.search(sentence) is not None and _SETTLED.search(sentence) is None
    return is_supposed and SectionKind.RESULTS not in section_kinds(section_path.split(" > "))


def asks_what_is_supposed(question: str) -> bool:
    """Whether a question asks for hypotheses, plans, claims or beliefs, and not for a finding."""
    return _ASKS_FOR_IT.search(question) is not None


@dataclass(frozen=True)
class CitingSentence:
    """A sentence that refers to the reference list: `text[start:end]` of its block."""

    start: int
    end: int
    numbers: tuple[int, ...]
    """`Reference.number` of each entry it refers to."""
    is_reported: bool
    """Tells what those works found or say, not what this paper did."""


def sentences_with_mentions(
    blocks: Sequence[Block], mentions: Sequence[Sequence[Mention]]
) -> Iterator[list[CitingSentence]]:
    """For each block of a paper, in order, its sentences with a mention."""
    kinds: frozenset[SectionKind] = frozenset()
    for block, own in zip(blocks, mentions, strict=True):
        own_kinds = section_kinds(block.section_path) - {SectionKind.OTHER}
        if own_kinds or any(map(heading_number, block.section_path)):
            kinds = own_kinds
        yield list(_citing_sentences(block.text, own, kinds)) if own else []


def _citing_sentences(
    text: str, mentions: Sequence[Mention], kinds: Set[SectionKind]
) -> Iterator[CitingSentence]:
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
            yield CitingSentence(start, end, tuple(dict.fromkeys(numbers)), not is_own)
