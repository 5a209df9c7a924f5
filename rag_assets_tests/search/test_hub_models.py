"""Models of a hub that cannot be asked here: files of their shapes go through the code that loads
the real ones, and what comes out is compared with the graph run by itself."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

from rag_assets.core.settings import EmbeddingSettings
from rag_assets.search.embedding.base import BertShape
from rag_assets.search.embedding.fastembed_model import MOST_TERMS, SparseModel
from rag_assets.search.embedding.providers import open_embedder
from rag_assets.search.reranking.rerankers import CrossEncoder, files_of_hub, sigmoid
from rag_assets_tests.search.random_models import (
    MAX_TOKENS,
    N_WORDS,
    write_model,
    write_unigram,
    write_wordpiece,
)
from rag_assets_tests.search.reranking.candidates import candidates_of

pytestmark = pytest.mark.whole
QUESTION = "How far did iron fall?"
LONG = "Iron fell in all groups of runners. " * 100


def output_of(model: Path, *texts: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """What the graph makes of a text, or of a pair."""
    folder = next(parent for parent in model.parents if (parent / "tokenizer.json").exists())
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    read = tokenizer.encode(*texts)
    given = {
        "input_ids": read.ids,
        "attention_mask": read.attention_mask,
        "token_type_ids": read.type_ids,
    }
    session = InferenceSession(str(model), providers=["CPUExecutionProvider"])
    fed = {one.name: np.array([given[one.name]]) for one in session.get_inputs()}
    (output,) = session.run(None, fed)
    return np.asarray(output[0])


def test_bge_takes_the_first_token_of_512(tmp_path: Path) -> None:
    """Another pooling, or a limit of 256, gives vectors that look as good and find less."""
    shape = BertShape(n_layers=12, max_tokens=MAX_TOKENS, n_segments=2)
    repository = "models--qdrant--bge-small-en-v1.5-onnx-q"
    model = write_model(tmp_path, repository, "model_optimized.onnx", shape)
    embedder = open_embedder(EmbeddingSettings(model="fastembed:BAAI/bge-small-en-v1.5"), tmp_path)

    vectors = embedder.embed_passages([QUESTION, LONG])

    first = [output_of(model, text)[0] for text in (QUESTION, LONG)]
    assert (embedder.facts.dimension, embedder.facts.max_tokens) == (384, MAX_TOKENS)
    assert vectors == pytest.approx(
        np.array([row / np.linalg.norm(row) for row in first]), abs=1e-5
    )


@pytest.mark.parametrize(
    ("name", "shape", "tokenizer"),
    [
        ("Xenova/ms-marco-MiniLM-L-6-v2", BertShape(n_layers=6, n_segments=2), write_wordpiece),
        ("BAAI/bge-reranker-base", BertShape(n_layers=12, n_hidden=768), write_unigram),
    ],
)
def test_a_cross_encoder_reads_question_and_passage_as_a_pair(
    tmp_path: Path, name: str, shape: BertShape, tokenizer: Callable[[Path], None]
) -> None:
    """A passage cut elsewhere, or read in the place of the question, would still get a score."""
    repository = f"models--{name.replace('/', '--')}"
    model = write_model(tmp_path, repository, "onnx/model.onnx", shape, 1, tokenizer)
    texts = ["Iron rose.", LONG]

    judgement = CrossEncoder(name, partial(files_of_hub, name, tmp_path), 1, 300).judge(
        QUESTION, candidates_of(*texts)
    )

    logits = [output_of(model, QUESTION, text)[0] for text in texts]
    assert judgement.scores == pytest.approx(sigmoid(np.array(logits)), abs=1e-4)


def test_splade_weighs_words_by_their_largest_logit(tmp_path: Path) -> None:
    """Wrong weights find other passages than the model was trained to."""
    shape = BertShape(n_layers=12, n_hidden=768, n_segments=2)
    repository = "models--Qdrant--Splade_PP_en_v1"
    model = write_model(tmp_path, repository, "model.onnx", shape, head=N_WORDS)

    (vector,) = SparseModel("fastembed:prithivida/Splade_PP_en_v1", tmp_path).vectors([QUESTION])

    weights = np.log1p(np.maximum(output_of(model, QUESTION), 0)).max(axis=0)
    heaviest = np.sort(np.argsort(-weights, kind="stable")[:MOST_TERMS])
    assert vector.places == tuple(heaviest)
    assert vector.weights == pytest.approx(tuple(weights[heaviest]), rel=1e-4)
