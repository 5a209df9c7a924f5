"""all-MiniLM-L6-v2 as a folder that fastembed loads, built once from the packaged weights.

`local_weights` reads and checks the input and keeps what is built, `onnx_graph` writes the model.
"""

import json
import shutil
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from rag_assets.core.text.tokens import packaged_model_folder
from rag_assets.search.embedding.base import EmbedderFacts
from rag_assets.search.embedding.fastembed_model import FastembedModel
from rag_assets.search.embedding.local_weights import (
    MINILM,
    PACKAGED_TOKENIZER_ID,
    TOKENIZER_SHA256,
    WEIGHTS_SHA256,
    packaged_tokenizer,
    read_weights,
    ready_folder,
)

BUILDER_VERSION = 2
"""Raise it with every change of `onnx_graph` or of this module that changes a vector."""


class Precision(StrEnum):
    """How the weights of a built model are kept."""

    FLOAT32 = "float32"
    INT8 = "int8"


PRECISIONS = {"all-MiniLM-L6-v2-int8": Precision.INT8, "all-MiniLM-L6-v2": Precision.FLOAT32}
"""By the model's name in the settings, without the provider."""


class LocalModel(FastembedModel):
    """One precision of the packaged model, built below `models_folder`."""

    def __init__(self, name: str, models_folder: Path, n_threads: int) -> None:
        super().__init__("sentence-transformers/all-MiniLM-L6-v2", models_folder, n_threads)
        self._name = name
        self._precision = PRECISIONS[name]

    @cached_property
    def facts(self) -> EmbedderFacts:
        weights, tokenizer = WEIGHTS_SHA256[:12], TOKENIZER_SHA256[:8]
        return EmbedderFacts(
            identity=f"local-{self._name}-{weights}-{tokenizer}-b{BUILDER_VERSION}",
            dimension=MINILM.n_hidden,
            max_tokens=MINILM.max_tokens,
            tokenizer_id=PACKAGED_TOKENIZER_ID,
        )

    def tokenizer_file(self) -> Path:
        return packaged_tokenizer()

    def ready_folder(self) -> Path:
        return ready_folder(self.models_folder / self.facts.identity, self._write)

    def _write(self, folder: Path) -> None:
        _write_model(folder, self._precision)
        _write_tokenizer(folder)


def _write_model(folder: Path, precision: Precision) -> None:
    from rag_assets.search.embedding import onnx_graph

    model = folder / "model.onnx"
    weights = read_weights()
    if precision is Precision.FLOAT32:
        onnx_graph.write_bert(weights, MINILM, model)
        return
    wide_model = folder / "float32.onnx"
    onnx_graph.write_bert(weights, MINILM, wide_model)
    onnx_graph.quantise_int8(wide_model, model)
    wide_model.unlink()


def _write_tokenizer(folder: Path) -> None:
    """The packaged tokenizer with the length this model was trained for, and without its fixed padding to 128."""
    source = packaged_model_folder()
    tokenizer = json.loads(packaged_tokenizer().read_text("utf-8")) | {"padding": None, "truncation": None}
    config = json.loads((source / "tokenizer_config.json").read_text("utf-8")) | {"model_max_length": MINILM.max_tokens}
    for name, content in (("tokenizer.json", tokenizer), ("tokenizer_config.json", config)):
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), "utf-8")
    for name in ("config.json", "special_tokens_map.json"):
        shutil.copyfile(source / name, folder / name)
