"""Sparse vectors (SPLADE): a weight for each word of the model's vocabulary that a text is about,
even if the text does not contain the word.

fastembed runs the models, which are downloaded once. One text is embedded at a time, so that a
vector depends on its own text only. Vectors are stored like dense ones (`vector_cache`). Source:
Formal et al. 2021, "SPLADE v2: Sparse Lexical and Expansion Model for Information Retrieval".
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rag_assets.core.domain import SparseVector
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import Settings
from rag_assets.search.embedding.base import side_by_side, slug
from rag_assets.search.embedding.fastembed_model import (
    FETCH_ANEW,
    described,
    fetched,
    file_hashes,
    loaded,
)
from rag_assets.search.embedding.vector_cache import TextCache

if TYPE_CHECKING:
    from fastembed import SparseTextEmbedding
    from fastembed.common.model_description import SparseModelDescription

MOST_TERMS = 512
"""Only so many terms of a vector are kept, those with the largest weights. A passage of 160 tokens
has about 200 to 300."""


class SparseModel:
    """One model of fastembed's list of sparse models. Safe to use from several threads.

    Creating it is cheap. Raises InvalidSettings for an unknown name; MissingModel, now or later, if
    its files are not available.
    """

    def __init__(self, name: str, models_folder: Path, n_threads: int = 1) -> None:
        self._description = _described(name)
        self._models_folder = models_folder
        self._n_threads = n_threads

    @cached_property
    def identity(self) -> str:
        """Part of every cache key and of the index. It changes with everything that changes a
        vector."""
        content = fingerprint(file_hashes(self._folder, self._description), MOST_TERMS)
        return f"sparse-{slug(self._description.model)}-{content[:12]}"

    def vectors(self, texts: Sequence[str]) -> list[SparseVector]:
        """The vector of each text, in order."""
        return side_by_side(self._vector, texts, self._n_threads)

    def _vector(self, text: str) -> SparseVector:
        (embedding,) = self._model.embed([text])
        kept_terms = np.sort(np.argsort(-embedding.values, kind="stable")[:MOST_TERMS])
        return SparseVector(
            tuple(embedding.indices[kept_terms].tolist()),
            tuple(embedding.values[kept_terms].tolist()),
        )

    @cached_property
    def _model(self) -> "SparseTextEmbedding":
        from fastembed import SparseTextEmbedding

        name = self._description.model
        return loaded(SparseTextEmbedding, name, self._folder, 1, "sparse model", FETCH_ANEW)

    @cached_property
    def _folder(self) -> Path:
        from fastembed import SparseTextEmbedding

        download, name = SparseTextEmbedding.download_model, self._description.model
        return fetched(
            download,
            self._description,
            name,
            self._models_folder,
            'or set embedding.sparse_model = "none".',
        )


def _described(name: str) -> "SparseModelDescription":
    """fastembed's description of a model. Raises InvalidSettings for an unknown name."""
    from fastembed import SparseTextEmbedding
    from fastembed.common.model_description import SparseModelDescription

    # other models also need statistics of the corpus
    descriptions = {
        entry["model"]: entry
        for entry in SparseTextEmbedding.list_supported_models()
        if not entry["requires_idf"]
    }
    descriptions.pop("prithvida/Splade_PP_en_v1", None)  # an old name of a model in the list
    provider, _, model = name.partition(":")
    if provider != "fastembed" or model not in descriptions:
        names = ", ".join(f"fastembed:{entry}" for entry in sorted(descriptions))
        raise InvalidSettings(
            f"embedding.sparse_model = {name!r} does not exist. It can be: none, {names}."
        )
    return described(SparseModelDescription, descriptions[model])


OFF = "none"


class SparseEmbedder(Protocol):
    """Makes sparse vectors. A vector depends on its own text and the model only. `SparseModel`
    implements it."""

    @property
    def identity(self) -> str: ...

    def vectors(self, texts: Sequence[str]) -> list[SparseVector]: ...


class SparseVectors:
    """A sparse model, and the vectors of passages that it made, which are stored in `cache`."""

    def __init__(self, file: KeptFile, model: SparseEmbedder) -> None:
        self._file = file
        self._model = model

    @cached_property
    def cache(self) -> TextCache[SparseVector]:
        return TextCache(self._file, "sparse vectors", self.identity, _packed, _unpacked)

    @property
    def identity(self) -> str:
        return self._model.identity

    def of_question(self, text: str) -> SparseVector:
        return self._model.vectors([text])[0]

    def embed(
        self, texts: Iterable[str], *, batch_size: int, report: Callable[[int, int], None]
    ) -> int:
        """Make the missing vectors, batch by batch, and save each batch. Returns how many were
        made."""
        missing = self.cache.missing(texts)
        for start in range(0, len(missing), batch_size):
            batch = missing[start : start + batch_size]
            self.cache.add(batch, self._model.vectors(batch))
            report(start + len(batch), len(missing))
        return len(missing)


def open_sparse_vectors(settings: Settings) -> SparseVectors | None:
    """The sparse model and vectors that `settings` ask for, or None. No model is loaded.

    Raises InvalidSettings for an unknown model, or if the vector store cannot search sparse
    vectors.
    """
    name = settings.embedding.sparse_model
    if name == OFF:
        return None
    if settings.indexing.vector_store != "qdrant":
        raise InvalidSettings(
            f"embedding.sparse_model = {name!r} is searched by Qdrant only. Set indexing.vector_store = "
            '"qdrant" and retrieval.fusion = "server_rrf", or embedding.sparse_model = "none".'
        )
    paths = settings.paths
    return SparseVectors(
        KeptFile(paths.vectors), SparseModel(name, paths.models, settings.execution.n_workers)
    )


def _packed(vector: SparseVector) -> bytes:
    """A vector as bytes: all indexes, then all weights."""
    return np.array(vector.places, "<u4").tobytes() + np.array(vector.weights, "<f4").tobytes()


def _unpacked(content: bytes) -> SparseVector:
    half = len(content) // 2
    indexes, weights = np.frombuffer(content[:half], "<u4"), np.frombuffer(content[half:], "<f4")
    return SparseVector(tuple(indexes.tolist()), tuple(weights.tolist()))
