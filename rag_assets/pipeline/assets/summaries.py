"""Asset `summaries`: what each chunk is about, in a sentence that a model writes; empty while no model is named."""

import dagster as dg

from rag_assets.core.kept import kept_file
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import Published, published_or_empty, read_columns
from rag_assets.core.tables import SUMMARIES
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
from rag_assets.pipeline.assets.checks import specs
from rag_assets.pipeline.assets.chunks import chunks
from rag_assets.pipeline.assets.publishing import Outcome, TableUpdate
from rag_assets.pipeline.assets.reporting import markdown_table, progress, usage_facts


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
        document_chars=settings.summaries.document_chars,
        n_at_once=models.settings.limits_of(model_name(settings.summaries).provider).max_concurrent,
        report=progress("summaries", "chunks"),
    )
