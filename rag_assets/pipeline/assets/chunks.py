"""Assets between blocks and indexes: `chunks` (what answers cite), `passages` (what is searched) and `profiles` (what a
question names a paper by)."""

import json
from typing import Any

import dagster as dg
import pyarrow as pa

from rag_assets.core.promises import check_all
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import published_or_empty, read_columns, read_provenance, required_table
from rag_assets.core.tables import CHUNKS, PASSAGES, PROFILES, SUMMARIES, rows_without
from rag_assets.core.text.tokens import ResolvedTokenizer, resolve_tokenizer, token_counter
from rag_assets.core.workforce.seam import Workforce, within
from rag_assets.corpus.chunking.chunker import CHUNKER_VERSION
from rag_assets.corpus.chunking.passages import PASSAGER_VERSION
from rag_assets.corpus.chunking.promises import (
    CHUNK_PROMISES,
    PASSAGE_PROMISES,
    QUARANTINED_KEY,
    ChunksCandidate,
    PassagesCandidate,
    QuarantinedPaper,
)
from rag_assets.corpus.chunking.stats import chunk_stats, paper_stats, text_accounts
from rag_assets.corpus.chunking.updates import AddedText, update_chunks, update_passages
from rag_assets.corpus.chunking.work import ReadingWindow
from rag_assets.corpus.profiles import PROFILE_PROMISES, PROFILER_VERSION, ProfilesCandidate, update_profiles
from rag_assets.parsing.promises import text_lost
from rag_assets.pipeline.assets import corpus
from rag_assets.pipeline.assets.previews import histogram, markdown_table, short_id
from rag_assets.pipeline.assets.publishing import Outcome, TableUpdate, specs
from rag_assets.search.embedding.providers import embedder_facts
from rag_assets.search.embedding.work import counting

N_PAPERS_SHOWN = 50


@dg.asset(
    group_name="chunks",
    deps=[corpus.blocks],
    metadata={"also_reads": "parsed_index"},
    check_specs=specs("chunks", CHUNK_PROMISES),
    output_required=False,
    code_version=str(CHUNKER_VERSION),
    kinds={"parquet"},
)
def chunks(settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]) -> Outcome:
    """What is read and cited; `data/cache/chunks.parquet`, `chunk_stats.json`.

    A section of more than `chunking.max_tokens` is cut at the end of a sentence, row or item, into chunks near
    `target_tokens` that overlap by up to `overlap_tokens`. A shorter section is one chunk of its own size, often far
    below the target; one of less than `min_tokens` or `min_chars` is merged with its neighbours. Tables and figures
    share chunks with the text around them. The table of papers and the histogram show which sizes come of it.
    """
    paths = settings.paths
    index = required_table(paths.parsed_index)
    blocks = required_table(paths.blocks)
    published = published_or_empty(paths.chunks, CHUNKS)
    tokenizer = resolve_tokenizer(
        settings.chunking.tokenizer, paths.tokenizer_pin, in_use=read_provenance(paths.chunks).get("tokenizer")
    )

    updated, plan, quarantined = update_chunks(
        published.table,
        blocks,
        settings.chunking,
        token_counter(tokenizer.name),
        within(settings.parsing.limits, workforce),
        quarantined=QuarantinedPaper.all_from(published.provenance),
    )
    provenance = {
        "settings": settings.chunking.fingerprint(),
        "tokenizer": tokenizer.name,
        QUARANTINED_KEY: [paper.as_row() for paper in quarantined],
    }
    update = TableUpdate(paths.chunks, updated, plan, published, provenance)
    used = rows_without(index, "paper_id", [paper.paper_id for paper in quarantined])
    accounts = text_accounts(updated, blocks, used)
    stats = chunk_stats(updated, index, tokenizer)
    candidate = ChunksCandidate(updated, blocks, settings.chunking, quarantined, accounts, text_lost(blocks, used))
    yield from update.audited(
        check_all(CHUNK_PROMISES, candidate),
        {"chunking": settings.chunking},
        facts=_facts(stats, tokenizer)
        | {"n_quarantined": len(quarantined), "stats_file": dg.MetadataValue.path(paths.chunk_stats.absolute())},
        previews=_previews(updated)
        | {"text": markdown_table(accounts, n_shown=N_PAPERS_SHOWN), "stats": _stats_table(stats)},
        beside={paths.chunk_stats: json.dumps(stats, indent=2, ensure_ascii=False).encode() + b"\n"},
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


def _stats_table(stats: dict[str, Any]) -> str:
    """What chunk_stats.json says of the whole corpus."""
    rows = [{"chunk_stats.json": name, "value": value} for name, value in stats.items() if not name.startswith("by_")]
    return markdown_table(rows, n_shown=len(rows))


def _previews(updated: pa.Table) -> dict[str, str]:
    first = updated.select(["chunk_id", "n_tokens", "page_start", "page_end", "section_path", "text"]).slice(0, 5)
    return {
        "papers": markdown_table(_papers(updated), n_shown=N_PAPERS_SHOWN),
        "token_histogram": histogram(updated["n_tokens"].to_pylist(), unit="tokens"),
        "preview": markdown_table(first.to_pylist(), n_shown=5),
    }


def _papers(updated: pa.Table) -> list[dict[str, Any]]:
    return [
        {
            "paper": short_id(row["paper_id"]),
            "chunks": row["n_chunks"],
            "tokens": f"{row['n_tokens_min']}-{row['n_tokens_max']}",
            "median": f"{row['n_tokens_median']:g}",
            "with page": f"{row['share_with_page']:.0%}",
        }
        for row in paper_stats(updated)
    ]


@dg.asset(
    group_name="index",
    deps=["summaries"],
    metadata={"also_reads": "papers, chunks"},
    check_specs=specs("passages", PASSAGE_PROMISES),
    output_required=False,
    code_version=str(PASSAGER_VERSION),
    kinds={"parquet"},
)
def passages(settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]) -> Outcome:
    """What is searched: runs of sentences that the embedding model reads in full; `data/cache/passages.parquet`."""
    paths = settings.paths
    facts = embedder_facts(settings.embedding, paths.models)
    count_tokens = counting(settings.embedding, workforce.models_folder(paths.models))
    window = ReadingWindow(facts.tokenizer_id, count_tokens, facts.max_tokens)
    chunks_table = required_table(paths.chunks)
    published = published_or_empty(paths.passages, PASSAGES)
    updated, plan, quarantined = update_passages(
        published.table,
        chunks_table,
        settings.passages,
        window,
        within(settings.parsing.limits, workforce),
        quarantined=QuarantinedPaper.all_from(published.provenance),
        added=AddedText(titles_by_paper(paths), _summaries(paths)),
    )
    provenance = {
        "settings": settings.passages.fingerprint(),
        "tokenizer": facts.tokenizer_id,
        QUARANTINED_KEY: [paper.as_row() for paper in quarantined],
    }
    update = TableUpdate(paths.passages, updated, plan, published, provenance)
    yield from update.audited(
        check_all(PASSAGE_PROMISES, PassagesCandidate(updated, facts.max_tokens, quarantined)),
        {"passages": settings.passages, "embedding": settings.embedding},
        facts={"n_quarantined": len(quarantined)},
        previews={"token_histogram": histogram(updated["n_tokens"].to_pylist(), unit="tokens")},
    )


