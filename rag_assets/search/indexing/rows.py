"""What is indexed, read from the table of passages."""

import pyarrow as pa

from rag_assets.search.indexing.protocols import IndexRow

COLUMNS = (
    "passage_id",
    "chunk_id",
    "paper_id",
    "section_title",
    "page_start",
    "page_end",
    "row_hash",
    "text",
    "heading_text",
    "summary",
)
"""In the order of the fields of a row."""


def index_rows(passages: pa.Table) -> list[IndexRow]:
    """A row for each row of a table that has these columns."""
    columns = (passages[name].to_pylist() for name in COLUMNS)
    return [IndexRow(*values) for values in zip(*columns, strict=True)]
