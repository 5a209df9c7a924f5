"""Exact vector search: all vectors of an index in one file, compared with a question one by one.

What is found follows from the passages alone, so answers after any history of updates equal those of a fresh index;
an approximate graph (`chroma`) cannot promise that. The price grows with the number of vectors, see ADR 0017.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from rag_assets.indexing.protocols import IndexRow, Scored, Vectors

VECTORS_FILE = "vectors.arrow"


class ExactVectors:
    """Vectors held in memory, for reading; see `VectorStore`. May be used by several threads."""

    def __init__(self, table: pa.Table) -> None:
        self._fingerprints = dict(zip(table["passage_id"].to_pylist(), table["fingerprint"].to_pylist(), strict=True))
        self._ids = np.array(table["passage_id"].to_pylist(), object)
        self._papers = np.array(table["paper_id"].to_pylist(), object)
        self._places = {id_: place for place, id_ in enumerate(self._ids)}
        column = table["vector"].combine_chunks()
        self._vectors = column.flatten().to_numpy().reshape(len(table), column.type.list_size)

    @classmethod
    def open(cls, folder: Path) -> "ExactVectors":
        """Read the vectors of the index in `folder`. Raises OSError or an ArrowException when they cannot be read."""
        content = (folder / VECTORS_FILE).read_bytes()  # not mapped: a file cut short later would end the process
        return cls(pa.ipc.open_file(pa.BufferReader(content)).read_all())

    def fingerprints(self) -> dict[str, str]:
        return dict(self._fingerprints)

    def search(self, question: Vectors, limit: int, paper_ids: Sequence[str] | None = None) -> list[Scored]:
        places = np.arange(len(self._ids))
        if paper_ids is not None:
            places = np.flatnonzero(np.isin(self._papers, list(paper_ids)))
        if limit <= 0 or not len(places):
            return []
        cosines = (self._vectors @ question)[places]
        if limit < len(places):
            last = np.partition(cosines, -limit)[-limit]
            nearest = cosines >= last  # all that share the last place: which of them stay is decided by their ids
            places, cosines = places[nearest], cosines[nearest]
        hits = [Scored(str(self._ids[place]), float(cosine)) for place, cosine in zip(places, cosines, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))[:limit]

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        known = [id_ for id_ in passage_ids if id_ in self._places]
        if not known:
            return {}
        cosines = self._vectors[[self._places[id_] for id_ in known]] @ question
        return dict(zip(known, (float(cosine) for cosine in cosines), strict=True))

    def close(self) -> None:
        """Nothing is held open."""


def write_vectors(folder: Path, rows: Sequence[IndexRow], vectors: Vectors) -> None:
    """Write the vectors of `rows`, shape (len(rows), dim), into the index in `folder`, in the order of their ids."""
    order = sorted(range(len(rows)), key=lambda place: rows[place].passage_id)
    flat = pa.array(np.ascontiguousarray(vectors[order], np.float32).ravel())
    table = pa.table(
        {
            "passage_id": pa.array([rows[place].passage_id for place in order], pa.string()),
            "paper_id": pa.array([rows[place].paper_id for place in order], pa.string()),
            "fingerprint": pa.array([rows[place].fingerprint for place in order], pa.string()),
            "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
        }
    )
    with pa.ipc.new_file(folder / VECTORS_FILE, table.schema) as file:
        file.write_table(table)
