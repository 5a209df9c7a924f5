"""Asset `summaries`: a sentence about each chunk by a model, empty while none is named."""

import dagster as dg
import pyarrow as pa

from rag_assets.core.kept import kept_file
from rag_assets.core.paper_tables import PaperTable, update_to
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import read_columns
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
    spent_before = models.budget.spent
    made = _summarised(settings, models, published.columns(SUMMARIES.names))
    facts = {"model": settings.summaries.model, "n_asked": made.n_asked} | usage_facts(
        models.budget.since(spent_before)
    )
    preview = {"preview": markdown_table(made.table.slice(0, 5).to_pylist(), n_shown=5)}
    audit = TableAudit(check_all(SUMMARY_PROMISES, made), facts, preview)
    yield from brought_up_to_date(
        published,
        lambda published: update_to(made.table, made.plan, published),
        lambda _: audit,
        provenance={"settings": settings.summaries.fingerprint()},
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
        n_at_once=models.settings.limits_of(model_name(settings.summaries).provider).max_concurrent,
        report=progress("summaries", "chunks"),
    )
