"""The published tables: their columns, and the way from values to rows and back. Files are in
`table_files`."""

from rag_assets.core.tables.rows import (
    block_rows,
    blocks_from,
    by_paper,
    chunk_row,
    chunks_from,
    fingerprints_by,
    in_parts,
    merged,
    packed,
    passage_row,
    passages_from,
    passages_version,
    records_from,
    rows_of,
    rows_without,
    to_table,
    unpacked,
)
from rag_assets.core.tables.schemas import (
    BLOCKS,
    CHUNKS,
    PAPERS,
    PARSED_INDEX,
    PASSAGES,
    PROFILES,
    REFERENCES,
    SUMMARIES,
    description_of,
    schema_problems,
)
