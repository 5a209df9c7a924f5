"""Words beside vectors in one store, and what it makes of both."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.core.domain import SparseVector
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import Settings
from rag_assets.search.indexing.folders import FolderIndex
from rag_assets.search.indexing.protocols import (
    HybridQuestion,
    IndexRow,
    Scored,
    VectorStore,
    for_reading_only,
)
from rag_assets.search.indexing.qdrant.store import QdrantStore
from rag_assets.search.indexing.stores import vector_index
from rag_assets.search.indexing.tantivy_index import Analyser
from rag_assets_tests.search.indexing.folders import update_index
from rag_assets_tests.search.indexing.qdrant_server import qdrant_server
from rag_assets_tests.search.indexing.rows import bag_of_words, row, vectors_of

FILLER = "trial patients group weeks dose change measured values placebo reported"
ROWS = [
    row("a#0", f"BMS-986158 inhibits BET in a {FILLER}"),
    row("b#0", f"Ferritin fell in all runners in a {FILLER}", paper_id="jones2021"),
    row("c#0", f"Ferritin, ferritin and ferritin again, {FILLER} {FILLER} {FILLER} {FILLER}"),
    row("d#0", f"Iron stores recovered {FILLER}"),
    row("e#0", "the of and"),
]


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    with qdrant_server() as server:
        yield server.url


@pytest.fixture(params=["embedded", "server"])
def place(request: pytest.FixtureRequest, server_url: str) -> str:
    return server_url if request.param == "server" else ""


def index_of(
    data: Path, place: str, *, fusion: str = "server_rrf", sparse: str | None = None
) -> FolderIndex[VectorStore]:
    chosen = {"vector_store": "qdrant", "qdrant": {"url": place}}
    settings = {"data_dir": data, "indexing": chosen, "retrieval": {"fusion": fusion}}
    sparse_of = two_terms_each if sparse else for_reading_only
    return vector_index(Settings.model_validate(settings), "m", vectors_of, sparse, sparse_of)


def two_terms(row: IndexRow) -> SparseVector:
    """Term 1 for every text, heavier for longer ones, and term 2 for those about iron, which
    ferritin is not."""
    places = (1, 2) if "Iron" in row.text or "BMS" in row.text else (1,)
    return SparseVector(places, (len(row.text) / 1000, 2.0)[: len(places)])


def two_terms_each(rows: Sequence[IndexRow]) -> list[SparseVector]:
    return [two_terms(one) for one in rows]


def hybrid_of(data: Path, place: str, **settings: Any) -> QdrantStore:
    index = index_of(data, place, **settings)
    update_index(index, ROWS)
    opened = index.open()
    assert isinstance(opened, QdrantStore)
    return opened


def asked(text: str) -> HybridQuestion:
    return HybridQuestion(text, bag_of_words(text))


def scores(hits: Sequence[Scored]) -> dict[str, float]:
    return dict(hits)


def bm25(question: str, rows: Sequence[IndexRow], average: float) -> dict[str, float]:
    """By the formula, term by term."""
    analyser = Analyser()
    held = {
        one.passage_id: analyser.terms(one.heading_text) + analyser.terms(one.text) for one in rows
    }
    n_rows = sum(bool(terms) for terms in held.values())
    found = {}
    for id_, terms in held.items():
        total = 0.0
        for term in analyser.terms(question):
            n_holding = sum(term in others for others in held.values())
            idf = math.log(1 + (n_rows - n_holding + 0.5) / (n_holding + 0.5))
            n = terms.count(term)
            total += idf * n * 2.2 / (n + 1.2 * (0.25 + 0.75 * len(terms) / average))
        if total:
            found[id_] = total
    return found


@pytest.mark.parametrize(
    "question", ["Did ferritin fall?", "BMS 986158", "ferritin in runners of a trial"]
)
def test_words_are_scored_by_bm25(question: str, place: str, tmp_path: Path) -> None:
    """The same question must find the same words, whichever index holds them."""
    found = hybrid_of(tmp_path, place).hybrid(asked(question), 10).by_words

    assert scores(found) == pytest.approx(bm25(question, ROWS, average=75), rel=1e-4)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def by_rank(*lists: Sequence[Scored], k: int) -> dict[str, float]:
    """Reciprocal rank fusion, ranks counted from 0, divided by the most it can be."""
    total: dict[str, float] = {}
    for hits in lists:
        for rank, hit in enumerate(hits):
            total[hit.passage_id] = total.get(hit.passage_id, 0.0) + 1 / (k + rank)
    return {id_: score * k / len(lists) for id_, score in total.items()}


def by_distribution(*lists: Sequence[Scored]) -> dict[str, float]:
    """Each list stretched from three standard deviations below its mean to three above."""
    total: dict[str, float] = {}
    for hits in lists:
        found = np.array([hit.score for hit in hits])
        low, high = found.mean() - 3 * found.std(ddof=1), found.mean() + 3 * found.std(ddof=1)
        for hit in hits:
            total[hit.passage_id] = total.get(hit.passage_id, 0.0) + float(
                (hit.score - low) / (high - low)
            )
    return {id_: score / len(lists) for id_, score in total.items()}


@pytest.mark.parametrize("fusion", ["server_rrf", "server_dbsf"])
def test_the_server_fuses_both_lists(fusion: str, place: str, tmp_path: Path) -> None:
    """Later steps compare the scores of several questions, so they lie between 0 and 1."""
    found = hybrid_of(tmp_path, place, fusion=fusion).hybrid(asked("ferritin in runners"), 10)

    expected = (
        by_rank(found.nearest, found.by_words, k=60)
        if fusion == "server_rrf"
        else by_distribution(found.nearest, found.by_words)
    )
    assert scores(found.fused) == pytest.approx(expected, abs=1e-5)
    assert found.fused[0].passage_id == "b#0"
    assert {hit.passage_id for hit in found.fused} == {one.passage_id for one in ROWS}
    cosines = {
        one.passage_id: float(bag_of_words(one.text) @ bag_of_words("ferritin in runners"))
        for one in ROWS
    }
    assert scores(found.nearest) == pytest.approx(cosines, abs=1e-5)


def test_an_index_without_words_says_so(place: str, tmp_path: Path) -> None:
    """A search by vectors alone would look like a fusion of both."""
    with pytest.raises(
        InvalidSettings, match=r"holds one kind of vectors only. Run rag-assets index build"
    ):
        hybrid_of(tmp_path, place, fusion="convex").hybrid(asked("ferritin"), 3)


def test_words_added_to_an_index_build_it_anew(place: str, tmp_path: Path) -> None:
    """Points that were written without words would never be found by them."""
    update_index(index_of(tmp_path, place, fusion="convex"), ROWS)

    plan = update_index(index_of(tmp_path, place), ROWS)

    assert len(plan.added) == len(ROWS)
    assert len(hybrid_of(tmp_path, place).hybrid(asked("ferritin"), 9).by_words) == 2
