"""Vectors in a local Chroma database.

Vectors are always handed over: the collection has no embedding function, so nothing can be downloaded. Chroma's own
client cache is not used, because it is keyed by path and would go on serving a folder that was replaced.

Chroma must never open a folder that is not as it was closed: its native code can crash, hang or write without end over
torn files. `indexing.manifest` compares checksums first, and `indexing.update` throws away unfinished drafts.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_assets.indexing.exact_vectors import VECTORS_FILE, ExactVectors, write_vectors
from rag_assets.indexing.protocols import IndexIdentity, IndexRow, Scored, Vectors, VectorStore
from rag_assets.indexing.read_only import opened_for_reading
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
_BYTES_PER_MB = 1_000_000
N_NEIGHBOURS = 20
"""How many nearest passages the recall of the graph is measured on."""

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
        return opened_for_reading(folder, cls._open, copied=[DATABASE_FILE])

    @classmethod
    def _open(cls, folder: Path) -> "ChromaStore":
        with _panics_as_errors():
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
        (hits,) = self._nearest(question[np.newaxis], limit, where)
        return hits

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        return {id_: float(vector @ question) for id_, vector in self._vectors(passage_ids).items()}

    def close(self) -> None:
        self._system.stop()

    def _nearest(self, questions: Vectors, limit: int, where: Any = None) -> list[list[Scored]]:
        """The nearest passages of each of `questions`, shape (n, dim), in one call."""
        result = self._collection.query(query_embeddings=questions, n_results=limit, where=where, include=["distances"])
        hits = [
            [Scored(id_, 1.0 - distance) for id_, distance in zip(ids, distances, strict=True)]
            for ids, distances in zip(result["ids"], result["distances"] or [], strict=True)
        ]
        return [sorted(some, key=lambda hit: (-hit.score, hit.passage_id)) for some in hits]

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
        nearest = self._nearest(np.stack([wanted[id_] for id_ in ids]), 1)
        unfound = [
            id_ for id_, hits in zip(ids, nearest, strict=True) if not hits or hits[0].score <= 1.0 - _VECTOR_ERROR
        ]
        return wrong or (unfound if len(unfound) > _TOLERATED_UNFOUND * len(ids) else [])

    def recall(self, sample: Sequence[IndexRow]) -> float | None:
        """Over the sample's vectors and, because questions lie beside the passages, the means of pairs of them."""
        if not sample:
            return None
        exact = ExactVectors.open(self._database.parent)
        vectors = self._target.vectors_of(sample)
        questions = np.concatenate([vectors, _unit(vectors[:-1] + vectors[1:])])
        found = self._nearest(questions, min(N_NEIGHBOURS, self._collection.count()))
        shares = [_recall(question, hits, exact) for question, hits in zip(questions, found, strict=True)]
        return float(np.mean(shares))

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


def _recall(question: Vectors, found: Sequence[Scored], exact: ExactVectors) -> float:
    """Share of the exact nearest neighbours that were found; passages of equal vectors stand for each other."""
    wanted = exact.search(question, N_NEIGHBOURS)
    cosines = exact.cosines(question, [hit.passage_id for hit in found])
    return min(1.0, sum(cosine >= wanted[-1].score - _VECTOR_ERROR for cosine in cosines.values()) / len(wanted))


def open_vectors(folder: Path, *, exact_up_to_mb: float) -> VectorStore:
    """The vectors of the index in `folder`: searched exactly up to that size of their file, by Chroma's graph above."""
    if (folder / VECTORS_FILE).stat().st_size <= exact_up_to_mb * _BYTES_PER_MB:
        return ExactVectors.open(folder)
    return ChromaStore.open(folder)


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

    forgets_in_place = True

    @property
    def identity(self) -> IndexIdentity:
        return chroma_identity(self.model_id, self.settings)

    @property
    def min_recall(self) -> float:
        return self.settings.min_recall

    def read(self, folder: Path) -> ChromaStore:
        return ChromaStore.open(folder)

    def write(self, folder: Path) -> ChromaWriter:
        with _panics_as_errors():
            return self._opened_for_writing(folder)

    def complete(self, folder: Path, rows: Sequence[IndexRow]) -> None:
        """Write the vectors once more for exact search."""
        write_vectors(folder, rows, self.vectors_of(rows) if rows else np.empty((0, 1), np.float32))

    def _opened_for_writing(self, folder: Path) -> ChromaWriter:
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


@contextmanager
def _panics_as_errors() -> Iterator[None]:
    """A panic in Chroma's Rust code becomes a RuntimeError; pyo3 derives it from BaseException."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(f"Chroma failed: {error}") from error


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, _VECTOR_ERROR), np.float32)


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
