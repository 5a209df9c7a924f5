"""Which papers a question names."""

from pathlib import Path

import pytest

from rag_assets.core.domain import Block, BlockKind
from rag_assets.core.tables import PROFILES, to_table
from rag_assets.corpus.profiles import profile_of
from rag_assets.search.indexing.builder import update_index
from rag_assets.search.indexing.folders import FolderTarget
from rag_assets.search.indexing.tantivy_index import TantivyFiles, TantivyIndex
from rag_assets.search.retrieval.paper_names import PaperNames
from rag_assets_tests.search.indexing.rows import row

REPORTS = {
    "AMCOR_2022_10K": "Amcor plc annual report",
    "AMCOR_2023_10K": "Amcor plc annual report",
    "AMCOR_2023Q2_10Q": "Amcor plc quarterly report",
    "FOOTLOCKER_2022_8K": "Foot Locker, Inc. current report",
    "0001018724": "Activision Blizzard, Inc. fiscal year 2019",
    "BOEING_2022_10K": "The Boeing Company",
    "virus_a": "Notes on Corona in Hubei",
    "virus_b": "A second text",
}
PASSAGES = {
    "AMCOR_2022_10K": "Sales of Amcor rose.",
    "AMCOR_2023_10K": "Amcor sold plants.",
    "AMCOR_2023Q2_10Q": "Amcor restructured in the quarter.",
    "FOOTLOCKER_2022_8K": "Foot Locker named an officer. Foot traffic fell.",
    "0001018724": "Activision sells games of Blizzard.",
    "BOEING_2022_10K": "Boeing builds planes; sales rose.",
    "virus_a": "Corona spread in Hubei.",
    "virus_b": "Corona was seen in many places. Sales of masks rose.",
}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> PaperNames:
    folder: Path = tmp_path_factory.mktemp("words") / "bm25"
    update_index(
        FolderTarget(folder, TantivyFiles()), [row(f"{id_}#0", text, paper_id=id_) for id_, text in PASSAGES.items()]
    )
    rows = []
    for paper_id, page in REPORTS.items():
        made = profile_of(paper_id, "A FORM OF THE COMMISSION", [Block(BlockKind.PARAGRAPH, page)])
        rows.append({name: getattr(made, name) for name in PROFILES.names if name != "fingerprint"})
    return PaperNames(to_table(rows, PROFILES), TantivyIndex.open(folder))


@pytest.mark.parametrize(
    ("question", "paper"),
    [
        ("What were AMCOR's sales in FY2022?", "AMCOR_2022_10K"),
        ("What did Amcor sell in 2023?", "AMCOR_2023_10K"),
        ("How was Amcor restructured in Q2 of FY2023?", "AMCOR_2023Q2_10Q"),
        ("what did boeing build", "BOEING_2022_10K"),
        ("Who is the new officer of Foot Locker?", "FOOTLOCKER_2022_8K"),
        ("What did Activision sell in 2019?", "0001018724"),
    ],
)
def test_company_and_period_name_the_report(names: PaperNames, question: str, paper: str) -> None:
    """Reports of one form share their title and most of their words; people tell them apart by these."""
    named = names.named_by(question)

    assert max(named.scores, key=named.scores.__getitem__) == paper
    assert paper in named.clearly


def test_a_question_without_a_period_names_all_reports_of_the_company_alike(names: PaperNames) -> None:
    """Which of them answers is for the passages to say."""
    scores = names.named_by("What does Amcor sell?").scores

    assert set(scores) == {"AMCOR_2022_10K", "AMCOR_2023_10K", "AMCOR_2023Q2_10Q"}
    assert len(set(scores.values())) == 1


@pytest.mark.parametrize(
    "question",
    [
        "How far did Corona spread?",
        "Why did sales rise in 2022?",
        "What is said about foot traffic?",
        "",
        "the",
    ],
)
def test_words_of_many_papers_and_periods_alone_name_none(names: PaperNames, question: str) -> None:
    """A subject in one title would outweigh better passages of all other papers about it."""
    assert names.named_by(question).scores == {}


def test_an_empty_corpus_has_no_names() -> None:
    """A search over nothing finds nothing, and does not fail."""
    assert PaperNames(PROFILES.empty_table(), None).named_by("What does Amcor sell?").scores == {}
