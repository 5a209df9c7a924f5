"""Asset `chunk_stats`: how the papers were cut, in figures, pictures and a table of papers."""

from typing import Any

import dagster as dg
import pyarrow as pa

from rag_assets.core.incremental import (
    UpdatePlan,
    fingerprint,
    read_sealed,
    sealed_json,
    write_atomically,
)
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import read_columns
from rag_assets.core.tables import CHUNKS, PARSED_INDEX
from rag_assets.corpus.chunking.promises import chunk_stats as figures_of
from rag_assets.pipeline.assets.chunks import chunks
from rag_assets.pipeline.assets.corpus import parsed_index
from rag_assets.pipeline.assets.pictures import bars, histogram
from rag_assets.pipeline.assets.previews import short_id, table
from rag_assets.pipeline.assets.publishing import Made, Outcome, asset_step, checksums

_N_PAPERS_SHOWN = 50
_COLUMNS = ["paper_id", "section_title", "source", "n_tokens", "page_start"]


@dg.asset(
    group_name="chunks",
    deps=[chunks, parsed_index],
    output_required=False,
    code_version="1",
    kinds={"json"},
)
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
        is_same = read_sealed(paths.chunk_stats) == stats

        def publish() -> dict[str, int]:
            write_atomically(paths.chunk_stats, sealed_json(stats))
            return UpdatePlan().counts() | {
                "n_changed": int(not is_same),
                "n_unchanged": int(is_same),
            }

        return Made(
            fingerprint(stats),
            stats["n_chunks"],
            [],
            publish,
            _numbers(stats),
            _page(cut, settings),
        )

    groups = {"chunking": settings.chunking}
    yield from asset_step(paths.chunk_stats, groups, make, follows_from, counted="files")


def _page(cut: pa.Table, settings: Settings) -> dict[str, Any]:
    """What the page opens with."""
    papers, sources = _counts(cut, "paper_id"), _counts(cut, "source")
    papers.sort(key=lambda row: -row["tokens"])
    sections = sorted(_counts(cut, "section_title"), key=lambda row: -row["chunks"])
    chunking = settings.chunking
    limits = {
        "target": chunking.target_tokens,
        "min": chunking.min_tokens,
        "max": chunking.max_tokens,
    }
    with_page = {
        row["source"]: 100 * (1 - row["no page"] / row["chunks"])
        for row in sorted(sources, key=lambda row: str(row["source"]))
    }
    largest = "{paper_id}: {tokens} tokens".format_map(papers[0]) if papers else "none"
    return {
        "n_chunks": len(cut),
        "n_without_page": cut["page_start"].null_count,
        "largest_paper": dg.MetadataValue.text(largest),
        "token_lengths": histogram(cut["n_tokens"].to_pylist(), limits, "tokens per chunk"),
        "sections": bars(
            {row["section_title"]: row["chunks"] for row in sections}, "chunks per section"
        ),
        "pages": bars(with_page, "% of chunks with a page, by source"),
        "papers": table(
            [row | {"paper_id": short_id(row["paper_id"])} for row in papers],
            n_shown=_N_PAPERS_SHOWN,
        ),
    }


def _counts(cut: pa.Table, column: str) -> list[dict[str, Any]]:
    """Per value of the column: its chunks, their tokens, and how many have no page."""
    summed = cut.group_by(column).aggregate(
        [("n_tokens", "sum"), ("n_tokens", "count"), ("page_start", "count")]
    )
    return [
        {
            column: row[column],
            "tokens": row["n_tokens_sum"],
            "chunks": row["n_tokens_count"],
            "no page": row["n_tokens_count"] - row["page_start_count"],
        }
        for row in summed.to_pylist()
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
