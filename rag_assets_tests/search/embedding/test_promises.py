"""The audit of the vectors finds each kind of wrong vector, and no right one."""

from pathlib import Path

import numpy as np
import pytest

from rag_assets.search.embedding import VectorCache, VectorProblem, without_unit_vector
from rag_assets_tests.search.embedding.hashed_embedder import HashedEmbedder


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
