"""Writes the published tables as parquet files, and reads them if they are of this version.

A table is a file, or a folder of files with the same columns (`paper_tables` makes those).

Files are written without time stamps and with sorted rows, so that equal content gives equal bytes.
The schema metadata states what a table was made with (its provenance), so that a reader can refuse
it. Each page of a file has a checksum, which is compared when it is read; a file that was cut off
has no footer at its end. Rows are stored in small groups, because a group is the smallest part that
can be read, and `OpenTable` reads single rows. The schemas and the conversion of rows to values are
in `tables`.
"""

import json
import logging
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import existing
from rag_assets.core.tables import (
    BLOCKS,
    CHUNKS,
    PAPERS,
    PARSED_INDEX,
    PASSAGES,
    PROFILES,
    REFERENCES,
    STATEMENTS,
    schema_problems,
)

logger = logging.getLogger(__name__)
ROWS_A_GROUP = 200
"""Number of rows in a group, all of which are decoded to read one row. With smaller groups, the
footer grows, which an open table keeps in memory."""
_MOST_KEPT = 16
"""Groups that an open table keeps, some 10 MB: a question reads the same few ones several times, for
the best passages, their neighbours and their chunks."""
PROVENANCE_KEY = b"rag_assets"
SHARD_PREFIX = "part-"
_MOST_TRIES = 5
SCHEMAS = {
    "parsed_index": PARSED_INDEX,
    "papers": PAPERS,
    "blocks": BLOCKS,
    "statements": STATEMENTS,
    "chunks": CHUNKS,
    "passages": PASSAGES,
    "profiles": PROFILES,
    "references": REFERENCES,
}
"""Asset that publishes a table -> schema of the table."""


@dataclass(frozen=True)
class PublishedTable:
    """A table as an earlier run published it."""

    table: pa.Table
    """Empty if there is no usable file."""
    provenance: Mapping[str, Any] | None
    """What it was made with; None if there is no usable file, so that it must be written."""


def files_of(path: Path) -> list[Path]:
    """The parquet files of the table at `path`, sorted; an empty list if there is no table.

    While a folder is being replaced, the files of the old one are returned. Raises UnusableTable
    for a folder in which files are missing.
    """
    table = existing(path)
    if table.is_file():
        return [table]
    files = sorted(table.glob("*.parquet"))
    # each digit of a key is one of 16
    if files and len(files) != (n_wanted := 16 ** len(shard_key(files[0]))):
        raise UnusableTable(f"is a folder with {len(files)} of {n_wanted} files")
    return files


def shard_key(file: Path) -> str:
    """The hexadecimal digits in the name of a file: "part-0a.parquet" -> "0a". Empty for a table in
    one file."""
    return file.stem.removeprefix(SHARD_PREFIX) if file.stem.startswith(SHARD_PREFIX) else ""


def shard_file(table: Path, key: str) -> Path:
    """The file of that key; see `shard_key`."""
    return table / f"{SHARD_PREFIX}{key}.parquet" if key else table


def write_table(table: pa.Table, path: Path, provenance: Mapping[str, Any]) -> None:
    """Write `table` with its provenance; equal content gives equal bytes.

    Descriptions of columns are left out, because the bytes would change with their wording.
    """
    metadata = {PROVENANCE_KEY: json.dumps(provenance, sort_keys=True).encode()}
    schema = pa.schema([field.remove_metadata() for field in table.schema], metadata)
    pq.write_table(
        table.cast(schema).combine_chunks(),
        path,
        compression="zstd",
        row_group_size=ROWS_A_GROUP,
        write_page_checksum=True,
        write_statistics=False,
    )


def published_or_empty(path: Path, schema: pa.Schema) -> PublishedTable:
    """The table at `path`, or an empty one of that schema.

    A file that is damaged, or has the columns of another version, counts as absent, with a warning
    that names it and the reason.
    """
    try:
        if not files_of(path):
            return PublishedTable(schema.empty_table(), None)
        table = _read(path, schema, schema.names)
        return PublishedTable(table, _provenance(table.schema))
    except UnusableTable as error:
        logger.warning("%s %s. It is treated as absent; a run makes it anew.", path, error)
        return PublishedTable(schema.empty_table(), None)


