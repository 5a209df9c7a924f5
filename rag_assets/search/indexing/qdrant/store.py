"""What is stored in a collection (one point per passage), and how it is searched.

Words are sparse vectors: BM25 with one number per term of a passage. Terms are those of the word
index. The stored numbers depend on the passage alone, so an edit changes no other point: the server
multiplies by the inverse document frequency of a term (its `idf` modifier), and a constant replaces
the average length of a passage, since all passages are cut to one size. Source: Robertson and
Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond".
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from rag_assets.core.domain import SparseVector
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import RetrievalSettings
from rag_assets.search.indexing.protocols import (
    RRF_K,
    HybridHits,
    HybridQuestion,
    IndexRow,
    Scope,
    Scored,
    Vectors,
)
from rag_assets.search.indexing.qdrant.connection import QdrantConnection
from rag_assets.search.indexing.tantivy_index import Analyser

if TYPE_CHECKING:
    from qdrant_client import models

WORDS_VERSION = 3
"""Part of an index's identity: raise it when other numbers are stored."""
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75
"""k1 and b of BM25, as in the word index."""
_AVERAGE_TERMS = 75
"""Average number of terms of a passage with its headings. In three corpora passages alone have 58
to 66."""


class WordWeights:
    """Makes sparse vectors of the words of passages (headings included) and questions."""

    def __init__(self) -> None:
        self._analyser = Analyser()

    def of_passage(self, row: IndexRow) -> SparseVector:
        """Each term with its BM25 weight, without the inverse document frequency."""
        terms = [
            *self._analyser.terms(f"{row.heading_text}\n{row.summary}"),
            *self._analyser.terms(row.text),
        ]
        length_factor = _SATURATION * (
            1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * len(terms) / _AVERAGE_TERMS
        )
        return _sparse_vector(
            {
                term: count * (_SATURATION + 1) / (count + length_factor)
                for term, count in Counter(terms).items()
            }
        )

    def of_question(self, text: str) -> SparseVector:
        """Each term with the number of its occurrences; empty for a question without terms."""
        return _sparse_vector(
            {term: float(count) for term, count in Counter(self._analyser.terms(text)).items()}
        )


def _sparse_vector(weights: dict[str, float]) -> SparseVector:
    """A sparse vector of the weights, with a hash of each term as its index. Two terms of the same
    hash are added up; expect one such pair per 100,000 terms."""
    summed: defaultdict[int, float] = defaultdict(float)
    for term, weight in weights.items():
        summed[_number_of(term)] += weight
    indexes = sorted(summed)
    return SparseVector(tuple(indexes), tuple(summed[index] for index in indexes))


@lru_cache(maxsize=200_000)
def _number_of(term: str) -> int:
    """A 32-bit hash of a term."""
    return int.from_bytes(
        hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little"
    )


DENSE, WORDS, SPARSE = "dense", "words", "sparse"
"""Names of the vectors of a point: by the embedding model, by words, by a sparse model."""
_PAGE = 1000
_REQUEST_BYTES = 4_000_000
"""Most bytes of points written in one request. A server accepts 32 MB unless it is configured
otherwise."""
_BYTES_PER_NUMBER = 12
_BYTES_BESIDE = 10_000


def point_id(passage_id: str) -> str:
    """A point's id: a UUID made from the passage id, since Qdrant accepts only UUIDs and
    numbers."""
    return str(uuid5(NAMESPACE_URL, passage_id))


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """The vectors of some passages, in the same order."""

    dense: Vectors
    """Shape (n, dim)."""
    sparse: Mapping[str, Sequence[SparseVector]]
    """The sparse vectors by name, one per passage."""

    def named(self, index: int) -> dict[str, Any]:
        """The vectors of passage number `index`, by name, as Qdrant accepts them. Sparse vectors
        without terms are left out."""
        sparse_vectors = {
            name: qdrant_sparse(vectors[index])
            for name, vectors in self.sparse.items()
            if vectors[index].places
        }
        return {DENSE: self.dense[index].tolist(), **sparse_vectors}


def qdrant_sparse(vector: SparseVector) -> "models.SparseVector":
    """A sparse vector as Qdrant's client has it."""
    from qdrant_client import models

    return models.SparseVector(indices=list(vector.places), values=list(vector.weights))


