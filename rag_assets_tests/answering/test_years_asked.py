"""A year in a question is a condition: which sentences, rows and claims are of it."""

from dataclasses import replace

import pytest

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.verify.objections import Reason
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.verification import verify
from rag_assets.answering.verify.years import are_in, asked_years, years_of
from rag_assets.core.domain import PaperFacts
from rag_assets_tests.answering.builders import chunk, context, drafted

TITLE = "Kettle Works: annual report 2020"
HEADLINE = "Net sales of the kettle works were 48.2 million euros."
GROWTH = "Net sales were 48.2 million euros, up from 45.1 million euros in 2019."
TABLE = "Kettles sold.\nMarket: Sweden | 2020: 86 | 2019: 91\n2018 | Kettles: 70 | Pots: 12"


@pytest.mark.parametrize(
    ("text", "quote", "title", "year", "is_asked"),
    [
        (HEADLINE, HEADLINE, TITLE, 2020, True),
        (HEADLINE, HEADLINE, TITLE, 2023, False),
        (HEADLINE, HEADLINE, "Kettle Works", 2023, None),
        (GROWTH, GROWTH, TITLE, 2020, True),
        (GROWTH, GROWTH, TITLE, 2019, True),
        (GROWTH, GROWTH, "Kettle Works", 2020, None),
        (
            "In 2018 net sales were 40 million.",
            "In 2018 net sales were 40 million.",
            TITLE,
            2020,
            False,
        ),
        (
            "Sales rise to 50 or 53 million in 2021.",
            "Sales rise to 50 or 53 million in 2021.",
            TITLE,
            2020,
            False,
        ),
        (f"In FY2020 we grew. {HEADLINE}", HEADLINE, "Kettle Works", 2020, True),
        (
            "Colds last 7 days (Smith et al., 2009).",
            "Colds last 7 days (Smith et al., 2009).",
            "",
            2015,
            None,
        ),
        (TABLE, TABLE.split("\n")[1], TITLE, 2019, True),
        (TABLE, TABLE.split("\n")[1], TITLE, 2018, False),
        (TABLE, TABLE.split("\n")[2], TITLE, 2018, True),
        (TABLE, TABLE.split("\n")[2], TITLE, 2020, False),
    ],
)
def test_the_nearest_place_that_names_a_year_tells_of_which_year_a_quote_is(
    text: str, quote: str, title: str, year: int, is_asked: bool | None
) -> None:
    """The figure of another year is a false number with an exact quote."""
    start, asked = text.index(quote), asked_years(f"What were sales in {year}?")

    years = years_of(QuotedText(text, start, start + len(quote), title=title), asked)

    assert (are_in(asked, years) if years else None) is is_asked


def test_the_year_of_a_paper_that_is_named_is_no_condition() -> None:
    """A paper of 2009 says in none of its sentences that it is one."""
    assert asked_years("What did the 2009 study of colds find?") == ()


def test_the_figure_of_the_reports_year_answers_and_that_of_another_year_is_told_by_its_year() -> (
    None
):
    """ "Net sales in 2023" of a report for 2020 gave the figure of 2020 without a word, and "in
    2020" found none."""
    bond = "The bond of 15 million euros matures in 2023."
    report = replace(context(chunk("kettles", f"{HEADLINE} {bond}")), paper=PaperFacts(title=TITLE))
    asked = {
        year: drafted(
            f"What were the net sales of the kettle works in {year}?", report, min_sources=2
        )
        for year in (2020, 2023)
    }

    assert [claim.text.startswith(HEADLINE) for claim in asked[2020].claims] == [True]
    assert asked[2020].missing_names == ()
    assert asked[2023].claims == ()
    assert asked[2023].unanswered == (
        "What was found is of 2020, not of the year that is asked for.",
    )


def test_a_figure_without_a_year_is_not_told_as_one_of_another_papers_year() -> None:
    """The reader was sent to a year of another paper for a figure that has none."""
    papers = {"north": "Trade of the north", "south": "Report of the south 2020"}
    found = [
        replace(context(chunk(paper, HEADLINE)), paper=PaperFacts(title=title))
        for paper, title in papers.items()
    ]
    draft = drafted("What were the net sales of the kettle works in 2023?", *found, min_sources=2)

    assert draft.unanswered == (
        "What was found is of 2020 and a year that is not told, not of the year that is asked for.",
    )


@pytest.mark.parametrize(
    ("claim", "is_kept"),
    [
        ("Net sales were 48.2 million euros in 2023.", False),
        ("Net sales were 48.2 million euros.", False),
        ("Net sales were 48.2 million euros in 2020.", True),
    ],
)
def test_a_models_claim_says_its_number_of_no_other_year_than_its_quotes(
    claim: str, is_kept: bool
) -> None:
    """A year of the question may stand in a claim; it must not become the year of a number."""
    source = chunk("kettles", HEADLINE)
    draft = DraftAnswer((DraftClaim(claim, (DraftCitation(source.chunk_id, HEADLINE),)),))

    found = verify(
        draft,
        {source.chunk_id: source},
        "What were net sales in 2023?",
        {"kettles": PaperFacts(TITLE)},
    )

    assert bool(found.claims) is is_kept
    assert is_kept or [one.objection.reason for one in found.objected if one.objection] == [
        Reason.OTHER_YEAR
    ]
