"""The asset `papers`: the bibliographic record of every paper."""

import logging
from collections import Counter

import dagster as dg
import pyarrow.compute as pc

from rag_assets.core.kept import kept_file
from rag_assets.core.paper_tables import PaperTable, update_to
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import read_columns
from rag_assets.core.tables import PAPERS
from rag_assets.core.workforce.seam import Workforce, within
from rag_assets.corpus.records.libraries import Libraries
from rag_assets.corpus.records.registries import Registries
from rag_assets.corpus.records.update import PAPERS_PROMISES, RECORDS_VERSION, PapersCandidate, update_papers
from rag_assets.parsing.promises import PARSED
from rag_assets.parsing.store import DocumentStore
from rag_assets.pipeline.assets.corpus import N_PAPERS_SHOWN, parsed_index
from rag_assets.pipeline.assets.paper_assets import TableAudit, brought_up_to_date
from rag_assets.pipeline.assets.previews import markdown_table, short_id
from rag_assets.pipeline.assets.publishing import Outcome, specs

logger = logging.getLogger(__name__)
_INDEX_COLUMNS = ["paper_id", "fingerprint", "file_path", "linked_paths", "status"]


@dg.asset(
    group_name="corpus",
    deps=[parsed_index],
    check_specs=specs("papers", PAPERS_PROMISES),
    output_required=False,
    code_version=str(RECORDS_VERSION),
    kinds={"parquet"},
)
def papers(settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]) -> Outcome:
    """Title, authors, year, venue, DOI of each paper, with where each value comes from: its own files, a bibliography
    beside the papers, which wins, or registries, if `enrichment.contact` is set; `data/cache/papers.parquet`."""
    paths = settings.paths
    index = read_columns(paths.parsed_index, _INDEX_COLUMNS)
    index = index.filter(pc.equal(index["status"], PARSED))
    limits = settings.parsing.limits
    libraries = Libraries.of(paths.papers, within(limits, workforce), settings.paper_list_file, limits)
    published = PaperTable.published(paths.records, PAPERS)
    look_up = Registries(settings.enrichment.contact, kept_file(settings))

    before = published.columns(PAPERS.names)
    updated, plan = update_papers(before, index, libraries, DocumentStore(paths.kept), look_up)
    n_matched = Counter(updated["retracted"].to_pylist())
    for file, n in Counter(libraries.retracted.values()).items():
        logger.info("%s: DOIs read: %d, papers here among them: %d", file, n, n_matched[file])

    def audit(_: PaperTable) -> TableAudit:
        columns = ["paper_id", "title", "authors", "year", "venue", "doi"]
        shown = updated.select(columns).slice(0, N_PAPERS_SHOWN).to_pylist()
        for row in shown:
            row["authors"] = "; ".join(one["family"] for one in row["authors"])
            row["paper_id"] = short_id(row["paper_id"])
        return TableAudit(
            check_all(PAPERS_PROMISES, PapersCandidate(updated, index["paper_id"].to_pylist(), libraries)),
            {"n_library_entries": len(libraries.entries)},
            {"papers": markdown_table(shown, n_shown=N_PAPERS_SHOWN)},
        )

    yield from brought_up_to_date(
        published,
        update_to(updated, plan, published),
        {"records": RECORDS_VERSION},
        PAPERS_PROMISES,
        audit,
        follows_from=[len(libraries.entries), list(libraries.problems)],
    )
