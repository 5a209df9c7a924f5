"""Cross-encoders, run by fastembed on ONNX: the model reads question and passage together.

A model of fastembed's list is fetched once from its hub into the models folder, and so is any other repository of the
hub that holds `onnx/model.onnx`. A folder on disk needs no hub.
"""

import math
import re
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.errors import MissingModel, RerankingTooSlow
from rag_assets.incremental import file_sha256, fingerprint
from rag_assets.reranking.base import Candidate, Judgement, described

if TYPE_CHECKING:
    from fastembed.common.model_description import BaseModelDescription
    from fastembed.rerank.cross_encoder import TextCrossEncoder

BATCH = 8
"""Pairs read at once. A batch is as slow as its longest pair, and the time a question may take is looked at between
batches."""
_MODEL_FILE = "onnx/model.onnx"
_FILES = ("*.onnx", "*.onnx_data", "*.json")


class CrossEncoder(ABC):
    """A Reranker on a model in a folder; it is loaded when the first question is judged."""

    def __init__(self, name: str, n_threads: int, timeout_s: float) -> None:
        """name: as fastembed knows the model. timeout_s: most seconds for one question, without loading."""
        self._name = name
        self._n_threads = n_threads
        self._timeout_s = timeout_s
        self._loading = Lock()
        self._model: TextCrossEncoder | None = None

    @property
    @abstractmethod
    def _folder(self) -> Path:
        """With the model's files; fetched first when they are not there. Raises MissingModel."""

    @cached_property
    def identity(self) -> str:
        """Names the content of the model's files; raises MissingModel when they cannot be had."""
        files = sorted({path for pattern in _FILES for path in self._folder.rglob(pattern)})
        content = fingerprint({str(path.relative_to(self._folder)): file_sha256(path) for path in files})
        return f"cross-encoder-{re.sub(r'[^A-Za-z0-9.]+', '-', self._name)}-{content[:12]}"

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judgement:
        model = self._loaded()
        texts = [described(candidate.passage) for candidate in candidates]
        latest = time.monotonic() + self._timeout_s
        logits: list[float] = []
        for start in range(0, len(texts), BATCH):
            logits += self._logits(model, question, texts[start : start + BATCH])
            if time.monotonic() > latest:
                raise RerankingTooSlow.after(self._timeout_s, model=self._name)
        scores = sigmoid(np.array(logits, np.float64))
        return Judgement(scores, scores)

    def _logits(self, model: "TextCrossEncoder", question: str, texts: Sequence[str]) -> list[float]:
        try:
            logits = [float(logit) for logit in model.rerank(question, texts, batch_size=BATCH)]
        except Exception as error:  # as in `_load`: a graph with other inputs fails when it is run
            raise MissingModel(f"{self._name} is no cross-encoder ({type(error).__name__}: {error}).") from error
        if len(logits) != len(texts) or not np.isfinite(logits).all():
            raise MissingModel(f"{self._name} is no cross-encoder: it gives scores that are no numbers.")
        return logits

    def _loaded(self) -> "TextCrossEncoder":
        with self._loading:
            if self._model is None:
                self._model = self._load(self._folder)
            return self._model

    def _load(self, folder: Path) -> "TextCrossEncoder":
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        try:
            with warnings.catch_warnings(action="ignore"):
                return TextCrossEncoder(
                    self._name,
                    cache_dir=str(folder.parent),
                    threads=self._n_threads,
                    specific_model_path=str(folder),
                    local_files_only=True,
                )
        except Exception as error:  # onnxruntime's and fastembed's loading errors share no narrower base
            raise MissingModel(
                f"The reranker in {folder} cannot be loaded ({type(error).__name__}: {error}). It needs an ONNX model, "
                "tokenizer.json and tokenizer_config.json."
            ) from error


class HubCrossEncoder(CrossEncoder):
    """A cross-encoder of fastembed's list, or of a repository on its hub."""

    def __init__(self, name: str, models_folder: Path, n_threads: int, timeout_s: float) -> None:
        super().__init__(name, n_threads, timeout_s)
        self._models_folder = models_folder

    @cached_property
    def _folder(self) -> Path:
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        self._models_folder.mkdir(parents=True, exist_ok=True)
        try:
            return TextCrossEncoder.download_model(
                _description(self._name, _MODEL_FILE), cache_dir=str(self._models_folder)
            )
        except (OSError, ValueError) as error:
            raise MissingModel(
                f"{self._name} is not in {self._models_folder} and cannot be fetched from its hub ({error}). Connect "
                "once, name a folder that has it (folder:PATH), or set retrieval.reranker to local:late-interaction."
            ) from error


class FolderCrossEncoder(CrossEncoder):
    """A cross-encoder whose files are in a folder: `model.onnx` there or in `onnx/`, and its tokenizer."""

    def __init__(self, folder: Path, n_threads: int, timeout_s: float) -> None:
        model_file = _MODEL_FILE if (folder / _MODEL_FILE).is_file() else "model.onnx"
        super().__init__(f"folder/{folder.resolve()}", n_threads, timeout_s)
        self._place = folder
        self._model_file = model_file

    @cached_property
    def _folder(self) -> Path:
        if not (self._place / self._model_file).is_file():
            raise MissingModel(
                f"retrieval.reranker names {self._place}, which holds neither model.onnx nor {_MODEL_FILE}."
            )
        _description(self._name, self._model_file)
        return self._place


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """0 to 1. Cross-encoders are trained so that this is a probability of being relevant."""
    return np.array([1 / (1 + math.exp(-max(-700.0, min(700.0, logit)))) for logit in logits], np.float64)


def _description(name: str, model_file: str) -> "BaseModelDescription":
    """What fastembed knows of the model; made known to it first where it is not in its list."""
    from fastembed.common.model_description import BaseModelDescription, ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    with _REGISTERING:
        known = {model["model"].lower(): model for model in TextCrossEncoder.list_supported_models()}
        if name.lower() not in known:
            TextCrossEncoder.add_custom_model(name, sources=ModelSource(hf=name), model_file=model_file)
            return BaseModelDescription(name, ModelSource(hf=name), model_file, "", "", 0.0)
    model = known[name.lower()]
    return BaseModelDescription(**(model | {"sources": ModelSource(**model["sources"])}))


_REGISTERING = Lock()
"""fastembed's list belongs to the process, and adding to it twice is an error."""
