"""What is found follows from the passages, not from how the indexes came to hold them."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from rag_assets.domain import Chunk
from rag_assets.indexing.builder import update_index
from rag_assets.indexing.chroma.files import ChromaFiles
from rag_assets.indexing.folders import FolderTarget
from rag_assets.indexing.manifest import read_manifest, write_manifest
from rag_assets.indexing.protocols import IndexRow
from rag_assets.indexing.stores import open_vectors
from rag_assets.indexing.tantivy_index import TantivyFiles, TantivyIndex
from rag_assets.retrieval.candidates import DenseSearch
from rag_assets.retrieval.search import Searcher
from rag_assets.settings import IndexingSettings, RetrievalSettings
from rag_assets_tests.indexing.rows import numbered_rows, vectors_of
from rag_assets_tests.retrieval.corpus import Corpus, HashedWords, WordCounter, chunk_of

WORDS = (
    "ferritin iron bridge steel basalt water graph vector fusion runner training month supplement crack weld load "
    "question answer passage paper table figure sentence cell dose trial placebo cohort rank recall"
).split()
SETTINGS = RetrievalSettings(candidates=20)
WEAK_GRAPH = IndexingSettings(hnsw_m=4, hnsw_ef_construction=16, hnsw_ef_search=16, min_recall=0.0)
"""Finds too little even in a small corpus, as the usual graph does in a large one."""
POOR_GRAPH = IndexingSettings(hnsw_m=5, hnsw_ef_construction=20, hnsw_ef_search=20)
"""Misses one of twelve near passages, but hardly any that is asked for by its own vector: that would be damage."""
N_ROUNDS, N_CHUNKS = 30, 120


@pytest.mark.whole
def test_a_search_after_thirty_rounds_of_updates_equals_one_in_a_fresh_index(tmp_path: Path) -> None:
    """A nightly run that slowly loses what it found a month ago is noticed by nobody."""
    after, fresh = tmp_path / "after", tmp_path / "fresh"
    chunks = updated_for_a_month(after, Random(11))
    build(fresh, chunks)

    questions = [" ".join(Random(n).sample(WORDS, 4)) for n in range(60)]

    assert found(after, chunks, questions) == found(fresh, chunks, questions)
    assert found(after, chunks, questions, exact_up_to_mb=0.0) != found(fresh, chunks, questions), (
        "a graph that misses nothing would prove nothing"
    )


def updated_for_a_month(folder: Path, random: Random) -> list[Chunk]:
    """Build both indexes, then add, delete and swap back chunks for thirty rounds; returns what is left of them."""
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
    return chunk_of(f"c{number:04d}", f"{text} {number}.", paper_id=f"paper{number % 17}", ordinal=number)


def build(folder: Path, chunks: Sequence[Chunk]) -> None:
    rows = Corpus(chunks).rows
    update_index(FolderTarget(folder / "chroma", target_of(WEAK_GRAPH)), rows)
    update_index(FolderTarget(folder / "bm25", TantivyFiles()), rows)


def target_of(settings: IndexingSettings) -> ChromaFiles:
    return ChromaFiles(settings, HashedWords.identity, vectors_of)


def found(
    folder: Path, chunks: Sequence[Chunk], questions: Sequence[str], *, exact_up_to_mb: float = 1.0
) -> list[list[tuple[str, float]]]:
    """The chunks found for each question, with their fused scores to the last digit."""
    dense = DenseSearch(open_vectors(folder / "chroma", exact_up_to_mb=exact_up_to_mb), HashedWords())
    words = TantivyIndex.open(folder / "bm25")
    with Searcher(Corpus(chunks).library, dense, words, SETTINGS, WordCounter()) as searcher:
        return [[(hit.chunk.chunk_id, hit.score) for hit in searcher.hits(searcher.rank(one), 10)] for one in questions]


def test_a_graph_that_finds_less_than_when_it_was_built_is_built_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Above the size for exact search the graph answers: what it misses is in no context and in no answer."""
    target, folder = target_of(POOR_GRAPH.model_copy(update={"min_recall": 0.999})), tmp_path / "chroma"
    update_index(FolderTarget(folder, target), rows(0, 300))
    built = read_manifest(folder)
    assert built is not None
    assert built.wear is not None
    assert built.wear.recall < 0.98, "a graph that misses nothing would prove nothing"
    write_manifest(folder, replace(built, wear=replace(built.wear, recall_when_built=1.0)))

    update_index(FolderTarget(folder, target), rows(3, 303))

    worn = read_manifest(folder)
    assert worn is not None
    assert worn.wear is not None
    assert worn.wear.n_dead == 0
    assert worn.wear.recall_when_built == worn.wear.recall
    assert "of the nearest passages, less than indexing.min_recall (99.9%)" in caplog.text


def test_a_graph_is_measured_again_when_a_hundredth_of_it_has_changed(tmp_path: Path) -> None:
    """Measuring after each edited sentence costs more than the edit; never measuring hides what many edits wore out."""
    target, folder = target_of(IndexingSettings()), tmp_path / "chroma"
    update_index(FolderTarget(folder, target), rows(0, 300))
    built = read_manifest(folder)
    assert built is not None
    assert built.wear is not None
    write_manifest(folder, replace(built, wear=replace(built.wear, recall=0.995)))

    kept = []
    for n_more in (1, 2, 3, 4):
        update_index(FolderTarget(folder, target), rows(0, 300 + n_more))
        manifest = read_manifest(folder)
        assert manifest is not None
        assert manifest.wear is not None
        kept.append((manifest.wear.recall == 0.995, manifest.wear.n_unmeasured))

    assert kept == [(True, 1), (True, 2), (True, 3), (False, 0)]


def test_a_graph_that_was_no_better_when_it_was_built_is_not_built_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A floor that no graph of this corpus reaches must not turn every small update into a whole build."""
    target, folder = target_of(POOR_GRAPH.model_copy(update={"min_recall": 1.0})), tmp_path / "chroma"
    update_index(FolderTarget(folder, target), rows(0, 300))
    built = read_manifest(folder)
    assert built is not None
    assert built.wear is not None
    write_manifest(folder, replace(built, wear=replace(built.wear, recall_when_built=0.01)))

    update_index(FolderTarget(folder, target), rows(3, 303))

    assert "built anew" not in caplog.text


def test_a_graph_with_more_deleted_than_living_vectors_is_built_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Chroma keeps deleted vectors in the graph's files, which would grow with every edit for ever."""
    target, folder = target_of(IndexingSettings()), tmp_path / "chroma"
    with caplog.at_level(logging.WARNING):
        for start in range(0, 150, 30):
            update_index(FolderTarget(folder, target), rows(start, start + 60))
    n_held = len(target.fingerprints(folder))
    manifest = read_manifest(folder)

    assert n_held == 60
    assert manifest is not None
    assert manifest.wear is not None
    assert manifest.wear.n_dead == 30, "30 deleted a round: the third would have made it 90 of 60"
    assert caplog.text.count("is built anew: it carries 90 deleted vectors, more than the 60") == 1


def rows(start: int, end: int) -> list[IndexRow]:
    return numbered_rows(end - start, start=start)
