"""How well the quotes of a claim carry it."""

import pytest

from rag_assets.answering.drafts import DraftClaim
from rag_assets.answering.verify.objections import Objection, Reason
from rag_assets.answering.verify.verification import (
    ClaimOutcome,
    EmbeddedSupport,
    Scoring,
    VerifiedClaims,
    with_verdicts,
)
from rag_assets.core.domain import Claim, Support
from rag_assets_testing.citations import cited
from rag_assets_tests.answering.builders import WordEncoder

QUOTE = (
    "Ferritin fell by 12% in all groups. SciBERT was not used, and COVID-19 played no part at all."
)


def claim(text: str, *quotes: str) -> Claim:
    return Claim(
        text,
        tuple(cited(quote) for quote in quotes or (QUOTE,)),
    )


def verified(*claims: Claim) -> VerifiedClaims:
    return VerifiedClaims(tuple(ClaimOutcome(DraftClaim(one.text, ()), one) for one in claims))


def support(text: str) -> Support:
    [one] = EmbeddedSupport(WordEncoder()).scores(verified(claim(text)), "").supports
    return one


def test_a_claim_is_compared_with_the_nearest_sentence_of_its_quotes() -> None:
    """A long quote says many things, one of which carries the claim."""
    near, far = (
        support("Ferritin fell by 12% in all groups."),
        support("Basalt cools slowly under water."),
    )

    assert near.score == pytest.approx(1.0)
    assert far.score is not None
    assert far.score < 0.3


def test_a_sentence_of_the_paper_gets_no_score_for_being_its_own_quote() -> None:
    """It would be 1 for every answer without a model, beside which a model's claims look badly
    supported."""
    claims = verified(claim(QUOTE), claim("Ferritin fell by 12%."))
    quoted, written = EmbeddedSupport(WordEncoder()).scores(claims, "").supports

    assert quoted == Support(score=None)
    assert written.score is not None


def test_a_claim_that_the_second_look_does_not_find_supported_is_objected_to_in_its_words() -> None:
    """Published with a low figure, it would be read like any other; and the model that mends it
    must know why."""
    claims = verified(*(claim(f"Ferritin fell in {place}.") for place in ("Rome", "Bern")))
    supports = Support(None, 1.0), Support(None, 0.0, "Bern is not named")

    looked = with_verdicts(claims, Scoring(supports), "")

    assert [one.text for one in looked.claims] == ["Ferritin fell in Rome."]
    assert [one.objection for one in looked.objected] == [
        Objection(Reason.NOT_SUPPORTED, "Bern is not named")
    ]
