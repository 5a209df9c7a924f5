"""The set of claims that the checks are measured by."""

import hashlib
from collections import Counter

from benchmarks.claims import SUPPORT, quote_in, read_set


def test_half_of_the_claims_are_honest_and_no_paper_is_in_both_halves() -> None:
    """A paper in both would let rules be written for it; a lopsided set would flatter a checker
    that drops all."""
    claims = read_set()

    assert Counter(one.is_honest for one in claims) == {True: 280, False: 280}
    halves = {
        half: {one.file for one in claims if one.half == half} for half in ("tuning", "checking")
    }
    assert not halves["tuning"] & halves["checking"]
    assert {one.verdict for one in claims} <= SUPPORT.keys()


def test_a_quote_is_found_by_its_digest_alone() -> None:
    """Texts of others do not stand in the project."""
    text = 'It said: "Ferritin fell by 12%." Then it rose.'

    assert quote_in(text, 4, "0" * 16) is None
    assert quote_in(text, 4, _digest("ferritin fell by 12")) == '"Ferritin fell by 12%."'


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()[:16]
