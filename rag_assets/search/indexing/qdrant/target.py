"""Publishing an index in Qdrant: each version is a collection of its own, written as a whole before anything names it.

`manifest.json` in the data folder names the published collection, and an alias does so on the server. The version
before it is kept for readers that have it open, and deleted when the next one is published.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from uuid import uuid4

from rag_assets.core.domain import SparseVector
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import QdrantSettings, RetrievalSettings
from rag_assets.search.indexing.folders import manifest_content, read_manifest, save_manifest
from rag_assets.search.indexing.protocols import IndexIdentity, IndexManifest, IndexRow, Report, VectorSource
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

logger = logging.getLogger(__name__)
_STORAGE = "storage"
_ROWS_AT_ONCE = 5000
_VECTOR_ERROR = 1e-4


class QdrantIndex:
    """The vectors of one model in Qdrant, for writing (`Index`) and for reading (`Index`)."""

    most_changed = 0.0
    """Nothing is copied: each version is written as a whole."""

    def __init__(
        self, folder: Path, settings: QdrantSettings, source: VectorSource, reading: RetrievalSettings
    ) -> None:
        """folder: of the manifest, and of the storage when there is no server. Nothing is opened or asked."""
        self.folder = folder
        self.source = source
        self._settings = settings
        self._reading = reading

    def __str__(self) -> str:
        return self._settings.url or str(self.folder)

    @property
    def identity(self) -> IndexIdentity:
        words = (WORDS_VERSION, TantivyFiles().identity.settings) if WORDS in self.sparse_names else None
        sparse = self.source.sparse.model_id if self.source.sparse else None
        return IndexIdentity("qdrant", self.source.model_id, fingerprint(words, sparse))

    @property
    def sparse_names(self) -> frozenset[str]:
        """Names of the sparse vectors that are stored beside the dense ones."""
        kept = {WORDS: self._reading.is_fused_by_server, SPARSE: self.source.sparse is not None}
        return frozenset(name for name, is_kept in kept.items() if is_kept)

    @cached_property
    def connection(self) -> QdrantConnection:
        return connect(self._settings, self.folder / _STORAGE)

    @property
    def prefix(self) -> str:
        """Name of the alias and beginning of the names of the collections; a copied data folder has another one."""
        return self._settings.prefix or f"rag_assets_{fingerprint(str(self.folder.resolve()))[:12]}"

    @property
    def collection(self) -> str:
        """Name of the published collection; empty when nothing is published."""
        return str(manifest_content(self.folder).get("collection", ""))

    def published(self) -> IndexManifest | None:
        manifest = self.manifest()
        if manifest is None or self.is_intact():
            return manifest
        logger.warning("What was published at %s is not there or not whole; the index is built anew.", self)
        return None

    def fingerprints(self) -> dict[str, str]:
        return fingerprints_in(self.connection, self.collection)

    def stage(self) -> "QdrantVersion":
        return self.stage_empty()

    def stage_empty(self) -> "QdrantVersion":
        return QdrantVersion(self, f"{self.prefix}.{uuid4().hex[:12]}")

    def manifest(self) -> IndexManifest | None:
        return read_manifest(self.folder)

    def is_intact(self) -> bool:
        """Whether the collection is there with as many points as were published; asks the server."""
        manifest = self.manifest()
        with self.connection.calls() as client:
            return (
                manifest is not None
                and client.collection_exists(self.collection)
                and client.count(self.collection, exact=True).count == manifest.n_held
            )

    def open(self) -> QdrantStore:
        manifest = self.manifest()
        if manifest is None:
            raise ValueError("nothing is published")
        collection = Collection(self.collection, manifest.n_held, self.sparse_names)
        return QdrantStore(self.connection, collection, self._reading)

    def vectors_of(self, rows: Sequence[IndexRow]) -> PassageVectors:
        """Everything that is stored of some passages."""
        sparse: dict[str, Sequence[SparseVector]] = {}
        if WORDS in self.sparse_names:
            sparse[WORDS] = [self._words.of_passage(row) for row in rows]
        if self.source.sparse is not None:
            sparse[SPARSE] = self.source.sparse.vectors_of(rows)
        return PassageVectors(self.source.vectors_of(rows), sparse)

    @cached_property
    def _words(self) -> WordWeights:
        return WordWeights()


class QdrantVersion:
    """A collection that nothing names yet; see `IndexVersion`."""

    def __init__(self, index: QdrantIndex, collection: str) -> None:
        self._index = index
        self._connection = index.connection
        self._collection = collection

    def fingerprints(self) -> dict[str, str]:
        return fingerprints_in(self._connection, self._collection)

    def write(self, rows: Mapping[str, IndexRow], report: Report) -> None:
        to_write = list(rows.values())
        if not rows:
            create_collection(self._connection, self._collection, 1, self._index.sparse_names)
        for start in range(0, len(to_write), _ROWS_AT_ONCE):
            some = to_write[start : start + _ROWS_AT_ONCE]
            vectors = self._index.vectors_of(some)
            if start == 0:
                dimension = vectors.dense.shape[1]
                create_collection(self._connection, self._collection, dimension, self._index.sparse_names)
            write_points(self._connection, self._collection, some, vectors)
            report(start + len(some), len(to_write))

    def faulty(self, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        """Passages whose stored vector is another one than theirs."""
        collection = Collection(self._collection, len(sample), self._index.sparse_names)
        store = QdrantStore(self._connection, collection, RetrievalSettings())
        found = zip(sample, self._index.source.vectors_of(sample) if sample else (), strict=True)
        return tuple(
            row.passage_id
            for row, vector in found
            if store.cosines(vector, [row.passage_id]).get(row.passage_id, 0.0) <= 1.0 - _VECTOR_ERROR
        )

    def publish(self, manifest: IndexManifest) -> None:
        from qdrant_client import models

        kept, own = {self._collection, self._index.collection}, re.escape(self._index.prefix) + r"\.[0-9a-f]{12}"
        deleted = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=self._index.prefix))
        created = models.CreateAliasOperation(
            create_alias=models.CreateAlias(collection_name=self._collection, alias_name=self._index.prefix)
        )
        with self._connection.calls() as client:
            for collection in client.get_collections().collections:
                if collection.name not in kept and re.fullmatch(own, collection.name):
                    client.delete_collection(collection.name)
            client.update_collection_aliases([deleted, created])
        save_manifest(self._index.folder, manifest, {"collection": self._collection})

    def discard(self) -> None:
        with self._connection.calls() as client:
            client.delete_collection(self._collection)
