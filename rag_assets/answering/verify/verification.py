"""Keeps the claims of a draft whose quotes are found in the sources it names and support what it
says.

The page and the boxes are computed from the place the quote was found at; nothing an answerer says
about them is used, and the words published are the source's own. What cannot be verified is
dropped, with the reason. `quote_search` looks quotes up, `objections` checks claims against them; a
second look by a model may overrule a doubt. The likeness of claim and quotes is shown only:
embedding models place "raised ferritin" near "lowered ferritin".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim, SentenceEncoder
from rag_assets.answering.verify.objections import Objection, Reason, checked_claim
from rag_assets.answering.verify.quote_search import QuotePlace, find_quote
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.core.domain import (
    FULL_SUPPORT_FROM,
    HALF_SUPPORT_FROM,
    Chunk,
    Citation,
    Claim,
    LeftOut,
    PaperFacts,
    Report,
    Support,
    Usage,
)
from rag_assets.core.text.sentences import sentence_spans

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
        """Whether there is no objection to the claim."""
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
        """The claims that a second look may publish: those that hold, and those that are doubted by
        their words."""
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
    def n_dropped_citations(self) -> int:
        return sum(len(one.lost) for one in self.outcomes)

    def with_candidates(self, candidates: Sequence[Outcome]) -> "VerifiedClaims":
        """The same with other outcomes for the candidates, in order."""
        new = iter(candidates)
        return VerifiedClaims(
            tuple(one if one.claim is None else next(new) for one in self.outcomes)
        )

    def with_claims(self, claims: Sequence[Claim]) -> "VerifiedClaims":
        """The same with other claims for those that hold, in order."""
        new = iter(claims)
        return VerifiedClaims(
            tuple(replace(one, claim=next(new)) if one.holds else one for one in self.outcomes)
        )


def verify(
    draft: DraftAnswer,
    given: Mapping[str, Chunk],
    question: str,
    titles: Mapping[str, str] | None = None,
) -> VerifiedClaims:
    """Keep the citations whose quote is found in a chunk that was given, and the claims that the
    kept ones carry.

    given: the chunks whose contexts the answerer read, by chunk id. question: a claim may repeat
    its numbers without a quote. titles: of papers, by id; a claim may repeat their words.
    """
    return VerifiedClaims(
        tuple(_outcome(one, given, question, titles or {}) for one in draft.claims)
    )


def _outcome(
    proposed: DraftClaim, given: Mapping[str, Chunk], question: str, titles: Mapping[str, str]
) -> Outcome:
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
    cited = (
        Citation.within(
            chunk,
            place.start,
            place.end,
            quote=chunk.text[place.start : place.end],
            verification=place.verification,
        )
        for chunk, place in quotes
    )
    citations = tuple(dict.fromkeys(cited))
    claim = Claim(text, citations, relevance=proposed.relevance, computed=checked.computed)
    return Outcome(proposed, claim, checked.objection, tuple(lost), quoted)


def quoted_text(chunk: Chunk, start: int, end: int, titles: Mapping[str, str]) -> QuotedText:
    """The stretch of a chunk with its section and the title of its paper."""
    return QuotedText(
        chunk.text, start, end, chunk.section_at(start)[1], titles.get(chunk.paper_id, "")
    )


def named(claims: Sequence[Claim], papers: Mapping[str, PaperFacts]) -> tuple[Claim, ...]:
    """The claims with the names and works of the papers that they cite. papers: by id."""
    return tuple(
        replace(
            claim, citations=tuple(_named(one, papers.get(one.paper_id)) for one in claim.citations)
        )
        for claim in claims
    )


def _named(citation: Citation, paper: PaperFacts | None) -> Citation:
    if paper is None:
        return citation
    return replace(
        citation, cited_as=paper.cited_as, work=paper.work, is_retracted=paper.is_retracted
    )


def n_works(claims: Sequence[Claim]) -> int:
    """How many works are cited: a preprint and its published version are one source."""
    return len({one.work or one.paper_id for claim in claims for one in claim.citations})


def sources_of(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Distinct papers cited, in order of first citation."""
    return tuple(
        dict.fromkeys(citation.paper_id for claim in claims for citation in claim.citations)
    )


def _found(
    proposed: DraftCitation, given: Mapping[str, Chunk]
) -> list[tuple[Chunk, QuotePlace]] | Reason:
    chunk = given.get(proposed.chunk_id)
    if chunk is None:
        return Reason.SOURCE_NOT_GIVEN
    found = find_quote(proposed.quote, chunk.text)
    if not found:
        return Reason.QUOTE_NOT_FOUND
    return [(chunk, place) for place in found]


