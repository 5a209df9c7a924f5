"""Exact vector search: all vectors of an index in one file, compared with a question one by one.

What is found follows from the passages alone, so answers after any history of updates equal those of a fresh index;
an approximate graph (`chroma`) cannot promise that. The price grows with the number of vectors, see ADR 0017.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.indexing.protocols import IndexRow, Scope, Scored, Vectors

VECTORS_FILE = "vectors.arrow"
_QUESTIONS_AT_ONCE = 16


class ExactVectors:
    """Vectors held in memory once, for reading; see `VectorStore`. May be used by several threads.

    Ids stay in Arrow's columns: as Python objects they would take more memory than a third of the vectors.
    """

    def __init__(self, rows: pa.RecordBatch) -> None:
        self._ids, self._papers, self._fingerprints = rows["passage_id"], rows["paper_id"], rows["fingerprint"]
        numbers = rows["vector"].flatten()
        column = np.frombuffer(numbers.buffers()[1], np.float32, len(numbers), 4 * numbers.offset)  # no pandas, no copy
        self._vectors = column.reshape(len(rows), rows["vector"].type.list_size)

    @classmethod
    def open(cls, folder: Path) -> "ExactVectors":
        """Read the vectors of the index in `folder`. Raises OSError or an ArrowException when they cannot be read."""
        content = (folder / VECTORS_FILE).read_bytes()  # not mapped: a file cut short later would end the process
        return cls(pa.ipc.open_file(pa.BufferReader(content)).get_batch(0))

    def __len__(self) -> int:
        """How many vectors there are."""
        return len(self._ids)

    @property
    def dimension(self) -> int:
        return int(self._vectors.shape[1])

    def fingerprints(self) -> dict[str, str]:
        """passage_id -> fingerprint of everything inside."""
        return dict(zip(self._ids.to_pylist(), self._fingerprints.to_pylist(), strict=True))

    def search(self, question: Vectors, limit: int, scope: Scope | None = None) -> list[Scored]:
        places = np.arange(len(self._ids)) if scope is None else self._places_in(scope)
        if limit <= 0 or not len(places):
            return []
        cosines = (self._vectors @ question)[places]
        if limit < len(places):
            last = np.partition(cosines, -limit)[-limit]
            nearest = cosines >= last  # all that share the last place: which of them stay is decided by their ids
            places, cosines = places[nearest], cosines[nearest]
        ids = (self._ids[place].as_py() for place in places.tolist())  # pa.array() of a list would import pandas
        hits = [Scored(id_, float(cosine)) for id_, cosine in zip(ids, cosines, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))[:limit]

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        places = {id_: place for id_ in passage_ids if (place := self._place(id_)) is not None}
        if not places:
            return {}
        cosines = self._vectors[list(places.values())] @ question
        return dict(zip(places, cosines.tolist(), strict=True))

    def nth_cosines(self, questions: Vectors, n: int) -> Vectors:
        """The cosine of the `n`th nearest passage (or of the last) of each of the questions, shape (n_questions, dim).

        Holds the cosines of a few questions at a time.
        """
        nth = min(n, len(self._ids))
        blocks = np.array_split(questions, -(-len(questions) // _QUESTIONS_AT_ONCE))
        return np.concatenate([np.partition(self._vectors @ some.T, -nth, axis=0)[-nth] for some in blocks])

    def close(self) -> None:
        """Nothing is held open."""

    def vectors(self, passage_ids: Sequence[str]) -> Vectors:
        """The vectors of passages, shape (len(passage_ids), dim). Raises ValueError when one has none."""
        places = pc.index_in(pa.array(passage_ids, pa.string()), value_set=self._ids)
        if places.null_count:
            raise ValueError(f"{places.null_count} of {len(passage_ids)} passages have no vector in the index")
        vectors: Vectors = self._vectors[places.to_numpy()]
        return vectors

    def _places_in(self, scope: Scope) -> npt.NDArray[np.intp]:
        column, wanted = (
            (self._papers, scope.paper_ids) if scope.passage_ids is None else (self._ids, scope.passage_ids)
        )
        is_in = pc.is_in(column, pa.array(list(wanted or ()), pa.string()))
        return np.flatnonzero(is_in.to_numpy(zero_copy_only=False))

    def _place(self, passage_id: str) -> int | None:
        """Row of a passage; the file is sorted by id."""
        place = bisect_left(range(len(self._ids)), passage_id, key=lambda row: self._ids[row].as_py())
        return place if place < len(self._ids) and self._ids[place].as_py() == passage_id else None


def write_vectors(folder: Path, rows: Mapping[str, IndexRow], new: Mapping[str, Vectors]) -> None:
    """Write the vectors of `rows` (by passage_id) into the index in `folder`, in the order of their ids.

    new: vectors by passage_id, shape (dim,) each; those of other passages are taken from the file that is there.
    """
    ids = sorted(rows)
    kept = ExactVectors.open(folder) if len(new) < len(ids) else None
    dimension = kept.dimension if kept else len(next(iter(new.values()), [0.0]))
    vectors = np.empty((len(ids), dimension), np.float32)
    if kept is not None:
        old = [place for place, id_ in enumerate(ids) if id_ not in new]
        vectors[old] = kept.vectors([ids[place] for place in old])
    for place, id_ in enumerate(ids):
        if id_ in new:
            vectors[place] = new[id_]
    batch = pa.record_batch(
        {
            "passage_id": pa.array(ids, pa.string()),
            "paper_id": pa.array([rows[id_].paper_id for id_ in ids], pa.string()),
            "fingerprint": pa.array([rows[id_].fingerprint for id_ in ids], pa.string()),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), dimension),
        }
    )
    with pa.ipc.new_file(folder / VECTORS_FILE, batch.schema) as file:
        file.write_batch(batch)
