"""all-MiniLM-L6-v2 as a folder that fastembed loads, built once from the packaged weights.

The folder appears under its final name only when it is complete, and is checked each time it is used: a kill, a full
disk or a damaged file leads to another build (a few seconds), never to other vectors. `local_weights` reads and
checks the input, `onnx_graph` writes the model.
"""

import json
import logging
import os
import shutil
import time
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from uuid import uuid4

from rag_assets.embedding.base import EmbedderFacts
from rag_assets.embedding.fastembed_model import FastembedModel
from rag_assets.embedding.local_weights import (
    MINILM,
    PACKAGED_TOKENIZER_ID,
    TOKENIZER_SHA256,
    WEIGHTS_SHA256,
    packaged_tokenizer,
    read_weights,
)
from rag_assets.errors import MissingModel
from rag_assets.incremental import STAGED_SUFFIX, file_sha256
from rag_assets.text.tokens import packaged_model_folder

logger = logging.getLogger(__name__)

BUILDER_VERSION = 1
"""Raise it with every change of `onnx_graph` or of this module that changes a vector."""
_MANIFEST = "manifest.json"
_ABANDONED_AFTER_S = 600.0


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
        folder = self.models_folder / self.facts.identity
        if not folder.exists():
            self._build(folder)
        elif damage := _damage(folder):
            logger.warning("%s: building the embedding model again.", damage)
            shutil.rmtree(folder)
            self._build(folder)
        return folder

    def _build(self, folder: Path) -> None:
        logger.info("Building the embedding model %s (once).", self.facts.identity)
        started = time.monotonic()
        _remove_abandoned_builds(folder)
        staged = folder.with_name(f"{folder.name}.{uuid4().hex}{STAGED_SUFFIX}")
        staged.mkdir(parents=True)
        try:
            _write_model(staged, self._precision)
            _write_tokenizer(staged)
            _write_manifest(staged)
            _publish(staged, folder)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
        logger.info("Built %s in %.1f s.", folder, time.monotonic() - started)


def _write_model(folder: Path, precision: Precision) -> None:
    from rag_assets.embedding import onnx_graph

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


def _write_manifest(folder: Path) -> None:
    files = {path.name: file_sha256(path) for path in sorted(folder.iterdir())}
    (folder / _MANIFEST).write_text(json.dumps(files, indent=2) + "\n", "utf-8")


def _damage(folder: Path) -> str:
    """What is wrong with a built folder; empty when it is as it was built."""
    try:
        files: dict[str, str] = json.loads((folder / _MANIFEST).read_text("utf-8"))
        for name, sha256 in files.items():
            if file_sha256(folder / name) != sha256:
                return f"{folder / name} is not as it was built"
    except (OSError, ValueError, AttributeError) as error:
        return f"{folder} is incomplete ({error})"
    return ""


def _publish(staged: Path, folder: Path) -> None:
    """Give the staged folder its final name; if another process was faster, its folder stays."""
    for path in staged.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    try:
        staged.rename(folder)
    except OSError as error:
        if not folder.is_dir():
            raise MissingModel(f"The embedding model cannot be put into {folder} ({error}).") from error


def _remove_abandoned_builds(folder: Path) -> None:
    """A killed build leaves its staged folder; a young one may belong to a process that is still building."""
    for staged in folder.parent.glob(f"{folder.name}.*{STAGED_SUFFIX}"):
        if time.time() - staged.stat().st_mtime > _ABANDONED_AFTER_S:
            shutil.rmtree(staged, ignore_errors=True)
