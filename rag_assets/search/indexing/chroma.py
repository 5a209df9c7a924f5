"""The vector index in a local Chroma database: `ChromaStore` reads it, `ChromaFiles` writes and
audits it.

All vectors are given to Chroma: its collection has no embedding function, so it cannot download a
model. Chroma's client cache is not used: its key is the path, so it would continue to show a folder
that was replaced. Chroma must never open a folder with damaged files, see `folders`.

The folder also has a file with all vectors (`exact_vectors`). Up to a certain size this file is
searched instead of the database. Then the database may be behind the file by a few passages until
it is written again.
"""

import logging
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rag_assets.core.incremental import STAGED_SUFFIX, UpdatePlan, fingerprint, plan_update
from rag_assets.search.indexing.exact_vectors import VECTORS_FILE, ExactVectors, write_vectors
from rag_assets.search.indexing.folders import opened_for_reading
from rag_assets.search.indexing.protocols import (
    IndexIdentity,
    IndexRow,
    Report,
    Scope,
    Scored,
    Vectors,
    VectorStore,
)

if TYPE_CHECKING:
    from chromadb.api import ServerAPI
    from chromadb.api.collection_configuration import CreateHNSWConfiguration
    from chromadb.api.models.Collection import Collection
    from chromadb.config import System

logger = logging.getLogger(__name__)
COLLECTION = "passages"
DATABASE_FILE = "chroma.sqlite3"
EXACT_UP_TO_BYTES = 1_024_000_000
"""Up to this size of the vector file (about 660,000 passages), a question is compared with every
vector, so the nearest passages are always found. Above it, Chroma's approximate graph is
searched."""


def started(folder: Path) -> "tuple[System, ServerAPI]":
    """A running Chroma for the database in `folder`, and its API."""
    from chromadb.api.rust import RustBindingsAPI
    from chromadb.config import Settings, System

    system = System(
        Settings(anonymized_telemetry=False, is_persistent=True, persist_directory=str(folder))
    )
    api = system.instance(RustBindingsAPI)
    system.start()
    return system, api


def collection_of(api: "ServerAPI", model: Any) -> "Collection":
    """The collection without an embedding function. model: Chroma's description of it."""
    from chromadb.api.models.Collection import Collection

    return Collection(api, model, embedding_function=None)


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Raise a panic in Chroma's Rust code as a RuntimeError. pyo3 derives panics from
    BaseException, so handlers of Exception would miss them."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(f"Chroma failed: {error}") from error


_N_CANDIDATES = 200
_GRAPH: "CreateHNSWConfiguration" = {
    "space": "cosine",
    "max_neighbors": 16,
    "ef_construction": 200,
    "ef_search": _N_CANDIDATES,
}
"""Settings of the HNSW graph: links per vector, candidates compared when a vector is added, and
candidates compared in a search."""


class ChromaStore:
    """One collection of passages with cosine distance, opened for reading; see `VectorStore`."""

    def __init__(self, system: "System", collection: "Collection") -> None:
        self._system = system
        self._collection = collection

    @classmethod
    def open(cls, folder: Path) -> "ChromaStore":
        """Open an existing store for searching. Its graph is loaded and its database copied, so
        that it still works after the folder is replaced.

        Raises whatever Chroma raises for a folder it cannot read.
        """
        return opened_for_reading(folder, cls.open_in_place, copied=[DATABASE_FILE])

    @classmethod
    def open_in_place(cls, folder: Path) -> "ChromaStore":
        """Open a store without copying its database; the folder must not be replaced before the
        store is closed. Raises like `open`."""
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
        # more than `limit`: of equally near passages Chroma may return any
        n_results = min(max(limit, _N_CANDIDATES), self._collection.count())
        if n_results == 0 or limit == 0 or (scope is not None and scope.is_empty):
            return []
        scope_filter: Any = {}
        if scope is not None and scope.passage_ids is not None:
            existing_ids = self._collection.get(ids=list(scope.passage_ids), include=[])["ids"]
            if not existing_ids:  # Chroma raises an error for unknown ids
                return []
            scope_filter = {"ids": existing_ids}
        elif scope is not None:
            scope_filter = {"where": {"paper_id": {"$in": list(scope.paper_ids or ())}}}
        nearest = self._collection.query(
            query_embeddings=question[np.newaxis], n_results=n_results, include=[], **scope_filter
        )
        # On some processors the last digit of Chroma's own scores differs from `cosines`, because
        # it adds in another order. Equally near passages would then have no fixed order.
        scores = self.cosines(question, nearest["ids"][0])
        return sorted(
            (Scored(*item) for item in scores.items()), key=lambda hit: (-hit.score, hit.passage_id)
        )[:limit]

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        return {id_: float(vector @ question) for id_, vector in self.vectors(passage_ids).items()}

    def close(self) -> None:
        self._system.stop()

    def vectors(self, passage_ids: Sequence[str]) -> dict[str, Vectors]:
        """The stored vectors of passages, shape (dim,) each. Unknown ids are left out."""
        if not passage_ids:
            return {}
        result = self._collection.get(ids=list(passage_ids), include=["embeddings"])
        return dict(zip(result["ids"], np.asarray(result["embeddings"], np.float32), strict=True))


