"""How compound questions are taken apart."""

import pytest

from rag_assets.question_splitting import split


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "How long did fever last in the trial on honey and in the trial on garlic?",
            ["How long did fever last in the trial on honey?", "How long did fever last in the trial on garlic?"],
        ),
        (
            "By how much does sleep improve with exercise, and by how much with regular naps?",
            ["By how much does sleep improve with exercise?", "By how much does sleep improve with regular naps?"],
        ),
        (
            "What camera did the bird survey use for its counts, compared with that for watching the nests?",
            ["What camera did the bird survey use for its counts?", "What camera for watching the nests?"],
        ),
        (
            "How do the glider and the buoy each measure salinity?",
            ["How do the glider each measure salinity?", "How do the buoy each measure salinity?"],
        ),
        (
            "What did rain change, on the one hand for wheat yields, on the other hand for barley yields?",
            ["What did rain change for wheat yields?", "What did rain change for barley yields?"],
        ),
        (
            "Which lowers blood pressure more in adults, walking or swimming?",
            [
                "Which lowers blood pressure more in adults walking?",
                "Which lowers blood pressure more in adults swimming?",
            ],
        ),
        (
            "When was the dam built, and from which river does it take its water?",
            ["When was the dam built?", "from which river does it take its water?"],
        ),
    ],
)
def test_a_question_about_two_things_is_two_questions(question: str, parts: list[str]) -> None:
    """Searched as one, it finds the paper on one of them, and half an answer looks whole."""
    assert split(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "What is the effect of salt and sugar on yeast?",
        "How do plants and fungi exchange phosphorus?",
        "What is the relationship between rainfall and erosion in the valley?",
        "Who funded the survey of cats and dogs in Ghent?",
    ],
)
def test_things_that_belong_together_are_one_question(question: str) -> None:
    """Each half alone asks something else."""
    assert split(question) == [question]
