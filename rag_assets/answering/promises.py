"""What must hold of every answer before it is seen. What breaks a promise costs one claim or one
answer, no other.

The promises do not rely on the code that made the answers: quotes and pages are looked up again in
the published chunks, and claims are compared with them by the same rules, in the same text around
the quotes, as in verification. Promises about the run are in `update`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag_assets.answering.drafts import NOT_READ, REFUSAL
from rag_assets.answering.verify.objections import checked_claim
from rag_assets.answering.verify.quote_search import is_evidence
from rag_assets.answering.verify.verification import n_works, quoted_text, sources_of
from rag_assets.answering.wording import answer_of
from rag_assets.core.domain import Chunk, Claim, LeftOut, PaperFacts, Place, QAResult
from rag_assets.core.promises import Promise

_MAX_QUOTE_CHARS = 200


@dataclass(frozen=True)
class PublishedCorpus:
    """What an answer is held against."""

    chunks: Mapping[str, Chunk]
    """The published chunks by id; those that are cited are enough."""
    papers: Mapping[str, PaperFacts]
    """The papers that are cited, by id."""
    min_sources: int
    """The setting answering.min_sources."""


def promised(result: QAResult, asked: str, published: PublishedCorpus) -> QAResult:
    """The answer as it may be seen: without the claims that break a promise, which `left_out`
    tells; withheld where no claim is left, or where the answer as a whole breaks one.

    asked: the question, and the parts of it that were asked by themselves: a claim may repeat their
    numbers.
    """
    if result.withheld:
        return result
    found = {claim: broken(claim, asked, published) for claim in (*result.claims, *result.nearest)}
    left_out = tuple(one for one in found.values() if one)
    claims = tuple(claim for claim in result.claims if not found[claim])
    if not left_out and (why := _against_source_rule(result, published.min_sources)):
        claims, left_out = (), (LeftOut(result.answer, why, promise=_ENOUGH_SOURCES),)
    if not left_out:
        return result
    is_withheld = not claims and (bool(result.claims) or left_out[0].promise == _ENOUGH_SOURCES)
    rest = replace(
        result,
        claims=claims,
        refused=not claims and not is_withheld,
        withheld=is_withheld,
        single_source=bool(claims) and n_works(claims) < published.min_sources,
        sources_used=sources_of(claims),
        nearest=tuple(claim for claim in result.nearest if not found[claim]),
        left_out=(*result.left_out, *left_out),
        lead=(),
    )
    return replace(rest, answer=answer_of(rest))


def broken(claim: Claim, asked: str, published: PublishedCorpus) -> LeftOut | None:
    """The first promise that a claim breaks, as a reader is told of it."""
    for name, why in _breaches(claim, asked, published):
        quote = next((one.quote for one in claim.citations), "")
        return LeftOut(claim.text, why, quote, name)
    return None


def _breaches(claim: Claim, asked: str, published: PublishedCorpus) -> Iterator[tuple[str, str]]:
    """The names of broken promises, and why. What follows a breach relies on the promise that was
    broken, so only the first one counts."""
    if not claim.citations:
        yield "claims_cited", "it has no quote"
    # Whatever a model wrote, the published quote is the source's own words: this holds for
    # approximate quotes too.
    for citation in claim.citations:
        chunk = published.chunks.get(citation.chunk_id)
        if (
            chunk is None
            or chunk.paper_id != citation.paper_id
            or citation.quote != chunk.text[citation.start : citation.end]
            or not is_evidence(citation.quote, chunk.text)
        ):
            quote = citation.quote[:_MAX_QUOTE_CHARS]
            yield "quotes_in_source", f'"{quote}" does not stand in the text that it cites'
    for citation in claim.citations:
        chunk = published.chunks[citation.chunk_id]
        if _pages(citation) != _pages(Place.within(chunk, citation.start, citation.end)):
            pages = f"page {citation.page_start} to {citation.page_end}"
            yield "pages_hold_quotes", f"it names {pages}, which its quote does not stand on"
    # A model that looked at the claim may have overruled a doubt.
    quotes = [
        quoted_text(published.chunks[one.chunk_id], one.start, one.end, published.papers)
        for one in claim.citations
    ]
    objection = checked_claim(claim.text, quotes, asked).objection
    if objection and objection.withholds(claim.judged):
        yield "numbers_agree", objection.why


def _pages(place: Place) -> tuple[int | None, int | None, str | None]:
    return place.page_start, place.page_end, place.page_label


def _against_source_rule(result: QAResult, min_sources: int) -> str:
    if result.refused:
        is_kept = result.answer in (REFUSAL, NOT_READ) and not result.claims
        return "" if is_kept else "it refuses in other words than the fixed sentence"
    n_sources = n_works(result.claims)
    if n_sources and (n_sources >= min_sources or result.single_source):
        return ""
    return f"it does not say that {n_sources} papers support it"


_ENOUGH_SOURCES = "enough_sources"


@dataclass(frozen=True)
class AnswersCandidate:
    """Answers that wait for publication; what breaks a promise was left out of them."""

    results: Sequence[QAResult]


def _kept(name: str, sentence: str) -> Promise[AnswersCandidate]:
    """The promise that warns of what was left out for breaking the promise of that name."""

    def left_out(candidate: AnswersCandidate) -> list[dict[str, Any]]:
        return [
            {
                "question_id": result.question_id,
                "answer": "withheld" if result.withheld else "published without it",
                "claim": one.claim,
                "why": one.why,
                "quote": one.quote[:_MAX_QUOTE_CHARS],
            }
            for result in candidate.results
            for one in result.left_out
            if one.promise == name
        ]

    return Promise(name, sentence, left_out, "warning")


def _too_many_withheld(candidate: AnswersCandidate) -> list[dict[str, Any]]:
    """The answers that were withheld, if they are several and more than half."""
    withheld = [result for result in candidate.results if result.withheld]
    if len(withheld) < 2 or 2 * len(withheld) <= len(candidate.results):
        return []
    return [
        {"question_id": one.question_id, "question": one.question, "why": one.left_out[-1].why}
        for one in withheld
    ]


ANSWER_PROMISES: list[Promise[AnswersCandidate]] = [
    _kept("claims_cited", "Every claim has a citation. What has none is left out of its answer."),
    _kept(
        "quotes_in_source",
        "Every quote stands in the published chunk it cites. A claim with another quote is left out of its answer.",
    ),
    _kept(
        "pages_hold_quotes",
        "The cited pages are those of the text the quote stands in. A claim with others is left out of its answer.",
    ),
    _kept(
        "numbers_agree",
        "Every number of a claim stands in its quotes or around them, in the row and column that it names, or follows "
        "from them. A claim with another one is left out of its answer.",
    ),
    _kept(
        _ENOUGH_SOURCES,
        "An answer cites answering.min_sources papers or says that fewer support it; a refusal is the fixed sentence. "
        "Any other answer is withheld.",
    ),
    Promise(
        "few_withheld",
        "Of several answers, at most half are withheld. If more are, the fault is in the index or the code, and the "
        "earlier answers stay: run again, and report what is listed.",
        _too_many_withheld,
    ),
]
