"""Runs an embedding model with fastembed (ONNX) so that every vector is reproducible.

Where the model's files come from is the business of `local_model` and `hub_model`.

One text at a time, each on one thread, several texts side by side: a quantised model takes its scales from all that
it is given at once, so in a batch a vector would depend on its neighbours. On two cores this is also as fast as
batches sorted by length, and faster than unsorted ones (benchmarks/embedding_speed.py).
"""

import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rag_assets.embedding.base import ModelFiles, Vectors, unit
from rag_assets.errors import MissingModel
from rag_assets.text.tokens import ModelTokenizer

if TYPE_CHECKING:
    from fastembed import TextEmbedding


class FastembedEmbedder:
    """An Embedder on fastembed. Opening it is free; the model is loaded when the first vector is asked for."""

    def __init__(self, files: ModelFiles, *, n_threads: int) -> None:
        self._files = files
        self._n_threads = n_threads
        self._facts = files.facts
        self._lock = Lock()
        self._model: TextEmbedding | None = None

    @property
    def model_id(self) -> str:
        return self._facts.model_id

    @property
    def dimension(self) -> int:
        return self._facts.dimension

    @property
    def max_tokens(self) -> int:
        return self._facts.max_tokens

    @cached_property
    def _tokenizer(self) -> ModelTokenizer:
        return ModelTokenizer(self._files.tokenizer_file())

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._tokenizer.count_tokens(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        model, prefix = self._loaded(), self._files.prefixes.passage
        vectors = np.empty((len(texts), self.dimension), np.float32)
        with ThreadPoolExecutor(self._n_threads) as pool:
            for row, vector in enumerate(pool.map(lambda text: _only(model.passage_embed([prefix + text])), texts)):
                vectors[row] = vector
        return vectors

    def embed_query(self, text: str) -> Vectors:
        return _only(self._loaded().query_embed(self._files.prefixes.query + text))

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        return [len(texts)]

    def _loaded(self) -> "TextEmbedding":
        with self._lock:
            if self._model is None:
                self._model = _load(self._files)
        return self._model


def _load(files: ModelFiles) -> "TextEmbedding":
    folder = files.ready_folder()
    from fastembed import TextEmbedding

    try:
        with warnings.catch_warnings(action="ignore"):  # some models have no use for threads, and say so
            return TextEmbedding(
                files.fastembed_name,
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


def _only(vectors: Iterable[NDArray[Any]]) -> Vectors:
    (vector,) = vectors
    return unit(vector)
