"""What a model expects before a text is put there, and nothing before the texts of others."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import EmbeddingSettings
from rag_assets.search.embedding.base import FASTEMBED, Embedder, fastembed_prefixes
from rag_assets.search.embedding.local_model import packaged_tokenizer
from rag_assets.search.embedding.providers import embedder_facts, open_embedder
from rag_assets_tests.search.embedding.conftest import FLOAT32, hub_folder_with
from rag_assets_tests.search.embedding.reference_texts import PARAGRAPH, QUESTION

BGE = EmbeddingSettings(model="fastembed:BAAI/bge-small-en-v1.5")
POTION = EmbeddingSettings(model="fastembed:minishlab/potion-base-8M")
BGE_INSTRUCTION = "Represent this sentence for searching relevant passages: "


def test_every_dense_model_of_fastembed_is_decided_about() -> None:
    """A model that is missing in the table would be used without its prefix: worse answers, and no
    message."""
    from fastembed import TextEmbedding

    listed = {model["model"] for model in TextEmbedding.list_supported_models()}

    assert set(FASTEMBED) == listed


def test_a_model_that_is_newer_than_the_table_warns(caplog: pytest.LogCaptureFixture) -> None:
    """Without a prefix it works, but worse; the log is the only place to learn of it."""
    with caplog.at_level(logging.WARNING):
        prefixes = fastembed_prefixes("acme/brand-new")

    assert (prefixes.query, prefixes.passage) == ("", "")
    assert "set embedding.query_prefix and embedding.passage_prefix" in caplog.text


@pytest.fixture
def hub_folder(models_folder: Path, float32: Embedder, tmp_path: Path) -> Path:
    """A models folder with bge-small-en-v1.5 as the hub would leave it; inside is a model of the
    same shape."""
    float32.embed_query(QUESTION)
    snapshot = hub_folder_with(
        models_folder / float32.identity, "models--qdrant--bge-small-en-v1.5-onnx-q", tmp_path
    )
    (snapshot / "model.onnx").rename(snapshot / "model_optimized.onnx")
    return tmp_path


def test_the_model_reads_the_instruction_before_a_question_and_not_before_a_passage(
    hub_folder: Path,
) -> None:
    """Without its prefix the model loses some points of recall, and no message says why."""
    embedder = open_embedder(BGE, hub_folder, n_threads=1)

    question = embedder.embed_query(QUESTION)

    instructed, plain = embedder.embed_passages([BGE_INSTRUCTION + QUESTION, QUESTION])
    assert np.array_equal(question, instructed)
    assert not np.array_equal(question, plain)


def test_a_prefix_for_a_model_that_was_trained_without_is_refused(tmp_path: Path) -> None:
    """A prefix makes the default model worse, and no message would say so."""
    with pytest.raises(
        InvalidSettings, match=r"all-MiniLM-L6-v2 has its own, or none\. Leave them"
    ):
        embedder_facts(FLOAT32.model_copy(update={"query_prefix": "query: "}), tmp_path)


def test_a_static_model_works_as_any_other(tmp_path: Path) -> None:
    """potion models are a table of vectors without tokenizer_config.json: nearly all of fastembed
    is not all of it."""
    (tmp_path / "empty").mkdir()
    snapshot = hub_folder_with(tmp_path / "empty", "models--minishlab--potion-base-8M", tmp_path)
    tokenizer = json.loads(packaged_tokenizer().read_text("utf-8"))
    (snapshot / "tokenizer_config.json").unlink()
    draw = np.random.default_rng(1)
    table = draw.standard_normal((len(tokenizer["model"]["vocab"]), 256)).astype(np.float32)
    save_file({"embeddings": table}, snapshot / "model.safetensors")

    facts = embedder_facts(POTION, tmp_path)
    vectors = open_embedder(POTION, tmp_path, n_threads=1).embed_passages([QUESTION, PARAGRAPH])

    assert (facts.dimension, facts.max_tokens) == (256, 512)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0])
    assert open_embedder(POTION, tmp_path).count_tokens([QUESTION])[0] > 5
