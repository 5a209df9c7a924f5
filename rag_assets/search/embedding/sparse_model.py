"""Sparse models (SPLADE) run by fastembed: a weight for each word of the model's vocabulary that a text is about.

Unlike BM25 they also weigh words that the text does not have. Source: Formal et al. 2021, "SPLADE v2: Sparse Lexical
and Expansion Model for Information Retrieval". A model is fetched once from its hub into the models folder. One text
at a time, so that a vector depends on its own text only.
"""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.core.domain import SparseVector
from rag_assets.core.errors import InvalidSettings, MissingModel
from rag_assets.core.incremental import file_sha256, fingerprint

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
                try:
                    self._loaded = SparseTextEmbedding(
                        self._description.model,
                        cache_dir=str(self._models_folder),
                        threads=1,
                        specific_model_path=str(self._folder),
                        local_files_only=True,
                    )
                except Exception as error:  # onnxruntime's and fastembed's loading errors share no narrower base
                    raise MissingModel(
                        f"The sparse model in {self._folder} cannot be loaded ({type(error).__name__}: {error}). "
                        "Delete that folder and run again: it will be fetched anew."
                    ) from error
            return self._loaded

    @cached_property
    def _folder(self) -> Path:
        from fastembed import SparseTextEmbedding

        self._models_folder.mkdir(parents=True, exist_ok=True)
        try:
            return SparseTextEmbedding.download_model(self._description, cache_dir=str(self._models_folder))
        except (OSError, ValueError) as error:
            raise MissingModel(
                f"{self._description.model} is not in {self._models_folder} and cannot be fetched from its hub "
                f'({error}). Connect once, or set embedding.sparse_model = "none".'
            ) from error


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
