"""Asset `chunk_stats`: how the papers were cut, in figures, pictures and a table of papers."""

from typing import Any

import dagster as dg
import pyarrow as pa

from rag_assets.core.incremental import fingerprint, read_sealed
from rag_assets.core.settings import ChunkingSettings, Settings
from rag_assets.core.table_files import read_columns
from rag_assets.core.tables import CHUNKS, PARSED_INDEX
from rag_assets.corpus.chunking.promises import chunk_stats as figures_of
from rag_assets.pipeline.assets.chunks import chunks
from rag_assets.pipeline.assets.corpus import parsed_index
from rag_assets.pipeline.assets.paper_tables import checksums
from rag_assets.pipeline.assets.pictures import bars, histogram
from rag_assets.pipeline.assets.previews import short_id, table
from rag_assets.pipeline.assets.publishing import (
    Made,
    Outcome,
    asset_step,
    checked_asset,
    sealed_file,
)

_COLUMNS = ["paper_id", "section_title", "source", "n_tokens", "page_start"]


@checked_asset("chunks", deps=[chunks, parsed_index], kinds={"json"}, version=1)
def chunk_stats(settings: dg.ResourceParam[Settings]) -> Outcome:
    """Shows how the papers were cut: sizes of chunks, sections, pages, and the largest papers.

    `data/cache/chunk_stats.json`. A section longer than `chunking.max_tokens` is cut near
    `target_tokens`; a shorter one is a chunk of its own size, often far below the target.
    """
    paths = settings.paths

    def follows_from() -> list[Any]:
        tables = checksums({paths.chunks: CHUNKS, paths.parsed_index: PARSED_INDEX})
        return [*tables, settings.chunking.tokenizer, read_sealed(paths.chunk_stats)]

    def make() -> Made:
        cut = read_columns(paths.chunks, _COLUMNS).sort_by("paper_id")
        index = read_columns(paths.parsed_index, ["paper_id", "used_fallback"])
        stats = figures_of(cut, index, settings.chunking)
        publish = sealed_file(paths.chunk_stats, stats)
        return Made(
            fingerprint(stats),
            stats["n_chunks"],
            [],
            publish,
            _numbers(stats),
            _page(stats, cut, settings.chunking),
        )

    yield from asset_step(
        paths.chunk_stats, make, follows_from, settings=["chunking"], counted="files"
    )


def _page(stats: dict[str, Any], cut: pa.Table, chunking: ChunkingSettings) -> dict[str, Any]:
    """What the page opens with."""
    papers = _papers(cut)
    limits = {
        "target": chunking.target_tokens,
        "min": chunking.min_tokens,
        "max": chunking.max_tokens,
    }
    sections, sources = stats["by_section_title"].items(), stats["by_source"].items()
    with_page = {source: 100 * (1 - of["share_missing_pages"]) for source, of in sources}
    largest = "{paper_id}: {tokens} tokens".format_map(papers[0]) if papers else "none"
    return {
        "n_chunks": len(cut),
        "n_without_page": cut["page_start"].null_count,
        "largest_paper": dg.MetadataValue.text(largest),
        "token_lengths": histogram(cut["n_tokens"].to_pylist(), limits, "tokens per chunk"),
        "sections": bars({title: of["n_chunks"] for title, of in sections}, "chunks per section"),
        "pages": bars(with_page, "% of chunks with a page, by source"),
        "papers": table(
            [row | {"paper_id": short_id(row["paper_id"])} for row in papers],
        ),
    }


def _papers(cut: pa.Table) -> list[dict[str, Any]]:
    """The largest first: its tokens, its chunks, and how many of these have no page."""
    summed = cut.group_by("paper_id").aggregate(
        [("n_tokens", "sum"), ("n_tokens", "count"), ("page_start", "count")]
    )
    return [
        {
            "paper_id": row["paper_id"],
            "tokens": row["n_tokens_sum"],
            "chunks": row["n_tokens_count"],
            "no page": row["n_tokens_count"] - row["page_start_count"],
        }
        for row in summed.sort_by([("n_tokens_sum", "descending")]).to_pylist()
    ]


def _numbers(stats: dict[str, Any]) -> dict[str, Any]:
    """The other figures that are plotted over time."""
    return {
        "n_papers": stats["n_papers"],
        **{f"n_tokens_{name}": value for name, value in (stats["n_tokens"] or {}).items()},
        "share_missing_pages": stats["share_missing_pages"],
        "share_fallback_used": stats["share_fallback_used"],
        "tokenizer": stats["tokenizer"],
    }
