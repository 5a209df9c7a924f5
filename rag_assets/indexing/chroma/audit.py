"""Whether a written Chroma database finds what it holds, and whether updates have worn out its graph.

It is measured against the file for exact search beside it.
"""

from collections.abc import Sequence

import numpy as np

from rag_assets.indexing.chroma.store import ChromaStore
from rag_assets.indexing.exact_vectors import ExactVectors
from rag_assets.indexing.protocols import GraphWear, Vectors

N_NEIGHBOURS = 20
"""How many nearest passages the recall of the graph is measured on."""
_VECTOR_ERROR = 1e-4
_TOLERATED_UNFOUND = 0.1
_RECALL_NOISE = 0.02
"""Two samples of one graph of 20,000 passages, whose recall was 0.75, differed by that."""
_UNMEASURED_SHARE = 0.01
"""Of the passages. What so few vectors change is less than `_RECALL_NOISE`; measuring it among 23,000 passages took as
long as writing one edited paper."""


def faulty_passages(store: ChromaStore, exact: ExactVectors, ids: Sequence[str]) -> tuple[str, ...]:
    """Of a sample: those whose vector is another one in the database than in the file; else those that the graph misses
    if it misses many. It is approximate, so one node out of reach is normal, a tenth of them is damage."""
    wanted = exact.vectors(ids)
    stored, nearest = store.vectors(ids), store.nearest(wanted, 1)
    wrong = [
        id_
        for id_, vector in zip(ids, wanted, strict=True)
        if id_ not in stored or not np.allclose(stored[id_], vector, atol=_VECTOR_ERROR)
    ]
    unfound = [id_ for id_, hits in zip(ids, nearest, strict=True) if not hits or hits[0].score <= 1.0 - _VECTOR_ERROR]
    return tuple(wrong or (unfound if len(unfound) > _TOLERATED_UNFOUND * len(ids) else []))


def is_due(wear: GraphWear, n_passages: int) -> bool:
    """Whether so much was written since the recall was measured that it should be measured again."""
    return wear.n_unmeasured > _UNMEASURED_SHARE * n_passages


def recall(store: ChromaStore, exact: ExactVectors, ids: Sequence[str]) -> float:
    """Share of the exact nearest neighbours that the graph finds; passages of equal vectors stand for each other.

    Asked for are the vectors of a sample and, because questions lie beside the passages, the means of pairs of them.
    """
    sample = exact.vectors(ids)
    questions = np.concatenate([sample, _unit(sample[:-1] + sample[1:])])
    n_wanted = min(N_NEIGHBOURS, len(exact))
    found = store.nearest(questions, n_wanted)
    shares = []
    for question, hits, least in zip(questions, found, exact.nth_cosines(questions, n_wanted), strict=True):
        cosines = exact.cosines(question, [hit.passage_id for hit in hits]).values()
        shares.append(min(1.0, sum(cosine >= least - _VECTOR_ERROR for cosine in cosines) / n_wanted))
    return float(np.mean(shares))


def why_rebuild(wear: GraphWear, n_passages: int, min_recall: float) -> str:
    """A phrase that says why the graph should be built anew; empty when it is good enough.

    A graph that was no better when it was built is not built again for that, or every update would do so: each measures
    another sample.
    """
    if wear.recall < min(min_recall, wear.recall_when_built - _RECALL_NOISE):
        return (
            f"after many updates it finds {wear.recall:.1%} of the nearest passages, less than indexing.min_recall "
            f"({min_recall:.1%}); the vectors come from the cache"
        )
    if wear.n_dead > n_passages:
        return f"it carries {wear.n_dead} deleted vectors, more than the {n_passages} it is asked for"
    return ""


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, _VECTOR_ERROR), np.float32)
