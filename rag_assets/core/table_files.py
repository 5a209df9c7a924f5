"""The published tables as parquet files: writing them, and reading only what this version can use.

A table is a file, or a folder of files with the same columns (`paper_tables` makes those).

Files are written without time stamps and with sorted rows, so that equal content gives equal bytes.
What a table was made with travels in its schema metadata (`provenance`), where a consumer can
refuse what does not fit. Each page of a file has a checksum, which is compared when it is read; a
file that was cut off lacks the footer at its end. Rows are stored in small groups, because a group
is the least that can be read: `OpenTable` looks single rows up. The schemas and the way from rows
to values are in `tables`.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import REPLACED_SUFFIX
from rag_assets.core.tables import (
    BLOCKS,
    CHUNKS,
    PAPERS,
    PARSED_INDEX,
    PASSAGES,
    PROFILES,
    REFERENCES,
    schema_problems,
)

logger = logging.getLogger(__name__)
ROWS_A_GROUP = 200
"""Rows that are decoded to look one of them up. Fewer: the footer, which an open table keeps in
memory, grows."""
PROVENANCE_KEY = b"rag_assets"
SHARD_PREFIX = "part-"
_MOST_TRIES = 5
SCHEMAS = {
    "parsed_index": PARSED_INDEX,
    "papers": PAPERS,
    "blocks": BLOCKS,
    "chunks": CHUNKS,
    "passages": PASSAGES,
    "profiles": PROFILES,
    "references": REFERENCES,
}
"""Schema by the asset that publishes the table."""


@dataclass(frozen=True)
class PublishedTable:
    """What an earlier run published of a table."""

    table: pa.Table
    """Empty when there is no file that can be used."""
    provenance: Mapping[str, Any] | None
    """What it was made with; None when there is no file that can be used, so the file must be
    written."""


def is_published(path: Path) -> bool:
    """Whether there is a table at `path`, or one that is just being replaced."""
    return path.exists() or path.with_name(path.name + REPLACED_SUFFIX).exists()


def files_of(path: Path) -> list[Path]:
    """The parquet files of the table at `path`, sorted; an empty list where there is none.

    Raises UnusableTable for a folder that lacks files. While a new folder takes the place of an old
    one, the old one is read.
    """
    there = path if path.exists() else path.with_name(path.name + REPLACED_SUFFIX)
    if there.is_file():
        return [there]
    files = sorted(there.glob("*.parquet"))
    if files and len(files) != (n_wanted := 16 ** len(shard_key(files[0]))):
        raise UnusableTable(f"is a folder with {len(files)} of {n_wanted} files")
    return files


def shard_key(file: Path) -> str:
    """Hexadecimal digits in the name of a file of a folder; empty for a table in one file."""
    return file.stem.removeprefix(SHARD_PREFIX) if file.stem.startswith(SHARD_PREFIX) else ""


def shard_file(table: Path, key: str) -> Path:
    """The file of that key; see `shard_key`."""
    return table / f"{SHARD_PREFIX}{key}.parquet" if key else table


def write_table(table: pa.Table, path: Path, provenance: Mapping[str, Any]) -> None:
    """Write `table` with its provenance; equal content gives equal bytes.

    Descriptions of columns are left out: the bytes would change with their wording.
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
    """The table at `path`, or an empty one of that schema when there is none that can be used.

    A file that is damaged, or has the columns of another version, counts as absent; the log names
    it and the reason.
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
    """The rows of one file of a table, what it was made with, and whether its groups are small;
    None, with a warning, when it cannot be used: it is damaged or has the columns of another
    version."""
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
    """Some columns of the table that an asset published. Raises MissingInput as
    `required_table`."""
    try:
        if not files_of(path):
            raise MissingInput.table(path, asset=path.stem)
        return _read(path, SCHEMAS[path.stem], columns)
    except UnusableTable as error:
        raise MissingInput.unusable_table(path, problem=str(error), asset=path.stem) from error


def read_files(files: Iterable[Path], schema: pa.Schema, columns: Sequence[str]) -> pa.Table:
    """Some columns of files that were found to be whole when they were listed. Raises MissingInput
    when one is damaged by now."""
    parts = [pa.schema([schema.field(name) for name in columns]).empty_table()]
    for path in files:
        try:
            with _opened(path, schema) as file, readable():
                parts.append(columns_of(file, schema, columns))
        except UnusableTable as error:
            raise MissingInput(f"{path} {error}. Nothing was published; run again.") from error
    return joined(parts)


def read_provenance(path: Path) -> dict[str, Any]:
    """What the table at `path` was made with; empty when the file is absent, damaged or does not
    say."""
    try:
        return next((_provenance(pq.read_schema(file)) for file in files_of(path)), {})
    except (OSError, ValueError, pa.ArrowException, UnusableTable):
        return {}


class UnusableTable(Exception):
    """A file that is no table of the wanted columns; the message is a phrase that can follow the
    file's name."""