def create_collection(
    connection: QdrantConnection, collection: str, dimension: int, sparse_names: frozenset[str]
) -> None:
    """Create an empty collection. dimension: length of the dense vectors. sparse_names: names of
    the sparse vectors that are stored as well."""
    from qdrant_client import models

    modifiers = {WORDS: models.Modifier.IDF, SPARSE: None}
    with connection.calls() as client:
        client.create_collection(
            collection,
            vectors_config={
                DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE)
            },
            sparse_vectors_config={
                name: models.SparseVectorParams(modifier=modifiers[name]) for name in sparse_names
            }
            or None,
        )
        if not connection.is_embedded:  # an embedded storage does not use it, and warns
            client.create_payload_index(collection, "paper_id", models.PayloadSchemaType.KEYWORD)


def write_points(
    connection: QdrantConnection, collection: str, rows: Sequence[IndexRow], vectors: PassageVectors
) -> None:
    """Write the passages as points, in requests of limited size. vectors: those of the rows."""
    from qdrant_client import models

    n_at_once = max(
        1, _REQUEST_BYTES // (_BYTES_PER_NUMBER * vectors.dense.shape[1] + _BYTES_BESIDE)
    )
    for start in range(0, len(rows), n_at_once):
        points = [
            models.PointStruct(
                id=point_id(row.passage_id),
                vector=vectors.named(index),
                payload={"passage_id": row.passage_id, **row.stored},
            )
            for index, row in enumerate(rows[start : start + n_at_once], start)
        ]
        with connection.calls() as client:
            client.upsert(collection, points, wait=True)


def fingerprints_in(connection: QdrantConnection, collection: str) -> dict[str, str]:
    """passage_id -> fingerprint, for all points of a collection; read page by page."""
    fingerprints: dict[str, str] = {}
    offset: Any = None
    while True:
        with connection.calls() as client:
            points, offset = client.scroll(
                collection, limit=_PAGE, offset=offset, with_payload=["passage_id", "fingerprint"]
            )
        payloads = [point.payload or {} for point in points]
        fingerprints |= {payload["passage_id"]: payload["fingerprint"] for payload in payloads}
        if offset is None:
            return fingerprints


def filter_of(scope: Scope | None) -> "models.Filter | None":
    """The scope as a filter of Qdrant; None for all passages."""
    from qdrant_client import models

    if scope is None:
        return None
    if scope.passage_ids is not None:
        ids: list[Any] = [point_id(id_) for id_ in sorted(scope.passage_ids)]
        return models.Filter(must=[models.HasIdCondition(has_id=ids)])
    papers = models.MatchAny(any=list(scope.paper_ids or ()))
    return models.Filter(must=[models.FieldCondition(key="paper_id", match=papers)])


_TIE_MARGIN = 16
_MOST_COMPARED = 500_000
"""Up to this many passages, the server compares a question with every vector. Above it, it searches
its graph, which may miss some."""


@dataclass(frozen=True)
class Collection:
    """One published version of an index."""

    name: str
    n_passages: int
    sparse_names: frozenset[str]
    """Names of the sparse vectors that are stored in addition to the dense ones."""


