"""What must hold of an index before it takes the place of the published one, and of both indexes together."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rag_assets.indexing.builder import StagedIndex
from rag_assets.promises import Offenders, Promise


@dataclass(frozen=True)
class IndexCandidate:
    """An index that waits for publication."""

    staged: StagedIndex
    min_recall: float
    """The setting indexing.min_recall."""


def _not_in_step(candidate: IndexCandidate) -> Offenders:
    audit = candidate.staged.audit
    if audit is None:
        return []
    return [
        *({"passage_id": id_, "problem": "missing, or of another content"} for id_ in audit.missing),
        *({"passage_id": id_, "problem": "orphan: belongs to no passage"} for id_ in audit.orphans),
        *({"passage_id": id_, "problem": "a search does not find it"} for id_ in audit.faulty),
    ]


def _missed_neighbours(candidate: IndexCandidate) -> Offenders:
    wear = candidate.staged.manifest.wear
    return [] if wear is None or wear.recall >= candidate.min_recall else [asdict(wear)]


INDEX_PROMISES: list[Promise[IndexCandidate]] = [
    Promise(
        "ids_equal_passages",
        "The index holds every passage, nothing else, and finds them; no orphans.",
        _not_in_step,
    ),
    Promise(
        "recall_holds",
        "Searching the graph finds at least indexing.min_recall of the nearest passages of a sample; if not though it "
        "was just built, raise indexing.hnsw_ef_search.",
        _missed_neighbours,
        "warning",
    ),
]
META_PROMISES: list[Promise[Mapping[str, Any]]] = [
    Promise(
        "indexes_agree",
        "Both indexes describe the passages and the model of this run; if not, materialize chroma_index, bm25_index.",
        lambda meta: meta["problems"],
    ),
]
