"""Cross-encoders, run by fastembed on ONNX: the model reads question and passage together.

A model of fastembed's list is fetched once from its hub into the models folder, and so is any other
repository of the hub that holds `onnx/model.onnx`. A folder on disk needs no hub. The judges of
answers use the same files.
"""

import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.core.errors import MissingModel, RerankingTooSlow
from rag_assets.core.incremental import file_sha256, fingerprint
from rag_assets.search.embedding.fastembed_model import fetched, loaded
from rag_assets.search.reranking.base import TIMEOUT_S, FoundPassage, Judgement, described

if TYPE_CHECKING:
    from fastembed.common.model_description import BaseModelDescription
    from fastembed.rerank.cross_encoder import TextCrossEncoder

MODEL_FILE = "onnx/model.onnx"
_FILES = ("*.onnx", "*.onnx_data", "*.json")


class CrossEncoderFiles(ABC):
    """A folder with an ONNX model and its tokenizer."""

    def __init__(self, name: str, model_file: str) -> None:
        """model_file: path of the model below the folder."""
        self.name = name
        self.model_file = model_file

    @property
    @abstractmethod
    def folder(self) -> Path:
        """Where the files are; they are fetched first if necessary. Raises MissingModel."""

    @cached_property
    def content(self) -> str:
        """Hash of the files; raises MissingModel when they cannot be had."""
        files = sorted({path for pattern in _FILES for path in self.folder.rglob(pattern)})
        return fingerprint(
            {str(path.relative_to(self.folder)): file_sha256(path) for path in files}
        )


class HubFiles(CrossEncoderFiles):
    """Files of a model of fastembed's list, or of any repository of the hub that holds
    `onnx/model.onnx`."""

    def __init__(self, name: str, models_folder: Path, instead: str) -> None:
        """instead: what else can be done where the hub is out of reach, after "Connect once, "."""
        super().__init__(name, MODEL_FILE)
        self._models_folder = models_folder
        self._instead = instead

    @cached_property
    def folder(self) -> Path:
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        description = known_to_fastembed(self.name, self.model_file)
        self.model_file = description.model_file
        return fetched(
            TextCrossEncoder.download_model,
            description,
            self.name,
            self._models_folder,
            self._instead,
        )


class FolderFiles(CrossEncoderFiles):
    """`model.onnx` in the folder or in `onnx/` below it, and its tokenizer."""

    def __init__(self, folder: Path, setting: str) -> None:
        """setting: the one that names the folder."""
        model_file = MODEL_FILE if (folder / MODEL_FILE).is_file() else "model.onnx"
        super().__init__(f"folder/{folder.resolve()}", model_file)
        self._place = folder
        self._setting = setting

    @cached_property
    def folder(self) -> Path:
        if not (self._place / self.model_file).is_file():
            raise MissingModel(
                f"{self._setting} names {self._place}, which holds neither model.onnx nor {MODEL_FILE}."
            )
        return self._place


def known_to_fastembed(name: str, model_file: str) -> "BaseModelDescription":
    """What fastembed knows of the model; made known to it first where it is not in its list."""
    from fastembed.common.model_description import BaseModelDescription, ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    with _REGISTERING:
        known = {
            model["model"].lower(): model for model in TextCrossEncoder.list_supported_models()
        }
        if name.lower() not in known:
            TextCrossEncoder.add_custom_model(
                name, sources=ModelSource(hf=name), model_file=model_file
            )
            return BaseModelDescription(name, ModelSource(hf=name), model_file, "", "", 0.0)
    model = known[name.lower()]
    return BaseModelDescription(**(model | {"sources": ModelSource(**model["sources"])}))


_REGISTERING = Lock()
"""fastembed's list belongs to the process, and adding to it twice is an error."""


BATCH = 8
"""Pairs read at once. A batch is as slow as its longest pair, and the time a question may take is
looked at between batches."""
INSTEAD = (
    "name a folder that has it (folder:PATH), or set retrieval.reranker to local:late-interaction."
)
"""The alternative to a reranker whose hub is out of reach."""


class CrossEncoder:
    """A Reranker on a model in a folder; it is loaded when the first question is judged."""

    def __init__(
        self, files: CrossEncoderFiles, n_threads: int, timeout_s: float = TIMEOUT_S
    ) -> None:
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
        return (
            f"cross-encoder-{re.sub(r'[^A-Za-z0-9.]+', '-', self._name)}-{self._files.content[:12]}"
        )

    def judge(self, question: str, candidates: Sequence[FoundPassage]) -> Judgement:
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

    def _logits(
        self, model: "TextCrossEncoder", question: str, texts: Sequence[str]
    ) -> list[float]:
        try:
            logits = [float(logit) for logit in model.rerank(question, texts, batch_size=BATCH)]
        except Exception as error:  # a graph with other inputs fails when it is run, with any error
            raise MissingModel(
                f"{self._name} is no cross-encoder ({type(error).__name__}: {error})."
            ) from error
        if len(logits) != len(texts) or not np.isfinite(logits).all():
            raise MissingModel(
                f"{self._name} is no cross-encoder: it gives scores that are no numbers."
            )
        return logits

    def _loaded(self) -> "TextCrossEncoder":
        with self._loading:
            if self._model is None:
                from fastembed.rerank.cross_encoder import TextCrossEncoder

                folder = self._files.folder
                known_to_fastembed(self._name, self._files.model_file)
                remedy = "It needs an ONNX model, tokenizer.json and tokenizer_config.json."
                self._model = loaded(
                    TextCrossEncoder, self._name, folder, self._n_threads, "reranker", remedy
                )
            return self._model


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """0 to 1. Cross-encoders are trained so that this is a probability of being relevant."""
    return np.array(
        [1 / (1 + math.exp(-max(-700.0, min(700.0, logit)))) for logit in logits], np.float64
    )
