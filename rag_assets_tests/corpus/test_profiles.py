"""What identifies a paper, made from its blocks."""

import pytest

from rag_assets.core.domain import Block, BlockKind, Span
from rag_assets.core.promises import check_all, nothing_withholds
from rag_assets.corpus.each_paper import EachPaperCandidate
from rag_assets.corpus.profiles import (
    PROFILE_PROMISES,
    profile_of,
)


def on_page(text: str, page: int) -> Block:
    return Block(BlockKind.PARAGRAPH, text, spans=(Span(0, len(text), page, page),))


def test_a_profile_has_the_words_of_file_title_and_first_page() -> None:
    """The title of a report is often that of its form: company and year stand elsewhere."""
    blocks = [
        on_page("Amcor plc, quarter ended in December", 1),
        on_page("Zirconium is on page two.", 2),
    ]

    profile = profile_of("filings/AMCOR_2023Q2_10Q", "UNITED STATES", blocks)

    assert profile.file_words == ("amcor", "2023q2", "2023", "10q")
    assert {"united", "states", "plc", "december"} <= set(profile.page_words)
    assert "zirconium" not in profile.page_words
    assert profile.periods == ("2023", "q2")


@pytest.mark.parametrize(
    ("paper_id", "title", "page", "periods"),
    [
        ("report_2019", "Results of 2018", "printed in 2020", ("2019",)),
        ("report", "Results of the second quarter of 2018", "printed in 2020", ("2018", "q2")),
        ("report", "Results", "for the fiscal year 2020", ("2020",)),
        ("report", "Results", "for the year", ()),
    ],
)
def test_the_period_is_that_of_the_first_place_that_states_one(
    paper_id: str, title: str, page: str, periods: tuple[str, ...]
) -> None:
    """A first page names many years; the file's name names the one the report is about."""
    assert profile_of(paper_id, title, [on_page(page, 1)]).periods == periods


def test_a_missing_or_surplus_profile_withholds_the_table() -> None:
    """A paper without a profile is found by no name, and nothing would say so."""
    checked, _ = check_all(PROFILE_PROMISES, EachPaperCandidate(["a", "b", "b"], ["b", "c"]))

    assert not nothing_withholds([checked])
    assert checked.offenders == [
        {"paper_id": "a", "n_rows": 1, "has_text": False},
        {"paper_id": "b", "n_rows": 2, "has_text": True},
        {"paper_id": "c", "n_rows": 0, "has_text": True},
    ]
