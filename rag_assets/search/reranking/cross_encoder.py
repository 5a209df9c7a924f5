"""Cross-encoders: the model reads question and passage together. fastembed runs them with ONNX.

A model of fastembed's list is downloaded once into the models folder, and so is any other
repository of the hub that has `onnx/model.onnx`. A model in a folder needs no download.
"""

import math
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.core.errors import MissingModel, RerankingTooSlow
from rag_assets.core.incremental import file_sha256, fingerprint
from rag_assets.search.embedding.base import slug
from rag_assets.search.embedding.fastembed_model import described as of_fastembed
from rag_assets.search.embedding.fastembed_model import fetched, loaded
from rag_assets.search.reranking.base import TIMEOUT_S, FoundPassage, Judgement, described

if TYPE_CHECKING:
    from fastembed.common.model_description import BaseModelDescription
    from fastembed.rerank.cross_encoder import TextCrossEncoder

MODEL_FILE = "onnx/model.onnx"
_FILES = ("*.onnx", "*.onnx_data", "*.json")


ModelFiles = tuple[Path, str]
"""A folder with an ONNX model and its tokenizer, and the path of the model within it."""


def files_of_hub(name: str, models_folder: Path) -> ModelFiles:
    """Files of a model of fastembed's list, or of any repository of the hub that has
    `onnx/model.onnx`; they are downloaded first if necessary. Raises MissingModel."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    description = known_to_fastembed(name, MODEL_FILE)
    instead = (
        "name a folder that has it (folder:PATH), or set retrieval.reranker to "
        "local:late-interaction."
    )
    folder = fetched(TextCrossEncoder.download_model, description, name, models_folder, instead)
    return folder, description.model_file


def files_of_folder(folder: Path) -> ModelFiles:
    """A folder of the user: `model.onnx` in it or in its folder `onnx/`, and the tokenizer. Raises
    MissingModel."""
    for model_file in (MODEL_FILE, "model.onnx"):
        if (folder / model_file).is_file():
            return folder, model_file
    raise MissingModel(
        f"retrieval.reranker names {folder}, which holds neither model.onnx nor {MODEL_FILE}."
    )


def known_to_fastembed(name: str, model_file: str) -> "BaseModelDescription":
    """fastembed's description of the model. A model that is not in fastembed's list is added to it
    first."""
    from fastembed.common.model_description import BaseModelDescription, ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    with _REGISTERING:
        descriptions = {
            model["model"].lower(): model for model in TextCrossEncoder.list_supported_models()
        }
        if name.lower() not in descriptions:
            TextCrossEncoder.add_custom_model(
                name, sources=ModelSource(hf=name), model_file=model_file
            )
            return BaseModelDescription(name, ModelSource(hf=name), model_file, "", "", 0.0)
    return of_fastembed(BaseModelDescription, descriptions[name.lower()])


_REGISTERING = Lock()
"""fastembed has one list per process, and adding a model twice is an error."""


BATCH = 8
"""Pairs read at a time. A batch takes as long as its longest pair, and the time limit is checked
between batches."""


class CrossEncoder:
    """A Reranker with the model in a folder. The model is loaded for the first question."""

    def __init__(
        self,
        name: str,
        find_files: Callable[[], ModelFiles],
        n_threads: int,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """find_files: called once, when they are needed; raises MissingModel. timeout_s: most
        seconds for one question; loading is not counted."""
        self._name = name
        self._find_files = find_files
        self._n_threads = n_threads
        self._timeout_s = timeout_s

    @cached_property
    def _files(self) -> ModelFiles:
        return self._find_files()

    @cached_property
    def identity(self) -> str:
        """Contains a hash of the model's files. Raises MissingModel if they are not available."""
        folder, _ = self._files
        files = sorted({path for pattern in _FILES for path in folder.rglob(pattern)})
        content = fingerprint({str(path.relative_to(folder)): file_sha256(path) for path in files})
        return f"cross-encoder-{slug(self._name)}-{content[:12]}"

    def judge(self, question: str, candidates: Sequence[FoundPassage]) -> Judgement:
        texts = [described(candidate.passage) for candidate in candidates]
        deadline = time.monotonic() + self._timeout_s
        logits: list[float] = []
        for start in range(0, len(texts), BATCH):
            logits += self._logits(question, texts[start : start + BATCH])
            if time.monotonic() > deadline:
                raise RerankingTooSlow.after(self._timeout_s, model=self._name)
        scores = sigmoid(np.array(logits, np.float64))
        return Judgement(scores, scores)

    def _logits(self, question: str, texts: Sequence[str]) -> list[float]:
        """One number per text; higher means more relevant. Raises MissingModel if the model gives
        something else."""
        model = self._model
        try:
            logits = [float(logit) for logit in model.rerank(question, texts, batch_size=BATCH)]
        except Exception as error:  # a model of another kind fails here, with any error
            raise MissingModel(
                f"{self._name} is no cross-encoder ({type(error).__name__}: {error})."
            ) from error
        if len(logits) != len(texts) or not np.isfinite(logits).all():
            raise MissingModel(
                f"{self._name} is no cross-encoder: it gives scores that are no numbers."
            )
        return logits

    @cached_property
    def _model(self) -> "TextCrossEncoder":
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        folder, model_file = self._files
        known_to_fastembed(self._name, model_file)
        remedy = "It needs an ONNX model, tokenizer.json and tokenizer_config.json."
        return loaded(TextCrossEncoder, self._name, folder, self._n_threads, "reranker", remedy)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Turns each logit into a number from 0 to 1. Cross-encoders are trained so that it is the
    probability of being relevant."""
    return np.array(
        [1 / (1 + math.exp(-max(-700.0, min(700.0, logit)))) for logit in logits], np.float64
    )
