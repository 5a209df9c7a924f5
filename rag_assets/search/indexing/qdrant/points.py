"""What a collection holds: one point per passage, with its vectors and what is needed to filter and to compare it.

Words are sparse vectors too: BM25 with one number per term of a passage, by the analyser of the word index. The server
multiplies with the inverse document frequency of a term (its `idf` modifier), so that the stored numbers depend on the
passage alone: an edit changes no other point. A constant replaces the average length of a passage that BM25 needs,
because passages are cut to one size. Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25
and Beyond".
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from rag_assets.core.domain import SparseVector
from rag_assets.search.indexing.protocols import IndexRow, Scope, Vectors
from rag_assets.search.indexing.qdrant.connection import QdrantConnection
from rag_assets.search.indexing.tantivy_index import Analyser

if TYPE_CHECKING:
    from qdrant_client import models

WORDS_VERSION = 2
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
        terms = [*self._analyser.terms(f"{row.heading_text}\n{row.summary}"), *self._analyser.terms(row.text)]
        shortness = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * len(terms) / _AVERAGE_TERMS)
        return _summed({term: n * (_SATURATION + 1) / (n + shortness) for term, n in Counter(terms).items()})

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
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little")


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
        """The vectors of one passage by their names, as Qdrant takes them; without those that have no term."""
        found = {name: sparse(vectors[nth]) for name, vectors in self.sparse.items() if vectors[nth].places}
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
            vectors_config={DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE)},
            sparse_vectors_config={name: models.SparseVectorParams(modifier=modifiers[name]) for name in sparse_names}
            or None,
        )
        if not connection.is_embedded:  # which has no use for it, and warns
            client.create_payload_index(collection, "paper_id", models.PayloadSchemaType.KEYWORD)


def write_points(
    connection: QdrantConnection, collection: str, rows: Sequence[IndexRow], vectors: PassageVectors
) -> None:
    from qdrant_client import models

    n_at_once = max(1, _REQUEST_BYTES // (_BYTES_PER_NUMBER * vectors.dense.shape[1] + _BYTES_BESIDE))
    for start in range(0, len(rows), n_at_once):
        points = [
            models.PointStruct(id=point_id(row.passage_id), vector=vectors.named(nth), payload=_payload(row))
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
