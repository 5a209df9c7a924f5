"""Assets between statements and indexes: `chunks` (what answers cite), `chunk_stats` (how the papers were
cut, in figures and pictures), `summaries` of chunks, `passages` (what is searched), `profiles` (what
a question names a paper by) and `references` (the works that each paper cites).
"""

from collections import defaultdict
from functools import cache
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.incremental import fingerprint, read_sealed
from rag_assets.core.kept import kept_file
from rag_assets.core.paper_tables import PapersUpdate, PaperTable, update_to
from rag_assets.core.promises import check_all
from rag_assets.core.settings import ChunkingSettings, Paths, Settings
from rag_assets.core.table_files import (
    published_or_empty,
    read_columns,
    required_table,
)
from rag_assets.core.tables import (
    BLOCKS,
    CHUNKS,
    PAPERS,
    PARSED_INDEX,
    PASSAGES,
    PROFILES,
    REFERENCES,
    STATEMENTS,
    SUMMARIES,
    rows_without,
)
from rag_assets.core.text.tokens import token_counter
from rag_assets.core.workforce.workforce import Workforce, within
from rag_assets.corpus.chunking.chunker import (
    CHUNKER_VERSION,
    AddedText,
    ReadingWindow,
    update_chunks,
    update_passages,
)
from rag_assets.corpus.chunking.passages import PASSAGER_VERSION
from rag_assets.corpus.chunking.promises import (
    CHUNK_PROMISES,
    PASSAGE_PROMISES,
    ChunksCandidate,
    PassagesCandidate,
    reading_as_references,
    text_accounts,
)
from rag_assets.corpus.chunking.promises import chunk_stats as figures_of
from rag_assets.corpus.each_paper import EachPaperCandidate
from rag_assets.corpus.profiles import (
    PROFILE_PROMISES,
    PROFILER_VERSION,
    update_profiles,
)
from rag_assets.corpus.references import (
    REFERENCE_PROMISES,
    REFERENCES_VERSION,
    update_references,
)
from rag_assets.corpus.summaries import (
    CHUNK_COLUMNS,
    NO_MODEL,
    SUMMARIZER_VERSION,
    SUMMARY_PROMISES,
    Summarizer,
    SummaryUpdate,
    model_name,
    update_summaries,
    without_summaries,
)
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets import corpus
from rag_assets.pipeline.assets.corpus import parsed_index
from rag_assets.pipeline.assets.paper_tables import (
    TableAudit,
    brought_up_to_date,
    checksums,
    first_rows,
    lineage,
)
from rag_assets.pipeline.assets.previews import (
    N_SHOWN,
    bars,
    histogram,
    markdown_table,
    short_id,
    table,
)
from rag_assets.pipeline.assets.publishing import (
    Made,
    Outcome,
    asset_step,
    checked_asset,
    progress,
    sealed_file,
)
from rag_assets.search.embedding.missing_vectors import counting
from rag_assets.search.embedding.providers import embedder_facts


@checked_asset(
    "chunks",
    CHUNK_PROMISES,
    deps=[corpus.statements, corpus.parsed_index],
    kinds={"parquet"},
    version=CHUNKER_VERSION,
)
def chunks(settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]) -> Outcome:
    """The pieces of text that answers read and cite; `data/cache/chunks.parquet`.

    A section of more than `chunking.max_tokens` is cut at the end of a sentence, row or item, into
    chunks near `target_tokens` that overlap by up to `overlap_tokens`. A shorter section is one
    chunk of its own size, often far below the target; one of less than `min_tokens` or `min_chars`
    is merged with its neighbours. Tables and figures share chunks with the text around them.
    """
    paths = settings.paths
    index, statements = (
        PaperTable.required(paths.parsed_index, PARSED_INDEX),
        PaperTable.required(paths.statements, STATEMENTS),
    )
    tokenizer = settings.chunking.tokenizer

    def update(published: PaperTable) -> PapersUpdate:
        spread = within(settings.parsing.limits, workforce)
        counter = token_counter(tokenizer)
        return update_chunks(published, statements, settings.chunking, counter, spread)

    def audit(draft: PaperTable) -> TableAudit:
        return _audit(draft, statements, required_table(paths.parsed_index), settings)

    yield from brought_up_to_date(
        PaperTable.published(paths.chunks, CHUNKS),
        update,
        audit,
        provenance={"settings": settings.chunking.fingerprint(), "tokenizer": tokenizer},
        settings=["chunking"],
        follows_from=[index.checksums, statements.checksums],
    )


