"""Exact vector search: all vectors of an index in one file, none of them left out but for certain.

What is found follows from the passages alone, so answers after any history of updates equal those
of a fresh index; an approximate graph (`chroma`) cannot promise that. The price grows with the
number of vectors, see ADR 0015.
"""

import os
import weakref
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.incremental import STAGED_SUFFIX
from rag_assets.search.indexing.protocols import IndexRow, Scope, Scored, Vectors

VECTORS_FILE = "vectors.arrow"
_ROWS_AT_ONCE = 1024
_FLOAT_BYTES = 4
_ROUNDING = 1e-5
"""More than sums of float32 can be off."""


class ExactVectors:
    """Vectors of an index, for reading; see `VectorStore`. May be used by several threads.

    In memory are their ids, in Arrow's columns, and a copy of the vectors in bytes
    (`_RoughVectors`), a quarter of their size: it shows which of them have to be read to find the
    nearest ones.
    """

    def __init__(self, rows: pa.RecordBatch, stored: "_StoredVectors") -> None:
        self._ids, self._papers, self._fingerprints = (
            rows["passage_id"],
            rows["paper_id"],
            rows["fingerprint"],
        )
        self._stored = stored

    @classmethod
    def open(cls, folder: Path) -> "ExactVectors":
        """Open the vectors in `folder`. Raises OSError, ValueError or ArrowException when they
        cannot be read."""
        with (folder / VECTORS_FILE).open("rb") as file:
            # mapped only until this returns: a file cut short under a map would end the process
            content = pa.py_buffer(mmap(file.fileno(), 0, access=ACCESS_READ))
            batch = pa.ipc.open_file(content).get_batch(0)
            numbers = batch["vector"].flatten()
            offset = numbers.buffers()[1].address - content.address + _FLOAT_BYTES * numbers.offset
            stored = _StoredVectors(
                os.dup(file.fileno()), offset, (len(batch), batch["vector"].type.list_size)
            )
        named = batch.select(["passage_id", "paper_id", "fingerprint"])
        return cls(
            pa.ipc.read_record_batch(named.serialize(), named.schema), stored
        )  # a copy without the vectors

    @cached_property
    def _rough(self) -> "_RoughVectors":
        return _RoughVectors(self._stored)

    def __len__(self) -> int:
        """How many vectors there are."""
        return len(self._ids)

    @property
    def dimension(self) -> int:
        return self._stored.shape[1]

    def fingerprints(self) -> dict[str, str]:
        """passage_id -> fingerprint of everything inside."""
        return dict(zip(self._ids.to_pylist(), self._fingerprints.to_pylist(), strict=True))

    def search(self, question: Vectors, limit: int, scope: Scope | None = None) -> list[Scored]:
        places = np.arange(len(self._ids)) if scope is None else self._places_in(scope)
        if limit <= 0 or not len(places):
            return []
        if limit < len(places):
            rough, most_wrong = self._rough.cosines(question)
            rough = rough[places]
            places = places[rough >= np.partition(rough, -limit)[-limit] - 2 * most_wrong]
        cosines = _cosines(self._stored.rows(places), question)
        if limit < len(places):
            last = np.partition(cosines, -limit)[-limit]
            nearest = (
                cosines >= last
            )  # all that share the last place: which of them stay is decided by their ids
            places, cosines = places[nearest], cosines[nearest]
        ids = (self._ids[place].as_py() for place in places.tolist())
        hits = [Scored(id_, float(cosine)) for id_, cosine in zip(ids, cosines, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))[:limit]

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        places = {id_: place for id_ in passage_ids if (place := self._place(id_)) is not None}
        if not places:
            return {}
        cosines = _cosines(self._stored.rows(np.array(list(places.values()))), question)
        return dict(zip(places, cosines.tolist(), strict=True))

    def close(self) -> None:
        self._stored.close()

    def vectors(self, passage_ids: Sequence[str]) -> Vectors:
        """The vectors of passages, shape (len(passage_ids), dim). Raises ValueError when one has
        none."""
        vectors = np.empty((len(passage_ids), self.dimension), np.float32)
        if not self.read_into(vectors, passage_ids).all():
            raise ValueError("a passage has no vector in the index")
        return vectors

    def read_into(self, vectors: Vectors, passage_ids: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Fill the row of each passage that has a vector, and return which have one; shape
        (len(passage_ids),)."""
        found = pc.index_in(pa.array(passage_ids, pa.string()), value_set=self._ids)
        places = found.fill_null(-1).to_numpy().astype(np.intp)
        self._stored.read_into(vectors, places)
        is_there: npt.NDArray[np.bool_] = places >= 0
        return is_there

    def _places_in(self, scope: Scope) -> npt.NDArray[np.intp]:
        column, wanted = (
            (self._papers, scope.paper_ids)
            if scope.passage_ids is None
            else (self._ids, scope.passage_ids)
        )
        values = (
            pa.lib.StringBuilder()
        )  # pa.array() of a list would import pandas, which takes 35 MB
        values.append_values(list(wanted or ()))
        inside = pc.indices_nonzero(pc.is_in(column, values.finish()))
        return np.from_dlpack(inside).astype(np.intp)

    def _place(self, passage_id: str) -> int | None:
        """Row of a passage; the file is sorted by id."""
        place = bisect_left(
            range(len(self._ids)), passage_id, key=lambda row: self._ids[row].as_py()
        )
        return place if place < len(self._ids) and self._ids[place].as_py() == passage_id else None


class _StoredVectors:
    """The vectors in their file, shape (n, dim), which stays open until it is closed or nothing
    refers to it."""

    def __init__(self, file: int, offset: int, shape: tuple[int, int]) -> None:
        """file: its descriptor, which belongs to this object. offset: of the first number, in
        bytes."""
        self.shape = shape
        self._file = file
        self._offset = offset
        self.close = weakref.finalize(self, os.close, file)

    def rows(self, places: npt.NDArray[np.intp]) -> Vectors:
        """The vectors at those places, in that order."""
        vectors = np.empty((len(places), self.shape[1]), np.float32)
        self.read_into(vectors, places)
        return vectors

    def read_into(self, vectors: Vectors, places: npt.NDArray[np.intp]) -> None:
        """Fill the row of each place with its vector; a place below 0 leaves its row alone.
        Neighbours are read at once."""
        if not len(places):
            return
        n_bytes = _FLOAT_BYTES * self.shape[1]
        starts = np.flatnonzero((np.diff(places, prepend=places[:1]) != 1) | (places <= 0))
        for start, end in zip(starts, [*starts[1:], len(places)], strict=True):
            if places[start] < 0:
                continue
            at = self._offset + int(places[start]) * n_bytes
            if (
                os.preadv(self._file, [vectors[start:end].data.cast("B")], at)
                < (end - start) * n_bytes
            ):
                raise OSError(f"{VECTORS_FILE} was cut short while it was open")


class _RoughVectors:
    """Each vector as whole numbers from -127 to 127 and a scale, and how far the cosines of these
    may be off.

    Source: Weber, Schek and Blott 1998, "A Quantitative Analysis and Performance Study for
    Similarity-Search Methods in High-Dimensional Spaces": what an approximation rules out for
    certain need not be read.
    """

    def __init__(self, stored: _StoredVectors) -> None:
        self._numbers = np.empty(stored.shape, np.int8)
        self._scales = np.empty(stored.shape[0], np.float32)
        self._error = 0.0
        """Length of the longest difference between a vector and its approximation."""
        for start in range(0, len(self._scales), _ROWS_AT_ONCE):
            rows = slice(start, min(start + _ROWS_AT_ONCE, len(self._scales)))
            vectors = stored.rows(np.arange(rows.start, rows.stop))
            scales = np.maximum(np.abs(vectors).max(axis=1) / 127, np.finfo(np.float32).tiny)
            self._scales[rows], self._numbers[rows] = (
                scales,
                np.rint(vectors / scales[:, np.newaxis]),
            )
            wrong = np.linalg.norm(vectors - self._numbers[rows] * scales[:, np.newaxis], axis=1)
            self._error = max(self._error, float(wrong.max()))

    def cosines(self, question: Vectors) -> tuple[Vectors, float]:
        """Approximate cosines, shape (n,), and how far each may be from the true one (Cauchy and
        Schwarz)."""
        found = np.empty(len(self._scales), np.float32)
        floats = np.empty(
            (_ROWS_AT_ONCE, self._numbers.shape[1]), np.float32
        )  # small enough for a processor's cache
        for start in range(0, len(found), _ROWS_AT_ONCE):
            some = self._numbers[start : start + _ROWS_AT_ONCE]
            np.copyto(floats[: len(some)], some)
            np.dot(floats[: len(some)], question, out=found[start : start + len(some)])
        return found * self._scales, self._error * float(np.linalg.norm(question)) + _ROUNDING


def _cosines(vectors: Vectors, question: Vectors) -> Vectors:
    """Row by row: the result for a vector does not depend on those beside it, as it does in a
    matrix product."""
    cosines: Vectors = np.einsum("ij,j->i", vectors, question)
    return cosines


def write_vectors(folder: Path, rows: Mapping[str, IndexRow], new: Mapping[str, Vectors]) -> None:
    """Write the vectors of `rows` (by passage_id) into the index in `folder`, in the order of their
    ids.

    new: vectors by passage_id, shape (dim,) each; those of other passages are taken from the file
    that is there.
    """
    ids = sorted(rows)
    kept = ExactVectors.open(folder) if len(new) < len(ids) else None
    dimension = kept.dimension if kept else len(next(iter(new.values()), [0.0]))
    vectors = np.empty((len(ids), dimension), np.float32)
    if kept is not None:
        is_kept = kept.read_into(vectors, ids)
        if missing := [
            id_
            for id_, is_there in zip(ids, is_kept, strict=True)
            if not is_there and id_ not in new
        ]:
            raise ValueError(f"{len(missing)} of {len(ids)} passages have no vector in the index")
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
    staged = (
        folder / f"{VECTORS_FILE}{STAGED_SUFFIX}"
    )  # the file that is there may be a link to the published one
    with pa.ipc.new_file(staged, batch.schema) as file:
        file.write_batch(batch)
    staged.replace(folder / VECTORS_FILE)
