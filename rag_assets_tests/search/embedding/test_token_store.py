"""Token vectors on disk: exactly those of the corpus, each as it was written or not at all."""

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.domain import Passage
from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.missing_vectors import embed_missing, store_missing_tokens
from rag_assets.search.embedding.providers import open_embedder
from rag_assets.search.embedding.token_store import (
    DIMENSION,
    N_BYTES,
    TokenStore,
    codes_of,
    rotated,
    text_key,
    vectors_of,
)
from rag_assets.search.embedding.token_vectors import (
    LocalTokenEncoder,
    PassageTokens,
    RotatedTokenEncoder,
    TokenVectors,
    coded,
    open_token_encoder,
)
from rag_assets.search.embedding.vector_cache import VectorCache
from rag_assets_tests.search.embedding.conftest import INT8
from rag_assets_tests.search.embedding.reference_texts import QUESTION, TEXTS
from rag_assets_tests.search.retrieval.corpus import passage_of

PAPER_TEXTS = {"smith2020": ["Ferritin fell in all groups.", "Iron rose.", ""], "jones2021": ["Bridges carry loads."]}


@pytest.fixture(scope="module")
def encoder(models_folder: Path) -> LocalTokenEncoder:
    return open_token_encoder(INT8, models_folder, n_threads=2)


def cache_of(folder: Path, models_folder: Path) -> VectorCache:
    return VectorCache(folder / "embeddings", open_embedder(INT8, models_folder).facts)


def updated(folder: Path, encoder: LocalTokenEncoder, models_folder: Path, texts: dict[str, list[str]]) -> int:
    store = TokenStore(folder / "tokens", encoder.identity)
    n_embedded = store_missing_tokens(store, encoder, cache_of(folder, models_folder), texts, batch_size=2)
    store.prune(texts)
    return n_embedded


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_stored_tokens_are_those_the_model_makes(
    tmp_path: Path, encoder: LocalTokenEncoder, models_folder: Path
) -> None:
    """Hits must not be ranked otherwise because something was made in advance."""
    updated(tmp_path, encoder, models_folder, PAPER_TEXTS)
    passages = [passage_of(text, text, paper_id=paper) for paper, texts in PAPER_TEXTS.items() for text in texts]
    with_store = PassageTokens(FailingEncoder(), TokenStore(tmp_path / "tokens", encoder.identity))
    without = PassageTokens(RotatedTokenEncoder(encoder), TokenStore(tmp_path / "empty", encoder.identity))

    stored, made = with_store.of(passages), without.of(passages)

    for one, other in zip(stored, made, strict=True):
        assert np.array_equal(one.vectors, other.vectors)
        assert np.array_equal(one.spans, other.spans)


class FailingEncoder:
    """Fails when it is asked, because everything is stored."""

    identity = "failing"

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        assert not texts
        return []


def test_vectors_come_out_of_the_same_pass(tmp_path: Path, encoder: LocalTokenEncoder, models_folder: Path) -> None:
    """A second pass of the model would double the time an index takes."""
    n_embedded = updated(tmp_path, encoder, models_folder, PAPER_TEXTS)

    cache = cache_of(tmp_path, models_folder)
    texts = {cache.key_of(text): text for of_paper in PAPER_TEXTS.values() for text in of_paper}
    embedder = open_embedder(INT8, models_folder)
    run = embed_missing(cache, embedder, texts, batch_size=8)
    assert (n_embedded, run.n_embedded) == (4, 0)
    assert np.array_equal(cache.load(list(texts)), embedder.embed_passages(list(texts.values())))


def test_an_unchanged_corpus_changes_no_file(tmp_path: Path, encoder: LocalTokenEncoder, models_folder: Path) -> None:
    """Every night would otherwise write everything anew."""
    updated(tmp_path, encoder, models_folder, PAPER_TEXTS)
    before = contents(tmp_path / "tokens")

    updated(tmp_path, encoder, models_folder, PAPER_TEXTS)

    assert contents(tmp_path / "tokens") == before
    assert len(before) == 2


def test_an_edit_writes_one_file_as_a_fresh_build_would(
    tmp_path: Path, encoder: LocalTokenEncoder, models_folder: Path
) -> None:
    """An update must end where a build from nothing ends, and cost no more than the edit."""
    edited = PAPER_TEXTS | {"smith2020": ["Ferritin fell in all groups.", "Iron fell."]}
    updated(tmp_path / "a", encoder, models_folder, PAPER_TEXTS)
    before = contents(tmp_path / "a" / "tokens")
    n_embedded = updated(tmp_path / "a", encoder, models_folder, edited)
    updated(tmp_path / "b", encoder, models_folder, edited)

    after, fresh = contents(tmp_path / "a" / "tokens"), contents(tmp_path / "b" / "tokens")
    assert n_embedded == 1
    assert {name: content for name, (content, _) in after.items()} == {name: c for name, (c, _) in fresh.items()}
    assert sum(after[name] == before[name] for name in after) == 1


def test_nothing_remains_of_a_deleted_paper_or_another_model(
    tmp_path: Path, encoder: LocalTokenEncoder, models_folder: Path
) -> None:
    """A text can be guessed from the vectors of its tokens, so they are deleted with the paper."""
    TokenStore(tmp_path / "tokens", "another model").put("smith2020", {})
    updated(tmp_path, encoder, models_folder, PAPER_TEXTS)
    updated(tmp_path, encoder, models_folder, {"jones2021": PAPER_TEXTS["jones2021"]})
    assert len(contents(tmp_path / "tokens")) == 1

    updated(tmp_path, encoder, models_folder, {})

    assert list((tmp_path / "tokens").rglob("*")) == []


