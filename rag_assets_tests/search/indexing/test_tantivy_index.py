"""The lexical index on disk."""

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
import tantivy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from rag_assets.search.indexing.folders import FolderIndex
from rag_assets.search.indexing.protocols import IndexRow
from rag_assets.search.indexing.tantivy_index import Analyser, TantivyFiles, TantivyIndex
from rag_assets_tests.search.indexing.folders import update_index
from rag_assets_tests.search.indexing.rows import row

TEXTS = {
    "kinase": "The inhibitor BMS-986158 binds the kinase in tumour cells and slows their growth.",
    "trial": "A trial of the vaccine against SARS-CoV-2 enrolled four hundred nurses in two hospitals.",
    "virus": "The virus spread between hospitals; nurses wore masks, and the masks were changed hourly.",
    "bridge": "Steel bridges carry their loads through trusses, and welded joints tire under the loads.",
    "river": "The river below the bridge floods each spring and leaves silt on the fields of the valley.",
    "soil": "Silt and clay hold water; sand drains it, so that fields on sand dry out after each flood.",
    "cells": "Tumour cells grow without the signals that healthy cells wait for, and ignore those to stop.",
}
PAPERS = {"kinase": "oncology", "cells": "oncology"}


def index_of(folder: Path, *rows: IndexRow) -> TantivyIndex:
    update_index(FolderIndex(folder, TantivyFiles()), rows)
    return TantivyIndex.open(folder)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> TantivyIndex:
    rows = [row(id_, text, paper_id=PAPERS.get(id_, "other")) for id_, text in TEXTS.items()]
    return index_of(tmp_path_factory.mktemp("words") / "bm25", *rows)


def test_a_word_is_found_however_its_letters_and_digits_are_typed(tmp_path: Path) -> None:
    """Nobody types Åkesson on an English keyboard, or the comma of 1,450."""
    lund = row("lund", "José Åkesson of Münster gave 1,450 mg against TNF-α.")
    index = index_of(tmp_path / "bm25", lund, row("moe", "Silt settles."))

    for typed in ("Jose", "Akesson", "Munster", "1450 mg", "1450", "TNF-alpha", "1\u202f450"):
        assert ids(index, typed) == ["lund"]
        assert index.n_holding(typed) == 1


def ids(index: TantivyIndex, question: str) -> list[str]:
    return [hit.passage_id for hit in index.search(question, 10)]


def test_text_without_blanks_is_found_by_pairs_of_its_characters(tmp_path: Path) -> None:
    """A whole clause was one word, which no question repeats; the passages found were any of the
    corpus."""
    words = index_of(
        tmp_path / "bm25",
        row("tea", "每棵茶树每年产茶叶四百二十克。"),
        row("bridge", "木橋の平均寿命は37年であった。"),
        row("lamp", "불빛은 18킬로미터 밖에서도 보였다."),
    )

    assert ids(words, "茶树产多少茶叶？")[:1] == ["tea"]
    assert ids(words, "橋の寿命は何年ですか？")[:1] == ["bridge"]
    assert ids(words, "몇 킬로미터 밖에서 보입니까?")[:1] == ["lamp"]


@pytest.mark.parametrize(
    "question",
    [
        "Which tumour cells grow without signals?",
        "nurses in hospitals and their masks",
        "loads that a bridge carries",
        "BMS-986158",
        "Do fields flood when the river rises in spring?",
        "vaccine trial of SARS-CoV-2 in hospitals",
    ],
)
def test_the_ranking_is_that_of_the_reference(index: TantivyIndex, question: str) -> None:
    """rank-bm25 is the published formula; a ranking that departs from it is no BM25 any more."""
    analyser = Analyser()
    reference = BM25Okapi([analyser.terms(text) for text in TEXTS.values()], k1=1.2, b=0.75)
    terms = analyser.terms(question)
    scores = reference.get_scores(terms)
    shares_word = np.array(
        [bool(set(terms) & set(analyser.terms(text))) for text in TEXTS.values()]
    )
    wanted = [list(TEXTS)[at] for at in np.argsort(-scores, kind="stable") if shares_word[at]]

    assert ids(index, question) == wanted


def test_a_whole_hyphenated_name_outweighs_its_parts(tmp_path: Path) -> None:
    """A question about IL-6 must not find a passage that has IL-1 and a 6."""
    index = index_of(
        tmp_path / "bm25",
        row("other", "IL-1 and table 6 and IL-1 again"),
        row("named", "IL-6 rose and table 2 shows it again"),
    )

    assert ids(index, "IL-6") == ["named", "other"]


