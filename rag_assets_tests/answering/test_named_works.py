"""Questions about a work: only the paper that bears its name answers them."""

from dataclasses import replace

import pytest

from rag_assets.answering.drafts import DraftAnswer
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.core.domain import Context, PaperFacts
from rag_assets.core.settings import ExtractiveSettings
from rag_assets.questions import ReadQuestion
from rag_assets.search.retrieval.named_works import works_compared
from rag_assets_tests.answering.builders import (
    chunk,
    context,
    drafted,
    readers,
    texts_of,
    title_page,
)

SHEEP_PAGE = chunk(
    "lund2019",
    "Title: FlockTrack: Following ferritin in mountain sheep\nAuthors: Ada B Lund; Berit Moe\n"
    "Published in: Herds\nPublication date: 2019",
)
GOAT_PAGE = chunk(
    "moe2021",
    "Title: Copper in valley goats\nAuthors: Berit Moe; Carl Ness\nPublication date: 2021",
)
SHEEP = chunk(
    "lund2019",
    "We followed ferritin in mountain sheep with HerdNet. HerdNet was proposed by Dag Ek et al. (2015), who wrote Iron "
    "in the blood of flocks. Trust in flocks, published in Blood in 2012, is a book by Eva Falk. Results show that "
    "ferritin in mountain sheep decreased by winter.",
)


FOUND = (context(SHEEP), title_page(GOAT_PAGE), title_page(SHEEP_PAGE))


class Asking:
    """Answers questions as they are read by the trained network."""

    def __init__(self, reading: ReadQuestion) -> None:
        self._reading = reading

    def draft(self, question: str, *contexts: Context) -> DraftAnswer:
        return drafted(question, *(contexts or FOUND), min_relevance=0.3, reading=self._reading)

    def said(self, question: str, *contexts: Context) -> list[str]:
        return texts_of(self.draft(question, *contexts))


@pytest.fixture
def asking(reading: ReadQuestion) -> Asking:
    return Asking(reading)


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote HerdNet?",
        "Who wrote the paper on HerdNet?",
        "Who wrote the HerdNet paper?",
        'Who wrote "Iron in the blood of flocks"?',
        "Who wrote Iron in the blood of flocks?",
        "Who are the authors of Following copper in valley goats?",
        "Which paper here was written by Dag Ek?",
        "Which papers did Eva Falk write?",
        "When was Trust in flocks published?",
        "Where was Trust in flocks published?",
        'When did "Trust in flocks" appear?',
        "In which journal did the book Trust in flocks appear?",
        "Who wrote Ek et al. (2015)?",
        'What does "Iron in the blood of flocks" conclude?',
        'Summarise "Iron in the blood of flocks".',
    ],
)
def test_a_work_that_is_only_cited_is_answered_with_nothing_of_the_paper_that_cites_it(
    question: str, asking: Asking
) -> None:
    """The citing paper's authors, date and findings were given for those of the work, each with an
    exact quote."""
    assert asking.said(question) == []


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote FlockTrack: Following ferritin in mountain sheep?",
        "Who wrote Following Ferritin in Mountain Sheep?",
        "who wrote following ferritin in mountain sheep?",
        'Who wrote the study "Following ferritin in mountain sheep"?',
        "Who developed FlockTrack?",
        "Who is behind FlockTrack?",
        "Who wrote lund2019?",
    ],
)
def test_a_paper_is_named_by_its_title_a_part_of_it_or_its_id(
    question: str, asking: Asking
) -> None:
    """Readers rarely type a whole title."""
    assert asking.said(question) == ["Authors: Ada B Lund; Berit Moe"]


def test_most_of_a_title_does_not_name_what_was_developed(asking: Asking) -> None:
    """A paper that revisits a thing has the whole name of it in its title."""
    revisited = replace(
        GOAT_PAGE, text="Title: Revisiting the copper scale\nAuthors: Berit Moe; Carl Ness"
    )

    assert asking.said("Who wrote the copper scale?", title_page(revisited)) == [
        "Authors: Berit Moe; Carl Ness"
    ]
    assert asking.said("Who developed the copper scale?", title_page(revisited)) == []


def test_who_made_a_thing_that_is_not_named_is_on_no_title_page(asking: Asking) -> None:
    """The authors of the only paper would be given for its makers."""
    assert asking.said("Who developed this test?", title_page(SHEEP_PAGE)) == []


def test_where_and_when_are_asked_of_the_paper_that_is_named(asking: Asking) -> None:
    """The other paper's date is no answer."""
    assert asking.said("Where was FlockTrack published?") == ["Published in: Herds"]
    assert asking.said("When was Copper in Valley Goats published?") == ["Publication date: 2021"]
    assert asking.said("Where was Copper in Valley Goats published?") == []


def test_a_question_word_in_a_title_asks_nothing(asking: Asking) -> None:
    """The date would be looked for, and the authors refused."""
    goats = title_page(
        chunk(
            "moe2021", "Title: Copper in goats: when valleys freeze\nAuthors: Berit Moe; Carl Ness"
        )
    )

    assert asking.said("Who wrote Copper in goats: when valleys freeze?", goats) == [
        "Authors: Berit Moe; Carl Ness"
    ]


