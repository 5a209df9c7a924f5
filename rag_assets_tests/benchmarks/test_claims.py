"""The set of claims that the checks are measured by."""

from collections import Counter

from benchmarks.claims import SUPPORT, read_set


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
