"""Keeps the claims of a draft whose quotes are found in the sources it names and support what it says.

The page and the boxes are computed from the place the quote was found at; nothing an answerer says about them is
used, and the words published are the source's own. What cannot be verified is dropped, with the reason.
`quote_search` looks quotes up, `objections` checks claims against them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.verify.objections import Objection, Reason, checked_claim
from rag_assets.answering.verify.quote_search import QuotePlace, find_quote
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.core.domain import Chunk, Citation, Claim, LeftOut, all_boxes, page_label, span_at, spans_between

_NO_CITATION = Objection(Reason.NO_CITATION, "no quote of it stands in the paper it names")
_NO_TEXT = Objection(Reason.NO_TEXT, "it says nothing")


@dataclass(frozen=True, slots=True)
class LostCitation:
    """A citation of a draft that did not hold."""

    reason: Reason
    quote: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of verification for one claim of a draft."""

    proposed: DraftClaim
    claim: Claim | None
    """The claim to publish; None if its citations or numbers do not hold."""
    objection: Objection | None = None
    lost: tuple[LostCitation, ...] = ()
    quotes: tuple[QuotedText, ...] = field(default=(), repr=False)
    """The quotes of the claim that were found."""

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the claim."""
        return self.claim is not None and self.objection is None

    @property
    def left_out(self) -> LeftOut | None:
        """For a reader of the answer; None where the claim is published."""
        if self.objection is None:
            return None
        quote = next((one.quote for one in self.proposed.citations), "")
        return LeftOut(self.proposed.text, self.objection.why, quote)


@dataclass(frozen=True, slots=True)
class VerifiedClaims:
    """The outcomes of the claims of a draft, in its order."""

    outcomes: tuple[Outcome, ...] = ()

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims that hold."""
        return tuple(one.claim for one in self.outcomes if one.claim is not None and one.holds)

    @property
    def candidates(self) -> tuple[Outcome, ...]:
        """The claims that a second look may publish: those that hold, and those that are doubted by their words."""
        return tuple(one for one in self.outcomes if one.claim is not None)

    @property
    def objected(self) -> tuple[Outcome, ...]:
        """The outcomes with an objection."""
        return tuple(one for one in self.outcomes if one.objection is not None)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """For readers of the answer."""
        return tuple(one.left_out for one in self.outcomes if one.left_out is not None)

    @property
    def reasons(self) -> Counter[Reason]:
        """How many claims and citations were dropped for each reason."""
        of_citations = Counter(lost.reason for one in self.outcomes for lost in one.lost)
        return of_citations + Counter(one.objection.reason for one in self.outcomes if one.objection)

    @property
    def n_dropped_citations(self) -> int:
        return sum(len(one.lost) for one in self.outcomes)

    def with_candidates(self, candidates: Sequence[Outcome]) -> "VerifiedClaims":
        """The same with other outcomes for the candidates, in order."""
        new = iter(candidates)
        return VerifiedClaims(tuple(one if one.claim is None else next(new) for one in self.outcomes))


def verify(
    draft: DraftAnswer, given: Mapping[str, Chunk], question: str, titles: Mapping[str, str] | None = None
) -> VerifiedClaims:
    """Keep the citations whose quote is found in a chunk that was given, and the claims that the kept ones carry.

    given: the chunks whose contexts the answerer read, by chunk id. question: a claim may repeat its numbers
    without a quote. titles: of papers, by id; a claim may repeat their words.
    """
    return VerifiedClaims(tuple(_outcome(one, given, question, titles or {}) for one in draft.claims))


def _outcome(proposed: DraftClaim, given: Mapping[str, Chunk], question: str, titles: Mapping[str, str]) -> Outcome:
    text = proposed.text.strip()
    quotes: dict[tuple[Chunk, QuotePlace], None] = {}
    lost: list[LostCitation] = []
    for citation in proposed.citations:
        found = _found(citation, given)
        if isinstance(found, Reason):
            lost.append(LostCitation(found, citation.quote))
        else:
            quotes |= dict.fromkeys(found)
    if not text or not quotes:
        return Outcome(proposed, None, _NO_CITATION if text else _NO_TEXT, tuple(lost))
    quoted = tuple(quoted_text(chunk, place.start, place.end, titles) for chunk, place in quotes)
    checked = checked_claim(text, quoted, question)
    if checked.objection is not None and not checked.objection.is_doubt:
        return Outcome(proposed, None, checked.objection, tuple(lost), quoted)
    citations = tuple(dict.fromkeys(_citation(chunk, place) for chunk, place in quotes))
    claim = Claim(text, citations, relevance=proposed.relevance, computed=checked.computed)
    return Outcome(proposed, claim, checked.objection, tuple(lost), quoted)


def quoted_text(chunk: Chunk, start: int, end: int, titles: Mapping[str, str]) -> QuotedText:
    """The stretch of a chunk with its section and the title of its paper."""
    return QuotedText(chunk.text, start, end, chunk.section_at(start)[1], titles.get(chunk.paper_id, ""))


def sources_of(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Distinct papers cited, in order of first citation."""
    return tuple(dict.fromkeys(citation.paper_id for claim in claims for citation in claim.citations))


def _found(proposed: DraftCitation, given: Mapping[str, Chunk]) -> list[tuple[Chunk, QuotePlace]] | Reason:
    """The chunk and each part of the quote in it, or why the citation does not hold."""
    chunk = given.get(proposed.chunk_id)
    if chunk is None:
        return Reason.SOURCE_NOT_GIVEN
    found = find_quote(proposed.quote, chunk.text)
    if not found:
        return Reason.QUOTE_NOT_FOUND
    return [(chunk, place) for place in found]


def _citation(chunk: Chunk, place: QuotePlace) -> Citation:
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
