"""Sections that a question names: which they are, and that their passages come first."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.domain import EVERYTHING, Block, BlockKind, Filter
from rag_assets.core.settings import RetrievalSettings
from rag_assets.corpus.profiles import Profile, profile_of
from rag_assets.search.indexing.folders import FolderIndex
from rag_assets.search.indexing.tantivy_index import TantivyFiles, TantivyIndex
from rag_assets.search.retrieval.paper_names import PaperNames
from rag_assets.search.retrieval.question_names import SectionNames, sections_named
from rag_assets_tests.search.indexing.folders import update_index
from rag_assets_tests.search.indexing.rows import row
from rag_assets_tests.search.retrieval.corpus import Corpus, chunk_of, profile_table

CASH_FLOWS = "Consolidated Statement of Cash Flows"
TABLE = "Purchases of property: 1,577. Dividends paid: 3,193."
CORPUS = Corpus(
    [
        chunk_of(
            "talk",
            "The cash flow statement shows capital expenditure. We spent.",
            section="Liquidity",
            ordinal=0,
        ),
        chunk_of("table", TABLE, section=CASH_FLOWS, ordinal=1),
        chunk_of(
            "sheet",
            "Total assets: 36,500. Inventories: 4,366.",
            section="Consolidated Balance Shee ts",
            ordinal=2,
        ),
        chunk_of(
            "end", "Recall may be biased. The sample is small.", section="Discussion", ordinal=3
        ),
        chunk_of("other", TABLE, paper_id="jones2021", section=CASH_FLOWS),
    ]
)
IN_STATEMENT = "How much was paid for property? Use what is shown in the cash flow statement."


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What was paid, as shown in the cash flow statement?", [{"cash", "flow", "statement"}]),
        ("What was paid, using the statement of cash flows?", [{"statement", "cash", "flow"}]),
        ("What are assets, within the balance sheet?", [{"balance", "sheet"}]),
        ("What limits it, according to the discussion?", [{"discussion"}]),
        ("What do the authors admit in the limitations section?", [{"limitation"}]),
        ("What does the statement of the president mean?", []),
        ("How are statements in the section made?", []),
        ("What was said by the head of state?", []),
        ("", []),
    ],
)
def test_a_section_is_named_by_its_noun_and_the_words_around_it(
    question: str, named: list[set[str]]
) -> None:
    """A question about statements in general must be searched as any other."""
    assert sections_named(question) == named


@pytest.mark.parametrize(
    ("question", "ids"),
    [
        (IN_STATEMENT, {"other#0", "other#1", "table#0", "table#1"}),
        ("What are the assets in the balance sheet?", {"sheet#0", "sheet#1"}),
        ("What is said in the discussion?", {"end#0", "end#1"}),
        ("What is said in the appendix of proofs?", None),
        ("What was paid?", None),
    ],
)
def test_headings_are_found_with_spaces_inside_words_and_in_another_order(
    question: str, ids: set[str] | None
) -> None:
    """PDF files write "Balance Shee ts", and reports turn "cash flow statement" round."""
    named = SectionNames(CORPUS.library).named_by(question)

    assert ids == (
        None if named is None else set(CORPUS.library.passage_ids(np.flatnonzero(named).tolist()))
    )


@pytest.fixture
def one_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.search.retrieval.ranking.CANDIDATES", 1)


def found(folder: Path, question: str, where: Filter = EVERYTHING, **settings: float) -> list[str]:
    """The ids of the passages, best first."""
    given = RetrievalSettings.model_validate(settings)
    with CORPUS.searcher(folder, given, has_names=True) as searcher:
        return [one.passage_id for one in searcher.rank(question, where)]


def found_as_if_none_were_named(
    folder: Path, question: str, where: Filter = EVERYTHING, **settings: float
) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "rag_assets.search.retrieval.question_names.SectionNames.named_by",
            lambda _self, _question: None,
        )
        return found(folder, question, where, **settings)


def test_passages_below_the_named_heading_come_first(folder: Path) -> None:
    """The page that talks about a statement has all words of the question, the statement itself has
    the figures."""
    where = Filter.of_papers(["smith2020"])

    assert found_as_if_none_were_named(folder, IN_STATEMENT, where)[0] == "talk#0"
    assert found(folder, IN_STATEMENT, where)[0].startswith("table")


@pytest.mark.usefixtures("one_candidate")
def test_where_a_paper_is_named_its_section_is_meant(folder: Path) -> None:
    """Every report has a cash flow statement, and the others' figures are wrong."""
    question = f"{IN_STATEMENT} We mean the report of Jones."
    few = {"dense_weight": 0}

    assert found(folder, question, **few)[0].startswith("other")
    assert "table#0" not in found(folder, question, **few)[:2]
    of_another = Filter.of_papers(["smith2020"])
    assert found(folder, question, of_another, **few) == found_as_if_none_were_named(
        folder, question, of_another, **few
    )