def _read(path: Path, schema: pa.Schema, columns: Sequence[str]) -> pa.Table:
    """Some columns of a table that has exactly those of `schema`. Raises UnusableTable."""
    files = opened_together(path, schema)
    try:
        with readable():
            return joined(columns_of(file, schema, columns) for file in files)
    finally:
        for file in files:
            file.close()


def joined(tables: Iterable[pa.Table]) -> pa.Table:
    """Tables of the same columns as one, with the provenance of the first."""
    first, *others = tables
    return pa.concat_tables(
        [first, *(table.replace_schema_metadata(first.schema.metadata) for table in others)]
    )


def opened_together(path: Path, schema: pa.Schema) -> list[pq.ParquetFile]:
    """All files of a table, of one publication: they are opened again if another one came
    between."""
    for _ in range(_MOST_TRIES):
        published_as = _inode(path)
        try:
            files = [_opened(file, schema) for file in files_of(path)]
        except UnusableTable:
            if _inode(path) == published_as:
                raise
        else:
            if _inode(path) == published_as:
                return files
    raise UnusableTable("is replaced while it is read, again and again")


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def columns_of(file: pq.ParquetFile, schema: pa.Schema, columns: Sequence[str]) -> pa.Table:
    # by one thread: each more keeps megabytes of what it freed. pq.read_table would import pandas
    table = file.read(columns=list(columns), use_threads=False)
    demand_rows(table.num_rows, file.metadata.num_rows)
    return table.cast(pa.schema([schema.field(name) for name in columns], table.schema.metadata))


def _opened(path: Path, schema: pa.Schema) -> pq.ParquetFile:
    """The file at `path`, which has exactly the columns of `schema`. Raises UnusableTable."""
    with readable():
        # ahead of need is read for far disks, and kept as long as the file is open
        file = pq.ParquetFile(str(path), page_checksum_verification=True, pre_buffer=False)
        problems = schema_problems(file.schema_arrow, schema)
    if problems:
        file.close()
        raise UnusableTable(f"is a table of another version ({problems[0]})")
    return file


@contextmanager
def readable() -> Iterator[None]:
    """Raises UnusableTable for a footer or page that is read within the block and damaged."""
    try:
        yield
    except (
        OSError,
        ValueError,
        pa.ArrowException,
    ) as error:  # ValueError: a name in the footer is no UTF-8
        first_line = str(error).split("\n", 1)[0].rstrip(".")
        raise UnusableTable(f"is damaged or no parquet file ({first_line})") from error


def group_sizes(file: pq.ParquetFile) -> list[int]:
    return [
        file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)
    ]


def demand_rows(n_rows: int, n_wanted: int) -> None:
    """The checksums of the pages leave the footer out, which gives the number of rows twice."""
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
    """A published table whose rows stay in its files until they are asked for; may be used by
    several threads.

    The files are opened once, so what is read is of one version, whatever is published in their
    place later.
    """

    def __init__(self, path: Path) -> None:
        """Open the table that an asset published. Raises MissingInput as `required_table`."""
        self._path, self._schema, self._lock = path, SCHEMAS[path.stem], Lock()
        with self._usable():
            self._files = opened_together(path, self._schema)
        if not self._files:
            raise MissingInput.table(path, asset=path.stem)
        self._groups = [
            (file, number) for file in self._files for number in range(file.metadata.num_row_groups)
        ]
        self._sizes = [size for file in self._files for size in group_sizes(file)]
        self._starts = np.cumsum([0, *self._sizes])
        """The first row of each group, and the number of all rows."""

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all rows. Raises MissingInput when a file is damaged."""
        with self._usable(), self._lock:
            return joined(columns_of(file, self._schema, names) for file in self._files)

    def values(self, rows: npt.ArrayLike, made: Callable[[pa.Table], list[T]]) -> list[T]:
        """What `made` makes of the rows with these numbers, one value a row, in the order given.

        Raises MissingInput when a file is damaged.
        """
        wanted, places = np.unique(np.asarray(rows, np.int64), return_inverse=True)
        groups = np.searchsorted(self._starts, wanted, side="right") - 1
        found: list[T] = []
        for group in np.unique(groups).tolist():
            inside = (wanted[groups == group] - self._starts[group]).tolist()
            whole = self._group(group)
            # its own `take` would import pandas, which takes 35 MB
            found += made(pa.concat_tables([whole.slice(row, 1) for row in inside]))
        return [found[place] for place in places.tolist()]

    def _group(self, number: int) -> pa.Table:
        file, group = self._groups[number]
        with self._usable(), self._lock:
            whole = file.read_row_group(group, use_threads=False)
            demand_rows(whole.num_rows, self._sizes[number])
        return whole

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            with readable():
                yield
        except UnusableTable as error:
            raise MissingInput.unusable_table(
                self._path, problem=str(error), asset=self._path.stem
            ) from error
