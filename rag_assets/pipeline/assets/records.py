"""The asset `papers`: the bibliographic record of every paper."""

import logging
from collections import Counter
from functools import cache
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.incremental import sha256_of
from rag_assets.core.kept import kept_file
from rag_assets.core.paper_tables import PapersUpdate, PaperTable, update_to
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Settings
from rag_assets.core.tables import PAPERS, PARSED_INDEX
from rag_assets.core.workforce.seam import Workforce, within
from rag_assets.corpus.records.libraries import Libraries
from rag_assets.corpus.records.registries import Registries
from rag_assets.corpus.records.update import (
    PAPERS_PROMISES,
    RECORDS_VERSION,
    PapersCandidate,
    update_papers,
)
from rag_assets.parsing.discovery import library_files
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
    """Title, authors, year, venue, DOI of each paper, with where each value comes from: its own
    files, a bibliography beside the papers, which wins, or registries, if `enrichment.contact` is
    set; `data/cache/papers.parquet`."""
    paths = settings.paths
    index = PaperTable.required(paths.parsed_index, PARSED_INDEX)
    parsed = index.columns(_INDEX_COLUMNS)
    parsed = parsed.filter(pc.equal(parsed["status"], PARSED))
    libraries = cache(lambda: _libraries(settings, workforce))

    def update(published: PaperTable) -> PapersUpdate:
        look_up = Registries(settings.enrichment.contact, kept_file(settings))
        before = published.columns(PAPERS.names)
        updated, plan = update_papers(
            before, parsed, libraries(), DocumentStore(paths.kept), look_up
        )
        n_matched = Counter(updated["retracted"].to_pylist())
        for file, n in Counter(libraries().retracted.values()).items():
            logger.info("%s: DOIs read: %d, papers here among them: %d", file, n, n_matched[file])
        return update_to(updated, plan, published)

    def audit(draft: PaperTable) -> TableAudit:
        updated = draft.columns(PAPERS.names).sort_by("paper_id")
        candidate = PapersCandidate(updated, parsed["paper_id"].to_pylist(), libraries())
        return TableAudit(
            check_all(PAPERS_PROMISES, candidate),
            {"n_library_entries": len(libraries().entries)},
            {"papers": _papers(updated)},
            # a process that took one apart may have been killed
            is_settled=not libraries().problems,
        )

    yield from brought_up_to_date(
        PaperTable.published(paths.records, PAPERS),
        update,
        audit,
        provenance={"records": RECORDS_VERSION},
        follows_from=_follows_from(settings, index),
    )


def _libraries(settings: Settings, workforce: Workforce) -> Libraries:
    limits = settings.parsing.limits
    return Libraries.of(
        settings.paths.papers, within(limits, workforce), settings.paper_list_file, limits
    )


def _follows_from(settings: Settings, index: PaperTable) -> list[Any] | None:
    """The parsed papers and the files of the libraries. Registries may say something new each
    time."""
    papers = settings.paths.papers
    files = [papers / name for name in library_files(papers)]
    files += [settings.paper_list_file] if settings.paper_list_file else []
    try:
        read = [[str(file), sha256_of(file)] for file in files]
    except OSError:
        return None
    return None if settings.enrichment.contact else [index.checksums, read]


def _papers(records: pa.Table) -> str:
    rows = (
        records.select(["paper_id", "title", "authors", "year", "venue", "doi"])
        .slice(0, N_PAPERS_SHOWN)
        .to_pylist()
    )
    for row in rows:
        row["authors"] = "; ".join(one["family"] for one in row["authors"])
        row["paper_id"] = short_id(row["paper_id"])
    return markdown_table(rows, n_shown=N_PAPERS_SHOWN)
