"""Whether a quote stands where a draft says it does, and on which page.

The page and the boxes are computed from the place the quote was found at; nothing an answerer says about them is
used, and the words published are the source's own. What cannot be verified is dropped and counted. `near_miss` finds
quotes that were tidied, `numbers` tells which claims contradict their quotes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rag_assets.answering.drafts import DraftAnswer, DraftCitation
from rag_assets.answering.near_miss import digit_groups, folded_once, near_miss, turns_meaning
from rag_assets.answering.numbers import contradictions
from rag_assets.answering.untrusted import instruction_spans
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
from rag_assets.sentences import sentence_spans

MIN_QUOTE_CHARS = 15
"""A shorter quote would be found almost anywhere and proves nothing."""

_OPENING, _CLOSING = "\"'“‘«„`", "\"'”’»“`"
_STRAY_END = " .,;:…"
_DASHES = "-−–"
_PREFIX_BEFORE = re.compile(
    r"(?<![^\W\d_])(?:non|un|anti|in|im|dis|mis|pre|post|hypo|hyper|sub|semi|quasi|pseudo|counter|de|inter|intra|over|"
    r"under|ex|ir)[-‐‑\u00ad]\s?\Z",
    re.IGNORECASE,
)
"""Quoted without it, "non-significant" is "significant"."""
_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.(?:\s?\.){2,}|…)\s*")


@dataclass(frozen=True, slots=True)
class VerifiedClaims:
    """The claims that survived, and how many citations and claims did not."""

    claims: tuple[Claim, ...]
    n_dropped_citations: int
    """Citations whose quote was not found, or talks to a model."""
    n_contradicted_claims: int
    """Claims with a number that their quotes contradict."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote, or one part of it, was found: `text[start:end]`."""

    start: int
    end: int
    verification: Verification
    score: float = 100.0
    """Likeness of the quote and the source's words, 0-100."""


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


def places(quote: str, text: str) -> list[Place]:
    """Where `quote` stands in `text`: one place, or one for each part of a quote with ellipses; none if any is missing.

    The parts must stand in the order quoted. Two parts of one sentence may not leave out what turns its meaning.
    """
    if whole := _as_it_stands(quote, text):
        return [whole]
    parts = [part for part in _ELLIPSIS.split(_unwrapped(quote)) if part.strip()]
    if found := _in_parts(parts, text):
        return found
    near = _nearly(quote, text)
    return [near] if near else []


def sources_of(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Distinct papers cited, in order of first citation."""
    return tuple(dict.fromkeys(citation.paper_id for claim in claims for citation in claim.citations))


def _in_parts(parts: Sequence[str], text: str) -> list[Place]:
    found: list[Place] = []
    for part in parts:
        after = found[-1].end if found else 0
        rest = text[after:]
        place = _as_it_stands(part, rest) or (_nearly(part, rest) if len(parts) > 1 else None)
        if place is None:
            return []
        place = replace(place, start=after + place.start, end=after + place.end)
        if found and _hides_turning_word(text, found[-1], place):
            return []
        found.append(place)
    return found


def _as_it_stands(quote: str, text: str) -> Place | None:
    """The quote in one piece, typeset in any way; None when it is too short to prove anything."""
    bare = _bare(quote)
    if len(bare) < MIN_QUOTE_CHARS:
        return None
    if place := _exact(quote, text):
        return place
    candidates = dict.fromkeys((quote, _unwrapped(quote), bare))
    return next((place for one in candidates if (place := _typeset_differently(one, text))), None)


def _nearly(quote: str, text: str) -> Place | None:
    """The place a tidied quote in one piece was taken from."""
    bare = _bare(quote)
    near = near_miss(bare, text) if len(bare) >= MIN_QUOTE_CHARS else None
    if near is None or not _cuts_nothing(text, near.start, near.end):
        return None
    return Place(near.start, near.end, Verification.APPROXIMATE, near.score)


def _exact(quote: str, text: str) -> Place | None:
    at = text.find(quote)
    while at >= 0:
        if _cuts_nothing(text, at, at + len(quote)):
            return Place(at, at + len(quote), Verification.EXACT)
        at = text.find(quote, at + 1)
    return None


def _typeset_differently(quote: str, text: str) -> Place | None:
    """The first place that reads the same when folded and has the same numbers: "57" is not "5-7"."""
    folded, wanted = folded_once(text), Folded.of(quote)
    at = folded.text.find(wanted.text) if wanted.text else -1
    while at >= 0:
        start, end = folded.origins[at], folded.origins[at + len(wanted.text) - 1] + 1
        if _cuts_nothing(text, start, end) and digit_groups(text[start:end]) == digit_groups(quote):
            return Place(start, end, Verification.NORMALIZED)
        at = folded.text.find(wanted.text, at + 1)
    return None


def _cuts_nothing(text: str, start: int, end: int) -> bool:
    """Whether neither end of a place parts a word or a number: "typical" is not in "atypical", nor 12 in 12.5."""
    return not _parts_token(text, start) and not _parts_token(text, end)


def _parts_token(text: str, at: int) -> bool:
    before, after = text[max(0, at - 2) : at], text[at : at + 2]
    if not before or not after:
        return False
    one, other = before[-1], after[0]
    if (_is_cased(one) and _is_cased(other)) or (one.isdigit() and other.isdigit()):
        return True
    cuts_fraction = one.isdigit() and other in ".,·" and after[1:].isdigit()
    cuts_decimals = other.isdigit() and one in ".,·" and (before[:1].isdigit() or one == ".")
    cuts_sign = (other.isdigit() or other == ".") and one in _DASHES and not before[:1].isalpha()
    return cuts_fraction or cuts_decimals or cuts_sign or _PREFIX_BEFORE.search(text[max(0, at - 10) : at]) is not None


def _is_cased(character: str) -> bool:
    """Whether a letter belongs to a script with cases; among the others are those without blanks between words."""
    return character.lower() != character.upper()


def _unwrapped(quote: str) -> str:
    """The quote without quotation marks around it."""
    bare = quote.strip()
    is_wrapped = len(bare) > 1 and bare[0] in _OPENING and bare.rstrip(_STRAY_END)[-1:] in _CLOSING
    return bare.rstrip(_STRAY_END)[1:-1].strip() if is_wrapped else bare


def _bare(quote: str) -> str:
    """The quote without quotation marks around it and without the dots it ends with."""
    return _unwrapped(quote).rstrip(_STRAY_END)


def _hides_turning_word(text: str, one: Place, other: Place) -> bool:
    """Whether two parts leave out, of the sentences they stand in, a word between them that the meaning hangs on."""
    ends = [one.start + end for _, end in sentence_spans(text[one.start : other.end])[:-1]]
    between = [end for end in ends if one.end <= end <= other.start] or [other.start]
    return turns_meaning(text[one.end : between[0]]) or turns_meaning(text[between[-1] : other.start])


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
        quote=chunk.text[place.start : place.end],
        boxes=all_boxes(spans_between(chunk.spans, place.start, place.end)),
        verification=place.verification,
        is_generated=chunk.is_generated,
    )
