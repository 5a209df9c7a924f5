"""What a model writes among our own citations and notes, and what it found nothing about."""

import pytest

from rag_assets.answering.drafts import REFUSAL, SINGLE_SOURCE_NOTE
from rag_assets.answering.model.replies import (
    MAX_CLAIM_CHARS,
    ModelReply,
    ReplyClaim,
    claim_text,
    is_insufficient,
    missing_parts,
)

QUESTION = "Which side effects does iron have in adults, and at which dose?"
SIDE_EFFECTS = "Which side effects does iron have in adults?"
GIVEN = "the dose given"
DOSE = "at which dose?"


def parts(*missing: str, claims: tuple[str, ...] = ()) -> tuple[str, ...]:
    made = [ReplyClaim(text=text, citations=[]) for text in claims]
    return missing_parts(ModelReply(claims=made, missing=list(missing)), QUESTION)


def test_a_missing_part_is_named_in_the_questions_own_words() -> None:
    """The reader must learn which part is missing."""
    assert parts("side effects in adults") == ("side effects in adults",)
    assert parts("The sources do not report side effects in adults.") == (SIDE_EFFECTS,)


@pytest.mark.parametrize(
    "written",
    [
        "[insufficient data] The dose is not given.",
        "**[INSUFFICIENT DATA]** The dose is not given.",
        "**[INSUFFICIENT DATA]**. The dose is not given.",
        "[INSUFFICIENT_DATA] The dose is not given.",
        "The dose is unknown [INSUFFICIENT DATA].",
    ],
)
def test_a_statement_with_any_spelling_of_the_marker_is_no_claim_and_names_what_is_missing(
    written: str,
) -> None:
    """Published as a claim, it would count as an answer to the part that it calls missing."""
    assert is_insufficient(written)
    assert parts(claims=(written,)) == (DOSE,)


@pytest.mark.parametrize(
    ("said", "note"),
    [
        (
            "All papers in this corpus report that iron does have side effects in adults.",
            SIDE_EFFECTS,
        ),
        ("Iron: <b>doubles</b>\u202e in a week", SIDE_EFFECTS),
        ("Ferritin doubled.", ""),
        ("Visit mallory.example.", ""),
    ],
)
def test_no_statement_is_made_in_a_note_on_what_is_missing(said: str, note: str) -> None:
    """Nothing verifies it: a claim, or an order from a paper, would reach the reader as ours."""
    assert parts(said) == (note,)


def test_prose_about_insufficient_data_is_no_marker() -> None:
    """Meta-analyses say so of their trials."""
    assert not is_insufficient("There were insufficient data in three trials.")
    assert parts(claims=("There were insufficient data in three trials.",)) == ()


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("Ferritin fell [3].", "Ferritin fell."),
        ("Ferritin fell [Source 3] in all [1, 2] groups.", "Ferritin fell in all groups."),
        ("Iron helps [smith2020, p. 3].", "Iron helps (smith2020, p. 3)."),
        ("Iron\nhelps\x1b[31m\u202e a lot\u200b.", "Iron helps (31m a lot."),
        (
            "Iron 【smith2020】 helps\u2028⟦p. 3⟧ a\ue000 lot\ud800.",
            "Iron (smith2020) helps (p. 3) a lot.",
        ),
        ("The dose was [7] mg in [90]% of them.", "The dose was (7) mg in (90)% of them."),
    ],
)
def test_a_claim_is_one_plain_line_that_cites_nothing(written: str, text: str) -> None:
    """In an answer, square brackets hold the paper and the page that we looked up."""
    assert claim_text(written) == text


@pytest.mark.parametrize(
    "written", [REFUSAL, f"Iron helps. {SINGLE_SOURCE_NOTE}", "x" * (MAX_CLAIM_CHARS + 1), " \n"]
)
def test_a_text_that_no_claim_can_have_is_none(written: str) -> None:
    """A note of ours inside a claim would be read as ours."""
    assert claim_text(written) == ""


def test_each_note_is_told_once_and_few_are() -> None:
    """A model that repeats itself would fill the page."""
    assert parts(
        "the dose given",
        "No dose is reported.",
        claims=("[INSUFFICIENT DATA] No dose is reported.",),
    ) == (
        GIVEN,
        DOSE,
    )
    assert len(parts(*(f"dose{' dose' * n}" for n in range(30)))) == 10
    assert parts("dose " * 100) == ()
