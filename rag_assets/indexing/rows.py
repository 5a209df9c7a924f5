"""The rows both indexes are made from: passages with the section title of their chunk."""

import pyarrow as pa

from rag_assets.incremental import fingerprint
from rag_assets.indexing.protocols import IndexRow
from rag_assets.tables import passages_from


def index_rows(passages: pa.Table, chunks: pa.Table) -> list[IndexRow]:
    """One row a passage, in the table's order. A row's fingerprint covers what the row itself says, so that an edit
    elsewhere in a paper leaves its entry alone.

    passages, chunks: schemas PASSAGES and CHUNKS.
    """
    titles = dict(zip(chunks["chunk_id"].to_pylist(), chunks["section_title"].to_pylist(), strict=True))
    return [
        IndexRow.of(
            passage,
            section=titles[passage.chunk_id],
            fingerprint=fingerprint(
                titles[passage.chunk_id],
                passage.chunk_id,
                passage.paper_id,
                passage.text,
                passage.page_start,
                passage.page_end,
            ),
        )
        for passage in passages_from(passages)
    ]
