"""The published tables: their columns, and the way from values to rows and back. Files are in `table_files`."""

from rag_assets.core.tables.rows import (
    block_rows,
    blocks_from,
    chunk_row,
    chunks_from,
    fingerprints_by,
    map_papers,
    merged,
    paper_point_row,
    paper_points_from,
    passage_row,
    passages_from,
    rows_of,
    rows_without,
    to_table,
)
from rag_assets.core.tables.schemas import (
    BLOCKS,
    CHUNKS,
    PAPER_SUMMARIES,
    PARSED_INDEX,
    PASSAGES,
    PROFILES,
    REFERENCES,
    SUMMARIES,
    description_of,
    schema_problems,
)
