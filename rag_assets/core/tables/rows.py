"""Values become rows of the published tables, rows become values again, and tables are split by paper.

pyarrow.compute is imported where it is used: its import took a seventh of what a parse worker needs to start.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, TypeVar

import pyarrow as pa

from rag_assets.core.domain import (
    Block,
    BlockKind,
    Box,
    Cell,
    Chunk,
    ChunkUnit,
    Citation,
    Claim,
    PaperPoint,
    Passage,
    Point,
    SectionPart,
    Span,
    UnitKind,
    Verification,
    Zone,
)

T = TypeVar("T")


def fingerprints_by(table: pa.Table, key: str) -> dict[str, str]:
    """key -> fingerprint of a table in which all rows of a key share one fingerprint."""
    return dict(zip(table[key].to_pylist(), table["fingerprint"].to_pylist(), strict=True))


def rows_of(table: pa.Table, key: str, values: Iterable[str]) -> pa.Table:
    """The rows whose `key` is one of `values`, in the table's order."""
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table[key], value_set=pa.array(list(values), pa.string())))


def rows_without(table: pa.Table, key: str, values: Iterable[str]) -> pa.Table:
    """The rows whose `key` is not in `values`."""
    import pyarrow.compute as pc

    return table.filter(pc.invert(pc.is_in(table[key], value_set=pa.array(list(values), pa.string()))))


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
    columns = [f.name for f in fields(Chunk)]
    return [
        Chunk(**(row | {name: values(row[name]) for name, values in _NESTED.items()}))
        for row in table.select(columns).to_pylist()
    ]


def passage_row(passage: Passage, fingerprint: str) -> dict[str, Any]:
    return asdict(passage) | {"fingerprint": fingerprint}


def passages_from(table: pa.Table) -> list[Passage]:
    columns = [f.name for f in fields(Passage)]
    return [Passage(**row) for row in table.select(columns).to_pylist()]


def paper_point_row(told: PaperPoint, fingerprint: str) -> dict[str, Any]:
    claims = [
        {"text": claim.text, "relevance": claim.relevance, "citations": [asdict(one) for one in claim.citations]}
        for claim in told.claims
    ]
    return {
        "paper_id": told.paper_id,
        "point": str(told.point),
        "claims": claims,
        "model": told.model,
        "fingerprint": fingerprint,
    }


def paper_points_from(table: pa.Table) -> list[PaperPoint]:
    return [
        PaperPoint(
            row["paper_id"],
            Point(row["point"]),
            tuple(
                Claim(claim["text"], tuple(map(_citation, claim["citations"])), relevance=claim["relevance"])
                for claim in row["claims"]
            ),
            row["model"],
        )
        for row in table.to_pylist()
    ]


def block_rows(blocks: Sequence[Block], common: Mapping[str, Any], starts: Sequence[int]) -> list[dict[str, Any]]:
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


def _citation(row: dict[str, Any]) -> Citation:
    return Citation(**(row | {"boxes": _boxes(row["boxes"]), "verification": Verification(row["verification"])}))


def _boxes(rows: Sequence[Mapping[str, Any]]) -> tuple[Box, ...]:
    return tuple(Box(**row) for row in rows)


def _spans(rows: Sequence[Mapping[str, Any]]) -> tuple[Span, ...]:
    return tuple(Span(**(dict(row) | {"boxes": _boxes(row["boxes"])})) for row in rows)


def _sections(rows: Sequence[Mapping[str, Any]]) -> tuple[SectionPart, ...]:
    return tuple(SectionPart(**row) for row in rows)


def _units(rows: Sequence[Mapping[str, Any]]) -> tuple[ChunkUnit, ...]:
    return tuple(ChunkUnit(**(dict(row) | {"kind": UnitKind(row["kind"])})) for row in rows)


_NESTED: dict[str, Callable[[Sequence[Mapping[str, Any]]], tuple[Any, ...]]] = {
    "spans": _spans,
    "sections": _sections,
    "units": _units,
}
"""Columns of a chunk that are tuples of values."""
