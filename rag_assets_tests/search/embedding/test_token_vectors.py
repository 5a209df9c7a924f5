"""Vectors of tokens, and the store that keeps them."""

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.kept import KeptFile
from rag_assets.search.embedding.base import Embedder, Role, Vectors
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
from rag_assets_testing.numpy_bert import NumpyBert
from rag_assets_tests.kept_entries import damage
from rag_assets_tests.search.embedding.conftest import FLOAT32, INT8
from rag_assets_tests.search.embedding.reference_texts import LONG, QUESTION, TEXTS


@pytest.fixture(scope="module")
def encoder(models_folder: Path) -> LocalTokenEncoder:
    return open_token_encoder(INT8, models_folder, n_threads=2)


def test_a_token_stands_where_its_word_stands(encoder: LocalTokenEncoder) -> None:
    """A sentence is scored by the tokens within it: shifted places would score its neighbours."""
    text = "Ferritin  fell — in 40 % of naïve mice."

    (encoded,) = encoder.encode([text], "passage")

    words = [text[start:end] for start, end in encoded.spans.tolist()]
    assert "".join(words) == text.replace(" ", "")
    assert "na\u00efve" in "".join(words)
    assert encoded.spans.dtype == np.int32
    assert np.linalg.norm(encoded.vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_token_vectors_are_what_the_model_pools(models_folder: Path) -> None:
    """Vectors of another layer, or of shifted tokens, would still look like vectors."""
    (encoded,) = open_token_encoder(FLOAT32, models_folder).encode([QUESTION], "passage")

    exact = NumpyBert().hidden(QUESTION)[1:-1]

    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    assert (encoded.vectors * exact).sum(axis=1).min() >= 0.9999
    assert len(encoded.spans) == len(exact)


def test_tokens_and_the_pooled_vector_come_from_one_pass(
    models_folder: Path, int8: Embedder
) -> None:
    """A vector that differed from the embedder's would make an index depend on which of the two
    made it."""
    encoded = open_token_encoder(INT8, models_folder, n_threads=2).embed_and_code(TEXTS)

    assert np.array_equal(np.stack([vector for vector, _ in encoded]), int8.embed_passages(TEXTS))


def test_what_the_model_does_not_read_has_no_token(
    encoder: LocalTokenEncoder, int8: Embedder
) -> None:
    """A place after the last token that is read would be scored by no vector at all."""
    encoded, empty = encoder.encode([LONG, ""], "passage")

    assert len(encoded.vectors) == len(encoded.spans) == int8.facts.max_tokens - 2
    assert empty.vectors.shape == (0, int8.facts.dimension)
    assert empty.spans.shape == (0, 2)


def test_embedder_and_token_encoder_share_one_loaded_model(models_folder: Path) -> None:
    """A second copy of the weights would cost every process its size again."""
    from rag_assets.search.embedding.local_model import LocalModel

    one, other = (LocalModel("all-MiniLM-L6-v2-int8", models_folder, n_threads=1) for _ in range(2))

    assert one._session is other._session


class CountingEncoder:
    """Encodes each word as a token, and remembers what it was asked."""

    identity = "counting"
    scale = ALL_MINILM

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], role: Role) -> list[TokenVectors]:
        self.encoded.extend(texts)
        return [
            TokenVectors(
                np.ones((len(text.split()), 4), np.float32),
                np.full((len(text.split()), 2), len(text), np.int32),
            )
            for text in texts
        ]


def test_a_passage_is_encoded_once_while_it_is_kept() -> None:
    """The reranker and the answerer look at the same passages: each encoding costs about 10 ms."""
    encoder = CountingEncoder()
    passages = PassageTokens(encoder)

    first = passages.of_texts(["a b", "c", "a b"])
    second = passages.of_texts(["c", "d"])

    assert encoder.encoded == ["a b", "c", "d"]
    assert first[0] is first[2]
    assert second[0] is first[1]
    assert passages.identity == "counting"


def test_kept_vectors_stay_within_their_bound() -> None:
    """An engine that runs for weeks must not grow with every question."""
    encoder = CountingEncoder()
    passages = PassageTokens(
        encoder, max_mb=2 * (2 * 4 * 4 + 16) / 1_000_000
    )  # two texts of two words

    passages.of_texts(["a a", "b b"])
    passages.of_texts(["a a"])
    passages.of_texts(["c c"])  # in the place of the one that was not asked for longest
    passages.of_texts(["a a"])
    passages.of_texts(["b b"])

    assert encoder.encoded == ["a a", "b b", "c c", "b b"]


PASSAGES = ["Ferritin fell in all groups.", "Iron rose.", "", "Bridges carry loads."]


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