_N_DECIMALS = 4
"""Further ones differ between machines."""
_NOT_SUPPORTED = "a model that compared it with its quotes found that they do not carry it"
_QUOTED = Support(score=None)


@dataclass(frozen=True)
class Scoring:
    """Scores of the claims of one draft."""

    supports: tuple[Support, ...] = ()
    """One per candidate, in order."""
    whys: tuple[str, ...] = ()
    """For each candidate, what the second look found wrong, or an empty text; empty without a
    second look."""
    usage: Usage = field(default_factory=Usage)
    """Cost of the second look, now or earlier."""
    is_cached: bool = False
    """The verdicts of the second look were kept from an earlier one."""
    seconds: float = 0.0
    """Time of the second look."""
    unjudged: str = ""
    """Why no model could take the second look; empty when one did, or none is asked to."""


class SupportScorer(Protocol):
    """Scores how well claims are supported by their quotes."""

    @property
    def identity(self) -> str:
        """Names the model that takes the second look; part of the key of published answers."""
        ...

    def scores(self, verified: VerifiedClaims, question: str) -> Scoring: ...


def looked_at(verified: VerifiedClaims, scoring: Scoring) -> VerifiedClaims:
    """The claims with their support. A claim that the second look finds unsupported is objected to;
    one that it finds supported is published, even if the rules doubt it."""
    whys = scoring.whys or ("",) * len(scoring.supports)
    looked = (
        _looked_at(*one) for one in zip(verified.candidates, scoring.supports, whys, strict=True)
    )
    return verified.with_candidates(list(looked))


def _looked_at(outcome: Outcome, support: Support, why: str) -> Outcome:
    if support.judged is not None and support.judged < HALF_SUPPORT_FROM:
        return replace(outcome, objection=Objection(Reason.NOT_SUPPORTED, why or _NOT_SUPPORTED))
    is_overruled = support.judged is not None and support.judged >= FULL_SUPPORT_FROM
    claim = outcome.claim and replace(outcome.claim, support=support)
    return replace(outcome, claim=claim, objection=None if is_overruled else outcome.objection)


class EmbeddedSupport:
    """Scores claims by an embedding model; calls no language model."""

    identity = "none"

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder

    def scores(self, verified: VerifiedClaims, _question: str) -> Scoring:
        claims = [one.claim for one in verified.candidates if one.claim is not None]
        found = iter(self._similarities([claim for claim in claims if not claim.is_quote]))
        return Scoring(
            tuple(
                _QUOTED if one.is_quote else Support(round(next(found), _N_DECIMALS))
                for one in claims
            )
        )

    def _similarities(self, claims: Sequence[Claim]) -> list[float]:
        texts = [[claim.text, *_pieces(claim)] for claim in claims]
        every = list(dict.fromkeys(text for some in texts for text in some))
        if not every:
            return []
        vectors = dict(zip(every, self._encoder.embed_passages(every), strict=True))
        return [
            max(
                (float(np.clip(vectors[claim] @ vectors[piece], 0.0, 1.0)) for piece in pieces),
                default=0.0,
            )
            for claim, *pieces in texts
        ]


def _pieces(claim: Claim) -> list[str]:
    quotes = [citation.quote for citation in claim.citations]
    return [
        *quotes,
        *(quote[start:end] for quote in quotes for start, end in sentence_spans(quote)),
    ]


_REPORTED_FROM = 0.5
"""A quote is a report if the sentences that report are more than this share of it."""


def attributed(
    claims: Sequence[Claim], reports: Mapping[str, Sequence[Report]]
) -> tuple[Claim, ...]:
    """The claims with the works that all their quotes report; one quote of a paper's own finding is
    enough for none.

    reports: by chunk id.
    """
    return tuple(_attributed(claim, reports) for claim in claims)


def _attributed(claim: Claim, reports: Mapping[str, Sequence[Report]]) -> Claim:
    of_quotes = [
        _reported(citation, reports.get(citation.chunk_id, ())) for citation in claim.citations
    ]
    works = [work for reported in of_quotes for one in reported for work in one.works]
    return replace(claim, reported=tuple(dict.fromkeys(works)) if all(of_quotes) else ())


def _reported(citation: Citation, reports: Sequence[Report]) -> list[Report]:
    """The reporting sentences in a quote; none unless they are most of it."""
    inside = {one: min(one.end, citation.end) - max(one.start, citation.start) for one in reports}
    inside = {one: n_chars for one, n_chars in inside.items() if n_chars > 0}
    return (
        list(inside)
        if sum(inside.values()) > _REPORTED_FROM * (citation.end - citation.start)
        else []
    )
