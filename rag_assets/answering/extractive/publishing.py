"""Chosen candidates become claims: each is a stretch of its context, published as it stands and quoted as its evidence.

Sentences that follow each other in a paragraph become one claim, in the order of the paper: apart, they read as two
findings, and the second may begin with "it".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_assets.answering.drafts import DraftCitation, DraftClaim
from rag_assets.answering.extractive.candidates import MAX_WORDS, Candidate, CandidateKind, Span
from rag_assets.core.domain import Context
from rag_assets.core.text.terms import words_of

_N_DECIMALS = 4
_BEFORE = re.compile(
    r"^\W*(?i:abstract|summary)\s?[:.—–]\s*(?=\S)"
    r"|^(?:\[?\d{1,3}(?:[–-]\d{1,3})?\]?\s*[,;]\s*)+\[?\d{1,3}(?:[–-]\d{1,3})?\]?\s+(?=[A-Z])"
    r"|^\[\d{1,3}\]\s+(?=[A-Z])"
)
"""The label of an abstract; the references of the sentence before. A single number may belong to the sentence."""
_BEHIND = re.compile(r"(?P<end>[.!?][\"”')\]]*)\s+\d{1,3}(?:\s?[,–-]\s?\d{1,3})*$")


@dataclass
class Stretch:
    """A stretch of the text of a context, `text[start:end]`, and how relevant the best sentence in it is."""

    of: Candidate
    start: int
    end: int
    relevance: float

    def can_take(self, start: int, end: int, text: str) -> bool:
        """Whether a stretch of the same context overlaps it or follows it at once, and both are no longer than a
        claim may be."""
        between = text[min(self.end, end) : max(self.start, start)]
        whole = text[min(self.start, start) : max(self.end, end)]
        return not between.strip() and "\n" not in whole and len(words_of(whole)) <= MAX_WORDS


def stretches_of(chosen: Sequence[tuple[Candidate, float]], contexts: Sequence[Context]) -> list[Stretch]:
    """What is published, best first. chosen: candidates with their relevance, best first; none is published twice."""
    stretches: list[Stretch] = []
    for one, relevance in chosen:
        beside = _beside(one, stretches)
        if any(it.start <= one.start and one.end <= it.end for it in beside):
            continue
        if fitting := _fitting(one, stretches, contexts):
            taken, (start, end) = fitting
            taken.start, taken.end = min(taken.start, start), max(taken.end, end)
            continue
        is_free = not any(it.start < one.shown[1] and one.shown[0] < it.end for it in beside)
        stretches.append(Stretch(one, *(one.shown if is_free else (one.start, one.end)), relevance))
    return stretches


def continues_one(one: Candidate, stretches: Sequence[Stretch], contexts: Sequence[Context]) -> bool:
    """Whether a candidate would become part of one of the stretches."""
    return _fitting(one, stretches, contexts) is not None


def claims_of(chosen: Sequence[tuple[Candidate, float]], contexts: Sequence[Context]) -> Iterator[DraftClaim]:
    """The claims, best first. chosen: as for `stretches_of`."""
    return (_claim(it, contexts[it.of.context].text) for it in stretches_of(chosen, contexts))


def _fitting(one: Candidate, stretches: Sequence[Stretch], contexts: Sequence[Context]) -> tuple[Stretch, Span] | None:
    """The stretch that can take a candidate, and as what: with its neighbour, or alone."""
    text = contexts[one.context].text
    fitting = (
        (it, span)
        for span in (one.shown, (one.start, one.end))
        for it in _beside(one, stretches)
        if it.can_take(*span, text)
    )
    return next(fitting, None)


def _beside(one: Candidate, stretches: Sequence[Stretch]) -> list[Stretch]:
    """The stretches of prose in the context of a sentence; rows are published alone."""
    return [it for it in stretches if it.of.context == one.context and _is_sentence(it.of) and _is_sentence(one)]


def _is_sentence(one: Candidate) -> bool:
    return one.kind is CandidateKind.SENTENCE


def _claim(stretch: Stretch, text: str) -> DraftClaim:
    own = stretch.of
    said = trimmed(text[stretch.start : stretch.end]) if _is_sentence(own) else own.text
    quote = own.quote or said
    return DraftClaim(said, (DraftCitation(own.chunk_id, quote),), relevance=round(stretch.relevance, _N_DECIMALS))


def trimmed(text: str) -> str:
    """The text without the references, labels and page numbers that stand around a sentence and are no part of it.

    Papers of which only the text is left keep them: "3, 4, 6 Our results suggest that the youngest are at risk. 17".
    The result is a stretch of the text, so that it is found word for word.
    """
    start = found.end() if (found := _BEFORE.match(text)) else 0
    behind = _BEHIND.search(text, start)
    return text[start : behind.end("end") if behind else len(text)]