_COUNTED = [
    "chunk_id", "paper_id", "file_path", "source", "section_title", "n_tokens", "page_start", "page_end", "char_start",
    "char_end", "n_own_chars",
]  # fmt: skip
"""Columns of chunks without texts."""
_PREVIEWED = ["chunk_id", "n_tokens", "page_start", "page_end", "section_path", "text"]
_FROM_STATEMENTS = {name: [("statements", name)] for name in corpus.KEPT_COLUMNS}
_FROM_CHUNKS = {
    name: [("chunks", name)]
    for name in ("paper_id", "chunk_id", "text", "page_start", "page_end", "section_path")
} | {"summary": [("summaries", "summary")]}
"""Columns of chunks and of passages, and what they are made of."""


def _audit(
    draft: PaperTable,
    statements: PaperTable,
    index: pa.Table,
    settings: Settings,
) -> TableAudit:
    """Texts are read file by file, everything else of all chunks."""
    quarantined = draft.manifest.quarantined
    used = rows_without(index, [paper.paper_id for paper in quarantined])
    placed = statements.columns(["paper_id", "zone", "kind", "n_chars", "char_start", "char_end"])
    chunks = draft.columns(_COUNTED).sort_by("paper_id")
    accounts = text_accounts(chunks, placed, used)
    texts = map(reading_as_references, draft.parts(["chunk_id", "section_title", "text"]))
    like_references = [
        row for part in texts for row in part.select(["chunk_id", "section_title"]).to_pylist()
    ]
    candidate = ChunksCandidate(
        chunks,
        placed,
        like_references,
        settings.chunking,
        quarantined,
        accounts,
    )
    return TableAudit(
        check_all(CHUNK_PROMISES, candidate),
        lineage(_FROM_STATEMENTS),
        {
            "preview": first_rows(draft, _PREVIEWED),
            "text": markdown_table(accounts),
        },
    )


@checked_asset(
    "index",
    PASSAGE_PROMISES,
    deps=[chunks, corpus.papers, "summaries"],
    kinds={"parquet"},
    version=PASSAGER_VERSION,
)
def passages(
    settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]
) -> Outcome:
    """What is searched: runs of sentences that the embedding model reads in full;
    `data/cache/passages.parquet`."""
    paths = settings.paths
    facts = embedder_facts(settings.embedding, paths.models)
    count_tokens = counting(settings.embedding, workforce.models_folder(paths.models))
    window = ReadingWindow(facts.tokenizer_id, count_tokens, facts.max_tokens)
    chunks = PaperTable.required(paths.chunks, CHUNKS)
    added = {paths.records: PAPERS, paths.summaries: SUMMARIES}

    def update(published: PaperTable) -> PapersUpdate:
        spread = within(settings.parsing.limits, workforce)
        text = AddedText(titles_by_paper(paths), _summaries(paths))
        return update_passages(published, chunks, settings.passages, window, spread, text)

    def audit(draft: PaperTable) -> TableAudit:
        made = draft.columns(["passage_id", "paper_id", "n_tokens"])
        candidate = PassagesCandidate(made, facts.max_tokens, draft.manifest.quarantined)
        return TableAudit(check_all(PASSAGE_PROMISES, candidate), lineage(_FROM_CHUNKS))

    yield from brought_up_to_date(
        PaperTable.published(paths.passages, PASSAGES),
        update,
        audit,
        provenance={"settings": settings.passages.fingerprint(), "tokenizer": facts.tokenizer_id},
        settings=["passages", "embedding"],
        follows_from=[chunks.checksums, *checksums(added), facts.tokenizer_id, facts.max_tokens],
    )


def titles_by_paper(paths: Paths) -> dict[str, str]:
    """Titles of the parsed papers that have one."""
    papers = read_columns(paths.records, ["paper_id", "title"]).to_pylist()
    return {paper["paper_id"]: paper["title"] for paper in papers if paper["title"]}


def _summaries(paths: Paths) -> dict[str, dict[str, str]]:
    """Published summaries by paper_id and chunk_id."""
    by_paper: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for row in published_or_empty(paths.summaries, SUMMARIES).table.to_pylist():
        by_paper[row["paper_id"]][row["chunk_id"]] = row["summary"]
    return by_paper


