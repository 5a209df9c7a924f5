"""Exact vector search: all vectors of an index in one file, compared with a question one by one.

What is found follows from the passages alone, so answers after any history of updates equal those of a fresh index;
an approximate graph (`chroma`) cannot promise that. The price grows with the number of vectors, see ADR 0017.
"""

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.indexing.protocols import IndexRow, Scored, Vectors

VECTORS_FILE = "vectors.arrow"


class ExactVectors:
    """Vectors held in memory once, for reading; see `VectorStore`. May be used by several threads.

    Ids stay in Arrow's columns: as Python objects they would take more memory than a third of the vectors.
    """

    def __init__(self, rows: pa.RecordBatch) -> None:
        self._ids, self._papers, self._fingerprints = rows["passage_id"], rows["paper_id"], rows["fingerprint"]
        vectors = rows["vector"]
        self._vectors = vectors.flatten().to_numpy().reshape(len(rows), vectors.type.list_size)

    @classmethod
    def open(cls, folder: Path) -> "ExactVectors":
        """Read the vectors of the index in `folder`. Raises OSError or an ArrowException when they cannot be read."""
        content = (folder / VECTORS_FILE).read_bytes()  # not mapped: a file cut short later would end the process
        return cls(pa.ipc.open_file(pa.BufferReader(content)).get_batch(0))

    def fingerprints(self) -> dict[str, str]:
        return dict(zip(self._ids.to_pylist(), self._fingerprints.to_pylist(), strict=True))

    def search(self, question: Vectors, limit: int, paper_ids: Sequence[str] | None = None) -> list[Scored]:
        places = np.arange(len(self._ids))
        if paper_ids is not None:
            wanted = pc.is_in(self._papers, pa.array(paper_ids, pa.string()))
            places = np.flatnonzero(wanted.to_numpy(zero_copy_only=False))
        if limit <= 0 or not len(places):
            return []
        cosines = (self._vectors @ question)[places]
        if limit < len(places):
            last = np.partition(cosines, -limit)[-limit]
            nearest = cosines >= last  # all that share the last place: which of them stay is decided by their ids
            places, cosines = places[nearest], cosines[nearest]
        ids = self._ids.take(pa.array(places)).to_pylist()
        hits = [Scored(id_, float(cosine)) for id_, cosine in zip(ids, cosines, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))[:limit]

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        places = {id_: place for id_ in passage_ids if (place := self._place(id_)) is not None}
        if not places:
            return {}
        cosines = self._vectors[list(places.values())] @ question
        return dict(zip(places, cosines.tolist(), strict=True))

    def close(self) -> None:
        """Nothing is held open."""

    def _place(self, passage_id: str) -> int | None:
        """Row of a passage; the file is sorted by id."""
        place = bisect_left(range(len(self._ids)), passage_id, key=lambda row: self._ids[row].as_py())
        return place if place < len(self._ids) and self._ids[place].as_py() == passage_id else None


def write_vectors(folder: Path, rows: Sequence[IndexRow], vectors: Vectors) -> None:
    """Write the vectors of `rows`, shape (len(rows), dim), into the index in `folder`, in the order of their ids."""
    order = sorted(range(len(rows)), key=lambda place: rows[place].passage_id)
    flat = pa.array(np.ascontiguousarray(vectors[order], np.float32).ravel())
    batch = pa.record_batch(
        {
            "passage_id": pa.array([rows[place].passage_id for place in order], pa.string()),
            "paper_id": pa.array([rows[place].paper_id for place in order], pa.string()),
            "fingerprint": pa.array([rows[place].fingerprint for place in order], pa.string()),
            "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
        }
    )
    with pa.ipc.new_file(folder / VECTORS_FILE, batch.schema) as file:
        file.write_batch(batch)