@pytest.mark.parametrize(
    ("question", "papers"),
    [
        ("Which paper here was written by Ada Lund?", ["lund2019"]),
        ("Which papers did Berit Moe write?", ["moe2021", "lund2019"]),
        ("Which of the papers is by Ada Lund and Berit Moe?", ["lund2019"]),
        ("Which papers were written by Moe?", ["moe2021", "lund2019"]),
        ("Which paper was written by Ada Moe?", []),
        ("Which paper was written by Ada Lund and Carl Ness?", []),
    ],
)
def test_papers_of_a_person_are_those_with_the_name_on_the_title_title_page(
    question: str, papers: list[str], asking: Asking
) -> None:
    """The words of a name may belong to two authors; a paper that speaks of a person is not by that
    person."""
    pages = {"lund2019": SHEEP_PAGE, "moe2021": GOAT_PAGE}

    assert asking.said(question) == [
        line for paper in papers for line in pages[paper].text.split("\n")[:2]
    ]


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        ("Who wrote the paper on ferritin in mountain sheep?", True),
        ("Who wrote the mountain sheep paper?", True),
        ("Who wrote the mountain sheep iron paper?", False),
        ("Who wrote the paper on ferritin in mountain sheep with HerdNet?", False),
        ("Who wrote the paper on Mountain Sheep?", False),
        ('Who wrote the paper on "Ferritin in mountain sheep and cows"?', False),
        ("Who developed the scale of the study of ferritin in mountain sheep?", False),
    ],
)
def test_a_description_is_told_from_a_name(
    question: str, asking: Asking, *, is_answered: bool
) -> None:
    """Most words of a title describe its paper; a name that the title page does not have is that of
    another work."""
    assert (asking.said(question) == ["Authors: Ada B Lund; Berit Moe"]) is is_answered


@pytest.mark.parametrize(
    ("question", "authors"),
    [
        ("Who are the authors of the Lund paper?", "Ada B Lund; Berit Moe"),
        ("Authors of the Moe and Ness article?", "Berit Moe; Carl Ness"),
        ("authors of ferritin, mountain sheep", "Ada B Lund; Berit Moe"),
        ("authors of the sheep review by Lund", "Ada B Lund; Berit Moe"),
        ("authors of the Ness paper", None),
        ("authors of copper, mountain sheep", None),
        ("authors of Mountain Sheep", None),
    ],
)
def test_a_few_words_describe_a_paper_if_its_title_and_authors_have_them_all(
    question: str, authors: str | None, asking: Asking
) -> None:
    """People write keywords and a first author; "the Ness paper" is by Ness first."""
    assert asking.said(question) == ([f"Authors: {authors}"] if authors else [])


def test_words_that_two_papers_have_describe_none(asking: Asking) -> None:
    pages = [
        title_page(chunk(paper, f"Title: Iron in sheep, part {paper}\nAuthors: Ada Lund"))
        for paper in ("one", "two")
    ]

    assert asking.said("authors of sheep, iron", *pages) == []
    assert asking.said("authors of sheep, iron", pages[0]) == ["Authors: Ada Lund"]


GOATS = chunk(
    "moe2021",
    "Copper of goats fell by 9 percent in the valley. The goats grazed in the valley for a year.",
)
COMPARED = (
    replace(context(SHEEP), paper=PaperFacts("FlockTrack: Following ferritin in mountain sheep")),
    replace(context(GOATS), paper=PaperFacts("Copper in valley goats")),
    title_page(GOAT_PAGE),
    title_page(SHEEP_PAGE),
)


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote lund2019 and moe2021?",
        "Who wrote FlockTrack and Copper in valley goats?",
        "Who wrote both, moe2021 and FlockTrack?",
    ],
)
def test_who_wrote_several_papers_gives_the_authors_of_each(question: str, asking: Asking) -> None:
    """The authors of one alone look like the authors of both."""
    assert set(asking.said(question, *COMPARED)) == {
        "Authors: Ada B Lund; Berit Moe",
        "Authors: Berit Moe; Carl Ness",
    }


def test_a_comparison_of_papers_asks_each_of_them(asking: Asking) -> None:
    """The sentences of one paper may fit the whole question better than any of the other."""
    sheep = chunk("lund2019", "Ferritin of sheep fell slowly.")

    found = asking.draft(
        "How do moe2021 and lund2019 differ in what fell?", context(sheep), context(GOATS)
    )

    assert {claim.citations[0].chunk_id for claim in found.claims} == {
        sheep.chunk_id,
        GOATS.chunk_id,
    }
    assert found.unanswered == ()


def test_of_a_comparison_the_paper_that_says_nothing_is_named(asking: Asking) -> None:
    """An answer from one paper must not look like a comparison of two."""
    question = "How did copper fall in moe2021 and lund2019?"

    assert asking.draft(question, *COMPARED).unanswered == (f"{question} (lund2019)",)


def test_two_versions_of_one_work_are_not_compared() -> None:
    """Of the published version nothing would be found, since it only repeats the preprint."""
    sheep = title_page(SHEEP_PAGE)
    versions = {paper: replace(sheep.paper, work="lund2018") for paper in ("lund2018", "lund2019")}

    assert works_compared("What does FlockTrack follow?", versions) == {}
    assert (
        len(works_compared("What does FlockTrack follow?", dict.fromkeys(versions, sheep.paper)))
        == 2
    )


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("¿Los autores de this paper?", ["Authors: Ada B Lund; Berit Moe"]),
        ("Wer hat this paper geschrieben?", ["Authors: Ada B Lund; Berit Moe"]),
        ("Who wrote the reply to this paper?", []),
        ("Who wrote the work on iron that this paper cites?", []),
    ],
)
def test_this_paper_is_the_one_that_everything_found_is_of(
    question: str, line: list[str], reading: ReadQuestion
) -> None:
    """The words around it name no other work, unless they say so."""
    answerer = ExtractiveAnswerer(
        readers(), ExtractiveSettings(min_relevance=0.3), min_sources=1, read=reading
    )
    found = answerer.draft(question, [context(SHEEP), title_page(SHEEP_PAGE)])

    assert [claim.text for claim in found.claims] == line
