"""Searching one published collection; see `VectorStore`. A reader stays with the collection it was opened on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import RetrievalSettings
from rag_assets.search.indexing.protocols import RRF_K, HybridHits, HybridQuestion, Scope, Scored, Vectors
from rag_assets.search.indexing.qdrant.connection import QdrantConnection
from rag_assets.search.indexing.qdrant.points import DENSE, SPARSE, WORDS, WordWeights, filter_of, sparse

if TYPE_CHECKING:
    from qdrant_client import models

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
    """One published version, for reading; see `VectorStore` and `HybridStore`."""

    def __init__(self, connection: QdrantConnection, collection: Collection, settings: RetrievalSettings) -> None:
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
            n_fetched *= 2  # all that share the last place: which of them stay is decided by their ids
            hits = self._nearest(question, n_fetched, scope)
        return hits[:n_wanted]

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        if not passage_ids:
            return {}
        return dict(self._nearest(question, len(passage_ids), Scope(passage_ids=frozenset(passage_ids))))

    def hybrid(self, question: HybridQuestion, limit: int, scope: Scope | None = None) -> HybridHits:
        if not self._collection.sparse_names:
            raise InvalidSettings(
                "retrieval.fusion names a fusion by Qdrant, and the index holds one kind of vectors only. Run "
                "rag-assets index build, or choose another fusion."
            )
        if min(limit, self._collection.n_passages) <= 0 or (scope is not None and scope.is_empty):
            return HybridHits([], [], [])
        asked: dict[str, Any] = {DENSE: question.vector.tolist()}
        for name, vector in ((WORDS, self._words.of_question(question.text)), (SPARSE, question.sparse)):
            if name in self._collection.sparse_names and vector is not None and vector.places:
                asked[name] = sparse(vector)
        together, *each = self._asked(self._hybrid_requests(asked, limit, scope))
        found = dict(zip(asked, each, strict=True))
        # Ranks count from 0 in Qdrant, so a first place in each of n lists gives n / k. The other fusion stretches each
        # list from three standard deviations below its mean to three above; what lies beyond counts as 1.
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
        """One request for all questions together, fused, then one for each. questions: by the name of their vectors."""
        from qdrant_client import models

        common = {"limit": limit, "filter": filter_of(scope), "params": self._params}
        lists = [models.Prefetch(query=asked, using=name, **common) for name, asked in questions.items()]
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
            _in_order([Scored((hit.payload or {})["passage_id"], hit.score) for hit in response.points])
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
