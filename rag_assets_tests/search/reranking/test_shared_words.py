"""How much of a question a passage says in one place."""

import pytest

from rag_assets.search.reranking.late_interaction import SharedWords

WORDS = SharedWords()


def test_terms_are_compared_as_the_word_index_reads_them() -> None:
    """To the index, "groups" of a question and "group" of a passage are the same word; so they must be here."""
    shares = WORDS.shares("The groups with low ferritin", ["A group with low ferritin.", "Nothing of it.", ""])

    assert shares[0] == pytest.approx(1.0)
    assert shares[1] == shares[2] == 0.0


def test_only_terms_that_stand_together_count() -> None:
    """A long passage holds many words of any question somewhere."""
    far = "ferritin " + "and steel bridges carry loads " * 20 + "groups"

    near_share, far_share = WORDS.shares("ferritin groups", ["ferritin of groups", far])

    assert near_share == pytest.approx(1.0)
    assert 0 < far_share < 1


def test_rare_terms_weigh_more() -> None:
    """A word that all candidates hold tells none of them apart."""
    texts = ["virus on wood", "virus on cloth", "virus on glass", "steel alone", "virus on steel"]

    shares = WORDS.shares("virus steel", texts)

    assert shares[4] > shares[3] > shares[0]


def test_a_question_without_terms_shares_none() -> None:
    """Stop words alone must not divide by zero."""
    assert WORDS.shares("is it the", ["it is the"]).tolist() == [0.0]
