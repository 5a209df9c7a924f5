"""The published tables: their columns, and the way from values to rows and back. Files are in `table_files`."""

from rag_assets.core.tables.rows import (
    PaperRows,
    block_rows,
    blocks_from,
    by_paper,
    chunk_row,
    chunks_from,
    fingerprints_by,
    merged,
    packed,
    paper_point_row,
    paper_points_from,
    papers_of,
    passage_row,
    passages_from,
    rows_of,
    rows_without,
    to_table,
    unpacked,
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
