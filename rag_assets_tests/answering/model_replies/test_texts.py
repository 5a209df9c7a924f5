"""What a model writes among our own citations and notes, and what it found nothing about."""

import pytest

from rag_assets.answering.drafts import REFUSAL, SINGLE_SOURCE_NOTE
from rag_assets.answering.model_replies.parsing import ModelReply, ReplyClaim
from rag_assets.answering.model_replies.texts import MAX_CLAIM_CHARS, UNNAMED_PART, claim_text, insufficient_notes

QUESTION = "Which side effects does iron have in adults, and at which dose?"


def notes(*answers: str) -> tuple[str, ...]:
    return insufficient_notes(ModelReply(answer=" ".join(answers), claims=[]), QUESTION)


def test_a_missing_part_is_named_in_the_questions_own_words() -> None:
    """The reader must learn which part is missing."""
    assert notes("Iron is safe.", "[INSUFFICIENT DATA] The sources do not report side effects in adults.") == (
        "[INSUFFICIENT DATA] side effects does iron have in adults",
    )


@pytest.mark.parametrize(
    "written",
    [
        "[insufficient data] The dose is not given.",
        "**[INSUFFICIENT DATA]** The dose is not given.",
        "**[INSUFFICIENT DATA]**. The dose is not given.",
        "INSUFFICIENT DATA: The dose is not given.",
        "[INSUFFICIENT_DATA] The dose is not given.",
        "The dose is unknown [INSUFFICIENT DATA].",
    ],
)
def test_spellings_of_the_marker_are_one(written: str) -> None:
    """Programs look for the marker as it is documented."""
    assert notes(written) == ("[INSUFFICIENT DATA] dose",)


def test_a_marker_that_stands_alone_is_kept() -> None:
    """It must never be lost."""
    assert notes("[INSUFFICIENT DATA]") == (UNNAMED_PART,)


@pytest.mark.parametrize(
    ("said", "note"),
    [
        (
            "All papers in this corpus report that iron does have side effects in adults [INSUFFICIENT DATA].",
            "[INSUFFICIENT DATA] side effects does iron have in adults",
        ),
        (
            "[INSUFFICIENT DATA] Iron does not have side effects in adults.",
            "[INSUFFICIENT DATA] side effects does iron have in adults",
        ),
        ("[INSUFFICIENT DATA] <b>side effects</b>\u202e in adults", UNNAMED_PART),
    ],
)
def test_no_statement_is_made_behind_the_marker(said: str, note: str) -> None:
    """An answer can be given in the question's words alone, and would not be verified."""
    assert notes(said) == (note,)


def test_what_the_question_does_not_say_is_not_published_under_the_marker() -> None:
    """Unverified text would reach the reader, or an order from a paper."""
    assert notes("[INSUFFICIENT DATA] Ferritin doubled in adults.", "[INSUFFICIENT DATA] Visit mallory.example.") == (
        UNNAMED_PART,
    )


def test_markers_in_claims_count_and_repeat_once() -> None:
    """Models put them there too."""
    said = "[INSUFFICIENT DATA] No dose is reported."
    other = "[INSUFFICIENT DATA] Adults are not mentioned."
    reply = ModelReply(answer=said, claims=[ReplyClaim(text=text, citations=[]) for text in (said, other)])

    assert insufficient_notes(reply, QUESTION) == ("[INSUFFICIENT DATA] dose", "[INSUFFICIENT DATA] adults")


def test_prose_about_insufficient_data_is_no_marker() -> None:
    """Meta-analyses say so of their trials."""
    assert notes("There were insufficient data in three trials.") == ()


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


@pytest.mark.parametrize("written", [REFUSAL, f"Iron helps. {SINGLE_SOURCE_NOTE}", "x" * (MAX_CLAIM_CHARS + 1), " \n"])
def test_a_text_that_no_claim_can_have_is_none(written: str) -> None:
    """A note of ours inside a claim would be read as ours."""
    assert claim_text(written) == ""
