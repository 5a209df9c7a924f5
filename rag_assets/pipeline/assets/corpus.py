"""Assets from files to blocks: `parsed_index` (which papers, how they were read) and `blocks` (what
they say)."""

from collections import Counter
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.paper_tables import PapersUpdate, PaperTable, update_to
from rag_assets.core.promises import check_all, nothing_withholds
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import read_columns, required_table
from rag_assets.core.tables import BLOCKS, PAPERS, PARSED_INDEX, fingerprints_by
from rag_assets.core.workforce.seam import Workforce, within
from rag_assets.corpus.records.published import title_pages
from rag_assets.library.paper_uploads import PaperTrash
from rag_assets.parsing import corpus
from rag_assets.parsing.attempts import ParseJob
from rag_assets.parsing.known_files import KnownFiles
from rag_assets.parsing.paper_lists import adopt_list, demand_papers, find_papers, list_to_adopt
from rag_assets.parsing.promises import (
    BLOCK_PROMISES,
    PARSED,
    PARSED_INDEX_PROMISES,
    BlocksCandidate,
    how_bad,
)
from rag_assets.parsing.registry import PARSER_VERSION
from rag_assets.parsing.removal import REMOVAL_PROMISES, Removal, is_recent, note_removal
from rag_assets.parsing.store import DocumentStore
from rag_assets.pipeline.assets.paper_assets import TableAudit, brought_up_to_date, checksums
from rag_assets.pipeline.assets.previews import markdown_table, short_id
from rag_assets.pipeline.assets.publishing import Outcome, progress, specs
from rag_assets.pipeline.assets.sources import PAPER_FILES

N_PAPERS_SHOWN = 50
_PAPER_COLUMNS = (
    "paper_id", "title", "source", "page_source", "n_headings", "n_tables", "n_pages", "n_pages_unread", "n_pages_cut",
    "status", "error", "notes",
)  # fmt: skip


@dg.asset(
    group_name="corpus",
    deps=[PAPER_FILES],
    check_specs=specs("parsed_index", [*PARSED_INDEX_PROMISES, *REMOVAL_PROMISES]),
    output_required=False,
    code_version=str(PARSER_VERSION),
    kinds={"parquet"},
)
def parsed_index(
    settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]
) -> Outcome:
    """Every paper in the papers folder, parsed or quarantined with its reason;
    `data/cache/parsed_index.parquet`."""
    paths, parsing = settings.paths, settings.parsing
    store = DocumentStore(paths.kept)
    if listing := list_to_adopt(paths.parsed_index, paths.papers, settings.paper_list_file):
        adopt_list(listing, paths.papers)
    papers = find_papers(paths.papers, settings.paper_list_file, parsing.limits)
    published = PaperTable.published(paths.parsed_index, PARSED_INDEX)
    if not published.files:
        demand_papers(papers, paths.papers)

    known = KnownFiles.kept_at(paths.known_files)
    job = ParseJob(parsing, store, within(parsing.limits, workforce), known)
    before = published.columns(PARSED_INDEX.names)
    updated, plan = corpus.update_parsed_index(
        papers, before, job, progress("parsed_index", "papers")
    )
    known.keep_at(paths.known_files)
    removal = _removal(before, updated, settings)
    checked = [*check_all(PARSED_INDEX_PROMISES, updated), *check_all(REMOVAL_PROMISES, removal)]
    if removal.is_most and nothing_withholds(checked):
        note_removal(paths)
    audit = TableAudit(checked, _index_facts(updated), {"papers": _papers(updated)})
    yield from brought_up_to_date(
        published,
        lambda published: update_to(updated, plan, published),
        lambda _: audit,
        provenance={"parser": PARSER_VERSION},
        settings={"parsing": parsing},
    )
    if nothing_withholds(checked):
        store.prune(updated["fingerprint"].to_pylist())
        if not is_recent(paths):
            store.forget_readings_but(updated["sha256"].to_pylist())


@dg.asset(
    group_name="corpus",
    deps=["papers"],
    metadata={"also_reads": "parsed_index"},
    check_specs=specs("blocks", BLOCK_PROMISES),
    output_required=False,
    code_version=str(PARSER_VERSION),
    kinds={"parquet"},
)
def blocks(settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]) -> Outcome:
    """Title page, paragraphs, tables, lists of every paper in order, with pages;
    `data/cache/blocks.parquet`."""
    paths = settings.paths
    index = read_columns(paths.parsed_index, ["paper_id", "status", "fingerprint", "n_pages"])

    def update(published: PaperTable) -> PapersUpdate:
        kept_as = fingerprints_by(index.filter(pc.equal(index["status"], PARSED)), "paper_id")
        pages = title_pages(required_table(paths.records))
        spread = within(settings.parsing.limits, workforce)
        return corpus.update_blocks(published, kept_as, DocumentStore(paths.kept), spread, pages)

    def audit(draft: PaperTable) -> TableAudit:
        placed = draft.columns(["paper_id", "ordinal", "page_start", "page_end", "kind"])
        kinds = Counter(placed["kind"].to_pylist())
        return TableAudit(
            check_all(BLOCK_PROMISES, BlocksCandidate(placed, index)),
            {f"n_{kind}": count for kind, count in sorted(kinds.items())},
        )

    yield from brought_up_to_date(
        PaperTable.published(paths.blocks, BLOCKS),
        update,
        audit,
        provenance={"parser": PARSER_VERSION},
        settings={"parsing": settings.parsing},
        follows_from=checksums({paths.parsed_index: PARSED_INDEX, paths.records: PAPERS}),
    )


def _removal(published: pa.Table, updated: pa.Table, settings: Settings) -> Removal:
    trashed = {one.paper_id for one in PaperTrash(settings).deletions()}
    rows = published.select(["paper_id", "sha256", "error"]).to_pylist()
    read = {row["paper_id"]: row["sha256"] for row in rows if row["error"] is None}
    errors = updated["error"].to_pylist()
    by_file = dict(zip(updated["sha256"].to_pylist(), errors, strict=True))
    moved = {
        paper_id: by_file[sha256]
        for paper_id, sha256 in read.items()
        if sha256 and sha256 in by_file
    }
    now = moved | dict(zip(updated["paper_id"].to_pylist(), errors, strict=True))
    return Removal(set(read) - trashed, now, settings.execution.allow_removal)


def _index_facts(index: pa.Table) -> dict[str, Any]:
    statuses = Counter(index["status"].to_pylist())
    return {
        "n_parsed": statuses["parsed"],
        "n_quarantined": statuses["quarantined"],
        "n_fallback_used": sum(bool(value) for value in index["used_fallback"].to_pylist()),
        **{
            f"n_pages_from_{source}": n
            for source, n in Counter(index["page_source"].to_pylist()).items()
            if source
        },
    }


def _papers(index: pa.Table) -> str:
    rows = [
        {name: row[name] for name in _PAPER_COLUMNS}
        | {"paper_id": short_id(row["paper_id"]), "notes": " ".join(row["notes"])}
        for row in sorted(index.to_pylist(), key=how_bad, reverse=True)
    ]
    return markdown_table(rows, n_shown=N_PAPERS_SHOWN)
