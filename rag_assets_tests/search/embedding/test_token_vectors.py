"""Tokens have vectors of their own, made by the model that pools them, and places in the text they
come from."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rag_assets.search.embedding.base import Embedder, Role
from rag_assets.search.embedding.local_model import ALL_MINILM
from rag_assets.search.embedding.token_vectors import (
    PassageTokens,
    TokenEncoder,
    TokenVectors,
    open_token_encoder,
)
from rag_assets_testing.numpy_bert import NumpyBert
from rag_assets_tests.search.embedding.conftest import FLOAT32, INT8
from rag_assets_tests.search.embedding.reference_texts import LONG, QUESTION, TEXTS


@pytest.fixture(scope="module")
def tokens(models_folder: Path) -> TokenEncoder:
    return open_token_encoder(INT8, models_folder, n_threads=2)


def test_a_token_stands_where_its_word_stands(tokens: TokenEncoder) -> None:
    """A sentence is scored by the tokens within it: shifted places would score its neighbours."""
    text = "Ferritin  fell — in 40 % of naïve mice."

    (encoded,) = tokens.encode([text], "passage")

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


def test_what_the_model_does_not_read_has_no_token(tokens: TokenEncoder, int8: Embedder) -> None:
    """A place after the last token that is read would be scored by no vector at all."""
    encoded, empty = tokens.encode([LONG, ""], "passage")

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
