"""Assets between chunks and indexes: `summaries` (a sentence about each chunk by a model; empty while none is named),
`passages` (what is searched) and `profiles` (what a question names a paper by)."""

import dagster as dg

from rag_assets.core.kept import kept_file
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import Published, published_or_empty, read_columns, required_table
from rag_assets.core.tables import PASSAGES, PROFILES, SUMMARIES
from rag_assets.corpus.chunking.passages import PASSAGER_VERSION
from rag_assets.corpus.chunking.promises import PASSAGE_PROMISES, QUARANTINED_KEY, PassagesCandidate, QuarantinedPaper
from rag_assets.corpus.chunking.updates import AddedText, ReadingWindow, update_passages
from rag_assets.corpus.profiles import PROFILE_PROMISES, PROFILER_VERSION, ProfilesCandidate, update_profiles
from rag_assets.corpus.summaries.update import (
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
from rag_assets.pipeline.assets.chunks import chunks
from rag_assets.pipeline.assets.corpus import blocks
from rag_assets.pipeline.assets.publishing import Outcome, TableUpdate, specs
from rag_assets.pipeline.assets.reporting import histogram, markdown_table, progress, usage_facts
from rag_assets.search.embedding.providers import open_embedder


@dg.asset(
    group_name="chunks",
    deps=[chunks],
    metadata={"also_reads": "parsed_index"},
    check_specs=specs("summaries", SUMMARY_PROMISES),
    output_required=False,
    code_version=str(SUMMARIZER_VERSION),
    kinds={"parquet"},
)
def summaries(settings: dg.ResourceParam[Settings], models: dg.ResourceParam[Connections]) -> Outcome:
    """What each chunk is about and whose it is, in one sentence by a model; `data/cache/summaries.parquet`.

    Empty unless `summaries.model` names a model. The sentences are searched with the passages of the chunk and are
    never quoted. A sentence is asked for once, and again only when its chunk changes.
    """
    published = published_or_empty(settings.paths.summaries, SUMMARIES)
    spent_before = models.budget.spent
    made = _updated(settings, models, published)
    spent = models.budget.since(spent_before)
    provenance = {"settings": settings.summaries.fingerprint()}
    update = TableUpdate(settings.paths.summaries, made.table, made.plan, published, provenance)
    yield from update.audited(
        check_all(SUMMARY_PROMISES, made),
        {"summaries": settings.summaries},
        facts={"model": settings.summaries.model, "n_asked": made.n_asked} | usage_facts(spent),
        previews={"preview": markdown_table(made.table.slice(0, 5).to_pylist(), n_shown=5)},
    )


def titles_by_paper(paths: Paths) -> dict[str, str]:
    """Titles of the parsed papers that have one."""
    papers = read_columns(paths.parsed_index, ["paper_id", "title"]).to_pylist()
    return {paper["paper_id"]: paper["title"] for paper in papers if paper["title"]}


def _updated(settings: Settings, models: Connections, published: Published) -> SummaryUpdate:
    if settings.summaries.model == NO_MODEL:
        return without_summaries(published.table)
    paths = settings.paths
    summarizer = Summarizer(settings.summaries, models, kept_file(settings))
    return update_summaries(
        published.table,
        read_columns(paths.chunks, CHUNK_COLUMNS),
        titles_by_paper(paths),
        summarizer,
        n_at_once=models.settings.limits_of(model_name(settings.summaries).provider).max_concurrent,
        report=progress("summaries", "chunks"),
    )


@dg.asset(
    group_name="index",
    deps=[summaries],
    metadata={"also_reads": "parsed_index, chunks"},
    check_specs=specs("passages", PASSAGE_PROMISES),
    output_required=False,
    code_version=str(PASSAGER_VERSION),
    kinds={"parquet"},
)
def passages(settings: dg.ResourceParam[Settings]) -> Outcome:
    """What is searched: runs of sentences that the embedding model reads in full; `data/cache/passages.parquet`."""
    paths = settings.paths
    embedder = open_embedder(settings.embedding, paths.models)
    facts = embedder.facts
    window = ReadingWindow(facts.tokenizer_id, embedder.count_tokens, facts.max_tokens)
    chunks_table = required_table(paths.chunks)
    published = published_or_empty(paths.passages, PASSAGES)
    updated, plan, quarantined = update_passages(
        published.table,
        chunks_table,
        settings.passages,
        window,
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


def _summaries(paths: Paths) -> dict[str, str]:
    """Published summaries by chunk_id."""
    table = published_or_empty(paths.summaries, SUMMARIES).table
    return dict(zip(table["chunk_id"].to_pylist(), table["summary"].to_pylist(), strict=True))


_N_SHOWN = 20


@dg.asset(
    group_name="index",
    deps=[blocks],
    metadata={"also_reads": "parsed_index"},
    check_specs=specs("profiles", PROFILE_PROMISES),
    output_required=False,
    code_version=str(PROFILER_VERSION),
    kinds={"parquet"},
)
def profiles(settings: dg.ResourceParam[Settings]) -> Outcome:
    """Title, words of the file's name, first page of each paper: what a question names it by;
    `data/cache/profiles.parquet`."""
    paths = settings.paths
    index = read_columns(paths.parsed_index, ["paper_id", "title"])
    made_of = read_columns(paths.blocks, ["paper_id", "fingerprint"])
    published = published_or_empty(paths.profiles, PROFILES)

    updated, plan = update_profiles(published.table, index, made_of, lambda: required_table(paths.blocks))
    update = TableUpdate(paths.profiles, updated, plan, published, {"profiler": PROFILER_VERSION})
    first = updated.select(["paper_id", "title", "file_words", "periods"]).slice(0, _N_SHOWN).to_pylist()
    yield from update.audited(
        check_all(PROFILE_PROMISES, ProfilesCandidate(updated, made_of)),
        {},
        previews={"papers": markdown_table(first, n_shown=_N_SHOWN)},
    )
