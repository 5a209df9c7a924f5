"""Searching one published collection; see `VectorStore`.

A reader stays with the collection it was opened on. That one is left alone until the version after the next is
written; a search that ends after its collection was touched is thrown away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_assets.errors import InvalidSettings, StaleIndex
from rag_assets.indexing.protocols import HybridHits, HybridQuestion, Scope, Scored, Vectors
from rag_assets.indexing.qdrant.connection import Connection
from rag_assets.indexing.qdrant.fusion import requests_for, scaled
from rag_assets.indexing.qdrant.points import DENSE, SPARSE, WORDS, filter_of, sparse
from rag_assets.indexing.qdrant.publications import Publication, is_untouched
from rag_assets.indexing.qdrant.words import WordWeights
from rag_assets.settings import RetrievalSettings

if TYPE_CHECKING:
    from qdrant_client import models

_TIE_MARGIN = 16


@dataclass(frozen=True)
class Graph:
    """How the graph of a server is searched."""

    ef: int
    """Candidates looked at."""
    is_used: bool
    """False: all vectors are compared instead."""

    def params(self, connection: Connection) -> "models.SearchParams | None":
        """None for an embedded storage, which always compares all vectors."""
        from qdrant_client import models

        return None if connection.is_embedded else models.SearchParams(hnsw_ef=self.ef, exact=not self.is_used)


@dataclass(frozen=True)
class Reading:
    """How a published version is searched."""

    graph: Graph
    dimension: int
    """Length of the stored vectors."""
    sparse_names: frozenset[str]
    """Names of the sparse vectors that are stored beside them."""
    settings: RetrievalSettings


class QdrantStore:
    """One published version, for reading; see `VectorStore` and `HybridStore`."""

    def __init__(self, connection: Connection, publication: Publication, reading: Reading) -> None:
        self._connection: Connection | None = connection
        self._publication = publication
        self._reading = reading
        self._graph = reading.graph
        self._words = WordWeights()

    def search(self, question: Vectors, limit: int, scope: Scope | None = None) -> list[Scored]:
        n_wanted = min(limit, self._publication.manifest.n_passages)
        if n_wanted <= 0 or (scope is not None and scope.is_empty):
            return []
        n_fetched = n_wanted + _TIE_MARGIN
        hits = self._nearest(question, n_fetched, scope)
        while len(hits) == n_fetched and hits[-1].score == hits[n_wanted - 1].score:
            n_fetched *= 2  # all that share the last place: which of them stay is decided by their ids
            hits = self._nearest(question, n_fetched, scope)
        return _in_order(hits)[:n_wanted]

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        if not passage_ids:
            return {}
        return dict(self._nearest(question, len(passage_ids), Scope(passage_ids=frozenset(passage_ids))))

    def hybrid(self, question: HybridQuestion, limit: int, scope: Scope | None = None) -> HybridHits:
        if not self._reading.sparse_names:
            raise InvalidSettings(
                "retrieval.fusion names a fusion by Qdrant, and the index holds one kind of vectors only. Set "
                "indexing.word_vectors = true, or embedding.sparse_model, and run rag-assets index build; or choose "
                "another fusion."
            )
        if min(limit, self._publication.manifest.n_passages) <= 0 or (scope is not None and scope.is_empty):
            return HybridHits([], [], [])
        connection = self._opened_for(question.vector)
        asked: dict[str, Any] = {DENSE: question.vector.tolist()}
        for name, vector in ((WORDS, self._words.of_question(question.text)), (SPARSE, question.sparse)):
            if name in self._reading.sparse_names and vector is not None and vector.places:
                asked[name] = sparse(vector)
        common = {"filter": filter_of(scope), "params": self._graph.params(connection)}
        with connection.calls() as client:
            responses = client.query_batch_points(
                self._publication.collection, requests_for(asked, limit, common, self._reading.settings)
            )
        self._demand_untouched(connection)
        together, *each = [_in_order(_hits(response)) for response in responses]
        found = dict(zip(asked, each, strict=True))
        fused = scaled(together, len(asked), self._reading.settings)
        return HybridHits(fused, found[DENSE], found.get(WORDS, []))

    def close(self) -> None:
        self._connection = None

    def _nearest(self, question: Vectors, limit: int, scope: Scope | None) -> list[Scored]:
        connection = self._opened_for(question)
        found = nearest(connection, self._publication.collection, [question], limit, graph=self._graph, scope=scope)
        self._demand_untouched(connection)
        return found[0]

    def _demand_untouched(self, connection: Connection) -> None:
        """Asked after a search: what is untouched now was untouched then."""
        if not is_untouched(connection, self._publication):
            raise StaleIndex(
                f"The vectors at {connection} were replaced twice while a question was asked. Ask again; if that does "
                "not help, another data folder writes the same collections: give this one an indexing.qdrant.prefix "
                "of its own and run rag-assets index build."
            )

    def _opened_for(self, question: Vectors) -> Connection:
        if self._connection is None:
            raise ValueError("this store was closed")
        if len(question) != self._reading.dimension:
            raise StaleIndex(
                f"The vectors at {self._connection} have {self._reading.dimension} numbers, those of the model "
                f"{len(question)}: they are of another model. Run rag-assets index build, or set embedding.model back."
            )
        return self._connection


def nearest(
    connection: Connection,
    collection: str,
    questions: "Sequence[Vectors]",
    limit: int,
    *,
    graph: Graph,
    scope: Scope | None = None,
) -> list[list[Scored]]:
    """The nearest passages of each unit vector, best first as the server orders them, in one request."""
    from qdrant_client import models

    requests = [
        models.QueryRequest(
            query=question.tolist(),
            using=DENSE,
            limit=limit,
            filter=filter_of(scope),
            params=graph.params(connection),
            with_payload=["passage_id"],
        )
        for question in questions
    ]
    with connection.calls() as client:
        responses = client.query_batch_points(collection, requests)
    return [_hits(response) for response in responses]


def _hits(response: "models.QueryResponse") -> list[Scored]:
    """Without points that were not written here."""
    found = [((hit.payload or {}).get("passage_id"), hit.score) for hit in response.points]
    return [Scored(id_, score) for id_, score in found if isinstance(id_, str)]


def _in_order(hits: list[Scored]) -> list[Scored]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))