_VECTOR_ERROR = 1e-4
BATCH = 5000
"""Passages written in one call: Chroma accepts no more, and saves its whole graph after each
call."""

# Operations that are not saved in the graph's files would be repeated, and written, by the next
# reader.
_OPERATIONS_BETWEEN_SAVES = 1

# Whenever Chroma opens a database, it takes the write lock by inserting a row, so even a reader
# would change the file. With this trigger it gets the lock, but the row is not inserted.
_READING_LEAVES_NO_TRACE = """
CREATE TRIGGER IF NOT EXISTS reading_leaves_no_trace BEFORE INSERT ON acquire_write
BEGIN SELECT RAISE(IGNORE); END
"""

_VALUES = """
SELECT embeddings.embedding_id, kept.string_value
FROM embeddings JOIN embedding_metadata AS kept ON kept.id = embeddings.id
WHERE kept.key = ?
"""
_MOST_BEHIND = 0.01
"""While the vector file is searched, the database may differ from it in this share of the
passages."""


@dataclass(frozen=True)
class ChromaFiles:
    """The vectors of one model in a folder; see `IndexFiles`."""

    model_id: str
    vectors_of: Callable[[Sequence[IndexRow]], Vectors]
    """Unit vectors of passages, shape (n, dim), in the order of the rows. May raise any error."""
    most_changed: ClassVar[float] = 0.05
    """Updates make the graph worse: deleted vectors stay in it, and fewer of the nearest vectors
    are found."""
    address: ClassVar[str] = ""

    @property
    def identity(self) -> IndexIdentity:
        return IndexIdentity("chroma", self.model_id, fingerprint(_GRAPH))

    def fingerprints(self, folder: Path) -> dict[str, str]:
        exists = (folder / VECTORS_FILE).exists()
        return ExactVectors.open(folder).fingerprints() if exists else {}

    def write(self, folder: Path, rows: Mapping[str, IndexRow], report: Report) -> None:
        """Write the vector file, and the database too, unless that may wait (see `_may_wait`)."""
        new_fingerprints = {id_: row.fingerprint for id_, row in rows.items()}
        plan = plan_update(self.fingerprints(folder), new_fingerprints)
        to_build = [rows[id_] for id_ in plan.to_build]
        new_vectors = (
            dict(zip(plan.to_build, self.vectors_of(to_build), strict=True)) if to_build else {}
        )
        write_vectors(folder, rows, new_vectors)
        plan = plan_update(_in_database(folder, "fingerprint"), new_fingerprints)
        if _may_wait(folder, plan, rows):
            n_behind = len(plan.to_build) + len(plan.removed)
            logger.info("Chroma's database waits: %d of %d passages differ.", n_behind, len(rows))
        else:
            self._write_database(folder, plan, rows, report)

    def _write_database(
        self, folder: Path, plan: UpdatePlan, rows: Mapping[str, IndexRow], report: Report
    ) -> None:
        """Make the database equal to the vector file."""
        # Chroma writes into its files, which may be links to the published ones
        for file in (path for path in folder.rglob("*") if path.is_file()):
            if file.name != VECTORS_FILE:
                _with_one_link(file)
        vectors = ExactVectors.open(folder)
        with panics_as_errors(), closing(self._opened(folder)) as store:
            for start in range(0, len(plan.to_drop), BATCH):
                store.delete(plan.to_drop[start : start + BATCH])
            for start in range(0, len(plan.to_build), BATCH):
                batch = plan.to_build[start : start + BATCH]
                store.upsert([rows[id_] for id_ in batch], vectors.vectors(batch))
                report(start + len(batch), len(plan.to_build))
            if plan.to_drop and not plan.to_build:
                store.rewrite_one()  # the last operation must not be a deletion
        if plan.to_drop:
            _without_free_pages(folder / DATABASE_FILE)

    def faulty(self, folder: Path, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        """Passages that differ between the database and the vector file.

        Ids and fingerprints of all passages are compared; differences count if there are more than
        may wait. Vectors are compared for the sample only, and only if this update wrote the
        database.
        """
        exact = ExactVectors.open(folder)
        database_rows, file_rows = _in_database(folder, "fingerprint"), exact.fingerprints()
        behind = {id_ for id_, _ in database_rows.items() ^ file_rows.items()}
        if len(behind) > _MOST_BEHIND * len(file_rows):
            return tuple(sorted(behind))
        if (folder / DATABASE_FILE).stat().st_nlink > 1:  # it is still the published file
            return ()
        ids = [id_ for row in sample if (id_ := row.passage_id) in database_rows.keys() - behind]
        with closing(ChromaStore.open_in_place(folder)) as store:
            stored = store.vectors(ids)
        pairs = zip(ids, exact.vectors(ids), strict=True)
        return tuple(
            id_ for id_, vector in pairs if not np.allclose(stored[id_], vector, atol=_VECTOR_ERROR)
        )

    def is_complete(self, folder: Path, n_passages: int) -> bool:  # noqa: ARG002 - nothing is outside the folder
        return True

    def open(self, folder: Path) -> VectorStore:
        """The vector file, or the database if the file is large, see `EXACT_UP_TO_BYTES`."""
        if (folder / VECTORS_FILE).stat().st_size <= EXACT_UP_TO_BYTES:
            return ExactVectors.open(folder)
        return ChromaStore.open(folder)

    def _opened(self, folder: Path) -> "_WritableStore":
        """The database in the folder, created if necessary, opened for writing."""
        system, api = started(folder)
        try:
            model = api.create_collection(
                COLLECTION,
                configuration={"hnsw": {**_GRAPH, "sync_threshold": _OPERATIONS_BETWEEN_SAVES}},
                get_or_create=True,
            )
            with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection:
                connection.execute(_READING_LEAVES_NO_TRACE)
        except BaseException:
            system.stop()
            raise
        return _WritableStore(system, collection_of(api, model))


def _in_database(folder: Path, key: str) -> dict[str, str]:
    """The value under `key` of each passage in the database, by passage_id. Read with SQLite, to
    see what is really in the file."""
    database = folder / DATABASE_FILE
    if not database.exists():
        return {}
    uri = f"{database.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        return dict(connection.execute(_VALUES, (key,)))


def _may_wait(folder: Path, plan: UpdatePlan, rows: Mapping[str, IndexRow]) -> bool:
    """Whether the database need not be written now: it exists, the vector file is searched instead
    of it, it differs in few passages, and no paper in it was removed from the index (removed text
    must not stay on disk)."""
    papers = set(_in_database(folder, "paper_id").values())
    is_searched = (folder / VECTORS_FILE).stat().st_size > EXACT_UP_TO_BYTES
    n_behind = len(plan.to_build) + len(plan.removed)
    differs_little = n_behind <= _MOST_BEHIND * len(rows)
    return (
        bool(papers)
        and not is_searched
        and differs_little
        and papers <= {row.paper_id for row in rows.values()}
    )


def _with_one_link(file: Path) -> None:
    """Replace a file that has several hard links by a copy, so that writing into it does not change
    the others."""
    if file.stat().st_nlink > 1:
        staged = file.with_name(f"{file.name}{STAGED_SUFFIX}")
        shutil.copy2(file, staged)
        staged.replace(file)


def _without_free_pages(database: Path) -> None:
    """Rewrite the database, since deleted text can still be read in its free pages. (VACUUM in
    place would write three times as much.)"""
    staged = database.with_name(f"{database.name}{STAGED_SUFFIX}")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("VACUUM INTO ?", (str(staged),))
    staged.replace(database)


class _WritableStore(ChromaStore):
    def upsert(self, rows: Sequence[IndexRow], vectors: Vectors) -> None:
        metadatas: Any = [
            # Chroma refuses None: an unknown page is left out
            {name: value for name, value in row.stored.items() if value is not None}
            for row in rows
        ]
        self._collection.upsert(
            ids=[row.passage_id for row in rows], embeddings=vectors, metadatas=metadatas
        )

    def delete(self, passage_ids: Sequence[str]) -> None:
        self._collection.delete(ids=list(passage_ids))

    def rewrite_one(self) -> None:
        """Write one row again as it is. Chroma keeps the last entry of its log, which may contain a
        deleted passage; this entry replaces it."""
        row = self._collection.get(limit=1, include=["embeddings", "metadatas"])
        if row["ids"]:
            self._collection.upsert(
                ids=row["ids"], embeddings=row["embeddings"], metadatas=row["metadatas"]
            )
