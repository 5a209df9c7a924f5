"""One question asked in several ways at once, and fused by Qdrant."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag_assets.indexing.protocols import Scored
from rag_assets.settings import RetrievalSettings

if TYPE_CHECKING:
    from qdrant_client import models


def requests_for(
    questions: Mapping[str, Any], limit: int, common: Mapping[str, Any], settings: RetrievalSettings
) -> "list[models.QueryRequest]":
    """One request for all of them together, then one for each.

    questions: by the name of the vectors they are compared with. common: filter and parameters of each.
    """
    from qdrant_client import models

    lists = [models.Prefetch(query=question, using=name, limit=limit, **common) for name, question in questions.items()]
    fusion = (
        models.FusionQuery(fusion=models.Fusion.DBSF)
        if settings.fusion == "server_dbsf"
        else models.RrfQuery(rrf=models.Rrf(k=settings.rrf_k))
    )
    together = models.QueryRequest(prefetch=lists, query=fusion, limit=limit * len(lists), with_payload=["passage_id"])
    each = [
        models.QueryRequest(query=question, using=name, limit=limit, with_payload=["passage_id"], **common)
        for name, question in questions.items()
    ]
    return [together, *each]


def scaled(hits: Sequence[Scored], n_lists: int, settings: RetrievalSettings) -> list[Scored]:
    """Fused scores divided by the most they can be, so that they lie between 0 and 1 for any number of lists.

    Reciprocal rank fusion gives 1 / (k + rank) per list, ranks counted from 0. Distribution-based fusion stretches
    each list from three standard deviations below its mean to three above; what lies beyond counts as 1.
    """
    most = n_lists if settings.fusion == "server_dbsf" else n_lists / settings.rrf_k
    return [Scored(hit.passage_id, min(1.0, max(0.0, hit.score / most))) for hit in hits]
