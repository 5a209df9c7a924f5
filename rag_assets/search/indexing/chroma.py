"""The vector index in a local Chroma database: reading it (`ChromaStore`), writing and auditing it
(`ChromaFiles`).

Vectors are always handed over: the collection has no embedding function, so nothing can be
downloaded. Chroma's own client cache is not used: it is keyed by path and would go on serving a
folder that was replaced. Chroma must never open a folder that is not as it was closed, see
`folders`. The folder also holds all vectors in one file (`exact_vectors`). Up to a size that file
is searched; then the database may differ from it in a few passages, until it is written in its
turn.
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
"""Vectors in a file of up to this size (about 660,000 passages) are compared with a question one by
one, so that none is missed; above, Chroma's graph is asked."""


def started(folder: Path) -> "tuple[System, ServerAPI]":
    from chromadb.api.rust import RustBindingsAPI
    from chromadb.config import Settings, System

    system = System(
        Settings(anonymized_telemetry=False, is_persistent=True, persist_directory=str(folder))
    )
    api = system.instance(RustBindingsAPI)
    system.start()
    return system, api


def collection_of(api: "ServerAPI", model: Any) -> "Collection":
    from chromadb.api.models.Collection import Collection

    return Collection(api, model, embedding_function=None)


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """A panic in Chroma's Rust code becomes a RuntimeError; pyo3 derives it from BaseException."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(f"Chroma failed: {error}") from error


_N_LOOKED_AT = 200
_GRAPH: "CreateHNSWConfiguration" = {
    "space": "cosine",
    "max_neighbors": 16,
    "ef_construction": 200,
    "ef_search": _N_LOOKED_AT,
}
"""The HNSW graph: links of a vector, candidates looked at while it is linked, and while
searching."""


class ChromaStore:
    """One collection of passages with cosine distance, for reading; see `VectorStore`."""

    def __init__(self, system: "System", collection: "Collection") -> None:
        self._system = system
        self._collection = collection

    @classmethod
    def open(cls, folder: Path) -> "ChromaStore":
        """Open an existing store for searching: its graph is loaded and its database copied, so
        that it goes on answering when the folder is replaced.

        Raises whatever Chroma raises for a folder it cannot read.
        """
        return opened_for_reading(folder, cls.open_in_place, copied=[DATABASE_FILE])

    @classmethod
    def open_in_place(cls, folder: Path) -> "ChromaStore":
        """Open a store whose folder stays in its place until the store is closed. Raises as
        `open`."""
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
        n_found = min(
            max(limit, _N_LOOKED_AT), self._collection.count()
        )  # of equally near ones it may give any
        if n_found == 0 or limit == 0 or (scope is not None and scope.is_empty):
            return []
        allowed: Any = {}
        if scope is not None and scope.passage_ids is not None:
            known = self._collection.get(ids=list(scope.passage_ids), include=[])["ids"]
            if not known:  # an unknown id is an error to a query
                return []
            allowed = {"ids": known}
        elif scope is not None:
            allowed = {"where": {"paper_id": {"$in": list(scope.paper_ids or ())}}}
        nearest = self._collection.query(
            query_embeddings=question[np.newaxis], n_results=n_found, include=[], **allowed
        )
        # On some processors the last digit of Chroma's own scores differs from `cosines`, because
        # it adds in another order. Equally near passages would then have no fixed order.
        scores = self.cosines(question, nearest["ids"][0])
        return sorted(
            (Scored(*one) for one in scores.items()), key=lambda hit: (-hit.score, hit.passage_id)
        )[:limit]

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        return {id_: float(vector @ question) for id_, vector in self.vectors(passage_ids).items()}

    def close(self) -> None:
        self._system.stop()

    def vectors(self, passage_ids: Sequence[str]) -> dict[str, Vectors]:
        """The stored vectors of passages, shape (dim,) each; without those of unknown ids."""
        if not passage_ids:
            return {}
        result = self._collection.get(ids=list(passage_ids), include=["embeddings"])
        return dict(zip(result["ids"], np.asarray(result["embeddings"], np.float32), strict=True))


_VECTOR_ERROR = 1e-4
BATCH = 5000
"""Passages written at once; Chroma takes no more, and saves its whole graph after each batch."""

# What is not saved to the graph's files would be replayed, and written, by the next reader.
_OPERATIONS_BETWEEN_SAVES = 1

# Chroma takes its write lock by inserting a row whenever a database is opened, so that mere reading
# would change the file. With this trigger the lock is taken all the same, and the row left out.
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
"""Share of the passages in which the database may differ from the file while nothing asks it."""


@dataclass(frozen=True)
class ChromaFiles:
    """The vectors of one model in a folder; see `IndexFiles`."""

    model_id: str
    vectors_of: Callable[[Sequence[IndexRow]], Vectors]
    """Unit vectors of passages, shape (n, dim), in the order of the rows. It may raise what it
    likes."""
    most_changed: ClassVar[float] = 0.05
    """Updates wear the graph out: it keeps deleted vectors, and finds fewer of the nearest ones."""
    place: ClassVar[str] = ""

    @property
    def identity(self) -> IndexIdentity:
        return IndexIdentity("chroma", self.model_id, fingerprint(_GRAPH))

    def fingerprints(self, folder: Path) -> dict[str, str]:
        is_there = (folder / VECTORS_FILE).exists()
        return ExactVectors.open(folder).fingerprints() if is_there else {}

    def write(self, folder: Path, rows: Mapping[str, IndexRow], report: Report) -> None:
        """Write the file, and the database unless it may wait, see `_may_wait`."""
        wanted = {id_: row.fingerprint for id_, row in rows.items()}
        plan = plan_update(self.fingerprints(folder), wanted)
        to_build = [rows[id_] for id_ in plan.to_build]
        new = dict(zip(plan.to_build, self.vectors_of(to_build), strict=True)) if to_build else {}
        write_vectors(folder, rows, new)
        plan = plan_update(_in_database(folder, "fingerprint"), wanted)
        if _may_wait(folder, plan, rows):
            n_behind = len(plan.to_build) + len(plan.removed)
            logger.info("Chroma's database waits: %d of %d passages differ.", n_behind, len(rows))
        else:
            self._write_database(folder, plan, rows, report)

    def _write_database(
        self, folder: Path, plan: UpdatePlan, rows: Mapping[str, IndexRow], report: Report
    ) -> None:
        """Bring it to what the file holds."""
        for file in (path for path in folder.rglob("*") if path.is_file()):
            if file.name != VECTORS_FILE:
                _unlinked(file)
        vectors = ExactVectors.open(folder)
        with panics_as_errors(), closing(self._opened(folder)) as store:
            for start in range(0, len(plan.to_drop), BATCH):
                store.delete(plan.to_drop[start : start + BATCH])
            for start in range(0, len(plan.to_build), BATCH):
                some = plan.to_build[start : start + BATCH]
                store.upsert([rows[id_] for id_ in some], vectors.vectors(some))
                report(start + len(some), len(plan.to_build))
            if plan.to_drop and not plan.to_build:
                store.rewrite_one()
        if plan.to_drop:
            _without_free_pages(folder / DATABASE_FILE)

    def faulty(self, folder: Path, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        """Passages that are not the same in the database and in the file for exact search: by id
        and fingerprint all of them, if they are more than may wait; by vector those of the sample,
        unless the database is still the published one."""
        exact = ExactVectors.open(folder)
        held, compared = _in_database(folder, "fingerprint"), exact.fingerprints()
        behind = {id_ for id_, _ in held.items() ^ compared.items()}
        if len(behind) > _MOST_BEHIND * len(compared):
            return tuple(sorted(behind))
        if (folder / DATABASE_FILE).stat().st_nlink > 1:
            return ()
        ids = [id_ for row in sample if (id_ := row.passage_id) in held.keys() - behind]
        with closing(ChromaStore.open_in_place(folder)) as store:
            stored = store.vectors(ids)
        pairs = zip(ids, exact.vectors(ids), strict=True)
        return tuple(
            id_ for id_, vector in pairs if not np.allclose(stored[id_], vector, atol=_VECTOR_ERROR)
        )

    def is_there(self, folder: Path, n_passages: int) -> bool:  # noqa: ARG002 - the files are all of it
        return True

    def open(self, folder: Path) -> VectorStore:
        """Searched exactly unless there are very many, see `EXACT_UP_TO_BYTES`."""
        if (folder / VECTORS_FILE).stat().st_size <= EXACT_UP_TO_BYTES:
            return ExactVectors.open(folder)
        return ChromaStore.open(folder)

    def _opened(self, folder: Path) -> "_WritableStore":
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
    """A value of each passage in the database, read by SQLite itself: what counts is what is in the
    file."""
    database = folder / DATABASE_FILE
    if not database.exists():
        return {}
    uri = f"{database.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        return dict(connection.execute(_VALUES, (key,)))


def _may_wait(folder: Path, plan: UpdatePlan, rows: Mapping[str, IndexRow]) -> bool:
    """Whether the database may stay as it is: it is there, no search asks it, it differs in few
    passages, and every paper in it is still in the index."""
    papers = set(_in_database(folder, "paper_id").values())
    is_searched = (folder / VECTORS_FILE).stat().st_size > EXACT_UP_TO_BYTES
    n_behind = len(plan.to_build) + len(plan.removed)
    is_little = n_behind <= _MOST_BEHIND * len(rows)
    return (
        bool(papers)
        and not is_searched
        and is_little
        and papers <= {row.paper_id for row in rows.values()}
    )


def _unlinked(file: Path) -> None:
    """Make a file one of its own, which may be written into, if it has another name too."""
    if file.stat().st_nlink > 1:
        staged = file.with_name(f"{file.name}{STAGED_SUFFIX}")
        shutil.copy2(file, staged)
        staged.replace(file)


def _without_free_pages(database: Path) -> None:
    """Rewrite the database, since deleted text can be read in its free pages. VACUUM writes three
    times as much."""
    staged = database.with_name(f"{database.name}{STAGED_SUFFIX}")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("VACUUM INTO ?", (str(staged),))
    staged.replace(database)


class _WritableStore(ChromaStore):
    def upsert(self, rows: Sequence[IndexRow], vectors: Vectors) -> None:
        metadatas: Any = [_metadata(row) for row in rows]
        self._collection.upsert(
            ids=[row.passage_id for row in rows], embeddings=vectors, metadatas=metadatas
        )

    def delete(self, passage_ids: Sequence[str]) -> None:
        self._collection.delete(ids=list(passage_ids))

    def rewrite_one(self) -> None:
        """Write one row once more as it is: Chroma keeps the last entry of its log, which may name
        a deleted one."""
        kept = self._collection.get(limit=1, include=["embeddings", "metadatas"])
        if kept["ids"]:
            self._collection.upsert(
                ids=kept["ids"], embeddings=kept["embeddings"], metadatas=kept["metadatas"]
            )


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
