"""Files of vectors by key: one parquet layout for published shards and for batches of the journal.

A damaged file is refused. Which vectors belong into which file is decided in `vector_cache`.
"""

import io
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.core.incremental import write_atomically
from rag_assets.search.embedding.base import Vectors

SUFFIX = ".parquet"


class KeyedVectors(NamedTuple):
    """The content of a file."""

    keys: list[str]
    """Sorted."""
    rows: Vectors
    """Shape (len(keys), dimension)."""


def write_file(path: Path, keys: Sequence[str], vectors: Vectors) -> None:
    """Write or replace a file with vectors, shape (len(keys), dimension), at least one; equal ones give equal bytes."""
    order = sorted(range(len(keys)), key=keys.__getitem__)
    rows = np.asarray(vectors, np.float32)[order]
    column = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
    table = pa.table({"key": pa.array([keys[at] for at in order], pa.string()), "vector": column})
    sink = io.BytesIO()
    # vectors neither repeat nor compress: without both attempts the files are written several times faster
    pq.write_table(table, sink, compression="none", use_dictionary=False, write_page_checksum=True)
    write_atomically(path, sink.getvalue())


def read_file(path: Path, dimension: int | None) -> KeyedVectors | None:
    """None when the file is absent, damaged (page checksums are compared) or of another dimension than is given."""
    try:
        with pa.OSFile(str(path)) as file:
            # in Arrow's own memory: its threads must not touch Python objects when the process exits
            content = file.read_buffer()
        table = pq.read_table(pa.BufferReader(content), page_checksum_verification=True)
        column = table["vector"].combine_chunks()
        found = column.type.list_size if pa.types.is_fixed_size_list(column.type) else 0
        if column.type != pa.list_(pa.float32(), found if dimension is None else dimension):
            return None
        return KeyedVectors(table["key"].to_pylist(), column.flatten().to_numpy().reshape(-1, found))
    except (pa.ArrowException, OSError, ValueError, KeyError):
        return None


def keep_rows(path: Path, keys: Collection[str]) -> None:
    """Leave only the vectors of `keys` in a file of any dimension; delete it when it is damaged or none is left."""
    held = read_file(path, None)
    kept = [at for at, key in enumerate(held.keys) if key in keys] if held else []
    if held is None or not kept:
        path.unlink()
    elif len(kept) < len(held.keys):
        write_file(path, [held.keys[at] for at in kept], held.rows[kept])
