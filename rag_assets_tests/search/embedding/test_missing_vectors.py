"""Only what is missing is embedded, and the log says how it goes."""

from pathlib import Path

import numpy as np

from rag_assets.core.kept import KeptFile
from rag_assets.search.embedding.missing_vectors import embed_missing
from rag_assets.search.embedding.vector_cache import VectorCache
from rag_assets_tests.search.embedding.hashed_embedder import HashedEmbedder


def opened(folder: Path, embedder: HashedEmbedder) -> VectorCache:
    return VectorCache(KeptFile(folder / "vectors.sqlite3"), embedder.facts)


def test_only_missing_texts_are_embedded(tmp_path: Path) -> None:
    """An edit of one paper must cost that paper's passages, not the corpus."""
    embedder = HashedEmbedder()
    cache = opened(tmp_path, embedder)
    embed_missing(cache, embedder, ["one", "two"], batch_size=8)
    reports: list[tuple[int, int]] = []

    run = embed_missing(
        cache,
        embedder,
        ["one", "two", "three", "four", "five"],
        batch_size=2,
        report=lambda done, total: reports.append((done, total)),
    )

    assert run.n_embedded == 3
    assert embedder.n_texts_embedded == 5
    assert reports == [(2, 3), (3, 3)]


def test_wrong_vectors_are_found_before_they_are_published(tmp_path: Path) -> None:
    """An infinite or short vector makes its passage unfindable, or found by everything; a false
    alarm costs a good paper."""
    embedder = HashedEmbedder()
    cache = opened(tmp_path, embedder)
    texts = ["right", "not a number", "short", "empty", "also right"]
    vectors = embedder.embed_passages(texts)
    vectors[1, 4] = np.nan
    vectors[2] *= 0.9
    vectors[3] = 0

    run = embed_missing(
        cache, embedder, texts, batch_size=5, embed=lambda batches: [(*batches, vectors)]
    )

    assert cache.missing(texts) == ["not a number", "short", "empty"]
    assert run.n_embedded == 2
    assert run.lost == {
        "not a number": "has a passage whose vector has length nan, not 1",
        "short": "has a passage whose vector has length 0.9000, not 1",
        "empty": "has a passage whose vector has length 0.0000, not 1",
    }
