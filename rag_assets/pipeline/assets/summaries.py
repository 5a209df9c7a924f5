"""Assets that a model writes, empty while none is named: `summaries`, a sentence about each chunk, and
`paper_summaries`, what each paper asked, did and found, and what limits it."""

from collections.abc import Callable
from functools import cache

import dagster as dg
import pyarrow as pa

from rag_assets.answering.paper_summaries import (
    PAPER_SUMMARY_PROMISES,
    PaperSummariesCandidate,
    PaperSummaryUpdate,
    update_paper_summaries,
    without_paper_summaries,
)
from rag_assets.answering.summarizers import (
    NO_MODEL,
    PAPER_SUMMARIES_VERSION,
    model_name,
    open_summarizer,
)
from rag_assets.core.domain import Chunk
from rag_assets.core.kept import kept_file
from rag_assets.core.paper_tables import PaperTable, update_to
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import read_columns, required_table
from rag_assets.core.tables import CHUNKS, PAPER_SUMMARIES, SUMMARIES, chunks_from, rows_of
from rag_assets.corpus.summaries.update import (
    CHUNK_COLUMNS,
    SUMMARIZER_VERSION,
    SUMMARY_PROMISES,
    Summarizer,
    SummaryUpdate,
    update_summaries,
    without_summaries,
)
from rag_assets.corpus.summaries.update import (
    model_name as summary_model,
)
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets.chunks import chunks, titles_by_paper
from rag_assets.pipeline.assets.paper_assets import TableAudit, brought_up_to_date
from rag_assets.pipeline.assets.previews import markdown_table
from rag_assets.pipeline.assets.publishing import Outcome, progress, specs, usage_facts


@dg.asset(
    group_name="chunks",
    deps=[chunks],
    metadata={"also_reads": "papers"},
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
    published = PaperTable.published(settings.paths.summaries, SUMMARIES)
    spent_before = models.budget.spent
    made = _summarised(settings, models, published.columns(SUMMARIES.names))
    facts = {"model": settings.summaries.model, "n_asked": made.n_asked} | usage_facts(
        models.budget.since(spent_before)
    )
    preview = {"preview": markdown_table(made.table.slice(0, 5).to_pylist(), n_shown=5)}
    audit = TableAudit(check_all(SUMMARY_PROMISES, made), facts, preview)
    yield from brought_up_to_date(
        published,
        update_to(made.table, made.plan, published),
        {"settings": settings.summaries.fingerprint()},
        SUMMARY_PROMISES,
        lambda _: audit,
        settings={"summaries": settings.summaries},
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
        n_at_once=models.settings.limits_of(summary_model(settings.summaries).provider).max_concurrent,
        report=progress("summaries", "chunks"),
    )


_N_SHOWN = 8


@dg.asset(
    group_name="answers",
    deps=[chunks],
    check_specs=specs("paper_summaries", PAPER_SUMMARY_PROMISES),
    output_required=False,
    code_version=str(PAPER_SUMMARIES_VERSION),
    kinds={"parquet"},
)
def paper_summaries(settings: dg.ResourceParam[Settings], models: dg.ResourceParam[Connections]) -> Outcome:
    """What each paper asked, did and found and what limits it, by a model, verified and with pages;
    `data/cache/paper_summaries.parquet`.

    Empty unless `paper_summaries.model` names a model; lists of papers show the abstracts then.
    """
    paths = settings.paths
    published = PaperTable.published(paths.paper_summaries, PAPER_SUMMARIES)
    made_of = _chunks_to_summarise(settings)
    spent_before = models.budget.spent
    chunks = cache(lambda: required_table(paths.chunks))  # read where a paper changed, and once
    made = _updated(settings, models, published.columns(PAPER_SUMMARIES.names), made_of, chunks)
    candidate = PaperSummariesCandidate(made.table, made.made, made_of, _cited_chunks(made, chunks), made.left)
    facts = {
        "model": settings.paper_summaries.model,
        "n_points_told": sum(bool(claims) for claims in made.table["claims"].to_pylist()),
        "n_left": len(made.left),
    } | usage_facts(models.budget.since(spent_before))
    audit = TableAudit(check_all(PAPER_SUMMARY_PROMISES, candidate), facts, {"preview": _preview(made.table)})
    yield from brought_up_to_date(
        published,
        update_to(made.table, made.plan, published),
        {"settings": settings.paper_summaries.fingerprint()},
        PAPER_SUMMARY_PROMISES,
        lambda _: audit,
        settings={"paper_summaries": settings.paper_summaries},
    )


def _chunks_to_summarise(settings: Settings) -> pa.Table:
    """Paper, id and fingerprint of the chunks that a model summarises; empty without a model."""
    if settings.paper_summaries.model == NO_MODEL:
        return CHUNKS.empty_table()
    return read_columns(settings.paths.chunks, ["paper_id", "chunk_id", "fingerprint"])


def _updated(
    settings: Settings, models: Connections, published: pa.Table, made_of: pa.Table, chunks: Callable[[], pa.Table]
) -> PaperSummaryUpdate:
    if settings.paper_summaries.model == NO_MODEL:
        return without_paper_summaries(published)
    return update_paper_summaries(
        published,
        made_of,
        lambda papers: rows_of(chunks(), "paper_id", papers),
        open_summarizer(settings, models),
        settings=settings.paper_summaries.fingerprint(),
        n_at_once=models.settings.limits_of(model_name(settings.paper_summaries).provider).max_concurrent,
        report=progress("paper_summaries", "papers"),
    )


def _cited_chunks(made: PaperSummaryUpdate, chunks: Callable[[], pa.Table]) -> dict[str, Chunk]:
    cited = {one.chunk_id for point in made.made for claim in point.claims for one in claim.citations}
    if not cited:
        return {}
    return {chunk.chunk_id: chunk for chunk in chunks_from(rows_of(chunks(), "chunk_id", cited))}


def _preview(table: pa.Table) -> str:
    rows = [
        {"paper_id": row["paper_id"], "point": row["point"], "says": " ".join(one["text"] for one in row["claims"])}
        for row in table.slice(0, _N_SHOWN).to_pylist()
    ]
    return markdown_table(rows, n_shown=_N_SHOWN)
