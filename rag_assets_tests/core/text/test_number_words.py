"""Shares and multiples in words."""

from decimal import Decimal

import pytest

from rag_assets.core.text.number_spelling import fractions


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Half of the goats slept.", "0.5"),
        ("Three quarters of the goats slept.", "0.75"),
        ("It was twice as high.", "2"),
        ("Nine in ten goats slept.", "0.9"),
        ("Two out of every five goats slept.", "0.4"),
        ("It rose threefold.", "3"),
    ],
)
def test_a_share_in_words_is_read_as_a_number(text: str, value: str) -> None:
    """ "Half" for 12 % would be published unseen."""
    assert [one.value for one in fractions(text)] == [Decimal(value)]


@pytest.mark.parametrize(
    "text", ["It took half an hour.", "The third goat slept.", "A quarter of a mile away."]
)
def test_ordinals_and_measures_are_no_shares(text: str) -> None:
    """True claims would be dropped for a share that they do not state."""
    assert list(fractions(text)) == []