@pytest.mark.usefixtures("one_candidate")
def test_a_named_section_is_searched_by_itself(folder: Path) -> None:
    """Of a long report the best hundred passages are those that talk about a statement."""
    question = "Which assets of Smith stand in the balance sheet, if the statement shows capital expenditure?"
    one = {"dense_weight": 0}

    assert any(id_.startswith("sheet") for id_ in found(folder, question, **one))
    assert not any(
        id_.startswith("sheet") for id_ in found_as_if_none_were_named(folder, question, **one)
    )


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


def names_of(
    folder: Path, profiles: Sequence[Profile], passages: Sequence[tuple[str, str]]
) -> PaperNames:
    """passages: pairs of paper_id and text."""
    rows = [row(f"{id_}#{n}", text, paper_id=id_) for n, (id_, text) in enumerate(passages)]
    update_index(FolderIndex(folder, TantivyFiles()), rows)
    return PaperNames(profile_table(profiles), TantivyIndex.open(folder))


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> PaperNames:
    profiles = [
        profile_of(paper_id, "A FORM OF THE COMMISSION", [Block(BlockKind.PARAGRAPH, page)])
        for paper_id, page in REPORTS.items()
    ]
    return names_of(tmp_path_factory.mktemp("words") / "bm25", profiles, [*PASSAGES.items()])


TITLES = {
    "raptor": "RAPTOR: Recursive Processing",
    "step_back": "Take a Step Back",
    "2310.11511": "Self-RAG: Learning to Retrieve",
    "papers/smith2020": "Shoes of oxen",
    "covid-19": "A disease",
    "survey": "A survey",
    "trees": "On trees",
}
TEXTS = [
    ("raptor", "RAPTOR builds trees."),
    ("step_back", "Step-back prompting asks."),
    ("2310.11511", "Self-RAG criticises."),
    ("papers/smith2020", "Oxen walked on roads."),
    *[("survey", "RAPTOR and Self-RAG and step-back prompting are used. COVID-19 is not.")] * 5,
    *[("trees", "COVID-19 spread below trees.")] * 9,
    ("trees", "We step back."),
    ("covid-19", "COVID-19 spread."),
]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> PaperNames:
    profiles = [profile_of(paper_id, title, []) for paper_id, title in TITLES.items()]
    return names_of(tmp_path_factory.mktemp("keys") / "bm25", profiles, TEXTS)


@pytest.mark.parametrize(
    ("question", "papers"),
    [
        ("What are the key results presented in smith2020?", ["papers/smith2020"]),
        ("what does raptor build", ["raptor"]),
        ("What is asked in step_back.pdf?", ["step_back"]),
        ("How do RAPTOR and step-back prompting differ?", ["raptor", "step_back"]),
        (
            "How do RAPTOR and Self-RAG compare to Smith2020?",
            ["2310.11511", "papers/smith2020", "raptor"],
        ),
        ("Why do we step back?", []),
        ("How did COVID-19 spread?", []),
        ("How did Self-RAG do?", []),
    ],
)
def test_a_paper_is_named_by_its_key_though_others_mention_it(
    keys: PaperNames, question: str, papers: list[str]
) -> None:
    """A survey mentions RAPTOR more often than the paper does. A subject that a file is called by
    names no paper."""
    named = keys.named_by(question)

    assert sorted(named.alone) == sorted(named.clearly) == papers
    assert all(named.scores[paper] == 1.0 for paper in papers)


@pytest.mark.parametrize(
    ("question", "papers"),
    [
        ("How many ships came, and what did they carry?", []),
        ("How many came, says ships.txt?", ["ships"]),
        ("Compare ships with moles.", ["moles", "ships"]),
    ],
)
def test_a_file_that_is_called_by_a_word_is_not_named_by_that_word(
    tmp_path: Path, question: str, papers: list[str]
) -> None:
    """An answer about ships told that only ships.txt was asked, and not that it is the only
    source."""
    texts = {"ships": "In all 412 ships carried timber.", "moles": "Mostly moles dig."}
    profiles = [
        profile_of(paper_id, "", [Block(BlockKind.PARAGRAPH, text)])
        for paper_id, text in texts.items()
    ]

    named = names_of(tmp_path / "bm25", profiles, [*texts.items()]).named_by(question)

    assert sorted(named.alone) == papers


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
    """Reports of one form share their title and most of their words; people tell them apart by
    these."""
    named = names.named_by(question)

    assert max(named.scores, key=named.scores.__getitem__) == paper
    assert paper in named.clearly


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
