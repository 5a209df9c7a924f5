"""Sentences that tell an aim, or what stands elsewhere, answer only questions about that."""

import pytest

from rag_assets.answering.extractive.announcements import only_announces


@pytest.mark.parametrize(
    "text",
    [
        "In this study, I tested whether iron supplements change the length of colds.",
        "We review the evidence on the prevention of iron deficiency.",
        "The aim of this study was to examine the effect of iron on fatigue.",
        "This review explores some of the causes of iron deficiency.",
        "In Section 5, we will present the ferritin values of all groups.",
        "Table 3 highlights the key results of the trial beside those of other trials.",
    ],
)
def test_an_announcement_is_no_answer(text: str) -> None:
    """It has the words of the question and says nothing of what was found."""
    assert only_announces(text, "Does iron shorten colds?")
    assert not only_announces(text, "What did the study examine?")


@pytest.mark.parametrize(
    "text",
    [
        "We tested iron in 120 adults, and colds became shorter.",
        "We found that iron shortens colds.",
        "Table 3 shows that colds became shorter in the treated group.",
        "We assessed fatigue by means of a diary.",
        "Iron was examined under a microscope by all groups.",
    ],
)
def test_a_sentence_that_says_what_came_of_it_or_how_it_was_done_may_answer(text: str) -> None:
    """Dropping it would lose the answer."""
    assert not only_announces(text, "Does iron shorten colds?")


def test_a_question_whose_subject_is_a_test_does_not_ask_for_announcements() -> None:
    """The words of a subject ("a test collection") are not a question about what was done."""
    assert only_announces(
        "This note introduces the test collection and its pools.",
        "How does pooling work when a test collection is built?",
    )


def test_what_explains_the_marks_of_a_figure_answers_only_questions_about_it() -> None:
    """Below every figure of a paper stands such a sentence, with the words of its subject."""
    text = "Error bars represent 95% confidence intervals of the length of colds."

    assert only_announces(text, "How long are colds with iron?")
    assert not only_announces(text, "What do the error bars show?")
    assert not only_announces("White blood cells are fewer in iron deficiency.", "How many cells are there?")


def test_a_list_of_short_forms_answers_only_what_asks_for_their_meaning() -> None:
    """Below a table it holds the words of every question about the table, and none of its figures."""
    text = (
        "SCV: Sensory conduction velocity; SD: Standard deviation; NCS: Nerve conduction study; IENFD: Fiber density."
    )

    assert only_announces(text, "What was the sensory conduction velocity of the patients?")
    assert not only_announces(text, "What does SCV stand for?")
    assert not only_announces("Three were tested: mice; rats at night; and cats.", "Which animals were tested?")


@pytest.mark.parametrize(
    "text",
    [
        "See instructions if the appliance does not drain.",
        "For further information on the allowance for credit losses, refer to Note 13.",
        "Please see Section 4.2 for the length of colds.",
    ],
)
def test_what_names_another_place_answers_only_what_asks_for_one(text: str) -> None:
    """It has the words of the question, and the answer stands elsewhere."""
    assert only_announces(text, "What is done if the appliance does not drain?")
    assert not only_announces(text, "Where does the report speak of credit losses?")
    assert not only_announces(text, "Which note has details of the allowance?")


@pytest.mark.parametrize(
    "text",
    [
        "See a doctor if the cold lasts.",
        "Set the door gap at 17.5 mm; see figure.",
        "We refer to the table of colds as the register.",
    ],
)
def test_what_tells_something_beside_a_place_is_an_answer(text: str) -> None:
    """Only sentences that begin by sending the reader elsewhere say nothing else."""
    assert not only_announces(text, "What is done if the cold lasts?")
