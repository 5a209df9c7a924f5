"""Keeps the claims of a draft whose places in the sources support what it says.

A citation is a place of a chunk, or words that are looked for in all that was read. The page and
the boxes are computed from the place; nothing an answerer says about them is used, and the words
published are the source's own. What cannot be verified is dropped, with the reason; what is only
doubted is published with the reason as its mark. `quote_search` looks quotes up, `objections`
checks claims against them; a second look by a model may overrule a doubt, never a contradiction
that is proven. The likeness of claim and quotes is shown only: embedding models place "raised
ferritin" near "lowered ferritin".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim, SentenceEncoder
from rag_assets.answering.verify.objections import Objection, Reason, checked_claim
from rag_assets.answering.verify.quote_search import QuotePlace, find_quote, place_at
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.core.domain import (
    FULL_SUPPORT_FROM,
    HALF_SUPPORT_FROM,
    Chunk,
    Citation,
    CitedWork,
    Claim,
    LeftOut,
    PaperFacts,
    ReportedFinding,
    SectionKind,
    Support,
    Usage,
)
from rag_assets.core.text.display import without_addresses
from rag_assets.core.text.headings import section_kinds
from rag_assets.core.text.quantities import PLAIN, quantities
from rag_assets.core.text.sentences import sentence_spans

_NO_CITATION = Objection(Reason.NO_CITATION, "no place that it cites is in the sources")
_NO_TEXT = Objection(Reason.NO_TEXT, "it says nothing")


@dataclass(frozen=True)
class ClaimOutcome:
    """The result of verification for one claim of a draft."""

    proposed: DraftClaim
    claim: Claim | None
    """The claim with its citations; None if no quote of it was found."""
    objection: Objection | None = None
    """What speaks against it; a doubt is told beside the claim."""
    n_lost: int = 0
    """Citations whose words are not in what was read."""
    quotes: tuple[QuotedText, ...] = field(default=(), repr=False)
    """The quotes of the claim that were found."""

    @property
    def holds(self) -> bool:
        """Whether the claim is published, with a mark or without."""
        if self.claim is None or self.objection is None:
            return self.claim is not None
        return not self.objection.withholds(self.claim.judged)

    @property
    def left_out(self) -> LeftOut | None:
        """The claim with the reason why it is not published, for a reader of the answer; None if it
        is published."""
        if self.objection is None or self.holds:
            return None
        quote = next((one.quote for one in self.proposed.citations), "")
        return LeftOut(without_addresses(self.proposed.text), self.objection.why, quote)


@dataclass(frozen=True)
class VerifiedClaims:
    """The outcomes of the claims of a draft, in its order."""

    outcomes: tuple[ClaimOutcome, ...] = ()

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims that are published, with a mark or without."""
        return tuple(one.claim for one in self.outcomes if one.claim is not None and one.holds)

    @property
    def candidates(self) -> tuple[ClaimOutcome, ...]:
        """The claims that a second look is taken at: those whose quotes were found."""
        return tuple(one for one in self.outcomes if one.claim is not None)

    @property
    def objected(self) -> tuple[ClaimOutcome, ...]:
        """The outcomes with an objection."""
        return tuple(one for one in self.outcomes if one.objection is not None)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The claims that are not published, with the reasons, for readers of the answer."""
        return tuple(one.left_out for one in self.outcomes if one.left_out is not None)

    @property
    def n_dropped_citations(self) -> int:
        return sum(one.n_lost for one in self.outcomes)

    def with_claims(self, claims: Sequence[Claim]) -> "VerifiedClaims":
        """The same outcomes with these claims in place of the claims of the candidates, in the same
        order."""
        new = iter(claims)
        return VerifiedClaims(
            tuple(replace(one, claim=next(new)) if one.claim else one for one in self.outcomes)
        )


def verify(
    draft: DraftAnswer,
    given: Mapping[str, Chunk],
    question: str,
    papers: Mapping[str, PaperFacts] | None = None,
) -> VerifiedClaims:
    """Keep the citations that are found in the chunks given, and the claims that these citations
    support.

    given: by id, the chunks whose contexts the answerer read, then others of their papers.
    question: a claim may repeat its numbers without a quote. papers: by id; a claim may repeat
    their titles and authors.
    """
    known = papers or {}
    studied = {id_: _population(id_, given) for id_ in {one.paper_id for one in given.values()}}
    return VerifiedClaims(
        tuple(_outcome(one, given, question, known, studied) for one in draft.claims)
    )


def _outcome(
    proposed: DraftClaim,
    given: Mapping[str, Chunk],
    question: str,
    papers: Mapping[str, PaperFacts],
    studied: Mapping[str, str],
) -> ClaimOutcome:
    """Verifies one claim of a draft; the parameters are those of `verify`. `studied` has the
    sentence on who was studied, by paper id. The outcome has no claim if the draft marks it as
    unusable, if its text is empty or if none of its quotes was found. Otherwise it has the claim
    with its citations, and the objection of the rules, if any."""
    text = proposed.text.strip()
    found = [_places(one, given) for one in proposed.citations]
    quotes = _joined([place for places in found for place in places])
    n_lost = found.count([])
    if proposed.fault:
        return ClaimOutcome(proposed, None, Objection(Reason.UNUSABLE, proposed.fault), n_lost)
    if not text or not quotes:
        return ClaimOutcome(proposed, None, _NO_CITATION if text else _NO_TEXT, n_lost)
    quoted = tuple(
        replace(
            quoted_text(chunk, place.start, place.end, papers), population=studied[chunk.paper_id]
        )
        for chunk, place in quotes
    )
    checked = checked_claim(text, quoted, question)
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
    return ClaimOutcome(proposed, claim, checked.objection, n_lost, quoted)


def _places(citation: DraftCitation, given: Mapping[str, Chunk]) -> list[tuple[Chunk, QuotePlace]]:
    """Returns the chunks and places of a citation: the place that the citation names if its words
    are there, else the places in the first chunk that has them. Empty if no chunk has them."""
    named = given.get(citation.chunk_id)
    start, quote = citation.start, citation.quote
    if named and start is not None and named.text.startswith(quote, start):
        return [(named, place_at(start, start + len(quote), named.text))]
    for chunk in (*([named] if named else []), *given.values()):
        if places := find_quote(quote, chunk.text):
            return [(chunk, place) for place in places]
    return []


def _joined(places: Sequence[tuple[Chunk, QuotePlace]]) -> list[tuple[Chunk, QuotePlace]]:
    """Returns each place once. Neighbouring places of one chunk that were found in the same way
    become one place if nothing but a blank is between them."""
    joined: list[tuple[Chunk, QuotePlace]] = []
    for chunk, place in dict.fromkeys(places):
        last, before = joined[-1] if joined else (None, place)
        if (
            last == chunk
            and before.verification is place.verification
            and before.start <= place.start
            and chunk.text[before.end : place.start] in ("", " ")
        ):
            joined[-1] = chunk, replace(before, end=max(before.end, place.end))
        else:
            joined.append((chunk, place))
    return joined


def _population(paper_id: str, given: Mapping[str, Chunk]) -> str:
    """The first sentence on methods with a count in it, in the chunks that were read of a paper:
    "We tested 48 students". Empty if there is no such sentence."""
    for chunk in given.values():
        kinds = section_kinds(chunk.section_path.split(" > "))
        if chunk.paper_id == paper_id and SectionKind.METHODS in kinds:
            for start, end in sentence_spans(chunk.text):
                counts = (one for one in quantities(chunk.text[start:end]) if not one.is_vague)
                if any(one.kind == PLAIN for one in counts):
                    return chunk.text[start:end]
    return ""


def quoted_text(chunk: Chunk, start: int, end: int, papers: Mapping[str, PaperFacts]) -> QuotedText:
    """The quoted part of a chunk, with its section, and with the title, authors and year of its
    paper if they are known."""
    facts = papers.get(chunk.paper_id, PaperFacts())
    byline = ", ".join(filter(None, (*facts.authors, facts.year)))
    return QuotedText(chunk.text, start, end, chunk.section_at(start)[1], facts.title, byline)


def with_paper_facts(
    claims: Sequence[Claim], papers: Mapping[str, PaperFacts]
) -> tuple[Claim, ...]:
    """The claims with the names and works of the papers that they cite. papers: by id."""

    def of_paper(citation: Citation) -> Citation:
        if (paper := papers.get(citation.paper_id)) is None:
            return citation
        return replace(
            citation, cited_as=paper.cited_as, work=paper.work, is_retracted=paper.is_retracted
        )

    return tuple(
        replace(claim, citations=tuple(map(of_paper, claim.citations))) for claim in claims
    )


def n_works(claims: Sequence[Claim]) -> int:
    """How many works are cited: a preprint and its published version are one source."""
    return len({one.work or one.paper_id for claim in claims for one in claim.citations})


def sources_of(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Distinct papers cited, in order of first citation."""
    return tuple(
        dict.fromkeys(citation.paper_id for claim in claims for citation in claim.citations)
    )