def whole_file(file: Path, schema: pa.Schema) -> tuple[pa.Table, dict[str, Any], bool] | None:
    """The rows of one file of a table, its provenance, and whether its groups are small enough.
    None, with a warning, if it is damaged or has the columns of another version."""
    try:
        with _opened(file, schema) as opened, readable():
            table = columns_of(opened, schema, schema.names)
            return (
                table,
                _provenance(table.schema),
                max(group_sizes(opened), default=0) <= ROWS_A_GROUP,
            )
    except UnusableTable as error:
        logger.warning("%s %s. It is treated as absent; a run makes it anew.", file, error)
        return None


def required_table(path: Path) -> pa.Table:
    """The table that an asset published; the file has the name of the asset. Raises MissingInput
    when it is absent or cannot be used."""
    return read_columns(path, SCHEMAS[path.stem].names)


def read_columns(path: Path, columns: Sequence[str]) -> pa.Table:
    """These columns of the table that an asset published. Raises MissingInput like
    `required_table`."""
    try:
        if not files_of(path):
            raise MissingInput.table(path)
        return _read(path, SCHEMAS[path.stem], columns)
    except UnusableTable as error:
        raise MissingInput.unusable_table(path, problem=str(error)) from error


def read_files(files: Iterable[Path], schema: pa.Schema, columns: Sequence[str]) -> pa.Table:
    """These columns of files that were usable when they were listed. Raises MissingInput if one is
    damaged now."""
    parts = [pa.schema([schema.field(name) for name in columns]).empty_table()]
    for path in files:
        try:
            with _opened(path, schema) as file, readable():
                parts.append(columns_of(file, schema, columns))
        except UnusableTable as error:
            raise MissingInput(f"{path} {error}. Nothing was published; run again.") from error
    return joined(parts)


def rows_of_any_version(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    """These columns of a published table, whatever other columns it has. No rows if it is absent,
    damaged or lacks one of them."""
    try:
        with readable():
            tables = [pq.ParquetFile(str(file)).read(list(columns)) for file in files_of(path)]
            return [row for table in tables for row in table.select(columns).to_pylist()]
    except (KeyError, UnusableTable):
        return []


def read_provenance(path: Path) -> dict[str, Any]:
    """What the table at `path` was made with; empty if the file is absent, damaged or does not
    state it."""
    try:
        return next((_provenance(pq.read_schema(file)) for file in files_of(path)), {})
    except (OSError, ValueError, pa.ArrowException, UnusableTable):
        return {}


class UnusableTable(Exception):
    """A file is not a table with the expected columns; the message is a phrase that can follow its
    name."""


def _read(path: Path, schema: pa.Schema, columns: Sequence[str]) -> pa.Table:
    """These columns of a table. Raises UnusableTable unless it has exactly the columns of
    `schema`."""
    files = opened_together(path, schema)
    try:
        with readable():
            return joined(columns_of(file, schema, columns) for file in files)
    finally:
        for file in files:
            file.close()


def joined(tables: Iterable[pa.Table]) -> pa.Table:
    """One table of all rows of tables with the same columns; its provenance is that of the
    first."""
    first, *others = tables
    return pa.concat_tables(
        [first, *(table.replace_schema_metadata(first.schema.metadata) for table in others)]
    )


def opened_together(path: Path, schema: pa.Schema) -> list[pq.ParquetFile]:
    """Open all files of a table. If the table is replaced in the meantime, they are opened again,
    so that all files are of the same version."""
    for _ in range(_MOST_TRIES):
        inode = _inode(path)
        try:
            files = [_opened(file, schema) for file in files_of(path)]
        except UnusableTable:
            if _inode(path) == inode:
                raise
        else:
            if _inode(path) == inode:
                return files
    raise UnusableTable("is replaced while it is read, again and again")


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def columns_of(file: pq.ParquetFile, schema: pa.Schema, columns: Sequence[str]) -> pa.Table:
    """These columns of an open file."""
    # in one thread, because every other thread keeps megabytes of freed memory; `pq.read_table`
    # would import pandas
    table = file.read(columns=list(columns), use_threads=False)
    demand_rows(table.num_rows, file.metadata.num_rows)
    return table.cast(pa.schema([schema.field(name) for name in columns], table.schema.metadata))


def _opened(path: Path, schema: pa.Schema) -> pq.ParquetFile:
    """The opened file. Raises UnusableTable unless it has exactly the columns of `schema`."""
    with readable():
        # without pre-buffering, whose data would stay in memory as long as the file is open
        file = pq.ParquetFile(str(path), page_checksum_verification=True, pre_buffer=False)
        problems = schema_problems(file.schema_arrow, schema)
    if problems:
        file.close()
        raise UnusableTable(f"is a table of another version ({problems[0]})")
    return file


@contextmanager
def readable() -> Iterator[None]:
    """Raises UnusableTable if the block reads a damaged footer or page."""
    try:
        yield
    # ValueError: a name in the footer is no UTF-8
    except (OSError, ValueError, pa.ArrowException) as error:
        first_line = str(error).split("\n", 1)[0].rstrip(".")
        raise UnusableTable(f"is damaged or no parquet file ({first_line})") from error


def group_sizes(file: pq.ParquetFile) -> list[int]:
    """Number of rows in each group."""
    return [
        file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)
    ]


