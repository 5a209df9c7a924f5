"""The contracts on disk: one pyarrow schema per table, and the way from values to rows and back.

Reading and writing the files is in `table_files`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.domain import Block, BlockKind, Box, Cell, Chunk, ChunkUnit, Passage, SectionPart, Span, UnitKind, Zone

T = TypeVar("T")

_BOX = pa.struct(
    [
        ("page", pa.int32()),
        ("left", pa.float64()),
        ("top", pa.float64()),
        ("right", pa.float64()),
        ("bottom", pa.float64()),
    ]
)
_SPAN = pa.struct(
    [
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("page_start", pa.int32()),
        ("page_end", pa.int32()),
        ("boxes", pa.list_(_BOX)),
        ("source_start", pa.int32()),
        ("page_confidence", pa.float64()),
        ("label_start", pa.string()),
        ("label_end", pa.string()),
    ]
)
_SECTION = pa.struct(
    [
        ("start", pa.int32()),
        ("body_start", pa.int32()),
        ("end", pa.int32()),
        ("section_title", pa.string()),
        ("section_path", pa.string()),
    ]
)
_UNIT = pa.struct(
    [
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("kind", pa.string()),
        ("block", pa.int32()),
        ("char_start", pa.int32()),
        ("char_end", pa.int32()),
    ]
)
_CELL = pa.struct(
    [
        ("row", pa.int32()),
        ("col", pa.int32()),
        ("text", pa.string()),
        ("row_span", pa.int32()),
        ("col_span", pa.int32()),
        ("is_header", pa.bool_()),
        ("boxes", pa.list_(_BOX)),
    ]
)

PARSED_INDEX = pa.schema(
    [
        ("paper_id", pa.string()),
        ("title", pa.string()),
        ("source", pa.string()),
        ("file_path", pa.string()),
        ("parsed_xml_path", pa.string()),
        ("parsed_txt_path", pa.string()),
        ("pdf_path", pa.string()),
        ("linked_paths", pa.list_(pa.string())),
        ("sha256", pa.string()),
        ("n_pages", pa.int32()),
        ("page_source", pa.string()),
        ("page_labels", pa.list_(pa.string())),
        ("n_blocks", pa.int32()),
        ("n_source_chars", pa.int32()),
        ("n_dropped_running", pa.int32()),
        ("used_fallback", pa.bool_()),
        ("notes", pa.list_(pa.string())),
        ("status", pa.string()),
        ("error", pa.string()),
        ("fingerprint", pa.string()),
    ]
)
BLOCKS = pa.schema(
    [
        ("paper_id", pa.string()),
        ("ordinal", pa.int32()),
        ("kind", pa.string()),
        ("text", pa.string()),
        ("section_path", pa.list_(pa.string())),
        ("zone", pa.string()),
        ("page_start", pa.int32()),
        ("page_end", pa.int32()),
        ("spans", pa.list_(_SPAN)),
        ("title", pa.string()),
        ("title_spans", pa.list_(_SPAN)),
        ("cells", pa.list_(_CELL)),
        ("is_generated", pa.bool_()),
        ("is_indexable", pa.bool_()),
        ("n_chars", pa.int32()),
        ("char_start", pa.int32()),
        ("file_path", pa.string()),
        ("source", pa.string()),
        ("fingerprint", pa.string()),
    ]
)
CHUNKS = pa.schema(
    [
        ("paper_id", pa.string()),
        ("section_id", pa.string()),
        ("section_title", pa.string()),
        ("chunk_id", pa.string()),
        ("text", pa.string()),
        ("n_tokens", pa.int32()),
        ("page_start", pa.int32()),
        ("page_end", pa.int32()),
        ("file_path", pa.string()),
        ("source", pa.string()),
        ("ordinal", pa.int32()),
        ("section_path", pa.string()),
        ("chunk_type", pa.string()),
        ("split_sequence", pa.string()),
        ("is_continuation", pa.bool_()),
        ("context_before", pa.string()),
        ("context_after", pa.string()),
        ("char_start", pa.int32()),
        ("char_end", pa.int32()),
        ("boxes", pa.list_(_BOX)),
        ("is_generated", pa.bool_()),
        ("spans", pa.list_(_SPAN)),
        ("own_start", pa.int32()),
        ("n_own_chars", pa.int32()),
        ("sections", pa.list_(_SECTION)),
        ("units", pa.list_(_UNIT)),
        ("fingerprint", pa.string()),
    ]
)
PASSAGES = pa.schema(
    [
        ("passage_id", pa.string()),
        ("chunk_id", pa.string()),
        ("paper_id", pa.string()),
        ("text", pa.string()),
        ("n_tokens", pa.int32()),
        ("char_start", pa.int32()),
        ("char_end", pa.int32()),
        ("page_start", pa.int32()),
        ("page_end", pa.int32()),
        ("chunk_start", pa.int32()),
        ("chunk_end", pa.int32()),
        ("repeated_title", pa.string()),
        ("section_title", pa.string()),
        ("section_path", pa.string()),
        ("row_hash", pa.string()),
        ("fingerprint", pa.string()),
    ]
)


def fingerprints_by(table: pa.Table, key: str) -> dict[str, str]:
    """key -> fingerprint of a table in which all rows of a key share one fingerprint."""
    return dict(zip(table[key].to_pylist(), table["fingerprint"].to_pylist(), strict=True))


def rows_of(table: pa.Table, key: str, values: Iterable[str]) -> pa.Table:
    """The rows whose `key` is one of `values`, in the table's order."""
    return table.filter(pc.is_in(table[key], value_set=pa.array(list(values), pa.string())))


