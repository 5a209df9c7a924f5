"""Token vectors as they are kept: compared with a question they rank as exact ones do."""

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.kept import KeptFile
from rag_assets.search.embedding.base import Role, Vectors
from rag_assets.search.embedding.local_model import ALL_MINILM
from rag_assets.search.embedding.missing_vectors import store_missing_tokens
from rag_assets.search.embedding.providers import open_embedder
from rag_assets.search.embedding.token_vectors import (
    DIMENSION,
    N_BYTES,
    LocalTokenEncoder,
    PassageTokens,
    TokenStore,
    TokenVectors,
    codes_of,
    open_token_encoder,
    rotated,
    stored_tokens,
    vectors_of,
)
from rag_assets.search.embedding.vector_cache import VectorCache
from rag_assets_testing.in_place import in_place
from rag_assets_tests.kept_entries import damage
from rag_assets_tests.search.embedding.conftest import INT8
from rag_assets_tests.search.embedding.reference_texts import QUESTION, TEXTS

PASSAGES = ["Ferritin fell in all groups.", "Iron rose.", "", "Bridges carry loads."]


@pytest.fixture(scope="module")
def encoder(models_folder: Path) -> LocalTokenEncoder:
    return open_token_encoder(INT8, models_folder, n_threads=2)


def store_in(folder: Path, identity: str = "model") -> TokenStore:
    return TokenStore(KeptFile(folder / "vectors.sqlite3"), identity)


class FailingEncoder:
    """Fails when it is asked, because everything is stored."""

    identity = "failing"
    scale = ALL_MINILM

    def encode(self, texts: Sequence[str], role: Role) -> list[TokenVectors]:
        assert not texts
        return []


def test_stored_tokens_are_those_the_model_makes_with_the_vectors_of_the_same_pass(
    tmp_path: Path, encoder: LocalTokenEncoder, models_folder: Path
) -> None:
    """Hits must not be ranked otherwise because something was made in advance; a second pass of the
    model would double the time an index takes."""
    embedder, store = open_embedder(INT8, models_folder), store_in(tmp_path, encoder.identity)
    cache = VectorCache(store.file, embedder.facts)
    encode = partial(in_place, encoder.embed_and_code)

    first = store_missing_tokens(store, encode, cache, PASSAGES, batch_size=2)
    again = store_missing_tokens(store, encode, cache, PASSAGES, batch_size=2)

    assert (first.n_embedded, again.n_embedded) == (4, 0)
    assert np.array_equal(np.stack(cache.load(PASSAGES)), embedder.embed_passages(PASSAGES))
    stored = PassageTokens(FailingEncoder(), store).of(PASSAGES)
    made = PassageTokens(encoder, store_in(tmp_path / "empty")).of(PASSAGES)
    for one, other in zip(stored, made, strict=True):
        assert np.array_equal(one.vectors, other.vectors)
        assert np.array_equal(one.spans, other.spans)


def test_passages_that_are_not_stored_or_damaged_are_encoded(
    encoder: LocalTokenEncoder, tmp_path: Path
) -> None:
    """A question may come while `embeddings` runs; a flipped bit would rank passages by noise."""
    store = store_in(tmp_path)
    store.add(["damaged"], [stored_tokens(one_token((0, 3)))])
    damage(store.file.path, store.kind)
    store.add(["stored"], [stored_tokens(one_token((0, 6)))])
    texts = ["stored", "not stored", "damaged"]

    stored, made, again = PassageTokens(encoder, store).of(texts)

    assert stored.spans.tolist() == [[0, 6]]
    assert len(made.vectors) == 2
    assert again.spans[-1].tolist() == [0, 7]


def one_token(span: tuple[int, int]) -> TokenVectors:
    return TokenVectors(np.eye(1, DIMENSION, dtype=np.float32), np.array([span], np.int32))


def tokens_of(texts: list[str], models_folder: Path) -> Vectors:
    return np.concatenate(
        [
            tokens.vectors
            for tokens in open_token_encoder(INT8, models_folder).encode(texts, "passage")
        ]
    )


def test_the_rotation_is_the_same_on_every_machine() -> None:
    """Codes outlive the process, and an index may be made elsewhere: another rotation would rank by
    noise."""
    signs = np.packbits(rotated(np.eye(DIMENSION, dtype=np.float32)) > 0).tobytes()

    assert hashlib.sha256(signs).hexdigest().startswith("bdcab3740f1bc2b5")


def test_cosines_of_codes_are_right_on_average(models_folder: Path) -> None:
    """The floor of relevance and the bands are set on exact cosines: a bias would move what is
    refused."""
    asked, passages = (
        rotated(tokens_of([QUESTION], models_folder)),
        rotated(tokens_of(TEXTS, models_folder)),
    )

    error = asked @ vectors_of(codes_of(passages)).T - asked @ passages.T

    assert abs(error.mean()) < 0.006
    assert error.std() < 0.02


def test_a_coded_vector_is_as_near_to_its_own_as_can_be(models_folder: Path) -> None:
    """A word of the question that stands in the passage must count in full."""
    passages = rotated(tokens_of(TEXTS, models_folder))

    restored = vectors_of(codes_of(passages))

    assert np.abs(np.einsum("ij,ij->i", passages, restored) - 1).max() < 0.002
    assert codes_of(passages).codes.shape == (len(passages), N_BYTES)
