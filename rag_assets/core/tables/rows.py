"""Values become rows of the published tables, rows become values again, and tables are split by
paper.

pyarrow.compute is imported where it is used: its import took a seventh of what a parse worker needs
to start.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import pyarrow as pa
from pydantic import TypeAdapter

from rag_assets.core.domain import (
    Block,
    Chunk,
    Passage,
    Record,
)
from rag_assets.core.incremental import sorted_version

T = TypeVar("T")
_PART = 10_000
"""Texts that are Python objects at the same time."""


def by_paper(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Each paper of a table sorted by paper_id, with its rows."""
    ids = table["paper_id"].to_pylist()
    starts = [at for at in range(len(ids)) if at == 0 or ids[at] != ids[at - 1]]
    for start, end in pairwise([*starts, len(ids)]):
        yield ids[start], table.slice(start, end - start)


def packed(table: pa.Table) -> bytes:
    """A table as bytes that another process can read: an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def unpacked(content: bytes) -> pa.Table:
    """The table that `packed` wrote; its columns lie in `content`."""
    return pa.ipc.open_stream(content).read_all()


def fingerprints_by(table: pa.Table, key: str) -> dict[str, str]:
    """key -> fingerprint of a table in which all rows of a key share one fingerprint."""
    return dict(zip(table[key].to_pylist(), table["fingerprint"].to_pylist(), strict=True))


def in_parts(column: pa.ChunkedArray) -> Iterator[list[str]]:
    """The texts of a column, some at a time: a process keeps much of the memory that millions of
    texts took at once."""
    for start in range(0, len(column), _PART):
        yield column.slice(start, _PART).to_pylist()


def passages_version(passages: pa.Table) -> str:
    """Data version of passage_id -> row_hash, by which an index and a table of passages fit each
    other."""
    ordered = passages.select(["passage_id", "row_hash"]).sort_by("passage_id")
    parts = zip(in_parts(ordered["passage_id"]), in_parts(ordered["row_hash"]), strict=True)
    return sorted_version(pair for ids, hashes in parts for pair in zip(ids, hashes, strict=True))


def rows_of(table: pa.Table, key: str, values: Iterable[str]) -> pa.Table:
    """The rows whose `key` is one of `values`, in the table's order."""
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table[key], value_set=pa.array(list(values), pa.string())))


def rows_without(table: pa.Table, key: str, values: Iterable[str]) -> pa.Table:
    """The rows whose `key` is not in `values`."""
    import pyarrow.compute as pc

    return table.filter(
        pc.invert(pc.is_in(table[key], value_set=pa.array(list(values), pa.string())))
    )


def merged(kept: pa.Table, new: pa.Table, sort_by: Sequence[str]) -> pa.Table:
    """Both tables in one, sorted ascending by the columns `sort_by`."""
    return pa.concat_tables([kept, new]).sort_by([(column, "ascending") for column in sort_by])


def to_table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows as mappings into a table; a missing column is null, an unknown one is a KeyError."""
    names = set(schema.names)
    for row in rows:
        if unknown := row.keys() - names:
            raise KeyError(f"columns {sorted(unknown)} are not in the schema")
    return pa.Table.from_pylist([dict(row) for row in rows], schema=schema)


def chunk_row(chunk: Chunk) -> dict[str, Any]:
    return asdict(chunk) | {"boxes": [asdict(box) for box in chunk.boxes]}


def chunks_from(table: pa.Table) -> list[Chunk]:
    return _values(Chunk, table)


def passage_row(passage: Passage, fingerprint: str) -> dict[str, Any]:
    return asdict(passage) | {"fingerprint": fingerprint}


def passages_from(table: pa.Table) -> list[Passage]:
    return _values(Passage, table)


def records_from(table: pa.Table) -> dict[str, Record]:
    """The record of each paper, by id."""
    return dict(zip(table["paper_id"].to_pylist(), _values(Record, table), strict=True))


def block_rows(
    blocks: Sequence[Block], common: Mapping[str, Any], starts: Sequence[int]
) -> list[dict[str, Any]]:
    """Rows of one document's blocks; `common` has the columns that are the same for all of them."""
    return [
        {
            **common,
            **asdict(block),
            "ordinal": ordinal,
            "page_start": block.page_start,
            "page_end": block.page_end,
            "is_indexable": block.is_indexable,
            "n_chars": block.n_chars,
            "char_start": start,
        }
        for ordinal, (block, start) in enumerate(zip(blocks, starts, strict=True))
    ]


def blocks_from(table: pa.Table) -> list[Block]:
    """Blocks of one paper, in the order of the rows."""
    return _values(Block, table)


@cache
def _reader(kind: type[T]) -> TypeAdapter[list[T]]:
    return TypeAdapter(list[kind])  # type: ignore[valid-type]


def _values(kind: type[T], table: pa.Table) -> list[T]:
    """A value for each row, from the columns that have the names of its fields."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    rows = table.select(names).to_pylist()
    return _reader(kind).validate_python(rows)  # type: ignore[arg-type]
