"""An index in Qdrant. Each version is a collection of its own; the published folder holds only the
collection's name.

A collection is written completely before the folder that names it is published. The version before
stays for readers that have it open, and is deleted when the next version is begun.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

from rag_assets.core.domain import SparseVector
from rag_assets.core.incremental import fingerprint, read_sealed, sealed_json, write_atomically
from rag_assets.core.settings import Paths, QdrantSettings, RetrievalSettings
from rag_assets.search.indexing.folders import read_manifest
from rag_assets.search.indexing.protocols import IndexIdentity, IndexRow, Report, VectorSource
from rag_assets.search.indexing.qdrant.connection import QdrantConnection, connect
from rag_assets.search.indexing.qdrant.store import (
    SPARSE,
    WORDS,
    WORDS_VERSION,
    Collection,
    PassageVectors,
    QdrantStore,
    WordWeights,
    create_collection,
    fingerprints_in,
    write_points,
)
from rag_assets.search.indexing.tantivy_index import TantivyFiles

COLLECTION_FILE = "collection.json"
_STORAGE = "_storage"
_ROWS_AT_ONCE = 5000
_VECTOR_ERROR = 1e-4


class QdrantFiles:
    """The vectors of one model in Qdrant; see `IndexFiles`."""

    most_changed: ClassVar[float] = 0.0
    """A version is never updated: each one is written completely."""

    def __init__(
        self,
        paths: Paths,
        settings: QdrantSettings,
        source: VectorSource,
        reading: RetrievalSettings,
    ) -> None:
        """Without a server, the storage is beside `paths.qdrant`. reading: how the index is searched.
        Nothing is opened yet."""
        self._published = paths.qdrant
        self._in_set = paths.published_set / paths.qdrant.name
        self._source = source
        self._settings = settings
        self._reading = reading

    @property
    def address(self) -> str:
        return self._settings.url

    @property
    def identity(self) -> IndexIdentity:
        # stored word vectors depend on how they are weighed and on the analyser
        words = (
            (WORDS_VERSION, TantivyFiles().identity.settings)
            if WORDS in self._sparse_names
            else None
        )
        return IndexIdentity(
            "qdrant", self._source.model_id, fingerprint(words, self._source.sparse_model)
        )

    @property
    def _sparse_names(self) -> frozenset[str]:
        """Names of the sparse vectors that are stored in addition to the dense ones."""
        is_stored = {
            WORDS: self._reading.is_fused_by_server,
            SPARSE: self._source.sparse_model is not None,
        }
        return frozenset(name for name, is_needed in is_stored.items() if is_needed)

    @cached_property
    def connection(self) -> QdrantConnection:
        return connect(self._settings, self._published.with_name(self._published.name + _STORAGE))

    @property
    def prefix(self) -> str:
        """Beginning of the names of this index's collections. It depends on the folder's path, so a
        copied data folder does not touch the original's collections."""
        return (
            self._settings.prefix
            or f"rag_assets_{fingerprint(str(self._published.resolve()))[:12]}"
        )

    def fingerprints(self, folder: Path) -> dict[str, str]:
        collection = collection_in(folder)
        return fingerprints_in(self.connection, collection) if collection else {}

    def write(self, folder: Path, rows: Mapping[str, IndexRow], report: Report) -> None:
        """See `IndexFiles`. Writes all rows into a new collection, and its name into the folder."""
        self._delete_old()
        collection, to_write = f"{self.prefix}.{uuid4().hex[:12]}", list(rows.values())
        if not rows:
            create_collection(self.connection, collection, 1, self._sparse_names)
        for start in range(0, len(to_write), _ROWS_AT_ONCE):
            batch = to_write[start : start + _ROWS_AT_ONCE]
            vectors = self._vectors_of(batch)
            if start == 0:
                create_collection(
                    self.connection, collection, vectors.dense.shape[1], self._sparse_names
                )
            write_points(self.connection, collection, batch, vectors)
            report(start + len(batch), len(to_write))
        write_atomically(folder / COLLECTION_FILE, sealed_json({"collection": collection}))

    def faulty(self, folder: Path, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        """Passages of the sample whose stored vector differs from theirs."""
        store = self._opened(folder, len(sample), RetrievalSettings())
        pairs = zip(sample, self._source.vectors_of(sample) if sample else (), strict=True)
        return tuple(
            row.passage_id
            for row, vector in pairs
            if store.cosines(vector, [row.passage_id]).get(row.passage_id, 0.0)
            <= 1.0 - _VECTOR_ERROR
        )

    def is_complete(self, folder: Path, n_passages: int) -> bool:
        collection = collection_in(folder)
        with self.connection.calls() as client:
            return (
                client.collection_exists(collection)
                and client.count(collection, exact=True).count == n_passages
            )

    def open(self, folder: Path) -> QdrantStore:
        manifest = read_manifest(folder)
        return self._opened(folder, manifest.n_indexed if manifest else 0, self._reading)

    def _opened(self, folder: Path, n_passages: int, reading: RetrievalSettings) -> QdrantStore:
        return QdrantStore(
            self.connection,
            Collection(collection_in(folder), n_passages, self._sparse_names),
            reading,
        )

    def _vectors_of(self, rows: Sequence[IndexRow]) -> PassageVectors:
        """All vectors that are stored for some passages."""
        sparse: dict[str, Sequence[SparseVector]] = {}
        if WORDS in self._sparse_names:
            sparse[WORDS] = [self._words.of_passage(row) for row in rows]
        if SPARSE in self._sparse_names:
            sparse[SPARSE] = self._source.sparse_of(rows)
        return PassageVectors(self._source.vectors_of(rows), sparse)

    @cached_property
    def _words(self) -> WordWeights:
        return WordWeights()

    def _delete_old(self) -> None:
        """Delete all collections of this data folder except the published one and that of the
        published set, including those of killed runs."""
        own_names = re.escape(self.prefix) + r"\.[0-9a-f]{12}"
        published = {collection_in(folder) for folder in (self._published, self._in_set)}
        with self.connection.calls() as client:
            for collection in client.get_collections().collections:
                if collection.name not in published and re.fullmatch(own_names, collection.name):
                    client.delete_collection(collection.name)


def collection_in(folder: Path) -> str:
    """The name of the collection that a folder refers to; empty if it names none."""
    return str((read_sealed(folder / COLLECTION_FILE) or {}).get("collection", ""))