def demand_rows(n_rows: int, n_wanted: int) -> None:
    """Raise UnusableTable if the numbers differ. The footer has no checksum, but it states the
    number of rows in two places."""
    if n_rows != n_wanted:
        raise UnusableTable(f"is damaged ({n_rows} of {n_wanted} rows are left)")


def _provenance(schema: pa.Schema) -> dict[str, Any]:
    try:
        provenance = json.loads((schema.metadata or {}).get(PROVENANCE_KEY, b"{}"))
    except ValueError as error:
        raise UnusableTable("does not say what it was made with") from error
    return provenance if isinstance(provenance, dict) else {}


T = TypeVar("T")


class OpenTable:
    """A published table whose rows are read from its files when they are needed; safe for several
    threads.

    The files stay open, so all rows are of the same version, even if a new one is published in the
    meantime.
    """

    def __init__(self, path: Path) -> None:
        """Open the table that an asset published. Raises MissingInput like `required_table`."""
        self._path, self._schema, self._lock = path, SCHEMAS[path.stem], Lock()
        with self._usable():
            self._files = opened_together(path, self._schema)
        if not self._files:
            raise MissingInput.table(path)
        self._groups = [
            (file, number) for file in self._files for number in range(file.metadata.num_row_groups)
        ]
        self._sizes = [size for file in self._files for size in group_sizes(file)]
        self._starts = [0, *accumulate(self._sizes)]
        """Index of the first row of each group, and at the end the number of all rows."""
        self._kept: dict[int, pa.Table] = {}
        """The groups used last, the latest at the end."""

    def columns(self, names: Sequence[str]) -> pa.Table:
        """These columns of all rows. Raises MissingInput when a file is damaged."""
        with self._usable(), self._lock:
            return joined(columns_of(file, self._schema, names) for file in self._files)

    def values(self, rows: npt.ArrayLike, convert: Callable[[pa.Table], list[T]]) -> list[T]:
        """The values of the rows with these indices, in the given order. Each group is read once.

        convert: returns one value for each row of a table. Raises MissingInput when a file is
        damaged.
        """
        wanted = np.asarray(rows, np.int64).tolist()
        by_group: defaultdict[int, list[int]] = defaultdict(list)
        for row in sorted(set(wanted)):
            by_group[bisect_right(self._starts, row) - 1].append(row)
        found: dict[int, T] = {}
        for group, rows_of_group in by_group.items():
            table, start = self._group(group), self._starts[group]
            # not `take`, which would import pandas: 35 MB
            parts = [table.slice(row - start, 1) for row in rows_of_group]
            found |= zip(rows_of_group, convert(pa.concat_tables(parts)), strict=True)
        return [found[row] for row in wanted]

    def _group(self, number: int) -> pa.Table:
        """The rows of a group, counted over all files."""
        file, group = self._groups[number]
        with self._usable(), self._lock:
            table = self._kept.pop(number, None)
            if table is None:
                table = file.read_row_group(group, use_threads=False)
                demand_rows(table.num_rows, self._sizes[number])
            self._kept[number] = table  # as the last
            if len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return table

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """An UnusableTable within the block is raised as MissingInput."""
        try:
            with readable():
                yield
        except UnusableTable as error:
            raise MissingInput.unusable_table(self._path, problem=str(error)) from error
