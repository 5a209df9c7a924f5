"""Only what is missing is embedded, and the log says how it goes."""

from pathlib import Path

import numpy as np
import pytest

from rag_assets.search.embedding.missing_vectors import VectorProblem, embed_missing, without_unit_vector
from rag_assets.search.embedding.providers import open_embedder
from rag_assets.search.embedding.vector_cache import VectorCache
from rag_assets_tests.search.embedding.conftest import INT8
from rag_assets_tests.search.embedding.hashed_embedder import HashedEmbedder


def keyed(cache: VectorCache, texts: list[str]) -> dict[str, str]:
    return {cache.key_of(text): text for text in texts}


def test_only_missing_texts_are_embedded(tmp_path: Path) -> None:
    """An edit of one paper must cost that paper's passages, not the corpus."""
    embedder = HashedEmbedder()
    cache = VectorCache(tmp_path, embedder.facts)
    embed_missing(cache, embedder, keyed(cache, ["one", "two"]), batch_size=8)
    reports: list[tuple[int, int]] = []

    run = embed_missing(
        cache,
        embedder,
        keyed(cache, ["one", "two", "three", "four", "five"]),
        batch_size=2,
        report=lambda done, total: reports.append((done, total)),
    )

    assert run.n_embedded == 3
    assert embedder.n_texts_embedded == 5
    assert reports == [(2, 3), (3, 3)]


def test_no_model_is_built_when_nothing_is_missing(tmp_path: Path) -> None:
    """A run on an unchanged corpus should take no longer than reading what is there."""
    embedder = open_embedder(INT8, tmp_path / "models", n_threads=1)
    facts = HashedEmbedder(embedder.identity, embedder.facts.dimension).facts
    cache = VectorCache(tmp_path / "vectors", facts)

    run = embed_missing(cache, embedder, {}, batch_size=8)

    assert (run.n_embedded, run.vectors_per_s) == (0, 0.0)
    assert not (tmp_path / "models").exists()


def test_a_cache_of_another_model_is_refused(tmp_path: Path) -> None:
    """Vectors of two models in one index cannot be compared."""
    cache = VectorCache(tmp_path, HashedEmbedder("hashed-1").facts)

    with pytest.raises(ValueError, match="the cache is for hashed-1, the embedder is hashed-2"):
        embed_missing(cache, HashedEmbedder("hashed-2"), {}, batch_size=1)


def keys_of(cache: VectorCache, texts: list[str]) -> dict[str, str]:
    return {f"id of {text}": cache.key_of(text) for text in texts}


def test_wrong_vectors_are_found_before_they_are_published(tmp_path: Path) -> None:
    """A missing, infinite or short vector makes its passage unfindable, or found by everything."""
    embedder = HashedEmbedder()
    cache = VectorCache(tmp_path, embedder.facts)
    texts = ["right", "not a number", "short", "empty", "also right"]
    vectors = embedder.embed_passages(texts)
    vectors[1, 4] = np.nan
    vectors[2] *= 0.9
    vectors[3] = 0
    cache.add([cache.key_of(text) for text in texts], vectors)

    problems = without_unit_vector(cache, keys_of(cache, [*texts, "missing"]) | {"same text": cache.key_of("right")})

    assert problems == [
        VectorProblem("id of not a number", "length nan, not 1"),
        VectorProblem("id of short", "length 0.9000, not 1"),
        VectorProblem("id of empty", "length 0.0000, not 1"),
        VectorProblem("id of missing", "no vector"),
    ]


@pytest.mark.parametrize("is_published", [True, False])
def test_right_vectors_pass(is_published: bool, tmp_path: Path) -> None:
    """A false alarm withholds a good publication."""
    embedder = HashedEmbedder()
    cache = VectorCache(tmp_path, embedder.facts)
    texts = [f"passage {n}" for n in range(50)]
    keys = [cache.key_of(text) for text in texts]
    cache.add(keys, embedder.embed_passages(texts))
    if is_published:
        cache.publish(keys)

    assert without_unit_vector(cache, keys_of(cache, texts)) == []
