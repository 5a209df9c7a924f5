"""Vectors in a local Chroma database.

Vectors are always handed over: the collection has no embedding function, so nothing can be downloaded. Chroma's own
client cache is not used, because it is keyed by path and would go on serving a folder that was replaced.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_assets.indexing.protocols import IndexIdentity, IndexRow, Scored, Vectors
from rag_assets.settings import IndexingSettings

if TYPE_CHECKING:
    from chromadb.api import ServerAPI
    from chromadb.api.models.Collection import Collection
    from chromadb.config import System

COLLECTION = "passages"
DATABASE_FILE = "chroma.sqlite3"
_MOST_IDS_A_CALL = 5000
# What is not saved to the graph's files yet would be replayed, and written, by whoever reads next.
_OPERATIONS_BETWEEN_SAVES = 1
_VECTOR_ERROR = 1e-4
_TOLERATED_UNFOUND = 0.1

# Chroma takes its write lock by inserting a row whenever a database is opened, so that mere reading would change the
# file. With this trigger the lock is taken all the same, and the row left out.
_READING_LEAVES_NO_TRACE = """
CREATE TRIGGER IF NOT EXISTS reading_leaves_no_trace BEFORE INSERT ON acquire_write
BEGIN SELECT RAISE(IGNORE); END
"""


class ChromaStore:
    """One collection of passages with cosine distance, for reading; see `VectorStore`."""

    def __init__(self, system: "System", collection: "Collection") -> None:
        self._system = system
        self._collection = collection

    @classmethod
    def open(cls, folder: Path) -> "ChromaStore":
        """Open an existing store and load its graph, so that a folder replaced later does not matter.

        Raises whatever Chroma raises for a folder it cannot read.
        """
        system, api = _started(folder)
        try:
            store = cls(system, _collection(api, api.get_collection(COLLECTION)))
            store._collection.get(limit=1, include=["embeddings"])
        except BaseException:
            system.stop()
            raise
        return store

    def fingerprints(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for offset in range(0, self._collection.count(), _MOST_IDS_A_CALL):
            page = self._collection.get(limit=_MOST_IDS_A_CALL, offset=offset, include=["metadatas"])
            metadatas = page["metadatas"] or []
            found |= {id_: str(kept["fingerprint"]) for id_, kept in zip(page["ids"], metadatas, strict=True)}
        return found

    def search(self, question: Vectors, limit: int, paper_ids: Sequence[str] | None = None) -> list[Scored]:
        limit = min(limit, self._collection.count())
        if limit == 0 or (paper_ids is not None and not paper_ids):
            return []
        where: Any = None if paper_ids is None else {"paper_id": {"$in": list(paper_ids)}}
        result = self._collection.query(
            query_embeddings=question[np.newaxis], n_results=limit, where=where, include=["distances"]
        )
        distances = (result["distances"] or [[]])[0]
        hits = [Scored(id_, 1.0 - distance) for id_, distance in zip(result["ids"][0], distances, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        return {id_: float(vector @ question) for id_, vector in self._vectors(passage_ids).items()}

    def close(self) -> None:
        self._system.stop()

    def _vectors(self, passage_ids: Sequence[str]) -> dict[str, Vectors]:
        if not passage_ids:
            return {}
        result = self._collection.get(ids=list(passage_ids), include=["embeddings"])
        return dict(zip(result["ids"], np.asarray(result["embeddings"], np.float32), strict=True))


class ChromaWriter(ChromaStore):
    """The same for writing; see `IndexWriter`."""

    def __init__(self, system: "System", collection: "Collection", target: "ChromaTarget", database: Path) -> None:
        super().__init__(system, collection)
        self._target = target
        self._database = database
        self._has_deleted = False

    def upsert(self, rows: Sequence[IndexRow]) -> None:
        """Raises whatever `vectors_of` raises for a passage without a vector."""
        ids = [row.passage_id for row in rows]
        metadatas: Any = [_metadata(row) for row in rows]
        self._collection.upsert(ids=ids, embeddings=self._target.vectors_of(rows), metadatas=metadatas)

    def delete(self, passage_ids: Sequence[str]) -> None:
        for start in range(0, len(passage_ids), _MOST_IDS_A_CALL):
            self._collection.delete(ids=list(passage_ids[start : start + _MOST_IDS_A_CALL]))
            self._has_deleted = True

    def faults(self, sample: Sequence[IndexRow]) -> list[str]:
        """Passages stored with another vector than wanted; or that the graph misses, if it misses many.

        An HNSW graph is approximate: a node out of reach is no damage, a tenth of them is.
        """
        if not sample:
            return []
        ids = [row.passage_id for row in sample]
        stored, wanted = self._vectors(ids), dict(zip(ids, self._target.vectors_of(sample), strict=True))
        wrong = [
            id_ for id_ in ids if id_ not in stored or not np.allclose(stored[id_], wanted[id_], atol=_VECTOR_ERROR)
        ]
        unfound = [id_ for id_ in ids if not self._is_found(wanted[id_])]
        return wrong or (unfound if len(unfound) > _TOLERATED_UNFOUND * len(ids) else [])

    def close(self) -> None:
        """Close; after deletions, wipe what is left of them first: in Chroma's log and in SQLite's free pages."""
        if self._has_deleted:
            self._rewrite_one()
        super().close()
        if self._has_deleted:
            with closing(sqlite3.connect(self._database)) as connection:
                connection.execute("VACUUM")

    def _rewrite_one(self) -> None:
        """Write one row once more as it is: Chroma keeps the last entry of its log, which would name the deleted."""
        kept = self._collection.get(limit=1, include=["embeddings", "metadatas"])
        if kept["ids"]:
            self._collection.upsert(ids=kept["ids"], embeddings=kept["embeddings"], metadatas=kept["metadatas"])

    def _is_found(self, vector: Vectors) -> bool:
        nearest = self.search(vector, 1)
        return bool(nearest) and nearest[0].score > 1.0 - _VECTOR_ERROR


def chroma_identity(model_id: str, settings: IndexingSettings) -> IndexIdentity:
    """What the manifest of a fitting vector index says."""
    return IndexIdentity("chroma", model_id, settings.fingerprint())


@dataclass(frozen=True)
class ChromaTarget:
    """The vectors of one model, indexed with these settings; see `IndexTarget`."""

    settings: IndexingSettings
    model_id: str
    vectors_of: Callable[[Sequence[IndexRow]], Vectors]
    """Unit vectors of passages, shape (n, dim), in the order of the rows; used for writing and auditing."""

    marker = DATABASE_FILE
    forgets_in_place = True

    @property
    def identity(self) -> IndexIdentity:
        return chroma_identity(self.model_id, self.settings)

    def read(self, folder: Path) -> ChromaStore:
        return ChromaStore.open(folder)

    def write(self, folder: Path) -> ChromaWriter:
        system, api = _started(folder)
        try:
            model = api.create_collection(
                COLLECTION,
                configuration={
                    "hnsw": {
                        "space": "cosine",
                        "max_neighbors": self.settings.hnsw_m,
                        "ef_construction": self.settings.hnsw_ef_construction,
                        "ef_search": self.settings.hnsw_ef_search,
                        "sync_threshold": _OPERATIONS_BETWEEN_SAVES,
                    }
                },
                get_or_create=True,
            )
            with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection:
                connection.execute(_READING_LEAVES_NO_TRACE)
        except BaseException:
            system.stop()
            raise
        return ChromaWriter(system, _collection(api, model), self, folder / DATABASE_FILE)


def _started(folder: Path) -> "tuple[System, ServerAPI]":
    from chromadb.api.rust import RustBindingsAPI
    from chromadb.config import Settings, System

    system = System(Settings(anonymized_telemetry=False, is_persistent=True, persist_directory=str(folder)))
    api = system.instance(RustBindingsAPI)
    system.start()
    return system, api


def _collection(api: "ServerAPI", model: Any) -> "Collection":
    from chromadb.api.models.Collection import Collection

    return Collection(api, model, embedding_function=None)


def _metadata(row: IndexRow) -> dict[str, str | int]:
    """Chroma refuses None, so an unknown page is left out."""
    kept = {
        "chunk_id": row.chunk_id,
        "paper_id": row.paper_id,
        "section": row.section,
        "page_start": row.page_start,
        "page_end": row.page_end,
        "fingerprint": row.fingerprint,
    }
    return {name: value for name, value in kept.items() if value is not None}
