"""Publishing an index in Qdrant: two collections take turns, and an alias names the one that readers see.

The next version goes on from the collection before the published one, so that only what changed since then is written
and nothing is copied. The second collection is filled by the first update. What a killed run left in it is a start like
any other: what is the same by fingerprint stays, the rest is written or deleted.
"""

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from rag_assets.domain import SparseVector
from rag_assets.incremental import fingerprint, plan_update
from rag_assets.indexing.protocols import (
    Examination,
    GraphWear,
    IndexIdentity,
    IndexManifest,
    IndexRow,
    Report,
    Scored,
    Vectors,
    VectorSource,
)
from rag_assets.indexing.qdrant import points
from rag_assets.indexing.qdrant.connection import Connection, connect
from rag_assets.indexing.qdrant.publications import Names, Publication, marked, names_for, note, noted
from rag_assets.indexing.qdrant.store import Graph, QdrantStore, Reading, nearest
from rag_assets.indexing.qdrant.words import WORDS_VERSION, WordWeights
from rag_assets.indexing.tantivy_index import TantivyFiles
from rag_assets.settings import IndexingSettings, RetrievalSettings

logger = logging.getLogger(__name__)
_STORAGE = "storage"
_ROWS_AT_ONCE = 5000
_VECTOR_ERROR = 1e-4
_N_NEIGHBOURS = 20
_BYTES_PER_MB = 1_000_000
_BYTES_PER_NUMBER = 4


class QdrantIndex:
    """The vectors of one model in Qdrant, for writing (`IndexTarget`) and for reading (`Index`)."""

    def __init__(
        self, folder: Path, settings: IndexingSettings, source: VectorSource, reading: RetrievalSettings
    ) -> None:
        """folder: of the manifest, and of the storage when there is no server. Nothing is opened or asked."""
        self.folder = folder
        self.settings = settings
        self.source = source
        self._reading = reading

    def __str__(self) -> str:
        return self.settings.qdrant.url or str(self.folder)

    @property
    def identity(self) -> IndexIdentity:
        words = (WORDS_VERSION, TantivyFiles().identity.settings) if self.settings.word_vectors else None
        sparse = self.source.sparse.model_id if self.source.sparse else None
        return IndexIdentity("qdrant", self.source.model_id, fingerprint(self.settings.fingerprint(), words, sparse))

    @property
    def sparse_names(self) -> frozenset[str]:
        """Names of the sparse vectors that are stored beside the dense ones."""
        kept = {points.WORDS: self.settings.word_vectors, points.SPARSE: self.source.sparse is not None}
        return frozenset(name for name, is_kept in kept.items() if is_kept)

    @cached_property
    def connection(self) -> Connection:
        return connect(self.settings.qdrant, self.folder / _STORAGE)

    @cached_property
    def names(self) -> Names:
        return names_for(self.folder, self.settings.qdrant.prefix, is_embedded=self.connection.is_embedded)

    def published(self) -> IndexManifest | None:
        publication = self._published()
        kept = {*self.names.turns(self.identity), publication.collection if publication else ""}
        with self.connection.calls() as client:
            for collection in client.get_collections().collections:
                if self.names.is_own(collection.name) and collection.name not in kept:
                    client.delete_collection(collection.name)
        if publication is None:
            if noted(self.folder) is not None:
                logger.warning("What was published at %s is not there or not whole; the index is built anew.", self)
            return None
        if noted(self.folder) != publication:  # a run was killed after it had moved the alias
            note(self.folder, publication)
        return publication.manifest

    def fingerprints(self) -> dict[str, str]:
        publication = self._published()
        return points.fingerprints_in(self.connection, publication.collection) if publication else {}

    def stage(self) -> "QdrantVersion":
        seen = self._published()
        first, second = self.names.turns(self.identity)
        return QdrantVersion(self, second if seen is not None and seen.collection == first else first)

    def stage_empty(self) -> "QdrantVersion":
        version = self.stage()
        version.discard()
        return version

    def manifest(self) -> IndexManifest | None:
        publication = noted(self.folder)
        return publication.manifest if publication else None

    def is_intact(self) -> bool:
        """Whether the collection is there, marked as published, with as many points as it had; asks the server."""
        publication = noted(self.folder)
        if publication is None or marked(self.connection, publication.collection) != publication:
            return False
        with self.connection.calls() as client:
            n_points = client.count(publication.collection, exact=True).count
        return n_points == publication.manifest.n_passages + 1  # the marker

    def open(self) -> QdrantStore:
        publication = noted(self.folder)
        if publication is None:
            raise ValueError("nothing is published")
        dimension = points.dimension_of(self.connection, publication.collection) or 0
        size_mb = publication.manifest.n_passages * dimension * _BYTES_PER_NUMBER / _BYTES_PER_MB
        graph = Graph(self.settings.hnsw_ef_search, is_used=size_mb > self._reading.exact_search_mb)
        reading = Reading(graph, dimension, self.sparse_names, self._reading)
        return QdrantStore(self.connection, publication, reading)

    def vectors_of(self, rows: Sequence[IndexRow]) -> points.PassageVectors:
        """Everything that is stored of some passages."""
        sparse: dict[str, Sequence[SparseVector]] = {}
        if self.settings.word_vectors:
            sparse[points.WORDS] = [self._words.of_passage(row) for row in rows]
        if self.source.sparse is not None:
            sparse[points.SPARSE] = self.source.sparse.vectors_of(rows)
        return points.PassageVectors(self.source.vectors_of(rows), sparse)

    @cached_property
    def _words(self) -> WordWeights:
        return WordWeights()

    def _published(self) -> Publication | None:
        """What the alias names, if it is whole."""
        with self.connection.calls() as client:
            aliases = {one.alias_name: one.collection_name for one in client.get_aliases().aliases}
        collection = aliases.get(self.names.alias)
        return marked(self.connection, collection) if collection else None


