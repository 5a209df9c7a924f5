"""Runs an embedding model with fastembed (ONNX) so that every vector is reproducible.

Where the model's files come from is decided by its subclasses, `local_model` and `hub_model`.

One text at a time, each on one thread, several texts side by side: a quantised model takes its scales from all that
it is given at once, so in a batch a vector would depend on its neighbours. On two cores this is also as fast as
batches sorted by length, and faster than unsorted ones (benchmarks/embedding_speed.py).
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.errors import MissingModel
from rag_assets.core.text.tokens import ModelTokenizer
from rag_assets.search.embedding.base import EmbedderFacts, Role, Vectors, unit
from rag_assets.search.embedding.prefixes import NO_PREFIXES, Prefixes

if TYPE_CHECKING:
    from fastembed import TextEmbedding

_LOADED: "WeakValueDictionary[tuple[Path, str], TextEmbedding]" = WeakValueDictionary()
"""Models in use, by folder and name: whoever asks for one that is loaded shares its memory (35 MB for int8)."""
_LOADING = Lock()


class FastembedModel(ABC):
    """An EmbeddingModel on fastembed; it is loaded when the first vector is asked for."""

    prefixes: Prefixes = NO_PREFIXES

    def __init__(self, fastembed_name: str, models_folder: Path, n_threads: int) -> None:
        """fastembed_name: under which fastembed knows how to pool and normalise the model's output."""
        self.fastembed_name = fastembed_name
        self.models_folder = models_folder
        self._n_threads = n_threads
        self._loading = Lock()
        self._model: TextEmbedding | None = None

    @property
    @abstractmethod
    def facts(self) -> EmbedderFacts: ...

    @abstractmethod
    def tokenizer_file(self) -> Path:
        """The model's tokenizer.json, without building or loading the model if that can be avoided."""

    @abstractmethod
    def ready_folder(self) -> Path:
        """The folder fastembed loads; built or fetched first when it is not there. Raises MissingModel."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._tokenizer.count_tokens(texts)

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        return [len(texts)]

    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        model = self._loaded()
        embed = model.query_embed if role == "query" else model.passage_embed

        def vector_of(text: str) -> Vectors:
            (vector,) = embed([text])
            return unit(vector)

        if len(texts) == 1:
            return vector_of(texts[0])[np.newaxis]
        vectors = np.empty((len(texts), self.facts.dimension), np.float32)
        with ThreadPoolExecutor(self._n_threads) as pool:
            for row, vector in enumerate(pool.map(vector_of, texts)):
                vectors[row] = vector
        return vectors

    def pooled_and_tokens(self, text: str) -> tuple[Vectors, Vectors, NDArray[np.int32]]:
        """The unit vector of a text, what the model makes of each token before it pools them, and which characters a
        token stands for.

        Special tokens are left out, and so is what follows the last token that the model reads. Returns shapes
        (dimension,), (n_tokens, dimension), of any length, and (n_tokens, 2). Raises MissingModel, also for a model
        that is no encoder of tokens.
        """
        from fastembed.text.onnx_text_model import OnnxTextModel

        model = self._loaded().model
        if not isinstance(model, OnnxTextModel):
            raise MissingModel(f"{self.fastembed_name} has no vectors of single tokens.")
        (encoding,) = model.tokenize([text])
        is_special = np.array(encoding.special_tokens_mask, np.bool_)
        output = model.onnx_embed([text])
        (pooled,) = model._post_process_onnx_output(output)
        spans = np.array(encoding.offsets, np.int32).reshape(-1, 2)
        hidden = output.model_output[0].astype(np.float32, copy=False)
        return unit(pooled), hidden[~is_special], spans[~is_special]

    @cached_property
    def _tokenizer(self) -> ModelTokenizer:
        return ModelTokenizer(self.tokenizer_file())

    def _loaded(self) -> "TextEmbedding":
        with self._loading:
            if self._model is None:
                self._model = _shared(self.ready_folder(), self.fastembed_name)
        return self._model


def _shared(folder: Path, fastembed_name: str) -> "TextEmbedding":
    key = (folder.resolve(), fastembed_name)
    with _LOADING:
        model = _LOADED.get(key)
        if model is None:
            model = _LOADED[key] = _load(folder, fastembed_name)
        return model


def _load(folder: Path, fastembed_name: str) -> "TextEmbedding":
    from fastembed import TextEmbedding

    try:
        with warnings.catch_warnings(action="ignore"):  # some models have no use for threads, and say so
            return TextEmbedding(
                fastembed_name,
                cache_dir=str(folder.parent),
                threads=1,
                specific_model_path=str(folder),
                local_files_only=True,
            )
    except Exception as error:  # onnxruntime's and fastembed's loading errors share no narrower base
        raise MissingModel(
            f"The embedding model in {folder} cannot be loaded ({type(error).__name__}: {error}). "
            "Delete that folder and run again: it will be made anew."
        ) from error
