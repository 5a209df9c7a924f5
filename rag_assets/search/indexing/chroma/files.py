"""Writing the vectors of one model into a Chroma database in a folder, and auditing what was written.

The folder also holds all vectors in one file for exact search (`exact_vectors`).
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rag_assets.core.incremental import fingerprint, plan_update
from rag_assets.search.indexing.chroma.database import (
    COLLECTION,
    DATABASE_FILE,
    collection_of,
    panics_as_errors,
    started,
)
from rag_assets.search.indexing.chroma.store import ChromaStore
from rag_assets.search.indexing.exact_vectors import ExactVectors, write_vectors
from rag_assets.search.indexing.protocols import IndexIdentity, IndexRow, Report, Vectors

if TYPE_CHECKING:
    from chromadb.api.collection_configuration import CreateHNSWConfiguration

_GRAPH: "CreateHNSWConfiguration" = {
    "space": "cosine",
    "max_neighbors": 16,
    "ef_construction": 200,
    "ef_search": 200,
}
"""The HNSW graph: links of a vector, candidates looked at while it is linked, and while searching."""
_VECTOR_ERROR = 1e-4
BATCH = 5000
"""Passages written at once; Chroma takes no more, and saves its whole graph after each batch."""

# What is not saved to the graph's files would be replayed, and written, by the next reader.
_OPERATIONS_BETWEEN_SAVES = 1

# Chroma takes its write lock by inserting a row whenever a database is opened, so that mere reading would change the
# file. With this trigger the lock is taken all the same, and the row left out.
_READING_LEAVES_NO_TRACE = """
CREATE TRIGGER IF NOT EXISTS reading_leaves_no_trace BEFORE INSERT ON acquire_write
BEGIN SELECT RAISE(IGNORE); END
"""

_FINGERPRINTS = """
SELECT embeddings.embedding_id, kept.string_value
FROM embeddings JOIN embedding_metadata AS kept ON kept.id = embeddings.id
WHERE kept.key = 'fingerprint'
"""


@dataclass(frozen=True)
class ChromaFiles:
    """The vectors of one model in a folder; see `IndexFiles`."""

    model_id: str
    vectors_of: Callable[[Sequence[IndexRow]], Vectors]
    """Unit vectors of passages, shape (n, dim), in the order of the rows. It may raise what it likes."""
    most_changed: ClassVar[float] = 0.05
    """Updates wear the graph out: it keeps deleted vectors, and finds fewer of the nearest ones."""

    @property
    def identity(self) -> IndexIdentity:
        return IndexIdentity("chroma", self.model_id, fingerprint(_GRAPH))

    def fingerprints(self, folder: Path) -> dict[str, str]:
        """Read by SQLite itself: what counts is what is in the file."""
        database = folder / DATABASE_FILE
        if not database.exists():
            return {}
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return dict(connection.execute(_FINGERPRINTS))

    def write(self, folder: Path, rows: Mapping[str, IndexRow], report: Report) -> None:
        plan = plan_update(self.fingerprints(folder), {id_: row.fingerprint for id_, row in rows.items()})
        to_build = [rows[id_] for id_ in plan.to_build]
        new = dict(zip(plan.to_build, self.vectors_of(to_build), strict=True)) if to_build else {}
        write_vectors(folder, rows, new)
        with panics_as_errors(), closing(self._opened(folder)) as store:
            for start in range(0, len(plan.to_drop), BATCH):
                store.delete(plan.to_drop[start : start + BATCH])
            for start in range(0, len(to_build), BATCH):
                some = to_build[start : start + BATCH]
                store.upsert(some, np.stack([new[row.passage_id] for row in some]))
                report(start + len(some), len(to_build))
            if plan.to_drop and not to_build:
                store.rewrite_one()
        if plan.to_drop:
            with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection:
                connection.execute("VACUUM")  # until then, what was deleted can be read in free pages

    def faulty(self, folder: Path, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        """Passages that are not the same in the database and in the file for exact search: by id and fingerprint all of
        them, by vector those of the sample."""
        exact = ExactVectors.open(folder)
        held, compared = self.fingerprints(folder), exact.fingerprints()
        if held != compared:
            return tuple(sorted({id_ for id_, _ in held.items() ^ compared.items()}))
        ids = [row.passage_id for row in sample if row.passage_id in held]
        with closing(ChromaStore.open(folder)) as store:
            stored = store.vectors(ids)
        pairs = zip(ids, exact.vectors(ids), strict=True)
        return tuple(id_ for id_, vector in pairs if not np.allclose(stored[id_], vector, atol=_VECTOR_ERROR))

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


class _WritableStore(ChromaStore):
    def upsert(self, rows: Sequence[IndexRow], vectors: Vectors) -> None:
        metadatas: Any = [_metadata(row) for row in rows]
        self._collection.upsert(ids=[row.passage_id for row in rows], embeddings=vectors, metadatas=metadatas)

    def delete(self, passage_ids: Sequence[str]) -> None:
        self._collection.delete(ids=list(passage_ids))

    def rewrite_one(self) -> None:
        """Write one row once more as it is: Chroma keeps the last entry of its log, which may name a deleted one."""
        kept = self._collection.get(limit=1, include=["embeddings", "metadatas"])
        if kept["ids"]:
            self._collection.upsert(ids=kept["ids"], embeddings=kept["embeddings"], metadatas=kept["metadatas"])


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
