"""A published table whose rows are read when a question needs them.

A parquet file is read by groups of rows, and a group takes milliseconds and megabytes to decode. So each group is
decoded once, when it is first asked for, and laid out in a temporary file from which single rows can be read: what an
engine holds in memory does not grow with the questions it has answered.
"""

import errno
import os
import tempfile
import weakref
from bisect import bisect_right
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.table_files import read_columns

_ROWS_PER_BATCH = 8
"""Rows read together from the temporary file: some 80 kB of chunks."""
_Extent = tuple[int, int]
"""Offset and length of a batch in the temporary file."""


class StoredTable:
    """A published table of which rows are read when they are asked for; may be used by several threads.

    The file stays open, so a table that is published in its place does not matter.
    """

    def __init__(self, path: Path, columns: Sequence[str], *, asset: str) -> None:
        """columns: those that `rows` returns. Raises MissingInput as `required_table`."""
        read_columns(path, [])
        pa.default_memory_pool().release_unused()  # the whole file was in memory for its checksum
        self._columns = list(columns)
        self._file = pa.OSFile(str(path))
        self._metadata = pq.read_metadata(self._file)
        sizes = [self._metadata.row_group(number).num_rows for number in range(self._metadata.num_row_groups)]
        self._starts = [0, *accumulate(sizes)]
        schema = self._metadata.schema.to_arrow_schema().remove_metadata()
        self._schema = pa.schema([schema.field(name) for name in columns])
        with _temporary_file_near(path) as file:
            self._laid_out = os.dup(file.fileno())
        self._close_laid_out = weakref.finalize(self, os.close, self._laid_out)
        self._end = 0
        self._groups: dict[int, list[_Extent]] = {}
        # one thread: the memory that decoding leaves behind in every thread adds up to 60 MB with eight of them
        self._decoding = ThreadPoolExecutor(1, thread_name_prefix=f"rows-of-{asset}")

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all rows."""
        return self._reader().read(columns=list(names), use_threads=False)

    def rows(self, places: Sequence[int]) -> pa.Table:
        """The rows at those places, in that order; `places` is not empty."""
        batches: dict[_Extent, pa.RecordBatch] = {}
        found = []
        for place in places:
            group = bisect_right(self._starts, place) - 1
            nth, row = divmod(place - self._starts[group], _ROWS_PER_BATCH)
            extent = self._extents(group)[nth]
            if extent not in batches:
                batches[extent] = self._batch(extent)
            found.append(batches[extent].slice(row, 1))
        return pa.Table.from_batches(found)

    def close(self) -> None:
        self._decoding.shutdown()
        self._file.close()
        self._close_laid_out()

    def _batch(self, extent: _Extent) -> pa.RecordBatch:
        offset, length = extent
        content = os.pread(self._laid_out, length, offset)
        return pa.ipc.read_record_batch(pa.py_buffer(content), self._schema)

    def _extents(self, group: int) -> list[_Extent]:
        """Where the batches of a group of rows are laid out."""
        if group not in self._groups:
            self._decoding.submit(self._lay_out, group).result()
        return self._groups[group]

    def _lay_out(self, group: int) -> None:
        """Decode a group and write it, unless another question asked for it first."""
        if group in self._groups:
            return
        table = self._reader().read_row_group(group, columns=self._columns, use_threads=False).combine_chunks()
        extents = []
        for batch in table.to_batches(max_chunksize=_ROWS_PER_BATCH):
            content = batch.serialize()
            extents.append((self._end, content.size))
            if os.pwrite(self._laid_out, content, self._end) < content.size:
                raise OSError(errno.ENOSPC, "no space left to lay out the rows of a table")
            self._end += content.size
        self._groups[group] = extents

    def _reader(self) -> pq.ParquetFile:
        """One per read: a reader serves one thread, the file below it serves several."""
        return pq.ParquetFile(self._file, metadata=self._metadata)


def _temporary_file_near(path: Path) -> IO[bytes]:
    """A file without a name, beside `path` if its folder can be written: the usual place may be held in memory."""
    try:
        return tempfile.TemporaryFile(dir=path.parent)
    except OSError:
        return tempfile.TemporaryFile()
