"""Sparse vectors (SPLADE): a weight for each word of a model's vocabulary that a text is about, found in it or not.

Models are run by fastembed, one text at a time, so that a vector depends on its own text only, and fetched once from
their hub. Vectors are kept like dense ones (`vector_cache`) in a folder of their own. Source: Formal et al. 2021,
"SPLADE v2: Sparse Lexical and Expansion Model for Information Retrieval".
"""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rag_assets.core.domain import SparseVector
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.incremental import file_sha256, fingerprint
from rag_assets.core.settings import Settings
from rag_assets.search.embedding.base import EmbedderFacts, Vectors
from rag_assets.search.embedding.earlier_models import note_papers, prune_earlier_models
from rag_assets.search.embedding.fastembed_model import fetched, loaded
from rag_assets.search.embedding.missing_vectors import ignore_progress
from rag_assets.search.embedding.vector_cache import VectorCache

if TYPE_CHECKING:
    from fastembed import SparseTextEmbedding
    from fastembed.common.model_description import SparseModelDescription

MOST_TERMS = 512
"""Terms of a vector that are kept, the heaviest; a passage of 160 tokens has some 200 to 300."""


class SparseModel:
    """One model of fastembed's list of sparse models. Safe to use from several threads.

    Opening it is free. Raises InvalidSettings for a name that does not exist; then and later, MissingModel for files
    that cannot be had.
    """

    def __init__(self, name: str, models_folder: Path, n_threads: int = 1) -> None:
        self._description = _described(name)
        self._models_folder = models_folder
        self._n_threads = n_threads
        self._loading = Lock()
        self._loaded: SparseTextEmbedding | None = None

    @cached_property
    def identity(self) -> str:
        """Part of every cache key and of the index: whatever changes a vector changes it."""
        files = [self._description.model_file, *self._description.additional_files, "tokenizer.json"]
        content = fingerprint({name: file_sha256(self._folder / name) for name in files}, MOST_TERMS)
        return f"sparse-{re.sub(r'[^A-Za-z0-9.]+', '-', self._description.model)}-{content[:12]}"

    def vectors(self, texts: Sequence[str]) -> list[SparseVector]:
        """The vector of each text, in the order given."""
        if len(texts) < 2:
            return [self._vector(text) for text in texts]
        with ThreadPoolExecutor(self._n_threads) as pool:
            return list(pool.map(self._vector, texts))

    def _vector(self, text: str) -> SparseVector:
        (found,) = self._model().embed([text])
        heaviest = np.sort(np.argsort(-found.values, kind="stable")[:MOST_TERMS])
        return SparseVector(tuple(found.indices[heaviest].tolist()), tuple(found.values[heaviest].tolist()))

    def _model(self) -> "SparseTextEmbedding":
        from fastembed import SparseTextEmbedding

        with self._loading:
            if self._loaded is None:
                remedy = "Delete that folder and run again: it will be fetched anew."
                name = self._description.model
                self._loaded = loaded(SparseTextEmbedding, name, self._folder, 1, "sparse model", remedy)
            return self._loaded

    @cached_property
    def _folder(self) -> Path:
        from fastembed import SparseTextEmbedding

        download, name = SparseTextEmbedding.download_model, self._description.model
        return fetched(
            download, self._description, name, self._models_folder, 'or set embedding.sparse_model = "none".'
        )


def _described(name: str) -> "SparseModelDescription":
    from fastembed import SparseTextEmbedding
    from fastembed.common.model_description import ModelSource, SparseModelDescription

    # the others want statistics of the corpus beside their weights
    known = {one["model"]: one for one in SparseTextEmbedding.list_supported_models() if not one["requires_idf"]}
    known.pop("prithvida/Splade_PP_en_v1", None)  # an earlier spelling of the same
    provider, _, model = name.partition(":")
    if provider != "fastembed" or model not in known:
        names = ", ".join(f"fastembed:{one}" for one in sorted(known))
        raise InvalidSettings(f"embedding.sparse_model = {name!r} does not exist. It can be: none, {names}.")
    return SparseModelDescription(**(known[model] | {"sources": ModelSource(**known[model]["sources"])}))


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
        """Make what is missing, save each batch, and return how many were made."""
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
    """The vectors that `settings` ask for, or None. No model is loaded.

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
    """Facts of the rows that are kept."""
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
