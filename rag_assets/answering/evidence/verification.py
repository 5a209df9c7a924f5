"""Which claims of a draft are kept: those whose quotes stand where the draft says they do and hold what it says.

The page and the boxes are computed from the place the quote was found at; nothing an answerer says about them is
used, and the words published are the source's own. What cannot be verified is dropped and counted. `quote_places`
looks quotes up, `numbers` tells which claims contradict them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.answering.drafts import DraftAnswer, DraftCitation
from rag_assets.answering.evidence.numbers import contradictions
from rag_assets.answering.evidence.quote_places import Place, places
from rag_assets.answering.untrusted.instructions import instruction_spans
from rag_assets.model import Chunk, Citation, Claim, all_boxes, page_label, span_at, spans_between


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
        found = [_citations(item, given) for item in proposed.citations]
        n_dropped += sum(not citations for citations in found)
        citations = tuple(dict.fromkeys(citation for some in found for citation in some))
        if not citations or not text:
            continue
        if contradictions(text, [citation.quote for citation in citations], question):
            n_contradicted += 1
        else:
            claims.append(Claim(text, citations))
    return VerifiedClaims(tuple(claims), n_dropped, n_contradicted)


def sources_of(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Distinct papers cited, in order of first citation."""
    return tuple(dict.fromkeys(citation.paper_id for claim in claims for citation in claim.citations))


def _citations(proposed: DraftCitation, given: Mapping[str, Chunk]) -> list[Citation]:
    """One citation for each part of the quote; none when it is not found or talks to a model."""
    chunk = given.get(proposed.chunk_id)
    if chunk is None:
        return []
    found = places(proposed.quote, chunk.text)
    orders = _instruction_spans(chunk.text) if found else []
    if any(place.start < end and start < place.end for place in found for start, end in orders):
        return []
    return [_citation(chunk, place) for place in found]


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
        boxes=all_boxes(spans_between(chunk.spans, place.start, place.end)),
        verification=place.verification,
        is_generated=chunk.is_generated,
    )
