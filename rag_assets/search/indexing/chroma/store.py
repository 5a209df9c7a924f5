"""Reading the vectors of a Chroma database: see `VectorStore`. Writing it lives in `files`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_assets.search.indexing.chroma.database import (
    COLLECTION,
    DATABASE_FILE,
    collection_of,
    panics_as_errors,
    started,
)
from rag_assets.search.indexing.folders import opened_for_reading
from rag_assets.search.indexing.protocols import Scope, Scored, Vectors

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection
    from chromadb.config import System


class ChromaStore:
    """One collection of passages with cosine distance, for reading; see `VectorStore`."""

    def __init__(self, system: "System", collection: "Collection") -> None:
        self._system = system
        self._collection = collection

    @classmethod
    def open(cls, folder: Path) -> "ChromaStore":
        """Open an existing store and load its graph, so that it goes on answering when the folder is replaced.

        Raises whatever Chroma raises for a folder it cannot read.
        """
        return opened_for_reading(folder, cls._open, copied=[DATABASE_FILE])

    @classmethod
    def _open(cls, folder: Path) -> "ChromaStore":
        with panics_as_errors():
            system, api = started(folder)
            try:
                store = cls(system, collection_of(api, api.get_collection(COLLECTION)))
                store._collection.get(limit=1, include=["embeddings"])
            except BaseException:
                system.stop()
                raise
        return store

    def search(self, question: Vectors, limit: int, scope: Scope | None = None) -> list[Scored]:
        limit = min(limit, self._collection.count())
        if limit == 0 or (scope is not None and scope.is_empty):
            return []
        (nearest,) = self.nearest(question[np.newaxis], limit, scope)
        # On some processors the last digit of Chroma's own scores differs from `cosines`, because it adds in another
        # order. Equally near passages would then have no fixed order.
        scores = self.cosines(question, [hit.passage_id for hit in nearest])
        return sorted((Scored(*one) for one in scores.items()), key=lambda hit: (-hit.score, hit.passage_id))

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        return {id_: float(vector @ question) for id_, vector in self.vectors(passage_ids).items()}

    def close(self) -> None:
        self._system.stop()

    def nearest(self, questions: Vectors, limit: int, scope: Scope | None = None) -> list[list[Scored]]:
        """The nearest passages of each of `questions`, shape (n, dim), in one call."""
        allowed: Any = {}
        if scope is not None and scope.passage_ids is not None:
            allowed = {"ids": list(scope.passage_ids)}
        elif scope is not None:
            allowed = {"where": {"paper_id": {"$in": list(scope.paper_ids or ())}}}
        result = self._collection.query(query_embeddings=questions, n_results=limit, include=["distances"], **allowed)
        hits = [
            [Scored(id_, 1.0 - distance) for id_, distance in zip(ids, distances, strict=True)]
            for ids, distances in zip(result["ids"], result["distances"] or [], strict=True)
        ]
        return [sorted(some, key=lambda hit: (-hit.score, hit.passage_id)) for some in hits]

    def vectors(self, passage_ids: Sequence[str]) -> dict[str, Vectors]:
        """The stored vectors of passages, shape (dim,) each; without those of unknown ids."""
        if not passage_ids:
            return {}
        result = self._collection.get(ids=list(passage_ids), include=["embeddings"])
        return dict(zip(result["ids"], np.asarray(result["embeddings"], np.float32), strict=True))
