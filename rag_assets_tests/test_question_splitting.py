"""How a question is taken apart: the things it asks, and the papers it asks them of."""

import pytest

from rag_assets.question_descriptions import Described, described
from rag_assets.questions import question_parts


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "How many sheep were bled in Hill County, and in which months did they graze?",
            ["How many sheep were bled in Hill County?", "in which months did they graze?"],
        ),
        (
            "By how much did iron rise with grass, and by how much with hay?",
            ["By how much did iron rise with grass?", "By how much did iron rise with hay?"],
        ),
        (
            "How much iron had the sheep in the northern flock and in the southern flock?",
            [
                "How much iron had the sheep in the northern flock?",
                "How much iron had the sheep in the southern flock?",
            ],
        ),
        (
            "Which raises ferritin more, grass or hay?",
            ["Which raises ferritin more, grass?", "Which raises ferritin more, hay?"],
        ),
        (
            "How do shepherds score on GrazeQA and on HayBench?",
            ["How do shepherds score on GrazeQA?", "How do shepherds score on HayBench?"],
        ),
        (
            "What do the winter flock study and the hay review say about lambs?",
            ["What do the winter flock study say about lambs?", "What do the hay review say about lambs?"],
        ),
        ("What do ewes lose in winter and in spring?", ["What do ewes lose in winter and in spring?"]),
        ("How does iron move between the gut and the blood?", ["How does iron move between the gut and the blood?"]),
        ("Summarise the paper on sheep and how they graze.", ["Summarise the paper on sheep and how they graze."]),
    ],
)
def test_a_question_about_two_things_is_two_questions(question: str, parts: list[str]) -> None:
    """An answer about one of them looks whole, and no sentence is about both."""
    assert [part.text for part in question_parts(question)] == parts


@pytest.mark.parametrize(
    ("question", "left"),
    [
        (
            "How many sheep were bled in the study of iron among mountain flocks?",
            Described("How many sheep were bled?", "the study of iron among mountain flocks"),
        ),
        (
            "Does grass raise ferritin, according to the hill farm survey?",
            Described("Does grass raise ferritin?", "the hill farm survey"),
        ),
        (
            "How many sheep did the study of winter grazing start with?",
            Described("How many sheep did start with?", "the study of winter grazing"),
        ),
        (
            "How many sheep were in the final samples of the grazing experiments?",
            Described("How many sheep were in the final samples?", "the grazing experiments"),
        ),
        (
            "What does the hay review say about lambs?",
            Described("What does say about lambs?", "the hay review"),
        ),
        (
            "Which breeds were compared in the sheep weighing manual?",
            Described("Which breeds were compared?", "the sheep weighing manual"),
        ),
        ("Does iron help in a randomised trial?", Described("Does iron help in a randomised trial?", "")),
        ("In the study of sheep?", Described("In the study of sheep?", "")),
    ],
)
def test_the_description_of_a_paper_is_told_from_what_is_asked_of_it(question: str, left: Described) -> None:
    """Its words stand everywhere in that paper, and outweigh the few that say what is wanted."""
    assert described(question) == left


def test_a_part_that_describes_no_paper_is_asked_of_those_that_the_others_describe() -> None:
    """ "How old were they?" alone finds the age of anybody."""
    question = "How many sheep took part, and how old were they, in the hill study and in the valley study?"

    parts = question_parts(question)

    assert [(part.asked, part.about) for part in parts] == [
        ("How many sheep took part?", "the hill study"),
        ("How many sheep took part?", "the valley study"),
        ("how old were they?", "the hill study"),
        ("how old were they?", "the valley study"),
    ]


def test_a_part_with_a_name_of_its_own_is_not_asked_of_another_paper() -> None:
    """The other paper would be searched for something that it never names."""
    question = "Which engine did GrazeBot rely on for searching, and how old were sheep in the hill study?"

    first, second = question_parts(question)

    assert (first.about, second.about) == ("", "the hill study")
