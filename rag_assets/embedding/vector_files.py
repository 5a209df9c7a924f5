"""Files of vectors by key: one parquet layout for published shards and for batches of the journal.

A damaged file is refused. Which vectors belong into which file is decided in `vector_cache`.
"""

import io
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.embedding.base import Vectors
from rag_assets.incremental import write_atomically

SUFFIX = ".parquet"


def write_file(path: Path, vectors: Mapping[str, Vectors]) -> None:
    """Write or replace a file with vectors of one length, at least one; equal vectors give equal bytes."""
    keys = sorted(vectors)
    rows = np.stack([vectors[key] for key in keys]).astype(np.float32)
    column = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
    table = pa.table({"key": pa.array(keys, pa.string()), "vector": column})
    sink = io.BytesIO()
    # vectors neither repeat nor compress: without both attempts the files are written several times faster
    pq.write_table(table, sink, compression="none", use_dictionary=False, write_page_checksum=True)
    write_atomically(path, sink.getvalue())


def read_file(path: Path, dimension: int | None) -> dict[str, Vectors] | None:
    """Vectors by key, sorted by key. None when the file is absent, damaged (page checksums are compared) or of another
    dimension than the given one."""
    try:
        with pa.OSFile(str(path)) as file:
            # in Arrow's own memory: its threads must not touch Python objects when the process exits
            content = file.read_buffer()
        table = pq.read_table(pa.BufferReader(content), page_checksum_verification=True)
        column = table["vector"].combine_chunks()
        found = column.type.list_size if pa.types.is_fixed_size_list(column.type) else 0
        if column.type != pa.list_(pa.float32(), found if dimension is None else dimension):
            return None
        rows = column.flatten().to_numpy().reshape(-1, found)
        return dict(zip(table["key"].to_pylist(), rows, strict=True))
    except (pa.ArrowException, OSError, ValueError, KeyError):
        return None


def keep_rows(path: Path, keys: Collection[str]) -> None:
    """Leave only the vectors of `keys` in a file of any dimension; delete it when it is damaged or none is left."""
    vectors = read_file(path, None) or {}
    kept = {key: vector for key, vector in vectors.items() if key in keys}
    if not kept:
        path.unlink()
    elif len(kept) < len(vectors):
        write_file(path, kept)
