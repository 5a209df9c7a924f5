"""What must hold of an index before it takes the place of the published one, and of both indexes together."""

from collections.abc import Mapping
from typing import Any

from rag_assets.core.promises import Offenders, Promise
from rag_assets.search.indexing.builder import StagedIndex


def _not_in_step(staged: StagedIndex) -> Offenders:
    audit = staged.audit
    if audit is None:
        return []
    return [
        *({"passage_id": id_, "problem": "missing, or of another content"} for id_ in audit.missing),
        *({"passage_id": id_, "problem": "orphan: belongs to no passage"} for id_ in audit.orphans),
        *({"passage_id": id_, "problem": "is not held or found as it should be"} for id_ in audit.faulty),
    ]


INDEX_PROMISES: list[Promise[StagedIndex]] = [
    Promise(
        "ids_equal_passages",
        "The index holds every passage, nothing else, and finds them; no orphans.",
        _not_in_step,
    ),
]
META_PROMISES: list[Promise[Mapping[str, Any]]] = [
    Promise(
        "indexes_agree",
        "Both indexes describe the passages and the model of this run; if not, materialize chroma_index, bm25_index.",
        lambda meta: meta["problems"],
    ),
]
