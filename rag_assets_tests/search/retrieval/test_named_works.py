"""Which papers a question about works means, by their records; filters in its words."""

from collections.abc import Callable

import pytest

from rag_assets.core.domain import Filter, PaperFacts
from rag_assets.questions import ReadQuestion, asked
from rag_assets.search.retrieval.named_works import offered_filter, papers_meant

PAPERS = {
    "lund2019": PaperFacts(
        "Iron in mountain sheep", ("Ada Lund", "Bo Moe"), "2019", "10.1234/iron.7"
    ),
    "moe2021": PaperFacts("Iron in valley goats", ("Bo Moe",), "2021"),
    "ek": PaperFacts("Copper in lowland cows", ("Carl Ek",), "2019"),
}


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Who wrote doi:10.1234/IRON.7?", {"lund2019"}),
        ("Who wrote 10.1234/iron.8?", set()),
        ("When was Iron in mountain sheep published?", {"lund2019"}),
        ("Which papers here are by Bo Moe?", {"lund2019", "moe2021"}),
        ("Which papers here are by Bo Moe, from 2021?", {"moe2021"}),
        ("Which papers here by Moe are about goats?", {"moe2021"}),
        ("Which papers here are from 2019?", {"lund2019", "ek"}),
        ("Which papers here are from after 2019?", {"moe2021"}),
        ("Which papers here on iron are from 2019?", {"lund2019"}),
        ("Which papers here are by Ada Ek?", set()),
        ("Who wrote Iron in the blood of flocks?", set()),
    ],
)
def test_papers_are_meant_by_doi_title_authors_and_year(
    question: str, wanted: set[str], reading: ReadQuestion
) -> None:
    """A paper that cites the work would be given for it."""
    assert set(papers_meant(question, reading(question).asked, PAPERS) or ()) == wanted


@pytest.fixture
def offered(reading: ReadQuestion) -> Callable[..., str | None]:
    def offer(
        question: str, where: str | None = None, papers: tuple[str, ...] = ("iron",)
    ) -> str | None:
        own = asked(question).model_copy(update={"where": Filter.parse(where) if where else None})
        found = offered_filter(own, reading(question).asked, lambda _: papers)
        return f"{found.question} {found.where}" if found else None

    return offer


@pytest.mark.parametrize(
    ("question", "offer"),
    [
        (
            "How do papers after 2020 by Smith measure ferritin?",
            "How do papers measure ferritin? author:Smith year:2021-",
        ),
        (
            "How do papers by Smith after 2020 measure ferritin?",
            "How do papers measure ferritin? author:Smith year:2021-",
        ),
        (
            "What did studies by Ada Lund and Bo van der Moe find?",
            'What did studies find? author:"Ada Lund" author:"Bo van der Moe"',
        ),
        (
            "How is iron measured in articles before 2010?",
            "How is iron measured in articles? year:1-2009",
        ),
        (
            "How is iron eaten in work published between 2015 and 2018?",
            "How is iron eaten in work published? year:2015-2018",
        ),
        ("What do papers of 2019 say of sheep?", "What do papers say of sheep? year:2019"),
        ("What do papers BY Smith say of sheep?", "What do papers say of sheep? author:Smith"),
    ],
)
def test_authors_and_years_of_papers_are_offered(
    question: str, offer: str, offered: Callable[..., str | None]
) -> None:
    """Who names them would have to know the syntax of filters, or reads answers from other
    papers."""
    assert offered(question) == offer


@pytest.mark.parametrize(
    "question",
    [
        "How much iron did sheep eat in 2019?",
        "How much iron did sheep that were raised by Smith eat?",
        "Which papers here are by Smith?",
        "What is measured by NMR in papers?",
        "What did Smith write about ferritin?",
    ],
)
def test_other_years_and_names_are_no_filter(
    question: str, offered: Callable[..., str | None]
) -> None:
    """An offer at every second question is read by nobody; who wrote what is answered from the
    records."""
    assert offered(question) is None


def test_what_is_chosen_already_or_lets_nothing_through_is_not_offered(
    offered: Callable[..., str | None],
) -> None:
    """A click would lead to the same answer, or to none."""
    question = "How do papers after 2019 by Smith measure iron?"

    assert offered(question, "year:2020- author:Smith") is None
    assert offered(question, "year:2020-") == "How do papers measure iron? author:Smith"
    assert offered(question, papers=()) is None
