"""Exact vector search: all vectors of an index in one file, and every one is considered.

The result depends on the passages only, so an index that was updated many times answers like a new
one; an approximate graph (`chroma`) does not. The cost grows with the number of vectors, see ADR
0015.
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
"""An upper bound of rounding errors in sums of float32."""


class ExactVectors:
    """Vectors of an index, for reading; see `VectorStore`. May be used by several threads.

    The vectors stay in the file. In memory are the ids and a rough copy of the vectors, one byte
    per number (`_RoughVectors`): the rough copy shows which vectors must be read to find the
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
        """Open the vectors in `folder`. Raises OSError, ValueError or ArrowException if they cannot
        be read."""
        with (folder / VECTORS_FILE).open("rb") as file:
            # mapped during this method only: if the file is truncated while mapped, the process dies
            content = pa.py_buffer(mmap(file.fileno(), 0, access=ACCESS_READ))
            batch = pa.ipc.open_file(content).get_batch(0)
            numbers = batch["vector"].flatten()
            # where the first number of the first vector is in the file
            offset = numbers.buffers()[1].address - content.address + _FLOAT_BYTES * numbers.offset
            stored = _StoredVectors(
                os.dup(file.fileno()), offset, (len(batch), batch["vector"].type.list_size)
            )
        names = batch.select(["passage_id", "paper_id", "fingerprint"])
        # serialized and read again: a copy in memory that does not refer to the mapped file
        return cls(pa.ipc.read_record_batch(names.serialize(), names.schema), stored)

    @cached_property
    def _rough(self) -> "_RoughVectors":
        return _RoughVectors(self._stored)

    def __len__(self) -> int:
        """The number of vectors."""
        return len(self._ids)

    @property
    def dimension(self) -> int:
        return self._stored.shape[1]

    def fingerprints(self) -> dict[str, str]:
        """passage_id -> fingerprint, for all passages."""
        return dict(zip(self._ids.to_pylist(), self._fingerprints.to_pylist(), strict=True))

    def search(self, question: Vectors, limit: int, scope: Scope | None = None) -> list[Scored]:
        rows = np.arange(len(self._ids)) if scope is None else self._rows_in(scope)
        if limit <= 0 or not len(rows):
            return []
        if limit < len(rows):
            rough, max_error = self._rough.cosines(question)
            rough = rough[rows]
            # Read only vectors that may be among the `limit` nearest: those whose rough cosine is
            # not lower than the limit-th best one by more than the errors of both.
            rows = rows[rough >= np.partition(rough, -limit)[-limit] - 2 * max_error]
        cosines = _cosines(self._stored.rows(rows), question)
        if limit < len(rows):
            lowest = np.partition(cosines, -limit)[-limit]
            # keeps all passages that tie for the last place; their ids decide below
            is_nearest = cosines >= lowest
            rows, cosines = rows[is_nearest], cosines[is_nearest]
        ids = (self._ids[row].as_py() for row in rows.tolist())
        hits = [Scored(id_, float(cosine)) for id_, cosine in zip(ids, cosines, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))[:limit]

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        rows = {id_: row for id_ in passage_ids if (row := self._row_of(id_)) is not None}
        if not rows:
            return {}
        cosines = _cosines(self._stored.rows(np.array(list(rows.values()))), question)
        return dict(zip(rows, cosines.tolist(), strict=True))

    def close(self) -> None:
        self._stored.close()

    def vectors(self, passage_ids: Sequence[str]) -> Vectors:
        """The vectors of passages, shape (len(passage_ids), dim). Raises ValueError if a passage
        has none."""
        vectors = np.empty((len(passage_ids), self.dimension), np.float32)
        if not self.read_into(vectors, passage_ids).all():
            raise ValueError("a passage has no vector in the index")
        return vectors

    def read_into(self, vectors: Vectors, passage_ids: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Copy the vector of each passage into its row of `vectors`; a passage without a vector
        leaves its row unchanged. Returns for each passage whether it has a vector, shape
        (len(passage_ids),)."""
        indexes = pc.index_in(pa.array(passage_ids, pa.string()), value_set=self._ids)
        rows = indexes.fill_null(-1).to_numpy().astype(np.intp)
        self._stored.read_into(vectors, rows)
        has_vector: npt.NDArray[np.bool_] = rows >= 0
        return has_vector

    def _rows_in(self, scope: Scope) -> npt.NDArray[np.intp]:
        """Numbers of the rows whose passages the scope allows."""
        if scope.passage_ids is None:
            column, ids = self._papers, list(scope.paper_ids or ())
        else:
            column, ids = self._ids, list(scope.passage_ids)
        # pa.array() of a list would import pandas, which takes 35 MB
        builder = pa.lib.StringBuilder()
        builder.append_values(ids)
        inside = pc.indices_nonzero(pc.is_in(column, builder.finish()))
        return np.from_dlpack(inside).astype(np.intp)

    def _row_of(self, passage_id: str) -> int | None:
        """Number of a passage's row, found by bisection, since the rows are sorted by id; None if
        it has no row."""
        row = bisect_left(range(len(self._ids)), passage_id, key=lambda at: self._ids[at].as_py())
        return row if row < len(self._ids) and self._ids[row].as_py() == passage_id else None


class _StoredVectors:
    """The vectors in their file, shape (n, dim). The file stays open until `close` is called or the
    object is deleted."""

    def __init__(self, file: int, offset: int, shape: tuple[int, int]) -> None:
        """file: a file descriptor, which this object closes. offset: of the first vector, in
        bytes."""
        self.shape = shape
        self._file = file
        self._offset = offset
        self.close = weakref.finalize(self, os.close, file)

    def rows(self, row_numbers: npt.NDArray[np.intp]) -> Vectors:
        """The vectors of the given rows of the file, in that order."""
        vectors = np.empty((len(row_numbers), self.shape[1]), np.float32)
        self.read_into(vectors, row_numbers)
        return vectors

    def read_into(self, vectors: Vectors, row_numbers: npt.NDArray[np.intp]) -> None:
        """Copy rows of the file into `vectors`: row `row_numbers[i]` becomes `vectors[i]`. A
        negative number leaves its vector unchanged. Consecutive rows are read in one call."""
        if not len(row_numbers):
            return
        n_bytes = _FLOAT_BYTES * self.shape[1]
        # where a run of consecutive rows begins; a negative number is a run by itself
        starts = np.flatnonzero(
            (np.diff(row_numbers, prepend=row_numbers[:1]) != 1) | (row_numbers <= 0)
        )
        for start, end in zip(starts, [*starts[1:], len(row_numbers)], strict=True):
            if row_numbers[start] < 0:
                continue
            position = self._offset + int(row_numbers[start]) * n_bytes
            if (
                os.preadv(self._file, [vectors[start:end].data.cast("B")], position)
                < (end - start) * n_bytes
            ):
                raise OSError(f"{VECTORS_FILE} was cut short while it was open")


class _RoughVectors:
    """An approximation of each vector: whole numbers from -127 to 127 times a scale; and a bound
    for the error of its cosines.

    Source: Weber, Schek and Blott 1998, "A Quantitative Analysis and Performance Study for
    Similarity-Search Methods in High-Dimensional Spaces": a vector that the approximation excludes
    with certainty need not be read.
    """

    def __init__(self, stored: _StoredVectors) -> None:
        self._numbers = np.empty(stored.shape, np.int8)
        self._scales = np.empty(stored.shape[0], np.float32)
        self._error = 0.0
        """Length of the longest difference between a vector and its approximation."""
        # per vector: the largest number becomes 127 (or -127), so the scale is that number / 127
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
        """The approximate cosine of each vector, shape (n,), and how far each may be from the true
        cosine (by the Cauchy-Schwarz inequality)."""
        products = np.empty(len(self._scales), np.float32)
        # the numbers become floats block by block; a block fits into the processor's cache
        floats = np.empty((_ROWS_AT_ONCE, self._numbers.shape[1]), np.float32)
        for start in range(0, len(products), _ROWS_AT_ONCE):
            numbers = self._numbers[start : start + _ROWS_AT_ONCE]
            np.copyto(floats[: len(numbers)], numbers)
            np.dot(floats[: len(numbers)], question, out=products[start : start + len(numbers)])
        return products * self._scales, self._error * float(np.linalg.norm(question)) + _ROUNDING


def _cosines(vectors: Vectors, question: Vectors) -> Vectors:
    """The cosine of each vector with the question. Unlike in a matrix product, a result does not
    depend on the other vectors in the call."""
    cosines: Vectors = np.einsum("ij,j->i", vectors, question)
    return cosines


def write_vectors(folder: Path, rows: Mapping[str, IndexRow], new: Mapping[str, Vectors]) -> None:
    """Write the vectors of `rows` (by passage_id) into the index in `folder`, sorted by id.

    new: vectors by passage_id, shape (dim,) each. The vectors of all other passages are copied from
    the file that is already there. Raises ValueError if a passage has a vector in neither.
    """
    ids = sorted(rows)
    old = ExactVectors.open(folder) if len(new) < len(ids) else None
    dimension = old.dimension if old else len(next(iter(new.values()), [0.0]))
    vectors = np.empty((len(ids), dimension), np.float32)
    if old is not None:
        has_old_vector = old.read_into(vectors, ids)
        if missing := [
            id_
            for id_, is_old in zip(ids, has_old_vector, strict=True)
            if not is_old and id_ not in new
        ]:
            raise ValueError(f"{len(missing)} of {len(ids)} passages have no vector in the index")
    for row, id_ in enumerate(ids):
        if id_ in new:
            vectors[row] = new[id_]
    batch = pa.record_batch(
        {
            "passage_id": pa.array(ids, pa.string()),
            "paper_id": pa.array([rows[id_].paper_id for id_ in ids], pa.string()),
            "fingerprint": pa.array([rows[id_].fingerprint for id_ in ids], pa.string()),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), dimension),
        }
    )
    # not written in place: the old file may be a link to the published one
    staged = folder / f"{VECTORS_FILE}{STAGED_SUFFIX}"
    with pa.ipc.new_file(staged, batch.schema) as file:
        file.write_batch(batch)
    staged.replace(folder / VECTORS_FILE)
