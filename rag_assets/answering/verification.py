"""Whether a quote stands where a draft says it does, and on which page.

The page and the boxes are computed from the place the quote was found at; nothing an answerer says about them is
used. What cannot be verified is dropped and counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_assets.answering.drafts import DraftAnswer, DraftCitation
from rag_assets.matching import Folded
from rag_assets.model import (
    Chunk,
    Citation,
    Claim,
    Verification,
    all_boxes,
    span_at,
    spans_between,
)

MIN_QUOTE_CHARS = 15
"""A shorter quote would be found almost anywhere and proves nothing."""


@dataclass(frozen=True, slots=True)
class VerifiedClaims:
    """The claims that survived, and how many citations did not."""

    claims: tuple[Claim, ...]
    n_dropped_citations: int


def verify(draft: DraftAnswer, given: Mapping[str, Chunk]) -> VerifiedClaims:
    """Keep the citations whose quote is found in a chunk that was given, and the claims that keep a citation.

    given: the chunks whose contexts the answerer saw, by chunk id.
    """
    claims: list[Claim] = []
    n_citations = n_kept = 0
    for proposed in draft.claims:
        citations = [citation for item in proposed.citations if (citation := _verified(item, given))]
        n_citations += len(proposed.citations)
        n_kept += len(citations)
        if citations and proposed.text.strip():
            claims.append(Claim(proposed.text.strip(), tuple(dict.fromkeys(citations))))
    return VerifiedClaims(tuple(claims), n_citations - n_kept)


def locate(quote: str, text: str) -> tuple[int, int, Verification] | None:
    """Offsets of `quote` in `text` and how it was found; None when it is not there or too short to prove anything."""
    if len(quote.strip()) < MIN_QUOTE_CHARS:
        return None
    at = text.find(quote)
    if at >= 0:
        return at, at + len(quote), Verification.EXACT
    found = Folded.of(text).find(Folded.of(quote))
    return (*found, Verification.NORMALIZED) if found else None


def sources_of(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Distinct papers cited, in order of first citation."""
    return tuple(dict.fromkeys(citation.paper_id for claim in claims for citation in claim.citations))


def _verified(proposed: DraftCitation, given: Mapping[str, Chunk]) -> Citation | None:
    chunk = given.get(proposed.chunk_id)
    place = locate(proposed.quote, chunk.text) if chunk else None
    if chunk is None or place is None:
        return None
    start, end, verification = place
    first, last = span_at(chunk.spans, start), span_at(chunk.spans, end - 1)
    return Citation(
        paper_id=chunk.paper_id,
        chunk_id=chunk.chunk_id,
        page_start=first.page_start if first else None,
        page_end=last.page_end if last else None,
        quote=chunk.text[start:end],
        boxes=all_boxes(spans_between(chunk.spans, start, end)),
        verification=verification,
    )
