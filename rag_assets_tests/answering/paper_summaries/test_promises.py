"""What forbids that summaries of papers are published, found in summaries that were made wrong on purpose."""

from dataclasses import replace

import pytest

from rag_assets.answering.paper_summaries import PAPER_SUMMARY_PROMISES, PaperSummariesCandidate
from rag_assets.core.domain import Chunk, Citation, Claim, PaperPoint, Point, Verification
from rag_assets.core.tables import CHUNKS, PAPER_SUMMARIES, chunk_row, paper_point_row, to_table
from rag_assets_tests.answering.paper_summaries.test_update import paper

IRON, STEEL = paper("iron"), paper("steel")


@pytest.fixture
def points() -> list[PaperPoint]:
    return [
        PaperPoint(own[0].paper_id, point, (_claim(own[0], "We found that winter takes 12% of it."),), "m")
        for own in (IRON, STEEL)
        for point in Point
    ]


def _claim(of: Chunk, quote: str) -> Claim:
    start = of.text.index(quote)
    cited = Citation(
        of.paper_id,
        of.chunk_id,
        of.page_start,
        of.page_end,
        quote=quote,
        start=start,
        end=start + len(quote),
        boxes=(),
        verification=Verification.EXACT,
    )
    return Claim(quote, (cited,))


def broken(points: list[PaperPoint], left: dict[str, str] | None = None) -> set[str]:
    chunks = [*IRON, *STEEL]
    candidate = PaperSummariesCandidate(
        to_table([paper_point_row(told, "f") for told in points], PAPER_SUMMARIES),
        points,
        to_table([chunk_row(one) for one in chunks], CHUNKS).select(["paper_id", "chunk_id"]),
        {one.chunk_id: one for one in chunks},
        left or {},
    )
    return {one.name for one in PAPER_SUMMARY_PROMISES if one.offenders(candidate)}


def changed(points: list[PaperPoint], claim: Claim) -> list[PaperPoint]:
    """The summaries with another claim in the place of the first."""
    first, *others = points
    return [replace(first, claims=(claim,)), *others]


def test_summaries_as_they_are_made_keep_their_promises(points: list[PaperPoint]) -> None:
    """A guardrail that is always red is switched off."""
    assert broken(points) == set()


def test_a_missing_a_double_and_an_orphaned_point_are_found(points: list[PaperPoint]) -> None:
    """A page that shows three points of four looks as if the paper named no limits."""
    assert broken(points[1:]) == {"four_points"}
    assert broken([*points, points[0]]) == {"four_points"}
    assert broken([*points, *(PaperPoint("gone", point, (), "m") for point in Point)]) == {"four_points"}


def test_a_paper_that_was_left_is_told_and_not_missed(points: list[PaperPoint]) -> None:
    """One paper that a model refuses would withhold the summaries of all others."""
    of_iron = [told for told in points if told.paper_id == "iron"]

    assert broken(of_iron, {"steel": "The budget is spent."}) == {"all_summarised"}


def test_a_quote_that_stands_elsewhere_is_found(points: list[PaperPoint]) -> None:
    """It would be opened in the paper and not be there."""
    (claim,) = points[0].claims
    (cited,) = claim.citations
    (other,) = points[4].claims

    assert broken(changed(points, replace(claim, citations=(replace(cited, quote="Spring takes 12% of it."),)))) == {
        "quotes_in_source"
    }
    assert broken(changed(points, replace(claim, citations=(replace(cited, page_start=7, page_end=7),)))) == {
        "pages_hold_quotes"
    }
    assert "of_their_papers" in broken(changed(points, other))
    assert "of_their_papers" in broken(changed(points, replace(claim, citations=(replace(cited, chunk_id="x"),))))


def test_a_claim_without_a_quote_or_against_its_numbers_is_found(points: list[PaperPoint]) -> None:
    """A model's own words would pass as the paper's."""
    found = next(told for told in points if told.point is Point.FOUND)
    (claim,) = found.claims
    others = [told for told in points if told is not found]

    def with_claim(other: Claim) -> set[str]:
        return broken([replace(found, claims=(other,)), *others])

    assert with_claim(replace(claim, citations=())) == {"claims_cited"}
    assert with_claim(replace(claim, text="We found that winter takes 48% of it.")) == {"numbers_agree"}
