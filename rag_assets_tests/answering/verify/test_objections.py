"""What is said against a claim, and what is never objected to."""

import pytest

from rag_assets.answering.verify.objections import Reason, checked_claim
from rag_assets.answering.verify.quoted_text import QuotedText

QUOTE = "The Zorblax feed raised the milk of goats in Ostia by 12%."


def reason(claim: str, quote: str = QUOTE, *, around: str = "", title: str = "") -> Reason | None:
    found = checked_claim(
        claim, [QuotedText(quote + around, 0, len(quote), title=title)], ""
    ).objection
    return found and found.reason


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ("The Zorblax feed raised the milk of goats by 15%.", Reason.NUMBER_MISSING),
        (
            "The Zorblax feed lowered the milk of goats, which decreased by 12%.",
            Reason.TURNED_ROUND,
        ),
        ("The Quimbly feed raised the milk of goats by 12%.", Reason.NAME_MISSING),
        ("Basalt cools slowly under water.", Reason.UNRELATED),
    ],
)
def test_each_error_is_told_by_its_reason(claim: str, why: Reason) -> None:
    """The model that mends a claim must be told what is wrong with it."""
    assert reason(claim) is why


def test_a_name_may_stand_around_the_quote_in_the_title_or_in_full() -> None:
    """A quote says "it" of what its paper is about."""
    claim, quote = "The Quimbly feed raised milk.", "It raised milk."

    assert reason(claim, quote) is Reason.NAME_MISSING
    assert reason(claim, quote, around=" We bought Quimbly.") is None
    assert reason(claim, quote, title="Quimbly for goats") is None
    assert (
        reason(
            "The WMO measured milk.",
            "It measured milk.",
            around=" The World Milk Organization did.",
        )
        is None
    )


def test_a_name_may_stand_in_the_question_or_among_the_authors() -> None:
    """ "Quimbly et al. fed hay" was dropped in an answer about the paper of Quimbly."""
    quote = QuotedText("They fed hay.", 0, 13, byline="Ann Quimbly, 2020")

    for claim, question in (
        ("The group of Quimbly fed hay.", ""),
        ("At Ostia, they fed hay.", "Ostia?"),
    ):
        assert checked_claim(claim, [quote], question).objection is None


@pytest.mark.parametrize(
    "claim",
    [
        "Bei Ziegen in Ostia stieg die Menge an Milch mit dem Futter um 12 %.",
        "Das Futter hat laut den Autoren die Milch der Ziegen nicht gesenkt, sondern erhöht.",
        "La leche de las cabras aumentó un 12 % con este nuevo tipo de alimento.",
    ],
)
def test_a_claim_in_another_language_is_not_doubted_for_its_words(claim: str) -> None:
    """All nouns are capitalised in German, and no word of it stands in an English quote: every
    German claim was dropped."""
    assert reason(claim) is None
    assert reason(claim.replace("12 %", "15 %")) in (None, Reason.NUMBER_MISSING)


@pytest.mark.parametrize(
    "quote", ["It may be 7 or not.", "None of the goats fell ill, perhaps.", "Hay: 3 | Milk: 4"]
)
def test_a_claim_that_is_its_own_quote_is_never_objected_to(quote: str) -> None:
    """The words of a paper carry themselves; without a model every claim is one."""
    assert reason(quote, quote) is None
