"""Which paper a question names, and what is asked of it."""

import pytest

from rag_assets.core.domain import PaperFacts
from rag_assets.search.retrieval.known_papers import KnownPapers

PAPERS = {
    "lund2019": PaperFacts(
        "HerdTrack: Following ferritin in sheep", doi="10.1234/iron.7", work="lund2019"
    ),
    "copies/lund": PaperFacts("HerdTrack: Following ferritin in sheep", work="lund2019"),
    "zinc": PaperFacts("Effects of zinc on the common cold"),
    "salt_2": PaperFacts("The Salt That We Eat", doi="10.1016/s0140-6736(20)30183-5"),
    "2206.01062v1": PaperFacts("Lanterns in the Fog of Harbours"),
}
KNOWN = KnownPapers(PAPERS, {"zinc": "1706.03762"})


@pytest.mark.parametrize(
    ("question", "papers", "asked"),
    [
        (
            "What are the limitations of The Salt That We Eat?",
            "salt_2",
            "What are the limitations of the paper?",
        ),
        ("The Salt That We Eat: who pays?", "salt_2", "who pays?"),
        ("Who funded the study “HerdTrack”?", "lund2019 copies/lund", "Who funded the paper?"),
        (
            "Who funded HerdTrack: Following Ferritin in Sheep?",
            "lund2019 copies/lund",
            "Who funded the paper?",
        ),
        (
            "How old is the study of effects of zinc on the common cold?",
            "zinc",
            "How old is the paper?",
        ),
        ("According to doi:10.1234/IRON.7, how many died?", "lund2019", "how many died?"),
        (
            "What is in https://doi.org/10.1016/S0140-6736(20)30183-5 on salt?",
            "salt_2",
            "What is in the paper on salt?",
        ),
        (
            "What does arXiv:1706.03762v5 say about doses?",
            "zinc",
            "What does the paper say about doses?",
        ),
        (
            "How thick is fog in https://arxiv.org/abs/2206.01062?",
            "2206.01062v1",
            "How thick is fog in the paper?",
        ),
        ("What did the lund2019 paper find?", "lund2019", "What did the paper find?"),
        ("What are salt_2's limitations?", "salt_2", "What are the paper's limitations?"),
        ("What is the dose in zinc.pdf?", "zinc", "What is the dose in the paper?"),
    ],
)
def test_what_names_a_paper_is_no_content_of_the_question(
    question: str, papers: str, asked: str
) -> None:
    """A sentence that repeats the title answers nothing."""
    assert KNOWN.named_in(question) == (tuple(papers.split()), asked)


@pytest.mark.parametrize(
    "question",
    [
        "How strong are the effects of zinc on the common cold?",
        "What are the effects of zinc on the common cold?",
        "Does zinc help?",
        "What is The Salt That We Eat?",
        "Which papers cite lund2019?",
        "What do lund2019 and salt_2 say about iron?",
        "What does moe2021 say?",
    ],
)
def test_a_subject_and_several_papers_choose_no_paper(question: str) -> None:
    """All other papers on the subject would be left out."""
    assert KNOWN.named_in(question) is None
