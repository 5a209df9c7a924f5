"""Guardrails of answers, checked before one or all of them are published.

They do not rely on the code that made the answers: quotes and pages are looked up again in the published chunks.
Promises about the run are in `update`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.answering.drafts import NOT_READ, REFUSAL
from rag_assets.answering.verify.claim_numbers import check_numbers
from rag_assets.answering.verify.misplaced_numbers import misplaced_numbers
from rag_assets.answering.verify.quote_search import is_evidence
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.verification import n_works, quoted_text, sources_of
from rag_assets.core.domain import Chunk, Citation, Claim, QAResult, page_label, span_at
from rag_assets.core.promises import Promise

Offender = dict[str, Any]


@dataclass(frozen=True)
class AnswersCandidate:
    """Answers that wait for publication, and what they are held against."""

    results: Sequence[QAResult]
    chunks: Mapping[str, Chunk]
    """The published chunks by id; those that are cited are enough."""
    min_sources: int
    """The setting answering.min_sources."""


def uncited_claims(results: Sequence[QAResult]) -> list[Offender]:
    return [
        {"question_id": result.question_id, "claim": claim.text}
        for result in results
        for claim in (*result.claims, *result.nearest)
        if not claim.citations
    ]


def quotes_not_in_source(results: Sequence[QAResult], chunks: Mapping[str, Chunk]) -> list[Offender]:
    """Citations whose chunk does not exist, belongs to another paper, or does not hold the quote where they say.

    Whatever a model wrote, the quote published is the source's own words: this holds for approximate quotes too.
    """
    return [
        _offender(result, citation)
        for result, citation in _citations(results)
        if (chunk := chunks.get(citation.chunk_id)) is None
        or chunk.paper_id != citation.paper_id
        or citation.quote != chunk.text[citation.start : citation.end]
        or not is_evidence(citation.quote, chunk.text)
    ]


def claims_with_other_numbers(results: Sequence[QAResult], chunks: Mapping[str, Chunk]) -> list[Offender]:
    """Claims with a number that is neither in their quotes nor follows from them, or belongs to another row or column.
    If the chunk of a quote does not exist, the quote alone is used."""
    return [
        {"question_id": result.question_id, "claim": claim.text, "numbers": numbers}
        for result in results
        for claim in result.claims
        if not claim.is_quote and (numbers := _other_numbers(claim, result.question, chunks))
    ]


def _other_numbers(claim: Claim, question: str, chunks: Mapping[str, Chunk]) -> list[str]:
    quotes = [_quoted(citation, chunks) for citation in claim.citations]
    rows = [some for quote in quotes for some in quote.rows]
    return [*check_numbers(claim.text, quotes, question).missing, *misplaced_numbers(claim.text, rows)]


def pages_not_holding_quote(results: Sequence[QAResult], chunks: Mapping[str, Chunk]) -> list[Offender]:
    """Citations that name pages other than those of the text their quote stands in."""
    return [
        _offender(result, citation) | {"page_start": citation.page_start, "page_end": citation.page_end}
        for result, citation in _citations(results)
        if (citation.page_start, citation.page_end, citation.page_label) != _pages(citation, chunks)
    ]


def too_few_sources(results: Sequence[QAResult], *, min_sources: int) -> list[Offender]:
    """Answers from too few papers that do not say so, and refusals without the fixed sentence."""
    return [
        {"question_id": result.question_id, "sources": list(sources_of(result.claims)), "refused": result.refused}
        for result in results
        if not _keeps_source_rule(result, min_sources)
    ]


def _keeps_source_rule(result: QAResult, min_sources: int) -> bool:
    if result.refused:
        return result.answer in (REFUSAL, NOT_READ) and not result.claims
    n_sources = n_works(result.claims)
    return n_sources >= min_sources or (result.single_source and n_sources >= 1)


def _pages(citation: Citation, chunks: Mapping[str, Chunk]) -> tuple[int | None, int | None, str | None] | None:
    """First and last page of the place of a quote, and their label; None when its chunk does not exist."""
    chunk = chunks.get(citation.chunk_id)
    if chunk is None:
        return None
    first, last = span_at(chunk.spans, citation.start), span_at(chunk.spans, citation.end - 1)
    return (
        first.page_start if first else None,
        last.page_end if last else None,
        page_label(first, last) if first and last else None,
    )


def _quoted(citation: Citation, chunks: Mapping[str, Chunk]) -> QuotedText:
    """The quote in its chunk, because a row of a table has a meaning only with its caption and header."""
    chunk = chunks.get(citation.chunk_id)
    if chunk is None or chunk.text[citation.start : citation.end] != citation.quote:
        return QuotedText(citation.quote, 0, len(citation.quote))
    return quoted_text(chunk, citation.start, citation.end, {})


def _citations(results: Sequence[QAResult]) -> Iterator[tuple[QAResult, Citation]]:
    for result in results:
        for claim in (*result.claims, *result.nearest):
            for citation in claim.citations:
                yield result, citation


def _offender(result: QAResult, citation: Citation) -> Offender:
    return {
        "question_id": result.question_id,
        "paper_id": citation.paper_id,
        "chunk_id": citation.chunk_id,
        "quote": citation.quote[:200],
    }


ANSWER_PROMISES: list[Promise[AnswersCandidate]] = [
    Promise("claims_cited", "Every claim has a citation.", lambda candidate: uncited_claims(candidate.results)),
    Promise(
        "quotes_in_source",
        "Every quote stands in the published chunk it cites. If not, the chunks changed under the answers: run again.",
        lambda candidate: quotes_not_in_source(candidate.results, candidate.chunks),
    ),
    Promise(
        "pages_hold_quotes",
        "The cited pages are those of the text the quote stands in.",
        lambda candidate: pages_not_holding_quote(candidate.results, candidate.chunks),
    ),
    Promise(
        "numbers_agree",
        "Every number of a claim stands in its quotes, in the row and column that it names, or follows from them.",
        lambda candidate: claims_with_other_numbers(candidate.results, candidate.chunks),
    ),
    Promise(
        "enough_sources",
        "An answer cites answering.min_sources papers or says that fewer support it; a refusal is the fixed sentence.",
        lambda candidate: too_few_sources(candidate.results, min_sources=candidate.min_sources),
    ),
]
