"""The published tables as parquet files: writing them, and reading only what this version can use.

Files are written without time stamps and with sorted rows, so that equal content gives equal bytes. What a table was
made with travels in its schema metadata (`provenance`), where a consumer can refuse what does not fit. Each file
carries the SHA-256 of all its bytes: parquet's own checksums leave the footer out, and readers that do not know of it
read the file as any other. The schemas and the way from rows to values are in `tables`.
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.errors import MissingInput
from rag_assets.tables import BLOCKS, CHUNKS, PAPER_SUMMARIES, PARSED_INDEX, PASSAGES, PROFILES, schema_problems

logger = logging.getLogger(__name__)
PROVENANCE_KEY = b"rag_assets"
_CHECKSUM_KEY = "rag_assets_sha256"
_NO_CHECKSUM = "0" * 64
"""Stands in the place of the checksum while it is computed."""
_MAX_TAIL_BYTES = 1_000_000
"""Where in a file the checksum is looked for; footers of our tables have some kilobytes."""
_ROWS_PER_GROUP, _BYTES_PER_GROUP = 64, 400_000
"""Least rows, and bytes in memory from there on, that are read together (`retrieval.stored_table`)."""
_BYTES_BETWEEN = 2
"""Thrift's field header and length, between a key of the footer's metadata and its value of 64 bytes."""
_SCHEMAS = {
    "parsed_index": PARSED_INDEX,
    "blocks": BLOCKS,
    "chunks": CHUNKS,
    "passages": PASSAGES,
    "profiles": PROFILES,
    "paper_summaries": PAPER_SUMMARIES,
}
"""Schema by the asset that publishes the table."""


@dataclass(frozen=True)
class Published:
    """What an earlier run published of a table."""

    table: pa.Table
    """Empty when there is no file that can be used."""
    provenance: Mapping[str, Any] | None
    """What it was made with; None when there is no file that can be used, so the file must be written."""


def write_table(table: pa.Table, path: Path, provenance: Mapping[str, Any]) -> None:
    """Write `table` with its provenance and its checksum; equal content gives equal bytes.

    Descriptions of columns are left out: the bytes would change with their wording.
    """
    metadata = {PROVENANCE_KEY: json.dumps(provenance, sort_keys=True).encode()}
    schema = pa.schema([field.remove_metadata() for field in table.schema], metadata)
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        rows = max(_ROWS_PER_GROUP, len(table) * _BYTES_PER_GROUP // max(1, table.nbytes))
        writer.write_table(table.cast(schema).combine_chunks(), row_group_size=rows)
        writer.add_key_value_metadata({_CHECKSUM_KEY: _NO_CHECKSUM})
    content = sink.getvalue().to_pybytes()
    place = _place_of_checksum(content)
    checksum = hashlib.sha256(content).hexdigest().encode()
    path.write_bytes(content[:place] + checksum + content[place + len(checksum) :])


def published_or_empty(path: Path, schema: pa.Schema) -> Published:
    """The table at `path`, or an empty one of that schema when there is none that can be used.

    A file that is damaged, or has the columns of another version, counts as absent; the log names it and the reason.
    """
    if not path.exists():
        return Published(schema.empty_table(), None)
    try:
        table = _read(path, schema, schema.names)
        return Published(table, _provenance(table.schema))
    except _UnusableTable as error:
        logger.warning("%s %s. It is treated as absent; a run makes it anew.", path, error)
        return Published(schema.empty_table(), None)


def required_table(path: Path) -> pa.Table:
    """The table that an asset published; the file has the name of the asset. Raises MissingInput when it is absent or
    cannot be used."""
    return read_columns(path, _SCHEMAS[path.stem].names)


def read_columns(path: Path, columns: Sequence[str]) -> pa.Table:
    """Some columns of the table that an asset published. Raises MissingInput as `required_table`."""
    if not path.exists():
        raise MissingInput.table(path, asset=path.stem)
    try:
        return _read(path, _SCHEMAS[path.stem], columns)
    except _UnusableTable as error:
        raise MissingInput.unusable_table(path, problem=str(error), asset=path.stem) from error


def read_provenance(path: Path) -> dict[str, Any]:
    """What the table at `path` was made with; empty when the file is absent, damaged or does not say."""
    try:
        return _provenance(pq.read_schema(path))
    except (OSError, pa.ArrowException, _UnusableTable):
        return {}


class _UnusableTable(Exception):
    """A file that is no table of the wanted columns; the message is a phrase that can follow the file's name."""


def _read(path: Path, schema: pa.Schema, columns: Sequence[str]) -> pa.Table:
    """Some columns of a table that has exactly those of `schema`. Raises _UnusableTable."""
    try:
        with pa.OSFile(str(path)) as file:
            content = file.read_buffer()  # Arrow's own: its threads must not touch Python objects when we exit
        if problems := schema_problems(pq.read_schema(pa.BufferReader(content)), schema):
            raise _UnusableTable(f"is a table of another version ({problems[0]})")
        _demand_checksum(memoryview(content))
        table = pq.ParquetFile(pa.BufferReader(content)).read(columns=list(columns))  # pq.read_table imports pandas
    except (OSError, pa.ArrowException) as error:
        raise _UnusableTable(f"is damaged or no parquet file ({_first_line(error)})") from error
    return table.cast(pa.schema([schema.field(name) for name in columns], table.schema.metadata))


def _demand_checksum(content: memoryview) -> None:
    """Raises _UnusableTable when the file's bytes are not those that were written."""
    place = _place_of_checksum(content)
    if place < 0:
        raise _UnusableTable("is a table of another version (it has no checksum)")
    end = place + len(_NO_CHECKSUM)
    digest = hashlib.sha256(content[:place])
    digest.update(_NO_CHECKSUM.encode())
    digest.update(content[end:])
    if digest.hexdigest().encode() != bytes(content[place:end]):
        raise _UnusableTable("is damaged (its checksum does not fit)")


def _place_of_checksum(content: bytes | memoryview) -> int:
    """Where in the footer the checksum begins; -1 when there is none."""
    start = max(0, len(content) - _MAX_TAIL_BYTES)
    key = bytes(content[start:]).rfind(_CHECKSUM_KEY.encode())
    return -1 if key < 0 else start + key + len(_CHECKSUM_KEY) + _BYTES_BETWEEN


def _provenance(schema: pa.Schema) -> dict[str, Any]:
    try:
        provenance = json.loads((schema.metadata or {}).get(PROVENANCE_KEY, b"{}"))
    except ValueError as error:
        raise _UnusableTable("does not say what it was made with") from error
    return provenance if isinstance(provenance, dict) else {}


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0].rstrip(".")
