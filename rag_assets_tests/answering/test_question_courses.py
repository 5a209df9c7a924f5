"""Questions that no search among single sentences answers: who wrote a paper, what it says, how two
things compare."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from rag_assets.answering.drafts import DraftAnswer
from rag_assets.questions import QuestionKind, ReadQuestion, read
from rag_assets_tests.answering.builders import chunk, context, drafted, title_page

SHEEP_PAGE = chunk(
    "lund2019",
    "Title: Ferritin in mountain sheep\nAuthors: Ada Lund; Berit Moe\nAffiliations: Hill College\nPublished in: Herds\n"
    "Publication date: 2019",
)
GOAT_PAGE = chunk(
    "moe2021",
    "Title: Copper in valley goats\nAuthors: Berit Moe; Carl Ness\nAffiliations: Dale College",
)
SHEEP = chunk(
    "lund2019",
    "We examined ferritin in mountain sheep at three pastures. Forty sheep were recruited in spring and bled twice. "
    "Ferritin in mountain sheep decreased in all groups by winter. A limitation is the small number of sheep.",
)


@pytest.fixture
def draft(reading: ReadQuestion) -> Callable[..., DraftAnswer]:
    """Answers a question, read by the trained network, from contexts."""
    return partial(drafted, min_relevance=0.3, reading=reading)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Who wrote the paper on ferritin in mountain sheep?", "Authors: Ada Lund; Berit Moe"),
        ("Who are the authors of the study of ferritin in sheep?", "Authors: Ada Lund; Berit Moe"),
        ("In which journal did the paper on ferritin in sheep appear?", "Published in: Herds"),
        ("When was the paper on ferritin in sheep published?", "Publication date: 2019"),
        ("Who wrote about copper in goats?", "Authors: Berit Moe; Carl Ness"),
    ],
)
def test_the_title_page_of_the_paper_that_is_named_says_who_wrote_it(
    question: str, line: str, draft: Callable[..., DraftAnswer]
) -> None:
    """A sentence with the words of the title says nothing about its authors."""
    answer = draft(question, context(SHEEP), title_page(GOAT_PAGE), title_page(SHEEP_PAGE))

    assert [claim.text for claim in answer.claims] == [line]
    assert answer.claims[0].citations[0].quote == line


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote the paper on ferritin in mountain sheep, and how many sheep were recruited in spring?",
        "How many sheep were recruited in spring, and who wrote the paper on ferritin in mountain sheep?",
    ],
)
def test_authors_and_something_else_are_both_answered(
    question: str, draft: Callable[..., DraftAnswer]
) -> None:
    """The title page alone answered such a question, and its other half was lost."""
    answer = draft(question, context(SHEEP), title_page(GOAT_PAGE), title_page(SHEEP_PAGE))

    said = ["Authors: Ada Lund; Berit Moe", "Forty sheep were recruited in spring and bled twice."]
    in_order = said if question.startswith("Who") else said[::-1]
    assert len(answer.claims) == 2
    assert all(text in claim.text for claim, text in zip(answer.claims, in_order, strict=True))
    assert answer.unanswered == ()


def test_a_further_question_about_authors_is_asked_of_the_same_paper(
    draft: Callable[..., DraftAnswer],
) -> None:
    """ "Where do the authors work?" names no paper: every title page answered it."""
    found = [context(SHEEP), title_page(GOAT_PAGE), title_page(SHEEP_PAGE)]

    answer = draft(
        "Who wrote the paper on ferritin in mountain sheep, and where do the authors work?", *found
    )

    assert [claim.text for claim in answer.claims] == [
        "Authors: Ada Lund; Berit Moe",
        "Affiliations: Hill College",
    ]


@pytest.mark.parametrize(
    "question",
    [
        "What did the study of ZX99 in mountain penguins find?",
        "What did the study of vaccines for lowland unicorns and ferritin find?",
        "What did the study of ferritin in mountain sheep from 1987 find?",
    ],
)
def test_findings_of_a_paper_that_is_not_there_are_not_told(
    question: str, draft: Callable[..., DraftAnswer]
) -> None:
    """Any paper with one word of the question told its own findings."""
    answer = draft(question, context(GOAT_PAGE), context(SHEEP))

    assert "Ferritin in mountain sheep decreased in all groups by winter." not in [
        one.text for one in answer.claims
    ]


def test_authors_that_no_title_page_names_stay_open_beside_an_answer(
    draft: Callable[..., DraftAnswer],
) -> None:
    """An answer that passes over them looks whole."""
    question = "Who wrote the paper on iodine in lowland cows, and how many sheep were recruited in spring?"

    answer = draft(question, context(SHEEP), title_page(SHEEP_PAGE))

    assert answer.claims
    assert answer.unanswered == ("Who wrote the paper on iodine in lowland cows?",)


def test_nothing_but_a_title_page_says_who_wrote_a_paper(draft: Callable[..., DraftAnswer]) -> None:
    """ "We examined ferritin" is no author."""
    assert draft("Who wrote the paper on ferritin in sheep?", context(SHEEP)).claims == ()
    assert draft("Who wrote the paper on salt in penguins?", title_page(SHEEP_PAGE)).claims == ()


def test_a_summary_is_the_abstract_of_the_paper_that_is_meant(
    draft: Callable[..., DraftAnswer],
) -> None:
    """Sentences from the middle of a paper tell nobody what it is about."""
    abstract = "Sheep lose ferritin in mountain winters. We bled forty of them twice in a year."
    lund = replace(context(chunk("lund2019", abstract)), section_title="Abstract")
    moe = replace(
        context(chunk("moe2021", "Goats store copper in all the valleys of the land.")),
        section_title="Abstract",
    )

    answer = draft("Summarise the paper on ferritin in mountain sheep.", moe, context(SHEEP), lund)

    assert [claim.text for claim in answer.claims] == [abstract]
    assert answer.unanswered == ()


def test_an_abstract_without_a_heading_is_known_by_its_label(
    draft: Callable[..., DraftAnswer],
) -> None:
    """Papers of which only the text is left have no headings."""
    paper = chunk(
        "lund2019",
        "Abstract: Sheep lose ferritin in mountain winters.\n\nFerritin was first measured in sheep in the old days.",
    )

    answer = draft("Summarise the paper on ferritin in sheep.", context(paper))

    assert [claim.text for claim in answer.claims] == ["Sheep lose ferritin in mountain winters."]


def test_a_paper_without_an_abstract_is_not_summarised_and_that_is_said(
    draft: Callable[..., DraftAnswer],
) -> None:
    """Any other sentence of it would look like its summary."""
    answer = draft(
        "Summarise the paper on ferritin in mountain sheep.", context(GOAT_PAGE), context(SHEEP)
    )

    assert answer.claims == ()
    assert answer.unanswered == (
        "No abstract of lund2019 was found, and without a model a summary is quoted from the abstract.",
    )


@pytest.mark.parametrize(
    "question",
    [
        "What is the paper on sheep about?",
        "Give a summary of the study",
        "Summarize it",
        "Can you sum up the work on sheep?",
    ],
)
def test_requests_for_a_summary_are_recognised(question: str) -> None:
    """They are asked in several ways."""
    assert QuestionKind.SUMMARY in read(question).kinds
    assert QuestionKind.SUMMARY not in read("What is ferritin about to do?").kinds
    assert QuestionKind.SUMMARY not in read("How do the pastures sum up to three?").kinds
    assert QuestionKind.SUMMARY not in read("Why is the mean no good summary of the scores?").kinds
    assert QuestionKind.SUMMARY not in read("How did the authors summarise the data?").kinds
