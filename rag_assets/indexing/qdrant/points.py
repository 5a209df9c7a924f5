"""What a collection holds: one point per passage, with its vectors and what is needed to filter and to compare it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import numpy.typing as npt

from rag_assets.domain import SparseVector
from rag_assets.indexing.protocols import IndexRow, Scope, Vectors
from rag_assets.indexing.qdrant.connection import Connection
from rag_assets.indexing.qdrant.publications import MARKER, Publication
from rag_assets.settings import IndexingSettings

if TYPE_CHECKING:
    from qdrant_client import models

DENSE, WORDS, SPARSE = "dense", "words", "sparse"
"""Names of the vectors of the embedding model, of the words, and of a sparse model."""
_PAGE = 1000
_REQUEST_BYTES = 4_000_000
"""Of points written at once; a server takes 32 MB unless it was told otherwise."""
_BYTES_PER_NUMBER = 12
_BYTES_BESIDE = 10_000


def point_id(passage_id: str) -> str:
    """Qdrant takes UUIDs and numbers only."""
    return str(uuid5(NAMESPACE_URL, passage_id))


@dataclass(frozen=True, slots=True)
class Shape:
    """Which vectors a collection holds."""

    dimension: int
    """Of the vectors of the embedding model."""
    sparse_names: frozenset[str]


def create_collection(connection: Connection, collection: str, settings: IndexingSettings, shape: Shape) -> None:
    """Make it empty, in the place of one that is there."""
    from qdrant_client import models

    modifiers = {WORDS: models.Modifier.IDF, SPARSE: None}
    sparse = {name: models.SparseVectorParams(modifier=modifiers[name]) for name in sorted(shape.sparse_names)}
    with connection.calls() as client:
        client.delete_collection(collection)
        client.create_collection(
            collection,
            vectors_config={DENSE: models.VectorParams(size=shape.dimension, distance=models.Distance.COSINE)},
            sparse_vectors_config=sparse or None,
            hnsw_config=models.HnswConfigDiff(m=settings.hnsw_m, ef_construct=settings.hnsw_ef_construction),
        )
        if not connection.is_embedded:  # which looks at every point, and warns that it has no use for this
            client.create_payload_index(collection, "paper_id", models.PayloadSchemaType.KEYWORD)


def dimension_of(connection: Connection, collection: str) -> int | None:
    """Length of the vectors of a collection; None when it is not there or was not made here."""
    with connection.calls() as client:
        if not client.collection_exists(collection):
            return None
        vectors = client.get_collection(collection).config.params.vectors
    params = vectors.get(DENSE) if isinstance(vectors, dict) else None
    return params.size if params else None


def fingerprints_in(connection: Connection, collection: str) -> dict[str, str]:
    """passage_id -> fingerprint of everything inside; read page by page."""
    found: dict[str, str] = {}
    offset: Any = None
    while True:
        with connection.calls() as client:
            points, offset = client.scroll(
                collection, limit=_PAGE, offset=offset, with_payload=["passage_id", "fingerprint"]
            )
        payloads = [point.payload or {} for point in points]
        found |= {one["passage_id"]: one.get("fingerprint", "") for one in payloads if "passage_id" in one}
        if offset is None:
            return found


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


def write_points(connection: Connection, collection: str, rows: Sequence[IndexRow], vectors: PassageVectors) -> None:
    """Write or replace the points of passages."""
    from qdrant_client import models

    for part in _requests(len(rows), vectors.dense.shape[1]):
        points = [
            models.PointStruct(
                id=point_id(rows[nth].passage_id), vector=vectors.named(nth), payload=_payload(rows[nth])
            )
            for nth in part
        ]
        with connection.calls() as client:
            client.upsert(collection, points, wait=True)


def delete_points(connection: Connection, collection: str, passage_ids: Sequence[str]) -> None:
    from qdrant_client import models

    for start in range(0, len(passage_ids), _PAGE):
        ids: list[Any] = [point_id(id_) for id_ in passage_ids[start : start + _PAGE]]
        with connection.calls() as client:
            client.delete(collection, models.PointIdsList(points=ids), wait=True)


def mark(connection: Connection, publication: Publication) -> None:
    """Declare a collection whole."""
    from qdrant_client import models

    marker = models.PointStruct(id=MARKER, vector={}, payload=publication.payload())
    with connection.calls() as client:
        client.upsert(publication.collection, [marker], wait=True)


def unmark(connection: Connection, collection: str) -> None:
    """Declare a collection unfinished."""
    from qdrant_client import models

    with connection.calls() as client:
        client.delete(collection, models.PointIdsList(points=[MARKER]), wait=True)


def vectors_in(connection: Connection, collection: str, passage_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The stored vectors of a few passages by their names; without those of unknown ids."""
    with connection.calls() as client:
        found = client.retrieve(
            collection, [point_id(id_) for id_ in passage_ids], with_payload=["passage_id"], with_vectors=True
        )
    return {(one.payload or {})["passage_id"]: one.vector for one in found if isinstance(one.vector, dict)}


def are_alike(stored: Mapping[str, Any], wanted: Mapping[str, Any], *, error: float) -> bool:
    """Whether the vectors of a passage, by their names, are the wanted ones."""
    if stored.keys() != wanted.keys():
        return False
    pairs = [(_numbers(stored[name]), _numbers(wanted[name])) for name in wanted]
    return all(one.shape == other.shape and np.allclose(one, other, atol=error) for one, other in pairs)


def _numbers(vector: Any) -> "npt.NDArray[np.float64]":
    """A dense vector as it is, a sparse one with its places, which come back in any order."""
    if isinstance(vector, list):
        return np.array(vector, np.float64)
    order = np.argsort(vector.indices)
    return np.concatenate([np.array(vector.indices)[order], np.array(vector.values)[order]])


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


def _requests(n_rows: int, dimension: int) -> Iterator[range]:
    size = max(1, _REQUEST_BYTES // (_BYTES_PER_NUMBER * dimension + _BYTES_BESIDE))
    return (range(start, min(start + size, n_rows)) for start in range(0, n_rows, size))
