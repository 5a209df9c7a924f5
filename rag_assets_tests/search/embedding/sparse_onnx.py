"""A sparse model small enough to be built in a test: a word weighs 3, and its synonym 1."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from rag_assets.core.text.tokens import packaged_model_folder
from rag_assets.search.embedding.local_model import packaged_tokenizer
from rag_assets_tests.search.onnx_models import write_onnx

MODEL = "fastembed:prithivida/Splade_PP_en_v1"
WORD, SYNONYM = float(np.log1p(3.0)), float(np.log1p(1.0))
"""Weights after SPLADE's log(1 + x)."""
_REPOSITORY = "models--Qdrant--Splade_PP_en_v1"
_N_WORDS = 30_522


def number_of(word: str) -> int:
    """The place of a word of the vocabulary in a sparse vector."""
    found: int = Tokenizer.from_file(str(packaged_tokenizer())).token_to_id(word)
    return found


def write_sparse_model(models_folder: Path, synonyms: Mapping[str, str]) -> Path:
    """Put it where a download from the hub would; returns the folder of the model."""
    repository = models_folder / _REPOSITORY
    folder = repository / "snapshots" / "0123"
    folder.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0123")
    for name in (
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "config.json",
    ):
        shutil.copy(packaged_model_folder() / name, folder / name)
    _write_graph(folder / "model.onnx", synonyms)
    return folder


def _write_graph(file: Path, synonyms: Mapping[str, str]) -> None:
    """Logits, shape (texts, tokens, words): 3 for each token itself, 1 more for its synonym.
    Special tokens, numbers 100 to 103, have none."""
    of_word = np.full(_N_WORDS, 0, np.int64)
    for word, synonym in synonyms.items():
        of_word[number_of(word)] = number_of(synonym)
    heights = np.full(_N_WORDS, 3.0, np.float32)
    heights[[0, 100, 101, 102, 103]] = 0.0
    constants = {
        "depth": np.array(_N_WORDS, np.int64),
        "off_on": np.array([0.0, 1.0], np.float32),
        "of_word": of_word,
        "heights": heights,
        "has_synonym": (of_word > 0).astype(np.float32),
        "last": np.array([-1], np.int64),
    }
    nodes = [
        "own = OneHot input_ids depth off_on",
        "own_weight = Mul own heights",
        "synonyms = Gather of_word input_ids",
        "others = OneHot synonyms depth off_on",
        "some = Gather has_synonym input_ids",
        "some_wide = Unsqueeze some last",
        "other_weight = Mul others some_wide",
        "logits = Add own_weight other_weight",
    ]
    write_onnx(file, nodes, constants, ["texts", "tokens", _N_WORDS])
