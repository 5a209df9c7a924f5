"""Questions about which papers, and how many, say something."""

import pytest

from rag_assets.questions.reading import asked_of_each, asks_which_papers, counted


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which papers use the Veldt library?", "Veldt library"),
        ("How many studies mention moss?", "mention moss"),
        ("In which papers was the Veldt library used?", "Veldt library"),
        ("List all the articles that report growth of moss.", "growth of moss"),
    ],
)
def test_a_question_about_papers_is_asked_of_each(question: str, asked: str) -> None:
    """No sentence of a paper says which papers do something."""
    assert asks_which_papers(question)
    assert asked_of_each(question) == asked


@pytest.mark.parametrize(
    "question",
    [
        "How many studies were included in the review?",
        "How many trials were identified?",
        "Which paper is oldest?",
    ],
)
def test_what_a_review_counts_is_asked_of_no_corpus(question: str) -> None:
    """The corpus was counted in place of the studies of a review."""
    assert not asks_which_papers(question)


def test_the_number_is_told_as_what_was_found_at_least() -> None:
    """A search never proves that there is no further paper."""
    assert counted("How many papers used Veldt?", 3) == "At least three papers used Veldt."
    assert counted("In how many papers was Veldt used?", 1) == "At least one paper (“Veldt”)."
    assert counted("Which papers used Veldt?", 3) == ""
