"""Which claims of a draft are kept: those whose quotes stand where the draft says they do and hold what it says.

The page and the boxes are computed from the place the quote was found at; nothing an answerer says about them is
used, and the words published are the source's own. What cannot be verified is dropped, with the reason.
`quote_search` looks quotes up, `number_agreement` tells which claims contradict them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from rag_assets.answering.citations.number_agreement import contradictions
from rag_assets.answering.citations.quote_search import Place, find_quote
from rag_assets.answering.citations.table_quotes.claims import contradicts_rows
from rag_assets.answering.citations.table_quotes.rows import prose_between, quoted_rows
from rag_assets.answering.drafts import DraftAnswer, DraftCitation
from rag_assets.answering.prompt_injection.detection import instruction_spans
from rag_assets.domain import Chunk, Citation, Claim, all_boxes, page_label, span_at, spans_between


class Reason(StrEnum):
    """Why a citation or a claim that was proposed is not in the answer."""

    SOURCE_NOT_GIVEN = "source not given"
    """The citation names a chunk that the answerer did not read."""
    QUOTE_NOT_FOUND = "quote not found"
    """The quote does not stand in the chunk it cites."""
    ADDRESSES_A_MODEL = "addresses a model"
    """The quote stands there, and gives orders to a model."""
    NO_CITATION = "no citation"
    """The claim has none, or none that held."""
    NO_TEXT = "no text"
    """The claim says nothing."""
    CONTRADICTED = "contradicted"
    """The claim has a number that its own quotes contradict."""


class QuotedText(NamedTuple):
    """A stretch of a chunk that a claim rests on: `chunk_text[start:end]`."""

    chunk_text: str
    start: int
    end: int

    @property
    def quote(self) -> str:
        return self.chunk_text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A claim that was left out, or one citation of a claim."""

    reason: Reason
    claim: str
    quote: str | None = None
    """Of the citation that was dropped; None where the claim was."""


@dataclass(frozen=True, slots=True)
class VerifiedClaims:
    """The claims of a draft that hold, and what was dropped of it."""

    claims: tuple[Claim, ...] = ()
    dropped: tuple[Dropped, ...] = ()

    @property
    def reasons(self) -> Counter[Reason]:
        """How many claims and citations were dropped for each reason."""
        return Counter(one.reason for one in self.dropped)

    @property
    def n_dropped_citations(self) -> int:
        return sum(one.quote is not None for one in self.dropped)


def verify(draft: DraftAnswer, given: Mapping[str, Chunk], question: str) -> VerifiedClaims:
    """Keep the citations whose quote is found in a chunk that was given, and the claims that keep a citation.

    A claim that contradicts a number in the quotes it keeps is dropped. given: the chunks whose contexts the answerer
    read, by chunk id. question: its numbers may stand in a claim without a quote.
    """
    claims: list[Claim] = []
    dropped: list[Dropped] = []
    for proposed in draft.claims:
        text = proposed.text.strip()
        quotes: dict[tuple[Chunk, Place], None] = {}
        for citation in proposed.citations:
            found = _found(citation, given)
            if isinstance(found, Reason):
                dropped.append(Dropped(found, text, citation.quote))
            else:
                quotes |= dict.fromkeys(found)
        citations = tuple(dict.fromkeys(_citation(chunk, place) for chunk, place in quotes))
        if not text:
            dropped.append(Dropped(Reason.NO_TEXT, text))
        elif not citations:
            dropped.append(Dropped(Reason.NO_CITATION, text))
        elif contradicts_quotes(
            text, [QuotedText(chunk.text, place.start, place.end) for chunk, place in quotes], question
        ):
            dropped.append(Dropped(Reason.CONTRADICTED, text))
        else:
            claims.append(Claim(text, citations, relevance=proposed.relevance))
    return VerifiedClaims(tuple(claims), tuple(dropped))


def sources_of(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Distinct papers cited, in order of first citation."""
    return tuple(dict.fromkeys(citation.paper_id for claim in claims for citation in claim.citations))


def contradicts_quotes(text: str, quotes: Sequence[QuotedText], question: str) -> bool:
    """Whether the quotes say other numbers than the claim, or rows of tables say them of something else."""
    rows = [one for quoted in quotes for one in quoted_rows(*quoted)]
    if not rows:
        return bool(contradictions(text, [quoted.quote for quoted in quotes], question))
    return contradicts_rows(text, rows, [prose_between(*quoted) for quoted in quotes], question)


def _found(proposed: DraftCitation, given: Mapping[str, Chunk]) -> list[tuple[Chunk, Place]] | Reason:
    """The chunk and each part of the quote in it, or why the citation does not hold."""
    chunk = given.get(proposed.chunk_id)
    if chunk is None:
        return Reason.SOURCE_NOT_GIVEN
    found = find_quote(proposed.quote, chunk.text)
    if not found:
        return Reason.QUOTE_NOT_FOUND
    orders = _instruction_spans(chunk.text)
    if any(place.start < end and start < place.end for place in found for start, end in orders):
        return Reason.ADDRESSES_A_MODEL
    return [(chunk, place) for place in found]


@lru_cache(maxsize=64)
def _instruction_spans(text: str) -> list[tuple[int, int]]:
    return instruction_spans(text)


def _citation(chunk: Chunk, place: Place) -> Citation:
    first, last = span_at(chunk.spans, place.start), span_at(chunk.spans, place.end - 1)
    return Citation(
        paper_id=chunk.paper_id,
        chunk_id=chunk.chunk_id,
        page_start=first.page_start if first else None,
        page_end=last.page_end if last else None,
        page_label=page_label(first, last) if first and last else None,
        quote=chunk.text[place.start : place.end],
        start=place.start,
        end=place.end,
        boxes=all_boxes(spans_between(chunk.spans, place.start, place.end)),
        verification=place.verification,
        is_generated=chunk.is_generated,
    )
