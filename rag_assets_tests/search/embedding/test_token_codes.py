"""Codes keep what questions are compared with, in a sixteenth of the bytes."""

import hashlib
from pathlib import Path

import numpy as np

from rag_assets.search.embedding import open_token_encoder
from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.token_store import DIMENSION, N_BYTES, codes_of, rotated, vectors_of
from rag_assets_tests.search.embedding.conftest import INT8
from rag_assets_tests.search.embedding.reference_texts import QUESTION, TEXTS


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
