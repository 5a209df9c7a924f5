"""Cross-encoders, run by fastembed on ONNX: the model reads question and passage together.

A model of fastembed's list is fetched once from its hub into the models folder, and so is any other repository of the
hub that holds `onnx/model.onnx`. A folder on disk needs no hub.
"""

import math
import re
import time
import warnings
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.core.errors import MissingModel, RerankingTooSlow
from rag_assets.search.cross_encoder_files import CrossEncoderFiles, FolderFiles, HubFiles, known_to_fastembed
from rag_assets.search.reranking.base import TIMEOUT_S, Candidate, Judgement, described

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

BATCH = 8
"""Pairs read at once. A batch is as slow as its longest pair, and the time a question may take is looked at between
batches."""
_INSTEAD = "name a folder that has it (folder:PATH), or set retrieval.reranker to local:late-interaction."


class CrossEncoder:
    """A Reranker on a model in a folder; it is loaded when the first question is judged."""

    def __init__(self, files: CrossEncoderFiles, n_threads: int, timeout_s: float = TIMEOUT_S) -> None:
        """timeout_s: most seconds for one question, without loading."""
        self._files = files
        self._name = files.name
        self._n_threads = n_threads
        self._timeout_s = timeout_s
        self._loading = Lock()
        self._model: TextCrossEncoder | None = None

    @cached_property
    def identity(self) -> str:
        """Names the content of the model's files; raises MissingModel when they cannot be had."""
        return f"cross-encoder-{re.sub(r'[^A-Za-z0-9.]+', '-', self._name)}-{self._files.content[:12]}"

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
                self._model = self._load(self._files.folder)
            return self._model

    def _load(self, folder: Path) -> "TextCrossEncoder":
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        known_to_fastembed(self._name, self._files.model_file)
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

    def __init__(self, name: str, models_folder: Path, n_threads: int, timeout_s: float = TIMEOUT_S) -> None:
        super().__init__(HubFiles(name, models_folder, _INSTEAD), n_threads, timeout_s)


class FolderCrossEncoder(CrossEncoder):
    """A cross-encoder whose files are in a folder."""

    def __init__(self, folder: Path, n_threads: int, timeout_s: float = TIMEOUT_S) -> None:
        super().__init__(FolderFiles(folder, "retrieval.reranker"), n_threads, timeout_s)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """0 to 1. Cross-encoders are trained so that this is a probability of being relevant."""
    return np.array([1 / (1 + math.exp(-max(-700.0, min(700.0, logit)))) for logit in logits], np.float64)