_N_DECIMALS = 4
"""Further ones differ between machines."""
_NOT_SUPPORTED = "a model that compared it with its quotes found that they do not carry it"
_IN_PART = "a model that compared it with its quotes found that they carry a part of it"
_QUOTED = Support(score=None)


@dataclass(frozen=True)
class Scoring:
    """Scores of the claims of one draft."""

    supports: tuple[Support, ...] = ()
    """One per candidate, in order; `why` is the reason of the second look."""
    corrected: tuple[str, ...] = ()
    """For each candidate the statement that its quotes carry, by the second look, or an empty text;
    empty without a second look."""
    is_own: bool = False
    """The model that wrote the claims took the second look."""
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


def with_verdicts(verified: VerifiedClaims, scoring: Scoring, question: str) -> VerifiedClaims:
    """The claims as they are published after the second look.

    A claim that its quotes carry in part is replaced by the sentence that the second look wrote, if
    the rules find nothing against that sentence; else the claim is marked. A proven contradiction
    stays, and gets the reason of the second look too. A doubt is removed by a model that did not
    write the claim.
    """
    corrected = scoring.corrected or ("",) * len(scoring.supports)
    verdicts = zip(scoring.supports, corrected, strict=True)
    return VerifiedClaims(
        tuple(
            _judged(one, one.claim, *next(verdicts), question, is_own=scoring.is_own)
            if one.claim
            else one
            for one in verified.outcomes
        )
    )


