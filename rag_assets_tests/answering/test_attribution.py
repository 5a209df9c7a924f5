"""Claims that are findings of works which the quoted paper only reports."""

from dataclasses import replace

import pytest

from rag_assets.answering.verify.verification import with_paper_facts, with_reported_works
from rag_assets.answering.wording import claim_note, worded
from rag_assets.core.domain import Citation, CitedWork, Claim, PaperFacts, ReportedFinding
from rag_assets_testing.citations import cited

LUND = CitedWork("Lund, A. Iron in winter. 2019.", "lund2019")
REPORTS = {"c1": (ReportedFinding(10, 50, (LUND,)),)}


def citation(chunk_id: str, start: int, end: int) -> Citation:
    return cited("q" * (end - start), page=2, chunk_id=chunk_id, start=start)


@pytest.mark.parametrize(
    ("citations", "reported"),
    [
        ([citation("c1", 10, 50)], (LUND,)),
        ([citation("c1", 20, 40)], (LUND,)),
        ([citation("c1", 40, 100)], ()),
        ([citation("c1", 50, 90)], ()),
        ([citation("c2", 10, 50)], ()),
        ([citation("c1", 10, 50), citation("c2", 10, 50)], ()),
    ],
)
def test_a_claim_is_reported_if_all_its_quotes_are(
    citations: list[Citation], reported: tuple[CitedWork, ...]
) -> None:
    """A quote of a paper's own finding beside it, or most of the quote, makes it a finding of the
    paper."""
    [claim] = with_reported_works([Claim("Iron falls.", tuple(citations))], REPORTS)

    assert claim.reported == reported


def test_the_answer_says_that_a_finding_is_reported_and_by_whom_it_was_made() -> None:
    [claim] = with_reported_works([Claim("Iron falls.", (citation("c1", 10, 50),))], REPORTS)

    assert worded([claim], []) == "Iron falls. [smith2020, p. 2; reported]"
    assert (
        claim_note(claim) == "reports “Lund, A. Iron in winter. 2019.” (in this corpus: lund2019)"
    )


def test_a_claim_that_cites_a_retracted_paper_says_so() -> None:
    """In the answer behind the place, so that it is clear which of two papers is meant."""
    moe = replace(citation("c2", 0, 9), paper_id="moe2020")
    facts = {
        "smith2020": PaperFacts(cited_as="Smith (2020)", is_retracted=True),
        "moe2020": PaperFacts(),
    }

    [claim] = with_paper_facts([Claim("Iron falls.", (citation("c1", 10, 50), moe))], facts)

    assert worded([claim], []) == "Iron falls. [Smith (2020), p. 2, retracted; moe2020, p. 2]"
    assert claim_note(claim) == "retracted: Smith (2020)"
    assert [one.is_retracted for one in claim.citations] == [True, False]


def test_at_most_three_reported_works_are_told_and_none_of_a_row_of_a_table() -> None:
    """A row that cites a work in each cell was followed by two screens of references."""
    works = tuple(CitedWork(f"Lund, A. Iron {n}.") for n in range(5))
    claim = Claim("Iron falls.", (citation("c1", 10, 50),), reported=works)

    assert claim_note(claim).count("Lund") == 3
    assert claim_note(replace(claim, text="Sheep: 3 | Iron: 4")) == ""
    assert worded([replace(claim, text="Sheep: 3 | Iron: 4")], []).endswith("reported]")
