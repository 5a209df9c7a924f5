"""Which claims of a draft are kept: those whose quotes stand where the draft says they do and hold what it says.

The page and the boxes are computed from the place the quote was found at; nothing an answerer says about them is
used, and the words published are the source's own. What cannot be verified is dropped and counted. `quote_search`
looks quotes up, `numbers` tells which claims contradict them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.answering.citations.number_agreement import contradictions
from rag_assets.answering.citations.quote_search import Place, find_quote
from rag_assets.answering.citations.table_quotes.claims import contradicts_rows
from rag_assets.answering.citations.table_quotes.rows import prose_between, quoted_rows
from rag_assets.answering.drafts import DraftAnswer, DraftCitation
from rag_assets.answering.prompt_injection.detection import instruction_spans
from rag_assets.domain import Chunk, Citation, Claim, all_boxes, page_label, span_at, spans_between


@dataclass(frozen=True, slots=True)
class VerifiedClaims:
    """The claims that survived, and how many citations and claims did not."""

    claims: tuple[Claim, ...]
    n_dropped_citations: int
    """Citations whose quote was not found, or talks to a model."""
    n_contradicted_claims: int
    """Claims with a number that their quotes contradict."""


def verify(draft: DraftAnswer, given: Mapping[str, Chunk], question: str) -> VerifiedClaims:
    """Keep the citations whose quote is found in a chunk that was given, and the claims that keep a citation.

    A claim that contradicts a number in the quotes it keeps is dropped. given: the chunks whose contexts the answerer
    saw, by chunk id. question: its numbers may stand in a claim without a quote.
    """
    claims: list[Claim] = []
    n_dropped = n_contradicted = 0
    for proposed in draft.claims:
        text = proposed.text.strip()
        found = [_found(item, given) for item in proposed.citations]
        n_dropped += sum(not places for places in found)
        quotes = list(dict.fromkeys(quote for some in found for quote in some))
        citations = tuple(dict.fromkeys(_citation(chunk, place) for chunk, place in quotes))
        if not citations or not text:
            continue
        if _is_contradicted(text, quotes, question):
            n_contradicted += 1
        else:
            claims.append(Claim(text, citations, relevance=proposed.relevance))
    return VerifiedClaims(tuple(claims), n_dropped, n_contradicted)


def sources_of(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Distinct papers cited, in order of first citation."""
    return tuple(dict.fromkeys(citation.paper_id for claim in claims for citation in claim.citations))


def _is_contradicted(text: str, quotes: Sequence[tuple[Chunk, Place]], question: str) -> bool:
    """Whether the quotes say other numbers than the claim, or rows of tables say them of something else."""
    rows = [one for chunk, place in quotes for one in quoted_rows(chunk.text, place.start, place.end)]
    if not rows:
        return bool(contradictions(text, [chunk.text[place.start : place.end] for chunk, place in quotes], question))
    return contradicts_rows(
        text, rows, [prose_between(chunk.text, place.start, place.end) for chunk, place in quotes], question
    )


def _found(proposed: DraftCitation, given: Mapping[str, Chunk]) -> list[tuple[Chunk, Place]]:
    """The chunk and each part of the quote in it; none when it is not found or talks to a model."""
    chunk = given.get(proposed.chunk_id)
    if chunk is None:
        return []
    found = find_quote(proposed.quote, chunk.text)
    orders = _instruction_spans(chunk.text) if found else []
    if any(place.start < end and start < place.end for place in found for start, end in orders):
        return []
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
