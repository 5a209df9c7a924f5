"""Papers that a question may mean are searched by themselves for what is asked."""

from pathlib import Path

import pytest

from rag_assets.indexing.tantivy_index import TantivyIndex
from rag_assets.questions import Question
from rag_assets.retrieval.likely_papers import likely_papers
from rag_assets.retrieval.search import Searcher
from rag_assets.settings import RetrievalSettings
from rag_assets_tests.retrieval.corpus import Corpus, WordCounter, chunk_of

CORPUS = Corpus(
    [
        chunk_of("title", "The grazing study of mountain sheep in the northern winter.", paper_id="grazing"),
        chunk_of("paid", "Shepherds were paid forty crowns.", paper_id="grazing", ordinal=1),
        *(
            chunk_of(f"pay{n}", f"Farm {n}: farmers were paid and were paid again.", paper_id=f"pay{n}")
            for n in range(9)
        ),
    ]
)
QUESTION = "What were shepherds paid in the grazing study of mountain sheep in the northern winter?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index")
    CORPUS.index(folder)
    return folder


def given(folder: Path, **settings: object) -> set[str]:
    """Chunks that an answerer reads of the best one."""
    chosen = RetrievalSettings.model_validate({"expanded_hits": 0, **settings})
    words = TantivyIndex.open(folder / "bm25")
    with Searcher(CORPUS.library, None, words, chosen, WordCounter()) as searcher:
        return set(searcher.evidence(Question(id="q", question=QUESTION), 1).chunks)


def test_what_is_asked_is_found_inside_the_paper_that_is_described(folder: Path) -> None:
    """The words of the description bring its beginning to the top, and leave what answers below the best chunks."""
    assert {"title", "paid"} <= given(folder)


def test_a_floor_of_relevance_lets_nothing_in_that_was_not_looked_at(folder: Path) -> None:
    """Someone who sets a floor wants no passage below it in an answer."""
    assert "paid" not in given(folder, min_score=0.2)


def test_the_likely_papers_have_the_best_few_passages_not_the_most() -> None:
    """A long paper about something near has many passages that are a little like the question."""
    papers = ["long", "short", "short", *["long"] * 9]

    assert likely_papers(papers, [0.9, 0.8, 0.8, *[0.1] * 9])[0] == "short"
    assert len(likely_papers([f"paper{n}" for n in range(9)], [0.5] * 9)) == 3