def titles_by_paper(paths: Paths) -> dict[str, str]:
    """Titles of the parsed papers that have one."""
    papers = read_columns(paths.records, ["paper_id", "title"]).to_pylist()
    return {paper["paper_id"]: paper["title"] for paper in papers if paper["title"]}


def _summaries(paths: Paths) -> dict[str, str]:
    """Published summaries by chunk_id."""
    table = published_or_empty(paths.summaries, SUMMARIES).table
    return dict(zip(table["chunk_id"].to_pylist(), table["summary"].to_pylist(), strict=True))


N_PROFILES_SHOWN = 20


@dg.asset(
    group_name="index",
    deps=[corpus.blocks],
    metadata={"also_reads": "papers"},
    check_specs=specs("profiles", PROFILE_PROMISES),
    output_required=False,
    code_version=str(PROFILER_VERSION),
    kinds={"parquet"},
)
def profiles(settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]) -> Outcome:
    """Title, words of the file's name, first page of each paper: what a question names it by;
    `data/cache/profiles.parquet`."""
    paths = settings.paths
    index = read_columns(paths.records, ["paper_id", "title"])
    made_of = read_columns(paths.blocks, ["paper_id", "fingerprint"])
    published = published_or_empty(paths.profiles, PROFILES)

    spread = within(settings.parsing.limits, workforce)
    updated, plan = update_profiles(published.table, index, made_of, lambda: required_table(paths.blocks), spread)
    update = TableUpdate(paths.profiles, updated, plan, published, {"profiler": PROFILER_VERSION})
    first = updated.select(["paper_id", "title", "file_words", "periods"]).slice(0, N_PROFILES_SHOWN).to_pylist()
    yield from update.audited(
        check_all(PROFILE_PROMISES, ProfilesCandidate(updated, made_of)),
        {},
        previews={"papers": markdown_table(first, n_shown=N_PROFILES_SHOWN)},
    )
