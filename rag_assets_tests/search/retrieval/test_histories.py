"""What is found follows from the passages, not from how the indexes came to hold them."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from rag_assets.core.domain import Chunk
from rag_assets.core.settings import RetrievalSettings
from rag_assets.search.indexing.builder import update_index
from rag_assets.search.indexing.chroma import ChromaFiles
from rag_assets.search.indexing.folders import FolderIndex
from rag_assets.search.indexing.tantivy_index import TantivyFiles, TantivyIndex
from rag_assets.search.retrieval.candidates import DenseSearch
from rag_assets.search.retrieval.search import Searcher
from rag_assets_tests.search.indexing.rows import vectors_of
from rag_assets_tests.search.retrieval.corpus import Corpus, HashedWords, WordCounter, chunk_of

WORDS = (
    "ferritin iron bridge steel basalt water graph vector fusion runner training month supplement crack weld load "
    "question answer passage paper table figure sentence cell dose trial placebo cohort rank recall"
).split()
SETTINGS = RetrievalSettings()
WEAK_GRAPH = {"space": "cosine", "max_neighbors": 4, "ef_construction": 16, "ef_search": 16}
"""Finds too little even in a small corpus, as the usual graph does in a large one."""
N_ROUNDS, N_CHUNKS = 30, 120


@pytest.mark.whole
def test_a_search_after_thirty_rounds_of_updates_equals_one_in_a_fresh_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A nightly run that slowly loses what it found a month ago is noticed by nobody."""
    monkeypatch.setattr("rag_assets.search.indexing.chroma._GRAPH", WEAK_GRAPH)
    monkeypatch.setattr("rag_assets.search.retrieval.candidates.CANDIDATES", 20)
    monkeypatch.setattr(
        ChromaFiles, "most_changed", float("inf")
    )  # every update is one of the same graph
    after, fresh = tmp_path / "after", tmp_path / "fresh"
    chunks = updated_for_a_month(after, Random(11))
    build(fresh, chunks)

    questions = [" ".join(Random(n).sample(WORDS, 4)) for n in range(60)]

    exact = found(fresh, chunks, questions)

    assert found(after, chunks, questions) == exact
    monkeypatch.setattr("rag_assets.search.indexing.chroma.EXACT_UP_TO_BYTES", 0)
    assert found(after, chunks, questions) != exact, (
        "a graph that misses nothing would prove nothing"
    )


def updated_for_a_month(folder: Path, random: Random) -> list[Chunk]:
    """Build both indexes, then add, delete and swap back chunks for thirty rounds; returns what is
    left of them."""
    present = [chunk(n, random) for n in range(N_CHUNKS)]
    absent: list[Chunk] = []
    build(folder, present)
    for n_round in range(N_ROUNDS):
        random.shuffle(present)
        dropped, kept = present[:12], present[12:]
        back = [absent.pop(random.randrange(len(absent))) for _ in range(min(6, len(absent)))]
        new = [chunk(N_CHUNKS + n_round * 6 + n, random) for n in range(6)]
        absent += dropped
        present = [*kept, *back, *new]
        build(folder, present)
    return present


def chunk(number: int, random: Random) -> Chunk:
    text = " ".join(random.choices(WORDS, k=9)).capitalize()
    return chunk_of(
        f"c{number:04d}", f"{text} {number}.", paper_id=f"paper{number % 17}", ordinal=number
    )


def build(folder: Path, chunks: Sequence[Chunk]) -> None:
    rows = Corpus(chunks).rows
    update_index(
        FolderIndex(folder / "chroma", ChromaFiles(HashedWords.identity, vectors_of)), rows
    )
    update_index(FolderIndex(folder / "bm25", TantivyFiles()), rows)


def found(
    folder: Path, chunks: Sequence[Chunk], questions: Sequence[str]
) -> list[list[tuple[str, float]]]:
    """The chunks found for each question, with their fused scores to the last digit."""
    dense = DenseSearch(
        ChromaFiles(HashedWords.identity, vectors_of).open(folder / "chroma"), HashedWords()
    )
    words = TantivyIndex.open(folder / "bm25")
    with Searcher(Corpus(chunks).library, dense, words, SETTINGS, WordCounter()) as searcher:
        return [
            [(hit.chunk.chunk_id, hit.score) for hit in searcher.hits(searcher.rank(one), 10)]
            for one in questions
        ]