def _judged(
    outcome: ClaimOutcome,
    claim: Claim,
    support: Support,
    corrected: str,
    question: str,
    *,
    is_own: bool,
) -> ClaimOutcome:
    """Returns the outcome of a claim after the second look.

    A claim that its quotes carry only in part is replaced by `corrected`, if there is such a
    sentence and the rules do not object to it. A proven objection stays, and without a verdict a
    contradicted number. A claim that the quotes do
    not carry is withheld. Every other claim is published; the mark beside it, if any, is the reason
    of the second look or the doubt of the rules. `is_own` means that the model which wrote the
    claim judged it: it cannot remove the mark of a doubt. `claim` is the claim of the outcome,
    which is not None here.
    """
    objection, judged, why = outcome.objection, support.judged, support.why
    is_partial = judged is not None and HALF_SUPPORT_FROM <= judged < FULL_SUPPORT_FROM
    if is_partial and corrected and corrected != claim.text:
        checked = checked_claim(corrected, outcome.quotes, question)
        if checked.objection is None:
            mended = replace(support, judged=1.0, why="", written=claim.text)
            claim = replace(claim, text=corrected, computed=checked.computed, support=mended)
            return replace(outcome, claim=claim, objection=None)
    if objection is not None and objection.withholds(judged):
        told = f"{objection.why}; the judge: {why}" if why else objection.why
        return replace(outcome, objection=replace(objection, why=told))
    if judged is not None and judged < HALF_SUPPORT_FROM:
        return replace(outcome, objection=Objection(Reason.NOT_SUPPORTED, why or _NOT_SUPPORTED))
    doubt = objection.why if objection else ""
    if judged is None:
        mark = why or doubt
    elif is_partial:
        mark, objection = why or doubt or _IN_PART, None
    else:
        mark, objection = doubt if is_own else "", None
    claim = replace(claim, support=replace(support, why=mark))
    return replace(outcome, claim=claim, objection=objection)


class EmbeddedSupport:
    """Scores claims by an embedding model; calls no language model."""

    identity = "none"

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder

    def scores(self, verified: VerifiedClaims, _question: str) -> Scoring:
        """Scores each claim by its likeness to its quotes. A claim that is itself a quote has no
        score. No model takes a second look, so the question is not used."""
        claims = [one.claim for one in verified.candidates if one.claim is not None]
        found = iter(self._similarities([claim for claim in claims if not claim.is_quote]))
        return Scoring(
            tuple(
                _QUOTED if one.is_quote else Support(round(next(found), _N_DECIMALS))
                for one in claims
            )
        )

    def _similarities(self, claims: Sequence[Claim]) -> list[float]:
        """The likeness (0-1) of each claim to the most similar of its quotes and their sentences.
        Every different text is embedded once, in one call."""
        texts = []
        for claim in claims:
            quotes = [citation.quote for citation in claim.citations]
            sentences = [quote[a:b] for quote in quotes for a, b in sentence_spans(quote)]
            texts.append([claim.text, *quotes, *sentences])
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


_REPORTED_FROM = 0.5
"""A quote is a report if the sentences that report are more than this share of it."""


def with_reported_works(
    claims: Sequence[Claim], reports: Mapping[str, Sequence[ReportedFinding]]
) -> tuple[Claim, ...]:
    """The claims, each with the works that its quotes report. If one quote of a claim is a finding
    of the citing paper itself, the claim has no such works.

    reports: by chunk id.
    """

    def with_works(claim: Claim) -> Claim:
        """Returns the claim with the works that its quotes report, each once. The result has no
        works if at most half of one citation is within reports: there the paper writes about its
        own findings."""
        works: list[CitedWork] = []
        for citation in claim.citations:
            n_reported = 0
            for report in reports.get(citation.chunk_id, ()):
                n_chars = min(report.end, citation.end) - max(report.start, citation.start)
                if n_chars > 0:
                    n_reported += n_chars
                    works += report.works
            if n_reported <= _REPORTED_FROM * (citation.end - citation.start):
                return replace(claim, reported=())
        return replace(claim, reported=tuple(dict.fromkeys(works)))

    return tuple(map(with_works, claims))
