"""Asset `chunk_stats`: how the papers were cut, in figures, pictures and a table of papers."""

from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.incremental import (
    UpdatePlan,
    fingerprint,
    read_sealed,
    sealed_json,
    write_atomically,
)
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import read_columns, read_provenance
from rag_assets.core.tables import CHUNKS, PARSED_INDEX
from rag_assets.core.text.tokens import resolve_tokenizer
from rag_assets.corpus.chunking.promises import chunk_stats as figures_of
from rag_assets.corpus.chunking.promises import paper_stats
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
    tokenizer = resolve_tokenizer(
        settings.chunking.tokenizer,
        paths.tokenizer_pin,
        in_use=read_provenance(paths.chunks).get("tokenizer"),
    )

    def follows_from() -> list[Any]:
        tables = checksums({paths.chunks: CHUNKS, paths.parsed_index: PARSED_INDEX})
        return [*tables, tokenizer.name, tokenizer.reason, read_sealed(paths.chunk_stats)]

    def make() -> Made:
        cut = read_columns(paths.chunks, _COLUMNS).sort_by("paper_id")
        index = read_columns(paths.parsed_index, ["paper_id", "used_fallback"])
        stats = figures_of(cut, index, tokenizer)
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
    papers = sorted(paper_stats(cut), key=lambda paper: -paper["n_tokens"])
    sections = pc.value_counts(cut["section_title"]).to_pylist()
    sections = sorted(sections, key=lambda section: -section["counts"])
    sources = cut.group_by("source").aggregate([("page_start", "count"), ("n_tokens", "count")])
    chunking = settings.chunking
    limits = {
        "target": chunking.target_tokens,
        "min": chunking.min_tokens,
        "max": chunking.max_tokens,
    }
    largest = papers[0] if papers else None
    return {
        "n_chunks": len(cut),
        "n_without_page": cut["page_start"].null_count,
        "largest_paper": largest
        and dg.MetadataValue.text(f"{largest['paper_id']}: {largest['n_tokens']} tokens"),
        "token_lengths": histogram(cut["n_tokens"].to_pylist(), limits, "tokens per chunk"),
        "sections": bars({row["values"]: row["counts"] for row in sections}, "chunks per section"),
        "pages": bars(
            {
                row["source"]: 100 * row["page_start_count"] / row["n_tokens_count"]
                for row in sources.sort_by("source").to_pylist()
            },
            "% of chunks with a page, by source",
        ),
        "papers": table(list(map(_row, papers)), n_shown=_N_PAPERS_SHOWN),
    }


def _row(paper: dict[str, Any]) -> dict[str, Any]:
    return {
        "paper": short_id(paper["paper_id"]),
        "tokens": paper["n_tokens"],
        "chunks": paper["n_chunks"],
        "sizes": f"{paper['n_tokens_min']}-{paper['n_tokens_max']}",
        "no page": paper["n_without_page"],
    }


def _numbers(stats: dict[str, Any]) -> dict[str, Any]:
    """The other figures that are plotted over time."""
    return {
        "n_papers": stats["n_papers"],
        **{f"n_tokens_{name}": value for name, value in (stats["n_tokens"] or {}).items()},
        "share_missing_pages": stats["share_missing_pages"],
        "share_fallback_used": stats["share_fallback_used"],
        "tokenizer": f"{stats['tokenizer']['name']} ({stats['tokenizer']['reason']})",
    }