@checked_asset(
    "index",
    PROFILE_PROMISES,
    deps=[corpus.blocks, corpus.papers],
    kinds={"parquet"},
    version=PROFILER_VERSION,
)
def profiles(
    settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]
) -> Outcome:
    """What a question names a paper by: its title, the words of its file's name, its first page;
    `data/cache/profiles.parquet`."""
    paths = settings.paths
    blocks = PaperTable.required(paths.blocks, BLOCKS)

    def update(published: PaperTable) -> PapersUpdate:
        spread = within(settings.parsing.limits, workforce)
        return update_profiles(published, blocks, titles_by_paper(paths), spread)

    def audit(draft: PaperTable) -> TableAudit:
        shown = ["paper_id", "title", "file_words", "periods"]
        candidate = EachPaperCandidate(
            draft.columns(["paper_id"])["paper_id"].to_pylist(),
            blocks.papers,
            draft.manifest.quarantined,
        )
        return TableAudit(
            check_all(PROFILE_PROMISES, candidate),
            previews={"papers": first_rows(draft, shown)},
        )

    yield from brought_up_to_date(
        PaperTable.published(paths.profiles, PROFILES),
        update,
        audit,
        provenance={"profiler": PROFILER_VERSION},
        follows_from=[blocks.checksums, *checksums({paths.records: PAPERS})],
    )


@checked_asset(
    "chunks",
    SUMMARY_PROMISES,
    deps=[chunks, corpus.papers],
    kinds={"parquet"},
    version=SUMMARIZER_VERSION,
)
def summaries(
    settings: dg.ResourceParam[Settings], models: dg.ResourceParam[Connections]
) -> Outcome:
    """What each chunk is about and whose it is, in one sentence by a model;
    `data/cache/summaries.parquet`.

    Empty unless `summaries.model` names a model. The sentences are searched with the passages of
    the chunk and are never quoted. A sentence is asked for once, and again only when its chunk
    changes.
    """
    published = PaperTable.published(settings.paths.summaries, SUMMARIES)
    made = cache(lambda: _summarised(settings, models, published.columns(SUMMARIES.names)))

    def audit(draft: PaperTable) -> TableAudit:
        return TableAudit(
            check_all(SUMMARY_PROMISES, made()),
            {"model": settings.summaries.model, "n_asked": made().n_asked},
            {"preview": first_rows(draft, SUMMARIES.names)},
        )

    yield from brought_up_to_date(
        published,
        lambda published: update_to(made().table, made().plan, published),
        audit,
        provenance={"settings": settings.summaries.fingerprint()},
        settings=["summaries"],
        models=models,
    )


def _summarised(settings: Settings, models: Connections, published: pa.Table) -> SummaryUpdate:
    if settings.summaries.model == NO_MODEL:
        return without_summaries(published)
    paths = settings.paths
    summarizer = Summarizer(settings.summaries, models, kept_file(settings))
    return update_summaries(
        published,
        read_columns(paths.chunks, CHUNK_COLUMNS),
        titles_by_paper(paths),
        summarizer,
        n_at_once=models.settings.limits_of(model_name(settings.summaries).provider).max_concurrent,
        report=progress("summaries", "chunks"),
    )


@checked_asset(
    "index",
    REFERENCE_PROMISES,
    deps=[corpus.statements],
    kinds={"parquet"},
    version=REFERENCES_VERSION,
)
def references(
    settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]
) -> Outcome:
    """Which works each paper cites, and where: the entries of its reference list;
    `data/cache/references.parquet`.

    An answer says of a quoted sentence whether it reports the works it refers to.
    """
    paths = settings.paths
    statements = PaperTable.required(paths.statements, STATEMENTS)

    def audit(draft: PaperTable) -> TableAudit:
        entries = draft.columns(["number", "mentions"])
        entries = entries.filter(pc.is_valid(entries["number"]))
        n_mentioned = pc.sum(pc.greater(pc.list_value_length(entries["mentions"]), 0)).as_py() or 0
        facts = {
            "n_entries": len(entries),
            "n_mentioned": n_mentioned,
            "n_papers_without_list": draft.n_rows - len(entries),
        }
        first = next(draft.parts(["paper_id", "number", "year", "doi", "text"]))
        first = first.filter(pc.is_valid(first["number"])).slice(0, N_SHOWN).to_pylist()
        return TableAudit(
            check_all(
                REFERENCE_PROMISES,
                EachPaperCandidate(draft.papers, statements.papers, draft.manifest.quarantined),
            ),
            facts,
            {"entries": markdown_table(first)},
        )

    yield from brought_up_to_date(
        PaperTable.published(paths.references, REFERENCES),
        lambda published: update_references(
            published, statements, within(settings.parsing.limits, workforce)
        ),
        audit,
        provenance={"references": REFERENCES_VERSION},
        follows_from=[statements.checksums],
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
