"""Asset `chunks`: every changed paper cut into the chunks that answers cite."""

import json
from collections.abc import Iterator
from typing import Any

import dagster as dg
import pyarrow as pa

from rag_assets.assets.checks import results, specs
from rag_assets.assets.conditions import on_new_content
from rag_assets.assets.reporting import histogram, markdown_table, materialized
from rag_assets.chunking.promises import CHUNK_PROMISES, ChunksCandidate
from rag_assets.chunking.quarantine import QUARANTINED_KEY, QuarantinedPaper
from rag_assets.chunking.stats import chunk_stats
from rag_assets.chunking.text_accounts import text_accounts
from rag_assets.chunking.updates import update_chunks
from rag_assets.incremental import data_version, staging
from rag_assets.parsing.promises import text_lost
from rag_assets.promises import check_all, nothing_withholds
from rag_assets.settings import Settings
from rag_assets.table_files import published_or_empty, read_provenance, required_table, write_table
from rag_assets.tables import CHUNKS, fingerprints_by, rows_without
from rag_assets.text.tokens import ResolvedTokenizer, resolve_tokenizer, token_counter

N_PAPERS_SHOWN = 50


@dg.asset(
    group_name="chunks",
    deps=["blocks"],
    check_specs=specs("chunks", CHUNK_PROMISES),
    output_required=False,
    automation_condition=on_new_content(),
    kinds={"parquet"},
)
def chunks(settings: dg.ResourceParam[Settings]) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]:
    """What is read and cited: a section cut to size, or short ones merged; `data/cache/chunks.parquet`."""
    paths = settings.paths
    tokenizer = resolve_tokenizer(
        settings.chunking.tokenizer, paths.tokenizer_pin, in_use=read_provenance(paths.chunks).get("tokenizer")
    )
    blocks = required_table(paths.blocks, asset="blocks")
    published = published_or_empty(paths.chunks, CHUNKS)
    updated, plan, quarantined = update_chunks(
        published.table,
        blocks,
        settings.chunking,
        token_counter(tokenizer.name),
        quarantined=QuarantinedPaper.all_from(published.provenance),
    )
    provenance = {
        "settings": settings.chunking.fingerprint(),
        "tokenizer": tokenizer.name,
        QUARANTINED_KEY: [paper.as_row() for paper in quarantined],
    }
    is_changed = not plan.is_noop or published.provenance != provenance
    index = required_table(paths.parsed_index, asset="parsed_index")
    used = rows_without(index, "paper_id", [paper.paper_id for paper in quarantined])
    accounts = text_accounts(updated, blocks, used)
    with staging() as staged:
        stats = chunk_stats(updated, index, tokenizer)
        if is_changed:
            write_table(updated, staged.path(paths.chunks), provenance)
        staged.put(paths.chunk_stats, json.dumps(stats, indent=2, ensure_ascii=False).encode() + b"\n")
        candidate = ChunksCandidate(updated, blocks, settings.chunking, quarantined, accounts, text_lost(blocks, used))
        checked = check_all(CHUNK_PROMISES, candidate)
        yield from results(checked)
        if nothing_withholds(checked):
            staged.publish()
            yield materialized(
                version=data_version(fingerprints_by(updated, "paper_id")),
                counts=plan.counts(),
                n_rows=len(updated),
                facts=_facts(stats, tokenizer) | {"n_quarantined": len(quarantined)},
                previews=_previews(updated) | {"text": markdown_table(accounts, n_shown=N_PAPERS_SHOWN)},
            )


def _facts(stats: dict[str, Any], tokenizer: ResolvedTokenizer) -> dict[str, Any]:
    tokens = stats["n_tokens"] or {}
    return {
        "n_papers": stats["n_papers"],
        **{f"n_tokens_{name}": value for name, value in tokens.items()},
        "share_missing_pages": stats["share_missing_pages"],
        "share_fallback_used": stats["share_fallback_used"],
        "tokenizer": f"{tokenizer.name} ({tokenizer.reason})",
    }


def _previews(updated: pa.Table) -> dict[str, str]:
    first = updated.select(["chunk_id", "n_tokens", "page_start", "page_end", "section_path", "text"]).slice(0, 5)
    return {
        "token_histogram": histogram(updated["n_tokens"].to_pylist(), unit="tokens"),
        "preview": markdown_table(first.to_pylist(), n_shown=5),
    }