class QdrantStore:
    """One published version of an index, opened for reading; see `VectorStore`."""

    def __init__(
        self, connection: QdrantConnection, collection: Collection, settings: RetrievalSettings
    ) -> None:
        self._connection: QdrantConnection | None = connection
        self._collection = collection
        self._settings = settings
        self._words = WordWeights()

    def search(self, question: Vectors, limit: int, scope: Scope | None = None) -> list[Scored]:
        n_wanted = min(limit, self._collection.n_passages)
        if n_wanted <= 0 or (scope is not None and scope.is_empty):
            return []
        n_fetched = n_wanted + _TIE_MARGIN
        hits = self._nearest(question, n_fetched, scope)
        # until all passages that tie for the last place are fetched; their ids decide which stay
        while len(hits) == n_fetched and hits[-1].score == hits[n_wanted - 1].score:
            n_fetched *= 2
            hits = self._nearest(question, n_fetched, scope)
        return hits[:n_wanted]

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        if not passage_ids:
            return {}
        return dict(
            self._nearest(question, len(passage_ids), Scope(passage_ids=frozenset(passage_ids)))
        )

    def hybrid(
        self, question: HybridQuestion, limit: int, scope: Scope | None = None
    ) -> HybridHits:
        """Search by vectors and words together; at most `limit` passages of each. Raises
        InvalidSettings if the index has no sparse vectors."""
        if not self._collection.sparse_names:
            raise InvalidSettings(
                "retrieval.fusion names a fusion by Qdrant, and the index holds one kind of vectors only. Run "
                "rag-assets index build, or choose another fusion."
            )
        if min(limit, self._collection.n_passages) <= 0 or (scope is not None and scope.is_empty):
            return HybridHits([], [], [])
        vectors: dict[str, Any] = {DENSE: question.vector.tolist()}
        for name, vector in (
            (WORDS, self._words.of_question(question.text)),
            (SPARSE, question.sparse),
        ):
            if name in self._collection.sparse_names and vector is not None and vector.places:
                vectors[name] = qdrant_sparse(vector)
        fused_hits, *hits_by_vector = self._send(self._hybrid_requests(vectors, limit, scope))
        hits = dict(zip(vectors, hits_by_vector, strict=True))
        # The best possible score. Reciprocal rank fusion: Qdrant counts ranks from 0, so a passage
        # that is first in all n lists gets n / k. Distribution-based fusion: each list is scaled
        # from three standard deviations below its mean to three above, at most 1 per list.
        best_score = len(vectors) if self._is_by_distribution else len(vectors) / RRF_K
        fused = [
            Scored(hit.passage_id, min(1.0, max(0.0, hit.score / best_score))) for hit in fused_hits
        ]
        return HybridHits(_in_order(fused), hits[DENSE], hits.get(WORDS, []))

    def close(self) -> None:
        self._connection = None

    @property
    def _is_by_distribution(self) -> bool:
        return self._settings.fusion == "server_dbsf"

    def _hybrid_requests(
        self, vectors: dict[str, Any], limit: int, scope: Scope | None
    ) -> "list[models.QueryRequest]":
        """The request that fuses the hits of all vectors, then one request for each vector alone.
        vectors: those of the question, by name."""
        from qdrant_client import models

        common = {"limit": limit, "filter": filter_of(scope), "params": self._params}
        prefetches = [
            models.Prefetch(query=vector, using=name, **common) for name, vector in vectors.items()
        ]
        fusion = (
            models.FusionQuery(fusion=models.Fusion.DBSF)
            if self._is_by_distribution
            else models.RrfQuery(rrf=models.Rrf(k=RRF_K))
        )
        fused_request = models.QueryRequest(
            prefetch=prefetches,
            query=fusion,
            limit=limit * len(prefetches),
            with_payload=["passage_id"],
        )
        single_requests = [
            models.QueryRequest(query=vector, using=name, with_payload=["passage_id"], **common)
            for name, vector in vectors.items()
        ]
        return [fused_request, *single_requests]

    def _nearest(self, question: Vectors, limit: int, scope: Scope | None) -> list[Scored]:
        """The passages nearest to a question's vector, best first."""
        from qdrant_client import models

        request = models.QueryRequest(
            query=question.tolist(),
            using=DENSE,
            limit=limit,
            filter=filter_of(scope),
            params=self._params,
            with_payload=["passage_id"],
        )
        return self._send([request])[0]

    def _send(self, requests: "list[models.QueryRequest]") -> list[list[Scored]]:
        """Send the requests together; returns the hits of each one, best first."""
        if self._connection is None:
            raise ValueError("this store was closed")
        with self._connection.calls() as client:
            responses = client.query_batch_points(self._collection.name, requests)
        return [
            _in_order(
                [Scored((hit.payload or {})["passage_id"], hit.score) for hit in response.points]
            )
            for response in responses
        ]

    @property
    def _params(self) -> "models.SearchParams | None":
        """Whether the server compares every vector. None for an embedded storage, which always
        does."""
        from qdrant_client import models

        if self._connection is None or self._connection.is_embedded:
            return None
        return models.SearchParams(exact=self._collection.n_passages <= _MOST_COMPARED)


def _in_order(hits: list[Scored]) -> list[Scored]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))
