"""What a collection holds, one point per passage, and searching it. A reader stays with the
collection it opened.

Words are sparse vectors too: BM25 with one number per term of a passage, by the analyser of the
word index. The server multiplies with the inverse document frequency of a term (its `idf`
modifier), so that the stored numbers depend on the passage alone: an edit changes no other point. A
constant replaces the average length of a passage that BM25 needs, because passages are cut to one
size. Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond".
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
"""Part of the identity of an index: raise it when other numbers are stored."""
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75
"""k1 and b, as in the word index."""
_AVERAGE_TERMS = 75
"""Terms of a passage and the headings above it: 58 to 66 of the passage alone in three corpora."""


class WordWeights:
    """Passages and questions as sparse vectors of their words, headings included."""

    def __init__(self) -> None:
        self._analyser = Analyser()

    def of_passage(self, row: IndexRow) -> SparseVector:
        terms = [
            *self._analyser.terms(f"{row.heading_text}\n{row.summary}"),
            *self._analyser.terms(row.text),
        ]
        shortness = _SATURATION * (
            1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * len(terms) / _AVERAGE_TERMS
        )
        return _summed(
            {term: n * (_SATURATION + 1) / (n + shortness) for term, n in Counter(terms).items()}
        )

    def of_question(self, text: str) -> SparseVector:
        """Each term as often as the question has it; empty for a question without terms."""
        return _summed({term: float(n) for term, n in Counter(self._analyser.terms(text)).items()})


def _summed(weights: dict[str, float]) -> SparseVector:
    """Hash collisions merge two terms; expect one collision per 100,000 terms."""
    numbers: defaultdict[int, float] = defaultdict(float)
    for term, weight in weights.items():
        numbers[_number_of(term)] += weight
    places = sorted(numbers)
    return SparseVector(tuple(places), tuple(numbers[place] for place in places))


@lru_cache(maxsize=200_000)
def _number_of(term: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little"
    )


DENSE, WORDS, SPARSE = "dense", "words", "sparse"
"""Names of the vectors of the embedding model, of the words, and of a sparse model."""
_PAGE = 1000
_REQUEST_BYTES = 4_000_000
"""Most bytes of points written at once; a server takes 32 MB unless configured otherwise."""
_BYTES_PER_NUMBER = 12
_BYTES_BESIDE = 10_000


def point_id(passage_id: str) -> str:
    """Qdrant takes UUIDs and numbers only."""
    return str(uuid5(NAMESPACE_URL, passage_id))


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """The vectors of some passages, in one order."""

    dense: Vectors
    """Shape (n, dim)."""
    sparse: Mapping[str, Sequence[SparseVector]]
    """By the name of the vectors."""

    def named(self, nth: int) -> dict[str, Any]:
        """The vectors of one passage by their names, as Qdrant takes them; without those that have
        no term."""
        found = {
            name: sparse(vectors[nth])
            for name, vectors in self.sparse.items()
            if vectors[nth].places
        }
        return {DENSE: self.dense[nth].tolist(), **found}


def sparse(vector: SparseVector) -> "models.SparseVector":
    from qdrant_client import models

    return models.SparseVector(indices=list(vector.places), values=list(vector.weights))


def create_collection(
    connection: QdrantConnection, collection: str, dimension: int, sparse_names: frozenset[str]
) -> None:
    """dimension: length of the dense vectors. sparse_names: those of the vectors beside them."""
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
        if not connection.is_embedded:  # which has no use for it, and warns
            client.create_payload_index(collection, "paper_id", models.PayloadSchemaType.KEYWORD)


def write_points(
    connection: QdrantConnection, collection: str, rows: Sequence[IndexRow], vectors: PassageVectors
) -> None:
    from qdrant_client import models

    n_at_once = max(
        1, _REQUEST_BYTES // (_BYTES_PER_NUMBER * vectors.dense.shape[1] + _BYTES_BESIDE)
    )
    for start in range(0, len(rows), n_at_once):
        points = [
            models.PointStruct(
                id=point_id(row.passage_id), vector=vectors.named(nth), payload=_payload(row)
            )
            for nth, row in enumerate(rows[start : start + n_at_once], start)
        ]
        with connection.calls() as client:
            client.upsert(collection, points, wait=True)


def fingerprints_in(connection: QdrantConnection, collection: str) -> dict[str, str]:
    """passage_id -> fingerprint of everything inside; read page by page."""
    found: dict[str, str] = {}
    offset: Any = None
    while True:
        with connection.calls() as client:
            points, offset = client.scroll(
                collection, limit=_PAGE, offset=offset, with_payload=["passage_id", "fingerprint"]
            )
        payloads = [point.payload or {} for point in points]
        found |= {payload["passage_id"]: payload["fingerprint"] for payload in payloads}
        if offset is None:
            return found


def filter_of(scope: Scope | None) -> "models.Filter | None":
    from qdrant_client import models

    if scope is None:
        return None
    if scope.passage_ids is not None:
        ids: list[Any] = [point_id(id_) for id_ in sorted(scope.passage_ids)]
        return models.Filter(must=[models.HasIdCondition(has_id=ids)])
    papers = models.MatchAny(any=list(scope.paper_ids or ()))
    return models.Filter(must=[models.FieldCondition(key="paper_id", match=papers)])


def _payload(row: IndexRow) -> dict[str, str | int | None]:
    return {
        "passage_id": row.passage_id,
        "chunk_id": row.chunk_id,
        "paper_id": row.paper_id,
        "section": row.section,
        "page_start": row.page_start,
        "page_end": row.page_end,
        "fingerprint": row.fingerprint,
    }


_TIE_MARGIN = 16
_MOST_COMPARED = 500_000
"""Passages that a server compares one by one; above, it searches its graph, which may miss some."""


@dataclass(frozen=True)
class Collection:
    """One published version."""

    name: str
    n_passages: int
    sparse_names: frozenset[str]
    """Names of the sparse vectors that are stored beside the dense ones."""


class QdrantStore:
    """One published version, for reading; see `VectorStore`."""

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
        while len(hits) == n_fetched and hits[-1].score == hits[n_wanted - 1].score:
            n_fetched *= (
                2  # all that share the last place: which of them stay is decided by their ids
            )
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
        """Vectors and words together, at most `limit` passages of each kind. Raises InvalidSettings
        when the index has no sparse vectors."""
        if not self._collection.sparse_names:
            raise InvalidSettings(
                "retrieval.fusion names a fusion by Qdrant, and the index holds one kind of vectors only. Run "
                "rag-assets index build, or choose another fusion."
            )
        if min(limit, self._collection.n_passages) <= 0 or (scope is not None and scope.is_empty):
            return HybridHits([], [], [])
        asked: dict[str, Any] = {DENSE: question.vector.tolist()}
        for name, vector in (
            (WORDS, self._words.of_question(question.text)),
            (SPARSE, question.sparse),
        ):
            if name in self._collection.sparse_names and vector is not None and vector.places:
                asked[name] = sparse(vector)
        together, *each = self._asked(self._hybrid_requests(asked, limit, scope))
        found = dict(zip(asked, each, strict=True))
        # Ranks count from 0 in Qdrant, so a first place in each of n lists gives n / k. The other
        # fusion stretches each list from three standard deviations below its mean to three above;
        # what lies beyond counts as 1.
        most = len(asked) if self._is_by_distribution else len(asked) / RRF_K
        fused = [Scored(hit.passage_id, min(1.0, max(0.0, hit.score / most))) for hit in together]
        return HybridHits(_in_order(fused), found[DENSE], found.get(WORDS, []))

    def close(self) -> None:
        self._connection = None

    @property
    def _is_by_distribution(self) -> bool:
        return self._settings.fusion == "server_dbsf"

    def _hybrid_requests(
        self, questions: dict[str, Any], limit: int, scope: Scope | None
    ) -> "list[models.QueryRequest]":
        """One request for all questions together, fused, then one for each. questions: by the name
        of their vectors."""
        from qdrant_client import models

        common = {"limit": limit, "filter": filter_of(scope), "params": self._params}
        lists = [
            models.Prefetch(query=asked, using=name, **common) for name, asked in questions.items()
        ]
        fusion = (
            models.FusionQuery(fusion=models.Fusion.DBSF)
            if self._is_by_distribution
            else models.RrfQuery(rrf=models.Rrf(k=RRF_K))
        )
        together = models.QueryRequest(
            prefetch=lists, query=fusion, limit=limit * len(lists), with_payload=["passage_id"]
        )
        each = [
            models.QueryRequest(query=asked, using=name, with_payload=["passage_id"], **common)
            for name, asked in questions.items()
        ]
        return [together, *each]

    def _nearest(self, question: Vectors, limit: int, scope: Scope | None) -> list[Scored]:
        from qdrant_client import models

        request = models.QueryRequest(
            query=question.tolist(),
            using=DENSE,
            limit=limit,
            filter=filter_of(scope),
            params=self._params,
            with_payload=["passage_id"],
        )
        return self._asked([request])[0]

    def _asked(self, requests: "list[models.QueryRequest]") -> list[list[Scored]]:
        """The hits of each request, best first; one trip to the server."""
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
        """None for an embedded storage, which always compares all vectors."""
        from qdrant_client import models

        if self._connection is None or self._connection.is_embedded:
            return None
        return models.SearchParams(exact=self._collection.n_passages <= _MOST_COMPARED)


def _in_order(hits: list[Scored]) -> list[Scored]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))