class QdrantVersion:
    """A collection that readers do not see; see `IndexVersion`."""

    def __init__(self, index: QdrantIndex, collection: str) -> None:
        self._index = index
        self._collection = collection

    @property
    def _connection(self) -> Connection:
        return self._index.connection

    def fingerprints(self) -> dict[str, str]:
        if points.dimension_of(self._connection, self._collection) is None:
            return {}
        return points.fingerprints_in(self._connection, self._collection)

    def write(self, rows: Mapping[str, IndexRow], report: Report) -> None:
        plan = plan_update(self.fingerprints(), {id_: row.fingerprint for id_, row in rows.items()})
        if plan.unchanged:
            points.unmark(self._connection, self._collection)
            points.delete_points(self._connection, self._collection, plan.removed)
        elif not rows:
            self._create(dimension=1)
        to_build = [rows[id_] for id_ in plan.to_build]
        for start in range(0, len(to_build), _ROWS_AT_ONCE):
            some = to_build[start : start + _ROWS_AT_ONCE]
            vectors = self._index.vectors_of(some)
            if start == 0 and not plan.unchanged:
                self._create(dimension=vectors.dense.shape[1])
            points.write_points(self._connection, self._collection, some, vectors)
            report(start + len(some), len(to_build))

    def examined(self, sample: Sequence[IndexRow]) -> Examination:
        """Faulty are passages whose vector is not the wanted one, or that no search for it finds."""
        held = self.fingerprints()
        rows = [row for row in sample if row.passage_id in held]
        if not rows:
            return Examination()
        wanted = self._index.vectors_of(rows)
        stored = points.vectors_in(self._connection, self._collection, [row.passage_id for row in rows])
        found = self._nearest(wanted.dense, 1, Graph(self._index.settings.hnsw_ef_search, is_used=False))
        faulty = tuple(
            row.passage_id
            for nth, (row, hits) in enumerate(zip(rows, found, strict=True))
            if not points.are_alike(stored.get(row.passage_id, {}), wanted.named(nth), error=_VECTOR_ERROR)
            or not hits
            or hits[0].score <= 1.0 - _VECTOR_ERROR
        )
        return Examination(faulty, self._wear(wanted.dense))

    def publish(self, manifest: IndexManifest) -> None:
        from qdrant_client import models

        publication = Publication.new(self._collection, manifest)
        points.mark(self._connection, publication)
        alias = self._index.names.alias
        with self._connection.calls() as client:
            client.update_collection_aliases(
                [
                    models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)),
                    models.CreateAliasOperation(
                        create_alias=models.CreateAlias(collection_name=self._collection, alias_name=alias)
                    ),
                ]
            )
        note(self._index.folder, publication)

    def discard(self) -> None:
        with self._connection.calls() as client:
            client.delete_collection(self._collection)

    def _create(self, dimension: int) -> None:
        shape = points.Shape(dimension, self._index.sparse_names)
        points.create_collection(self._connection, self._collection, self._index.settings, shape)

    def _nearest(self, questions: Vectors, limit: int, graph: Graph) -> list[list[Scored]]:
        return nearest(self._connection, self._collection, list(questions), limit, graph=graph)

    def _wear(self, questions: Vectors) -> GraphWear | None:
        """How much of the exact nearest passages the server's graph finds; None for an embedded storage.

        The server mends its graph by itself, so nothing is built anew for this: a low recall is reported.
        """
        if self._connection.is_embedded:
            return None
        ef = self._index.settings.hnsw_ef_search
        exact = self._nearest(questions, _N_NEIGHBOURS, Graph(ef, is_used=False))
        found = self._nearest(questions, _N_NEIGHBOURS, Graph(ef, is_used=True))
        shares = [
            sum(hit.score >= least[-1].score - _VECTOR_ERROR for hit in hits) / len(least)
            for hits, least in zip(found, exact, strict=True)
        ]
        recall = min(1.0, float(np.mean(shares)))
        return GraphWear(recall, recall, 0)
