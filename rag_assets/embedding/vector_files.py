"""Files of vectors: one parquet layout for shards and journal batches, and the refusal of damaged ones.

Which vectors belong into which file is the business of `vector_cache`.
"""

import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.embedding.base import Vectors
from rag_assets.incremental import write_atomically

SUFFIX = ".parquet"


@dataclass(frozen=True)
class KeyedVectors:
    """Vectors and their keys, row by row."""

    keys: tuple[str, ...]
    vectors: Vectors
    """Shape (len(keys), dimension)."""

    @classmethod
    def empty(cls, dimension: int) -> "KeyedVectors":
        return cls((), np.empty((0, dimension), np.float32))

    def items(self) -> Iterator[tuple[str, Vectors]]:
        return zip(self.keys, self.vectors, strict=True)

    @classmethod
    def of(cls, rows: dict[str, Vectors], dimension: int) -> "KeyedVectors":
        """The rows sorted by key."""
        if not rows:
            return cls.empty(dimension)
        keys = tuple(sorted(rows))
        return cls(keys, np.stack([rows[key] for key in keys]))


def write_file(path: Path, rows: KeyedVectors) -> None:
    """Write or replace a file; equal rows give equal bytes."""
    write_atomically(path, _encoded(rows))


def read_file(path: Path, dimension: int | None) -> KeyedVectors | None:
    """The file's rows; None when it is damaged (page checksums are compared) or of another dimension than the given."""
    try:
        return _decoded(_content(path), dimension)
    except (pa.ArrowException, OSError, ValueError, KeyError):
        return None


def keep_rows(path: Path, keys: Collection[str]) -> None:
    """Leave only the rows of `keys` in a file of whatever dimension. A damaged file, or one left empty, is deleted."""
    rows = read_file(path, None)
    kept = {key: vector for key, vector in rows.items() if key in keys} if rows else {}
    if rows is None or not kept:
        path.unlink()
    elif len(kept) < len(rows.keys):
        write_file(path, KeyedVectors.of(kept, rows.vectors.shape[1]))


def _content(path: Path) -> pa.Buffer:
    """The file's bytes in Arrow's own memory: its threads must not touch Python objects when the process exits."""
    with pa.OSFile(str(path)) as file:
        return file.read_buffer()


def _encoded(rows: KeyedVectors) -> bytes:
    flat = pa.array(np.ascontiguousarray(rows.vectors, np.float32).ravel())
    vectors = pa.FixedSizeListArray.from_arrays(flat, rows.vectors.shape[1])
    table = pa.table({"key": pa.array(rows.keys, pa.string()), "vector": vectors})
    sink = io.BytesIO()
    # vectors neither repeat nor compress: without both attempts the files are written several times faster
    pq.write_table(table, sink, compression="none", use_dictionary=False, write_page_checksum=True)
    return sink.getvalue()


def _decoded(content: pa.Buffer, dimension: int | None) -> KeyedVectors:
    table = pq.read_table(pa.BufferReader(content), page_checksum_verification=True)
    column = table["vector"].combine_chunks()
    found = column.type.list_size if pa.types.is_fixed_size_list(column.type) else 0
    if column.type != pa.list_(pa.float32(), found if dimension is None else dimension):
        raise ValueError(f"vectors are {column.type}, not {dimension} numbers of 32 bits")
    vectors = column.flatten().to_numpy().reshape(-1, found)
    return KeyedVectors(tuple(table["key"].to_pylist()), vectors)
