"""Which papers a question about works means, by their records."""

import pytest

from rag_assets.core.domain import PaperFacts
from rag_assets.search.retrieval.named_works import papers_meant

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
        ("Which papers here between 2018 and 2020 are about iron?", {"lund2019"}),
        ("Which papers here are by Ada Ek?", set()),
        ("Who wrote Iron in the blood of flocks?", set()),
    ],
)
def test_papers_are_meant_by_doi_title_authors_and_year(question: str, wanted: set[str]) -> None:
    """A paper that cites the work would be given for it."""
    assert set(papers_meant(question, PAPERS)) == wanted
