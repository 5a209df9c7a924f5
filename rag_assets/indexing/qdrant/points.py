"""What a collection holds: one point per passage, with its vectors and what is needed to filter and to compare it."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

import numpy as np

from rag_assets.indexing.protocols import IndexRow, Scope, Vectors
from rag_assets.indexing.qdrant.connection import Connection
from rag_assets.indexing.qdrant.publications import MARKER, Publication
from rag_assets.settings import IndexingSettings

if TYPE_CHECKING:
    from qdrant_client import models

DENSE = "dense"
"""Name of the vectors of the embedding model."""
_PAGE = 1000
_REQUEST_BYTES = 4_000_000
"""Of points written at once; a server takes 32 MB unless it was told otherwise."""
_BYTES_PER_NUMBER = 12
_BYTES_BESIDE = 2000


def point_id(passage_id: str) -> str:
    """Qdrant takes UUIDs and numbers only."""
    return str(uuid5(NAMESPACE_URL, passage_id))


def create_collection(connection: Connection, collection: str, settings: IndexingSettings, dimension: int) -> None:
    """Make it empty, in the place of one that is there."""
    from qdrant_client import models

    with connection.calls() as client:
        client.delete_collection(collection)
        client.create_collection(
            collection,
            vectors_config={DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE)},
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


def write_points(connection: Connection, collection: str, rows: Sequence[IndexRow], vectors: Vectors) -> None:
    """Write or replace the points of passages. vectors: shape (len(rows), dim)."""
    from qdrant_client import models

    for part in _requests(len(rows), vectors.shape[1]):
        points = [
            models.PointStruct(id=point_id(row.passage_id), vector={DENSE: vector}, payload=_payload(row))
            for row, vector in zip(rows[part], vectors[part].tolist(), strict=True)
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


def vectors_in(connection: Connection, collection: str, passage_ids: Sequence[str]) -> dict[str, Vectors]:
    """The stored vectors of a few passages, shape (dim,) each; without those of unknown ids."""
    if not passage_ids:
        return {}
    with connection.calls() as client:
        found = client.retrieve(
            collection, [point_id(id_) for id_ in passage_ids], with_payload=["passage_id"], with_vectors=[DENSE]
        )
    vectors: dict[str, Any] = {
        (point.payload or {})["passage_id"]: point.vector[DENSE] for point in found if isinstance(point.vector, dict)
    }
    return {id_: np.asarray(vector, np.float32) for id_, vector in vectors.items()}


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


def _requests(n_rows: int, dimension: int) -> Iterator[slice]:
    size = max(1, _REQUEST_BYTES // (_BYTES_PER_NUMBER * dimension + _BYTES_BESIDE))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))
