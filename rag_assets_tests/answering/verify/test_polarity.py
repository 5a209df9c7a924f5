"""Claims that turn their quotes round, or are surer than they are."""

import pytest

from rag_assets.answering.verify.polarity import is_surer, turned_round


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Hay increased the milk of goats.", "Hay decreased the milk of goats."),
        ("Hay did not change the milk of goats.", "Hay changed the milk of goats."),
        ("Hay changed the milk of goats.", "Hay did not change the milk of goats."),
        ("The cause of the fever is known.", "The cause of the fever is unknown."),
        ("Goats on straw gave more milk.", "Goats on straw gave less milk."),
        ("Hay changed yields.", "Hay did not in all of our trials change yields."),
    ],
)
def test_the_opposite_of_a_quote_is_seen(claim: str, quote: str) -> None:
    """All words of the quote are in the claim, and its reader believes the contrary."""
    assert turned_round(claim, [quote])


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Hay decreased the milk of goats.", "With hay the milk of goats fell."),
        ("Hay left the milk of goats unchanged.", "Hay did not change the milk of goats."),
        ("The cause of the fever is not known.", "The cause of the fever is unknown."),
    ],
)
def test_the_same_in_other_words_is_not_turned_round(claim: str, quote: str) -> None:
    """A true claim that is dropped is an answer lost."""
    assert turned_round(claim, [quote]) is None


CAUTIOUS = "Hay may protect goats against fever."


def test_a_claim_without_the_caution_of_its_quote_is_surer() -> None:
    """ "May protect" told as "protects" is the commonest way to make a finding of a guess."""
    assert is_surer("Hay protects goats against fever.", [CAUTIOUS])


@pytest.mark.parametrize(
    "claim", ["Hay might protect goats against fever.", "Hay can protect goats, the authors think."]
)
def test_a_claim_that_keeps_the_caution_of_its_quote_is_not_surer(claim: str) -> None:
    """Caution has many words."""
    assert not is_surer(claim, [CAUTIOUS])
    assert not is_surer("Hay protects goats against fever.", ["Hay protects goats against fever."])


def test_a_claim_that_one_of_its_sentences_states_is_not_surer() -> None:
    """What is a guess in one sentence may be a finding in the next; the true claim would be
    lost."""
    plain = "Hay protects goats against fever."

    assert not is_surer(plain, [f"Hay may protect goats against worms. {plain}"])
    assert not is_surer(plain, [CAUTIOUS, plain])
