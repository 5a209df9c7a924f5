"""A document becomes chunks (what is cited) and passages (what is searched)."""

from rag_assets.chunking.chunker import CHUNKER_VERSION, chunk_paper
from rag_assets.chunking.passages import PASSAGER_VERSION, cut_passages
from rag_assets.chunking.promises import (
    from_back_matter,
    longer_than_model_reads,
    outside_token_bounds,
    repeated_ids,
    without_page,
)
from rag_assets.chunking.stats import chunk_stats
from rag_assets.chunking.updates import ReadingWindow, update_chunks, update_passages

__all__ = [
    "CHUNKER_VERSION",
    "PASSAGER_VERSION",
    "ReadingWindow",
    "chunk_paper",
    "chunk_stats",
    "cut_passages",
    "from_back_matter",
    "longer_than_model_reads",
    "outside_token_bounds",
    "repeated_ids",
    "update_chunks",
    "update_passages",
    "without_page",
]