def rows_without(table: pa.Table, key: str, values: Iterable[str]) -> pa.Table:
    """The rows whose `key` is none of `values`."""
    return table.filter(pc.invert(pc.is_in(table[key], value_set=pa.array(list(values), pa.string()))))


def merged(kept: pa.Table, new: pa.Table, sort_by: Sequence[str]) -> pa.Table:
    """Both tables in one, sorted ascending by the columns `sort_by`."""
    return pa.concat_tables([kept, new]).sort_by([(column, "ascending") for column in sort_by])


def schema_problems(found: pa.Schema, wanted: pa.Schema) -> list[str]:
    """One line per column that is missing, unknown, out of order or of another type."""
    if found.equals(wanted, check_metadata=False):
        return []
    problems = [
        f"column {field.name} is missing"
        if field.name not in found.names
        else f"column {field.name} is {found.field(field.name).type}, wanted {field.type}"
        for field in wanted
        if field.name not in found.names or found.field(field.name).type != field.type
    ]
    problems += [f"column {name} is unknown" for name in found.names if name not in wanted.names]
    return problems or [f"columns are in the order {found.names}, wanted {wanted.names}"]


def to_table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows as mappings into a table; a missing column is null, an unknown one is a KeyError."""
    names = set(schema.names)
    for row in rows:
        if unknown := row.keys() - names:
            raise KeyError(f"columns {sorted(unknown)} are not in the schema")
    return pa.Table.from_pylist([dict(row) for row in rows], schema=schema)


def chunk_row(chunk: Chunk) -> dict[str, Any]:
    row = {f.name: getattr(chunk, f.name) for f in fields(chunk)}
    return row | {
        "spans": [asdict(span) for span in chunk.spans],
        "boxes": [asdict(box) for box in chunk.boxes],
        "sections": [asdict(part) for part in chunk.sections],
        "units": [asdict(unit) for unit in chunk.units],
    }


def chunks_from(table: pa.Table) -> list[Chunk]:
    columns = [f.name for f in fields(Chunk)]
    return [
        Chunk(
            **(
                row
                | {
                    "spans": _spans(row["spans"]),
                    "sections": tuple(SectionPart(**part) for part in row["sections"]),
                    "units": tuple(ChunkUnit(**(unit | {"kind": UnitKind(unit["kind"])})) for unit in row["units"]),
                }
            )
        )
        for row in table.select(columns).to_pylist()
    ]


def passage_row(passage: Passage, fingerprint: str) -> dict[str, Any]:
    return asdict(passage) | {"fingerprint": fingerprint}


def passages_from(table: pa.Table) -> list[Passage]:
    columns = [f.name for f in fields(Passage)]
    return [Passage(**row) for row in table.select(columns).to_pylist()]


def block_rows(blocks: Sequence[Block], common: Mapping[str, Any], starts: Sequence[int]) -> list[dict[str, Any]]:
    """Rows of one document's blocks; `common` has the columns that are the same for all of them."""
    return [
        {
            **common,
            "ordinal": ordinal,
            "kind": str(block.kind),
            "text": block.text,
            "section_path": list(block.section_path),
            "zone": str(block.zone),
            "page_start": block.page_start,
            "page_end": block.page_end,
            "spans": [asdict(span) for span in block.spans],
            "title": block.title,
            "title_spans": [asdict(span) for span in block.title_spans],
            "cells": [asdict(cell) for cell in block.cells],
            "is_generated": block.is_generated,
            "is_indexable": block.is_indexable,
            "n_chars": block.n_chars,
            "char_start": start,
        }
        for ordinal, (block, start) in enumerate(zip(blocks, starts, strict=True))
    ]


def blocks_from(table: pa.Table) -> list[Block]:
    """Blocks of one paper, in the order of the rows."""
    return [
        Block(
            kind=BlockKind(row["kind"]),
            text=row["text"],
            section_path=tuple(row["section_path"]),
            zone=Zone(row["zone"]),
            spans=_spans(row["spans"]),
            title=row["title"],
            title_spans=_spans(row["title_spans"]),
            cells=tuple(Cell(**(cell | {"boxes": _boxes(cell["boxes"])})) for cell in row["cells"]),
            is_generated=row["is_generated"],
        )
        for row in table.to_pylist()
    ]


def map_papers(table: pa.Table, work: Callable[[str, pa.Table], T]) -> list[T]:
    """Apply `work` to each paper's rows of a table sorted by paper_id."""
    ids = table["paper_id"].to_pylist()
    results, start = [], 0
    for at in range(1, len(ids) + 1):
        if at == len(ids) or ids[at] != ids[start]:
            results.append(work(ids[start], table.slice(start, at - start)))
            start = at
    return results


def _boxes(rows: Sequence[Mapping[str, Any]]) -> tuple[Box, ...]:
    return tuple(Box(**row) for row in rows)


def _spans(rows: Sequence[Mapping[str, Any]]) -> tuple[Span, ...]:
    return tuple(Span(**(dict(row) | {"boxes": _boxes(row["boxes"])})) for row in rows)
