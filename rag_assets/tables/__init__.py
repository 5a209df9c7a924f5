"""The published tables: their columns, and the way from values to rows and back. Files are in `table_files`."""

from rag_assets.tables.rows import (
    block_rows,
    blocks_from,
    chunk_row,
    chunks_from,
    fingerprints_by,
    map_papers,
    merged,
    passage_row,
    passages_from,
    rows_of,
    rows_without,
    to_table,
)
from rag_assets.tables.schemas import (
    BLOCKS,
    CHUNKS,
    PARSED_INDEX,
    PASSAGES,
    PROFILES,
    SUMMARIES,
    description_of,
    schema_problems,
)

__all__ = [
    "BLOCKS",
    "CHUNKS",
    "PARSED_INDEX",
    "PASSAGES",
    "PROFILES",
    "SUMMARIES",
    "block_rows",
    "blocks_from",
    "chunk_row",
    "chunks_from",
    "description_of",
    "fingerprints_by",
    "map_papers",
    "merged",
    "passage_row",
    "passages_from",
    "rows_of",
    "rows_without",
    "schema_problems",
    "to_table",
]