@pytest.mark.parametrize("place", [0, 33, 40, 56, -1])
def test_a_damaged_file_gives_no_vectors_and_is_made_anew(
    place: int, tmp_path: Path, encoder: LocalTokenEncoder, models_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A flipped bit would rank passages by noise, and nothing else would notice."""
    updated(tmp_path, encoder, models_folder, {"jones2021": PAPER_TEXTS["jones2021"]})
    store = TokenStore(tmp_path / "tokens", encoder.identity)
    (file,) = (path for path in (tmp_path / "tokens").rglob("*") if path.is_file())
    good = file.read_bytes()
    damaged = bytearray(good)
    damaged[place] ^= 0x55
    file.write_bytes(damaged)

    found = store.get("jones2021", ["Bridges carry loads."])
    with caplog.at_level(logging.WARNING):
        updated(tmp_path, encoder, models_folder, {"jones2021": PAPER_TEXTS["jones2021"]})

    assert found == {} or place == 0, "the digest of the whole file is not read for one passage"
    assert file.read_bytes() == good
    assert caplog.messages == [f"{file} is damaged; `embeddings` computes it again."]


@pytest.mark.parametrize("content", [b"", b"short", bytes(36), b"\xff" * 200])
def test_a_file_of_another_kind_gives_nothing(content: bytes, tmp_path: Path, encoder: LocalTokenEncoder) -> None:
    """A full disk leaves files that are cut short."""
    store = TokenStore(tmp_path, encoder.identity)
    store.put("jones2021", {})
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    file.write_bytes(content)

    assert store.get("jones2021", ["Bridges carry loads."]) == {}
    assert store.keys("jones2021") == frozenset()


def test_passages_that_are_not_stored_are_encoded(encoder: LocalTokenEncoder, tmp_path: Path) -> None:
    """A question may come while `embeddings` runs."""
    store = TokenStore(tmp_path, encoder.identity)
    store.put("smith2020", {text_key("stored"): coded(one_token((0, 6)))})
    passages: list[Passage] = [passage_of("a", "stored"), passage_of("b", "not stored")]

    stored, made = PassageTokens(RotatedTokenEncoder(encoder), store).of(passages)

    assert stored.spans.tolist() == [[0, 6]]
    assert len(made.vectors) == 2


def test_a_paper_of_several_batches_is_stored_as_one(
    tmp_path: Path, encoder: LocalTokenEncoder, models_folder: Path
) -> None:
    """A book has a thousand passages: their vectors are saved on the way, and none may be left out."""
    texts = [f"Sample {number}." for number in range(5)]

    n_embedded = updated(tmp_path, encoder, models_folder, {"book": texts})

    assert n_embedded == 5
    assert TokenStore(tmp_path / "tokens", encoder.identity).get("book", texts).keys() == set(texts)


def test_places_that_do_not_fit_into_a_file_are_the_last_that_does(tmp_path: Path) -> None:
    """A run of a hundred thousand characters is one token, and must not seem to stand at the beginning."""
    store = TokenStore(tmp_path, "model")
    store.put("smith2020", {text_key("long"): coded(one_token((70_000, 2**31 - 1)))})

    assert store.get("smith2020", ["long"])["long"].spans.tolist() == [[65_535, 65_535]]


def one_token(span: tuple[int, int]) -> TokenVectors:
    return TokenVectors(np.eye(1, DIMENSION, dtype=np.float32), np.array([span], np.int32))


def tokens_of(texts: list[str], models_folder: Path) -> Vectors:
    return np.concatenate([tokens.vectors for tokens in open_token_encoder(INT8, models_folder).encode(texts)])


def test_rotation_changes_no_cosine(models_folder: Path) -> None:
    """Questions are compared after rotation: a matrix that is not orthogonal would compare something else."""
    vectors = tokens_of([QUESTION], models_folder)

    turned = rotated(vectors)

    assert np.abs(turned @ turned.T - vectors @ vectors.T).max() < 1e-5


def test_the_rotation_is_the_same_on_every_machine() -> None:
    """Codes outlive the process, and an index may be made elsewhere: another rotation would rank by noise."""
    signs = np.packbits(rotated(np.eye(DIMENSION, dtype=np.float32)) > 0).tobytes()

    assert hashlib.sha256(signs).hexdigest().startswith("bdcab3740f1bc2b5")


def test_cosines_of_codes_are_right_on_average(models_folder: Path) -> None:
    """The floor of relevance and the bands are set on exact cosines: a bias would move what is refused."""
    asked, passages = rotated(tokens_of([QUESTION], models_folder)), rotated(tokens_of(TEXTS, models_folder))

    error = asked @ vectors_of(codes_of(passages)).T - asked @ passages.T

    assert abs(error.mean()) < 0.006
    assert error.std() < 0.02


def test_a_coded_vector_is_as_near_to_its_own_as_can_be(models_folder: Path) -> None:
    """A word of the question that stands in the passage must count in full."""
    passages = rotated(tokens_of(TEXTS, models_folder))

    restored = vectors_of(codes_of(passages))

    assert np.abs(np.einsum("ij,ij->i", passages, restored) - 1).max() < 0.002
    assert codes_of(passages).codes.shape == (len(passages), N_BYTES)


def test_a_text_without_tokens_has_no_codes() -> None:
    """An empty passage must not end an index build."""
    nothing = codes_of(np.empty((0, DIMENSION), np.float32))

    assert vectors_of(nothing).shape == (0, DIMENSION)


def test_a_vector_of_zeros_gives_numbers() -> None:
    """No division by zero may reach the scores of a whole question."""
    assert np.isfinite(vectors_of(codes_of(np.zeros((1, DIMENSION), np.float32)))).all()
