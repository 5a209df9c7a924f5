"""Whose finding a claim tells: the quoted paper's own, or that of the works which the quoted
sentences report."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag_assets.core.domain import Citation, Claim, Report

_MOST = 0.5
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
    return list(inside) if sum(inside.values()) > _MOST * (citation.end - citation.start) else []
