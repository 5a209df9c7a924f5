"""What a model writes among our own citations and notes, and what it found nothing about."""

import pytest

from rag_assets.answering.drafts import REFUSAL, SINGLE_SOURCE_NOTE
from rag_assets.answering.model.replies import (
    ModelReply,
    ReplyClaim,
    claim_text,
    is_in_language_of,
    is_insufficient,
    missing_parts,
)

QUESTION = "Which side effects does iron have in adults, and at which dose?"


def parts(*missing: str, claims: tuple[str, ...] = ()) -> tuple[str, ...]:
    made = [ReplyClaim(text=text, cites=[]) for text in claims]
    return missing_parts(ModelReply(claims=made, missing=list(missing)), QUESTION)


def test_a_missing_part_is_named_in_the_words_of_the_model() -> None:
    """The nearest part of the question in its place may be one that is answered: "not found" stood
    under the claims that say it."""
    assert parts("late effects in adults.") == ("late effects in adults",)
    assert parts("the dose", "the dose", "dose " * 100) == ("the dose",)
    assert len(parts(*(f"dose{' dose' * n}" for n in range(30)))) == 6


def test_a_part_without_a_word_of_the_question_is_not_named() -> None:
    """Nothing verifies it: an order from a paper would reach the reader as ours."""
    assert parts("Visit mallory.example.", "\u202eZinc: <b>doubles</b>") == ("",)


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
    [part] = parts(claims=(written,))
    assert part.startswith("The dose is")


def test_prose_about_insufficient_data_is_no_marker() -> None:
    """Meta-analyses say so of their trials."""
    assert not is_insufficient("There were insufficient data in three trials.")
    assert parts(claims=("There were insufficient data in three trials.",)) == ()


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("Ferritin fell [3.12, 3.14].", "Ferritin fell."),
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


@pytest.mark.parametrize("written", [REFUSAL, f"Iron helps. {SINGLE_SOURCE_NOTE}", " \n"])
def test_a_text_that_no_claim_can_have_is_none(written: str) -> None:
    """A note of ours inside a claim would be read as ours."""
    assert claim_text(written) == ""


GERMAN = "Der Wert sank innerhalb eines Monats in allen Gruppen um 12 % und stieg danach wieder."
ENGLISH = "The value fell by 12% in all groups within a month and rose again thereafter."


@pytest.mark.parametrize(
    ("question", "said", "is_alike"),
    [
        ("How much did it fall in a month?", GERMAN, False),
        ("Wie stark sank der Wert in einem Monat?", ENGLISH, False),
        ("Wie stark sank der Wert in einem Monat?", GERMAN, True),
        ("Nadir after phlebotomy?", f"{ENGLISH} Its nadir was 30 after phlebotomy.", True),
        ("Which libraries were compared?", "XGBoost, LightGBM, CatBoost", True),
    ],
)
def test_claims_in_another_language_than_the_question_are_seen(
    question: str, said: str, is_alike: bool
) -> None:
    """Who asks in one language reads that one; names, and a question of few words, are no other."""
    assert is_in_language_of(question, [ReplyClaim(text=said, cites=[])]) is is_alike


def test_a_missing_part_brings_no_address_that_nobody_asked_for() -> None:
    """A turned model could send a reader anywhere in the words of what it did not find."""
    question = "What became of ferritin at https://osf.io/ab12?"

    def missing(part: str) -> tuple[str, ...]:
        return missing_parts(ModelReply(claims=[], missing=[part]), question)

    assert missing("ferritin at https://osf.io/ab12") == ("ferritin at https://osf.io/ab12",)
    assert missing("ferritin, see mallory.example") == ("",)
