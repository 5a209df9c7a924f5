"""What a model writes as a claim, among our own citations and notes."""

import pytest

from rag_assets.answering.drafts import REFUSAL, SINGLE_SOURCE_NOTE
from rag_assets.answering.prompt_injection.claim_texts import MAX_CHARS, claim_text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("Ferritin fell [3].", "Ferritin fell."),
        ("Ferritin fell [Source 3] in all [1, 2] groups.", "Ferritin fell in all groups."),
        ("Iron helps [smith2020, p. 3].", "Iron helps (smith2020, p. 3)."),
        ("Iron\nhelps\x1b[31m\u202e a lot\u200b.", "Iron helps (31m a lot."),
        ("Iron 【smith2020】 helps\u2028⟦p. 3⟧ a\ue000 lot\ud800.", "Iron (smith2020) helps (p. 3) a lot."),
        ("The dose was [7] mg in [90]% of them.", "The dose was (7) mg in (90)% of them."),
    ],
)
def test_a_claim_is_one_plain_line_that_cites_nothing(written: str, text: str) -> None:
    """In an answer, square brackets hold the paper and the page that we looked up."""
    assert claim_text(written) == text


@pytest.mark.parametrize("written", [REFUSAL, f"Iron helps. {SINGLE_SOURCE_NOTE}", "x" * (MAX_CHARS + 1), " \n"])
def test_a_text_that_no_claim_can_have_is_none(written: str) -> None:
    """A note of ours inside a claim would be read as ours."""
    assert claim_text(written) == ""
