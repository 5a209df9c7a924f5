"""Papers that a question names are searched by themselves, and their passages come first."""

from functools import partial
from pathlib import Path

import pytest

from rag_assets.core.settings import RetrievalSettings
from rag_assets.questions import QuestionKind, asked, read
from rag_assets.questions.reading import Asked
from rag_assets.search.indexing.protocols import Scope
from rag_assets_tests.search.retrieval.corpus import Corpus, chunk_of

N_CANDIDATES = "rag_assets.search.retrieval.ranking.CANDIDATES"
COMPANIES = ("boeing", "netflix", "pfizer", "costco", "amcor", "nike")
CORPUS = Corpus(
    [
        chunk_of(
            f"{name}-{year}", f"The gross margin rose to {n}. We sell.", paper_id=f"{name}_{year}"
        )
        for n, name in enumerate(COMPANIES)
        for year in (2020, 2021)
    ]
)


@pytest.fixture(autouse=True)
def few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer than other papers have passages that share the question's words."""
    monkeypatch.setattr(N_CANDIDATES, 2)


@pytest.mark.parametrize("fusion", ["convex", "rrf", "rank_blend"])
def test_passages_of_the_named_paper_come_first_even_if_others_fill_the_candidates(
    folder: Path, fusion: str
) -> None:
    """In a corpus of many reports, the best passages for "gross margin" are of all companies but
    the one asked for."""
    question = "What was the gross margin of Nike in 2021?"
    settings = RetrievalSettings.model_validate({"fusion": fusion})
    with (
        CORPUS.searcher(folder, settings, has_names=True) as one,
        CORPUS.searcher(folder, settings) as without,
    ):
        named, plain = one.hits(one.rank(question), 12), without.hits(without.rank(question), 12)

    assert named[0].chunk.paper_id == "nike_2021"
    assert "nike_2021" not in {hit.chunk.paper_id for hit in plain}, (
        "else the search by itself would prove nothing"
    )
    assert len({hit.passage.passage_id for hit in named}) == len(named)


def test_each_part_of_a_question_is_searched_for_the_papers_it_names(folder: Path) -> None:
    """A question about two companies would find the passages of the first only."""
    with CORPUS.searcher(folder, RetrievalSettings(), has_names=True) as one:
        ranking = one.rank(
            "What was the gross margin of Nike in 2021, and what was the gross margin of Pfizer in 2020?"
        )
        papers = {hit.chunk.paper_id for hit in one.hits(ranking, 2)}

    assert papers == {"nike_2021", "pfizer_2020"}


def told_by_statements(text: str) -> Asked:
    """Reads only whether a question is one that statements answer."""
    return Asked(frozenset({QuestionKind.STATEMENTS} if "funded" in text else ()))


def test_statements_of_the_named_paper_come_before_those_that_share_more_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who paid for the other studies would be told as who paid for this one."""
    chunks = [
        chunk
        for name in COMPANIES
        for chunk in (
            chunk_of(f"{name}-sold", "The gross margin rose. We sell.", paper_id=name),
            chunk_of(
                f"{name}-paid",
                "A trust paid." if name == "nike" else "Who funded the studies? They were funded.",
                paper_id=name,
                section="Funding",
                ordinal=1,
            ),
        )
    ]
    corpus, reading = Corpus(chunks), partial(read, model=told_by_statements)
    corpus.index(tmp_path)
    monkeypatch.setattr(N_CANDIDATES, len(chunks))

    with corpus.searcher(
        tmp_path, RetrievalSettings(neighbours=0), has_names=True, reading=reading
    ) as one:
        found = one.evidence(asked("Who funded the studies of Nike?"), 2)

    told = [one.chunk_id for one in found.contexts if one.chunk_id.endswith("paid")]
    assert len(told) > 1
    assert told[0] == "nike-paid"


@pytest.mark.parametrize(
    ("scope", "within"),
    [
        (None, Scope(("a", "b"))),
        (Scope(("b", "c")), Scope(("b",))),
        (Scope(("c",)), None),
        (Scope(passage_ids=frozenset({"a#0"})), None),
    ],
)
def test_named_papers_are_searched_as_far_as_the_scope_goes(
    scope: Scope | None, within: Scope | None
) -> None:
    """A search of its own may return nothing that the search it helps may not."""
    assert Scope.within(scope, ["a", "b"]) == within