@pytest.mark.parametrize("question", ["", "   ", "the of and is", "?!*", '+-"(', "🦠"])
def test_a_question_without_words_finds_nothing(index: TantivyIndex, question: str) -> None:
    """An error here would stop a whole batch of questions for one empty line."""
    assert index.search(question, 5) == []


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50
)
@given(noise=st.text(max_size=30))
def test_no_question_is_syntax(index: TantivyIndex, noise: str) -> None:
    """Users write colons, quotes, brackets and AND; a query parser would fail on them or take them
    for operators."""
    assert "virus" in ids(index, f"{noise} masks")


def test_a_word_that_stands_only_in_a_heading_finds_the_passages_below_it(tmp_path: Path) -> None:
    """People ask for what a paper or a section is called; its sentences often say "we" and
    "this"."""
    below = replace(
        row("a", "We kept the samples cold."), heading_text="Iron in winter > Storage of ferritin"
    )

    index = index_of(tmp_path / "bm25", below, row("b", "Samples were kept warm."))

    assert ids(index, "ferritin") == ["a"]


def test_passages_with_a_word_are_counted_in_their_text_only(tmp_path: Path) -> None:
    """Whether a word names a paper is told by where else it stands; its own title stands with all
    its passages."""
    index = index_of(
        tmp_path / "bm25",
        row("a#0", "Corona spread.", paper_id="a"),
        row("a#1", "Masks of corona-19 patients helped.", paper_id="a"),
        replace(row("b#0", "The virus.", paper_id="b"), heading_text="Corona"),
    )

    counts = [
        index.n_holding(word) for word in ("corona", "Corona-19", "virus", "the", "absent", "")
    ]
    of_paper = [index.n_holding("virus", papers) for papers in (["b"], ["a"], ["a", "b"], [])]

    assert counts == [2, 1, 1, None, 0, None]
    assert of_paper == [1, 0, 1, 0]


def test_an_edited_large_index_answers_as_a_fresh_one_and_writes_only_the_papers_beside_the_edit(
    tmp_path: Path,
) -> None:
    """Statistics that count what was deleted shift the ranking; writing all words anew costs
    seconds per edit."""
    random = Random(3)
    words = [f"w{n}" for n in range(400)]
    rows = [
        row(f"p{n}#{m}", " ".join(random.choices(words, k=12)), paper_id=f"p{n}")
        for n in range(90)
        for m in range(60)
    ]
    edited = [
        *rows[:-1],
        row(rows[-1].passage_id, "w1 w2 w2 zygomorphic", paper_id=rows[-1].paper_id),
    ]
    index_of(tmp_path / "edited", *rows[:-1], row("p7#x", "xylophagous", paper_id="p7"))
    before = {path.name for path in (tmp_path / "edited").glob("*.term")}

    one, other = (index_of(tmp_path / name, *edited) for name in ("edited", "fresh"))

    after = {path.name for path in (tmp_path / "edited").glob("*.term")}
    assert len(before & after) >= len(before) - 2 > 0, (
        "one bucket for the edit, one for the deletion"
    )
    for _ in range(50):
        question = " ".join(random.choices(words, k=3))
        assert one.search(question, 20) == other.search(question, 20)
    assert one.search("zygomorphic", 1)[0].passage_id == rows[-1].passage_id
    assert not any(b"xylophag" in path.read_bytes() for path in (tmp_path / "edited").iterdir())


def test_statistics_that_count_a_deleted_passage_are_noticed(tmp_path: Path) -> None:
    """tantivy merges segments by its own rules: if a deletion stays in the statistics, the index is
    built anew."""
    files = TantivyFiles()
    rows = [row(id_, text) for id_, text in TEXTS.items()]
    update_index(FolderIndex(tmp_path / "bm25", files), rows)
    assert files.faulty(tmp_path / "bm25", rows[:2]) == ()

    writer = tantivy.Index.open(str(tmp_path / "bm25")).writer(num_threads=1)
    writer.delete_documents_by_term("passage_id", "river")
    writer.commit()
    writer.wait_merging_threads()

    assert files.faulty(tmp_path / "bm25", rows[:2]) == ("kinase", "trial")
