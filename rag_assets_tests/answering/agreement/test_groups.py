"""Which quotes of an answer are set side by side."""

from rag_assets.answering.agreement import MAX_QUOTES, agreement
from rag_assets.domain import Agreement, Citation, Claim, Relation, Verification

FELL = "Ferritin of trained runners fell by 12% after the season."
FELL_TOO = "After the season, ferritin of trained runners fell by 12.1%."
ROSE = "Ferritin of trained runners rose by 30% after the season."


def claim(*quotes: tuple[str, str], text: str = "As quoted.", is_generated: bool = False) -> Claim:
    """A claim that rests on quotes, each (paper, quote)."""
    return Claim(
        text,
        tuple(
            Citation(paper, f"{paper}:1", 1, 1, quote, (), Verification.EXACT, is_generated, start=0, end=len(quote))
            for paper, quote in quotes
        ),
    )


def said(group: Agreement) -> dict[str, list[str]]:
    """The papers on each side."""
    sides = {"for": group.supporting, "against": group.contradicting, "other": group.different}
    return {side: [quote.citation.paper_id for quote in quotes] for side, quotes in sides.items() if quotes}


def test_who_supports_and_who_contradicts_stand_in_one_group() -> None:
    """The reader would have to find out which of three papers are on one side."""
    claims = [claim(("smith", FELL)), claim(("jones", ROSE)), claim(("chen", FELL_TOO))]

    (group,) = agreement(claims)

    assert group.relation is Relation.CONTRADICT
    assert said(group) == {"for": ["smith", "chen"], "against": ["jones"]}
    assert [quote.claim for quote in group.quotes] == [1, 3, 2]
    assert group.about == "Ferritin trained runners season"
    assert all(quote.citation in claims[quote.claim - 1].citations for quote in group.quotes)


def test_quotes_of_one_paper_are_not_compared() -> None:
    """A paper that reports two seasons does not contradict itself, and does not support itself either."""
    assert agreement([claim(("smith", FELL)), claim(("smith", ROSE)), claim(("smith", FELL_TOO))]) == ()


def test_what_a_model_wrote_about_a_quote_decides_nothing() -> None:
    """A model that says that papers disagree would be believed."""
    told = "Ferritin rose after the season, which contradicts the other papers."

    (group,) = agreement([claim(("smith", FELL), text=told), claim(("jones", FELL_TOO))])

    assert group.relation is Relation.AGREE


def test_two_papers_behind_one_claim_are_compared_too() -> None:
    """A model may rest one claim on quotes that exclude each other."""
    (group,) = agreement([claim(("smith", FELL), ("jones", ROSE))])

    assert group.relation is Relation.CONTRADICT
    assert [quote.claim for quote in group.quotes] == [1, 1]


def test_a_contradiction_is_grouped_before_figures_that_merely_differ() -> None:
    """Each quote is in one group: the more telling one would be lost."""
    women = "Ferritin of trained female runners rose by 30% after the season."
    claims = [
        claim(("chen", women)),
        claim(("smith", "Ferritin of trained male runners fell by 12% after the season.")),
    ]

    (group,) = agreement(claims)
    assert group.relation is Relation.DIFFERENT

    group, *_ = agreement([*claims, claim(("jones", "Ferritin of trained male runners rose by 30% after the season."))])
    assert group.relation is not Relation.DIFFERENT


def test_descriptions_that_a_model_wrote_are_not_compared() -> None:
    """A figure's description by a model is no finding of the authors."""
    described = claim(("jones", ROSE))
    (citation,) = described.citations
    generated = Citation(
        citation.paper_id, citation.chunk_id, 1, 1, ROSE, (), Verification.EXACT, True, start=0, end=len(ROSE)
    )

    assert agreement([claim(("smith", FELL)), Claim("As quoted.", (generated,))]) == ()
    assert agreement([claim(("smith", FELL)), described]) != ()


def test_thousands_of_claims_are_compared_up_to_a_bound() -> None:
    """Each quote with each takes quadratic time; an answer would hang the server."""
    claims = [claim((f"paper{n}", f"Ferritin of trained runners fell by {n}% after the season.")) for n in range(5_000)]

    groups = agreement(claims)

    assert sum(len(group.quotes) for group in groups) == MAX_QUOTES
    assert max(quote.claim for group in groups for quote in group.quotes) == MAX_QUOTES


def test_a_very_long_quote_is_left_out() -> None:
    """It states too many things for one of them to be compared, and reading it takes long."""
    assert agreement([claim(("smith", FELL)), claim(("jones", f"{ROSE} " * 100))]) == ()
