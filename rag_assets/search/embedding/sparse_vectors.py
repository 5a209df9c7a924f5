"""The sparse vectors of passages: made by a model, and kept by content so that no text is embedded twice.

They are kept as the dense ones are (`vector_cache`), in a folder of their own: a vector is a row of numbers with its
places first, then their weights, then zeros.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from rag_assets.core.domain import SparseVector
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import Settings
from rag_assets.search.embedding.base import EmbedderFacts, Vectors
from rag_assets.search.embedding.earlier_models import note_papers, prune_earlier_models
from rag_assets.search.embedding.missing_vectors import ignore_progress
from rag_assets.search.embedding.sparse_model import MOST_TERMS, SparseModel
from rag_assets.search.embedding.vector_cache import VectorCache

OFF = "none"
PaperTexts = Mapping[str, Sequence[str]]
"""Texts of the passages by paper_id."""


class SparseEmbedder(Protocol):
    """Makes sparse vectors; a vector depends on its own text and the model only."""

    @property
    def identity(self) -> str: ...

    def vectors(self, texts: Sequence[str]) -> list[SparseVector]: ...


class SparseVectors:
    """A sparse model and the vectors that it made for passages, below `folder`."""

    def __init__(self, folder: Path, model: SparseEmbedder) -> None:
        self._folder = folder
        self._model = model

    @property
    def identity(self) -> str:
        return self._model.identity

    def of_question(self, text: str) -> SparseVector:
        return self._model.vectors([text])[0]

    def embed(self, texts: PaperTexts, *, batch_size: int, report: Callable[[int, int], None] = ignore_progress) -> int:
        """Make what is missing, save each batch, and say how many were made."""
        cache = self._cache()
        by_key = {cache.key_of(text): text for of_paper in texts.values() for text in of_paper}
        note_papers(cache.folder, {paper: map(cache.key_of, of_paper) for paper, of_paper in texts.items()})
        missing = cache.missing(by_key)
        for start in range(0, len(missing), batch_size):
            keys = missing[start : start + batch_size]
            cache.add(keys, _packed(self._model.vectors([by_key[key] for key in keys])))
            report(start + len(keys), len(missing))
        return len(missing)

    def publish(self, texts: PaperTexts) -> None:
        """Keep exactly the vectors of these passages. Raises MissingInput when one is missing."""
        cache = self._cache()
        cache.publish({cache.key_of(text) for of_paper in texts.values() for text in of_paper})

    def of(self, texts: Sequence[str]) -> list[SparseVector]:
        """The kept vectors of texts, in the order given. Raises MissingInput when one is missing."""
        cache = self._cache()
        return [_unpacked(row) for row in cache.load([cache.key_of(text) for text in texts])]

    def _cache(self) -> VectorCache:
        return VectorCache(self._folder, _facts(self.identity))


def open_sparse_vectors(settings: Settings) -> SparseVectors | None:
    """Those that `settings` ask for; None when they ask for none. No model is loaded.

    Raises InvalidSettings for a model that does not exist, and where nothing could search the vectors.
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
    return SparseVectors(paths.sparse_vectors, SparseModel(name, paths.models, settings.execution.n_workers))


def publish_sparse_vectors(sparse: SparseVectors | None, texts: PaperTexts, settings: Settings) -> None:
    """Keep the vectors of these passages, and those of models that were used before as for dense vectors: nothing
    remains of a deleted paper. sparse: None when the settings ask for none any more."""
    if sparse is not None:
        sparse.publish(texts)
    folder = settings.paths.sparse_vectors
    in_use = VectorCache(folder, _facts(sparse.identity if sparse else OFF)).folder
    prune_earlier_models(in_use, texts)


def _facts(identity: str) -> EmbedderFacts:
    """Of the rows that are kept."""
    return EmbedderFacts(identity, dimension=2 * MOST_TERMS, max_tokens=0, tokenizer_id="")


def _packed(vectors: Sequence[SparseVector]) -> Vectors:
    """One row per vector, shape (n, 2 x MOST_TERMS). Places below 2^24 are exact as float32."""
    rows = np.zeros((len(vectors), 2 * MOST_TERMS), np.float32)
    for row, vector in zip(rows, vectors, strict=True):
        row[: len(vector.places)] = vector.places
        row[MOST_TERMS : MOST_TERMS + len(vector.weights)] = vector.weights
    return rows


def _unpacked(row: Vectors) -> SparseVector:
    n_terms = int(np.count_nonzero(row[MOST_TERMS:]))  # the model keeps no term without weight
    weights = row[MOST_TERMS : MOST_TERMS + n_terms]
    return SparseVector(tuple(row[:n_terms].astype(int).tolist()), tuple(weights.tolist()))
