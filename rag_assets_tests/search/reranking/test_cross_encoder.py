"""A model that reads question and passage together, loaded the way a real one is."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.errors import MissingModel, RerankingTooSlow
from rag_assets.search.reranking.base import FoundPassage
from rag_assets.search.reranking.rerankers import (
    BATCH,
    CrossEncoder,
    files_of_folder,
    sigmoid,
)
from rag_assets_tests.search.reranking.candidates import candidates_of
from rag_assets_tests.search.reranking.small_cross_encoder import write_cross_encoder

QUESTION = "How far did iron fall?"


def cross_encoder(folder: Path, n_threads: int, timeout_s: float) -> CrossEncoder:
    return CrossEncoder(f"folder/{folder}", partial(files_of_folder, folder), n_threads, timeout_s)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("reranker") / "small")


def test_candidates_get_the_probabilities_the_model_gives_their_texts(folder: Path) -> None:
    """A pair put together wrongly (passage first, type ids missing) would still be scored."""
    judgement = cross_encoder(folder, 1, 60.0).judge(
        QUESTION, candidates_of("Bridges carry loads.", "Iron did fall in March.", "Iron rose.")
    )

    # the separator after each text is common to all pairs, so is the bias of -4
    assert judgement.scores == pytest.approx(sigmoid(np.array([-3.0, 0.0, -2.0])))
    assert np.array_equal(judgement.scores, judgement.relevance)


def test_titles_are_read_before_the_passage(folder: Path) -> None:
    """A passage alone does not say which paper it comes from, and the question may name that."""
    (plain,) = candidates_of("It was lower after a month.")
    headed = FoundPassage(
        replace(plain.passage, heading_text="Ferritin in runners > Results"), plain.score
    )

    judgement = cross_encoder(folder, 1, 60.0).judge("ferritin", [plain, headed])

    assert judgement.scores[1] > judgement.scores[0]


def test_more_candidates_than_a_batch_are_all_scored_in_their_order(folder: Path) -> None:
    """Batches put back in another order would give passages the scores of others."""
    texts = ["iron " * (nth % 5) + "." for nth in range(2 * BATCH + 3)]

    judgement = cross_encoder(folder, 2, 60.0).judge("iron", candidates_of(*texts))

    assert judgement.scores == pytest.approx(
        sigmoid(np.array([nth % 5 - 3.0 for nth in range(len(texts))]))
    )


def test_a_question_that_takes_too_long_is_given_up(folder: Path) -> None:
    """A large model on a small machine would otherwise hold every question for minutes."""
    with pytest.raises(RerankingTooSlow) as caught:
        cross_encoder(folder, 1, 0.0).judge(QUESTION, candidates_of("Ferritin."))

    assert str(caught.value) == (
        f"folder/{folder.resolve()} took more than 0 s for one question. Name a faster model in retrieval.reranker."
    )


def test_the_identity_changes_with_the_weights_only(folder: Path, tmp_path: Path) -> None:
    """Answers must be made again when the file behind a name is exchanged, and only then."""
    here = cross_encoder(folder, 1, 60.0).identity
    write_cross_encoder(tmp_path / "small")
    same = cross_encoder(tmp_path / "small", 2, 1.0).identity
    write_cross_encoder(tmp_path / "small", bias=-5.0)
    other = cross_encoder(tmp_path / "small", 2, 1.0).identity

    assert here.rpartition("-")[2] == same.rpartition("-")[2] != other.rpartition("-")[2]


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_damaged_files_are_a_missing_model(name: str, tmp_path: Path) -> None:
    """onnxruntime's and fastembed's own errors would end the search that can do without."""
    folder = write_cross_encoder(tmp_path / "small")
    (folder / name).write_bytes(b"nothing of the kind")

    with pytest.raises(MissingModel, match="cannot be loaded"):
        cross_encoder(folder, 1, 60.0).judge(QUESTION, candidates_of("Ferritin."))
