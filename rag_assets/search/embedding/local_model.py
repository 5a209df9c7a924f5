"""The packaged all-MiniLM-L6-v2: its files, their checksums, and folders with models that are built from them once.

A built folder appears under its final name only when it is complete, and is checked each time it is used: a kill, a
full disk or a damaged file leads to another build (a few seconds), never to another model. `onnx_graph` writes the
model that fastembed loads.
"""

import atexit
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.errors import MissingModel
from rag_assets.core.incremental import STAGED_SUFFIX, file_sha256, read_sealed, sealed_json
from rag_assets.core.text.tokens import REINSTALL, packaged_model_folder
from rag_assets.search.embedding.base import EmbedderFacts
from rag_assets.search.embedding.fastembed_model import FastembedModel

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Checksum of model.safetensors, here as in the official sentence-transformers/all-MiniLM-L6-v2."""
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
"""Checksum of tokenizer.json; another vocabulary would make other vectors of the same weights."""
PACKAGED_TOKENIZER_ID = f"wordpiece-{TOKENIZER_SHA256[:8]}"
SEGMENT_IDS = "token_type_ids"
"""Input of a graph whose inputs have segments: the number of each token's segment, 0-based."""
SEGMENTS = "embeddings.segments.weight"
"""Name of the vectors that are added to the tokens of each segment, shape (n_segments, n_hidden)."""


@dataclass(frozen=True)
class BertShape:
    """Dimensions of a BERT encoder that its weights do not show; the defaults are all-MiniLM-L6-v2's (config.json)."""

    n_layers: int = 6
    n_heads: int = 12
    n_hidden: int = 384
    layer_norm_epsilon: float = 1e-12
    max_tokens: int = 256
    """Longest input the model was trained for, special tokens included (sentence_bert_config.json)."""
    n_segments: int = 0
    """Parts of an input that are distinguished, each by a vector of its own."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("input_ids", "attention_mask", *([SEGMENT_IDS] if self.n_segments else []))


MINILM = BertShape()


def read_weights() -> dict[str, NDArray[np.float32]]:
    """Tensor name -> float32 array; raises MissingModel when the folder is not installed or holds other weights."""
    from safetensors.numpy import load_file

    return load_file(checked_file(packaged_model_folder() / "model.safetensors", WEIGHTS_SHA256))


def packaged_tokenizer() -> Path:
    """The packaged tokenizer.json; raises MissingModel when the folder is not installed or holds another one."""
    return checked_file(packaged_model_folder() / "tokenizer.json", TOKENIZER_SHA256)


def checked_file(path: Path, sha256: str, model: str = "the official all-MiniLM-L6-v2") -> Path:
    """The path given, if the file there has that SHA-256; raises MissingModel otherwise. model: whose file it is."""
    if not path.is_file():
        raise MissingModel(f"{path}, a file of {model}, does not exist. {REINSTALL}")
    if (found := file_sha256(path)) != sha256:
        raise MissingModel(f"{path} is not the file of {model}: its SHA-256 is {found}, not {sha256}. {REINSTALL}")
    return path


logger = logging.getLogger(__name__)

MODEL_MANIFEST = "manifest.json"
_ABANDONED_AFTER_S = 600.0


def ready_folder(folder: Path, write: Callable[[Path], None]) -> Path:
    """The folder, built first where it is not there or not as it was built. Where it cannot be written, another one is
    built that lives as long as this process.

    write: puts the model's files into an empty folder. Raises OSError if there is no room for that either.
    """
    if folder.exists() and not (damage := damage_of(folder)):
        return folder
    try:
        if folder.exists():
            logger.warning("%s: building the model again.", damage)
            shutil.rmtree(folder)
        _build(folder, write)
    except OSError as error:
        logger.warning("%s cannot be written (%s); the model is built for this time only.", folder, error.strerror)
        folder = Path(_folder_of_process(), folder.name)
        if not folder.exists():
            _build(folder, write)
    return folder


@cache
def _folder_of_process() -> str:
    folder = tempfile.TemporaryDirectory(prefix="rag_assets-models-")
    atexit.register(folder.cleanup)
    return folder.name


def _build(folder: Path, write: Callable[[Path], None]) -> None:
    logger.info("Building the model %s (once).", folder.name)
    started = time.monotonic()
    for abandoned in folder.parent.glob(f"{folder.name}.*{STAGED_SUFFIX}"):  # by a killed build, unless it is young
        if time.time() - abandoned.stat().st_mtime > _ABANDONED_AFTER_S:
            shutil.rmtree(abandoned, ignore_errors=True)
    staged = folder.with_name(f"{folder.name}.{uuid4().hex}{STAGED_SUFFIX}")
    staged.mkdir(parents=True)
    try:
        write(staged)
        files = {path.name: file_sha256(path) for path in sorted(staged.iterdir())}
        (staged / MODEL_MANIFEST).write_bytes(sealed_json(files))
        _publish(staged, folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    logger.info("Built %s in %.1f s.", folder, time.monotonic() - started)


def damage_of(folder: Path) -> str:
    """What is wrong with a built folder; empty when it is as it was built."""
    files = read_sealed(folder / MODEL_MANIFEST)
    if files is None:
        return f"{folder / MODEL_MANIFEST} is missing or damaged"
    try:
        for name, sha256 in files.items():
            if file_sha256(folder / name) != sha256:
                return f"{folder / name} is not as it was built"
    except OSError as error:
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
            raise MissingModel(f"The model cannot be put into {folder} ({error}).") from error


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
