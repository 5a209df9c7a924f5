"""Assets from files to statements: `parsed_index` (which papers, how they were read), `papers` (their
bibliographic records), `blocks` (what they say) and `statements` (what they say, piece by piece)."""

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
from rag_assets.core.promises import check_all, nothing_withholds
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import read_columns, required_table, rows_of_any_version
from rag_assets.core.tables import (
    BLOCKS,
    PAPERS,
    PARSED_INDEX,
    STATEMENTS,
    fingerprints_by_paper,
    rows_without,
)
from rag_assets.core.text.tokens import token_counter
from rag_assets.core.workforce.workforce import Workforce, within
from rag_assets.corpus.records.libraries import Libraries
from rag_assets.corpus.records.published import title_pages
from rag_assets.corpus.records.registries import Registries
from rag_assets.corpus.records.update import (
    PAPERS_PROMISES,
    RECORDS_VERSION,
    PapersCandidate,
    update_papers,
)
from rag_assets.corpus.statements.making import (
    STATEMENT_PROMISES,
    STATEMENTS_VERSION,
    StatementsCandidate,
    update_statements,
)
from rag_assets.library.paper_uploads import PaperTrash
from rag_assets.parsing import corpus
from rag_assets.parsing.attempts import ParseJob
from rag_assets.parsing.corpus import (
    BLOCK_PROMISES,
    PARSED,
    PARSED_INDEX_PROMISES,
    BlocksCandidate,
    how_bad,
)
from rag_assets.parsing.discovery import library_files
from rag_assets.parsing.known_files import KnownFiles
from rag_assets.parsing.paper_lists import adopt_list, demand_papers, find_papers, list_to_adopt
from rag_assets.parsing.registry import PARSER_VERSION
from rag_assets.parsing.store import (
    REMOVAL_PROMISES,
    DocumentStore,
    Removal,
    is_recent,
    note_removal,
)
from rag_assets.pipeline.assets.paper_tables import (
    TableAudit,
    brought_up_to_date,
    checksums,
    first_rows,
    lineage,
)
from rag_assets.pipeline.assets.previews import MOST_ROWS, markdown_table, short_id, table
from rag_assets.pipeline.assets.publishing import Outcome, checked_asset, progress
from rag_assets.pipeline.assets.sources import PAPER_FILES

_PAPER_COLUMNS = (
    "paper_id", "title", "source", "page_source", "n_headings", "n_tables", "n_pages", "n_pages_unread", "n_pages_cut",
    "status", "error", "notes",
)  # fmt: skip


@checked_asset(
    "corpus",
    [*PARSED_INDEX_PROMISES, *REMOVAL_PROMISES],
    deps=[PAPER_FILES],
    kinds={"parquet"},
    version=PARSER_VERSION,
)
def parsed_index(
    settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]
) -> Outcome:
    """Which papers there are, how each was read, and why one could not be;
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
    updated, plan = corpus.update_parsed_index(
        papers,
        published.columns(PARSED_INDEX.names),
        job,
        progress("parsed_index", "papers"),
    )
    known.keep_at(paths.known_files)
    removal = _removal(updated, settings)
    checked = [*check_all(PARSED_INDEX_PROMISES, updated), *check_all(REMOVAL_PROMISES, removal)]
    if removal.is_most and nothing_withholds(checked):
        note_removal(paths)
    audit = TableAudit(
        checked, _index_facts(updated), {"not_read": _not_read(updated), "papers": _papers(updated)}
    )
    yield from brought_up_to_date(
        published,
        lambda published: update_to(updated, plan, published),
        lambda _: audit,
        provenance={"parser": PARSER_VERSION},
        settings=["parsing"],
    )
    if nothing_withholds(checked):
        store.prune(updated["fingerprint"].to_pylist())
        if not is_recent(paths):
            store.forget_readings_but(updated["sha256"].to_pylist())


@checked_asset(
    "corpus",
    BLOCK_PROMISES,
    deps=["papers", parsed_index],
    kinds={"parquet"},
    version=PARSER_VERSION,
)
def blocks(settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]) -> Outcome:
    """What each paper says, in order and with pages: title page, paragraphs, tables, lists;
    `data/cache/blocks.parquet`."""
    paths = settings.paths
    index = read_columns(paths.parsed_index, ["paper_id", "status", "fingerprint", "n_pages"])

    def update(published: PaperTable) -> PapersUpdate:
        kept_as = fingerprints_by_paper(index.filter(pc.equal(index["status"], PARSED)))
        pages = title_pages(required_table(paths.records))
        spread = within(settings.parsing.limits, workforce)
        return corpus.update_blocks(published, kept_as, DocumentStore(paths.kept), spread, pages)

    def audit(draft: PaperTable) -> TableAudit:
        placed = draft.columns(["paper_id", "ordinal", "page_start", "page_end", "kind"])
        kinds = Counter(placed["kind"].to_pylist())
        return TableAudit(
            check_all(BLOCK_PROMISES, BlocksCandidate(placed, index)),
            {f"n_{kind}": count for kind, count in sorted(kinds.items())} | lineage(_FROM_INDEX),
        )

    yield from brought_up_to_date(
        PaperTable.published(paths.blocks, BLOCKS),
        update,
        audit,
        provenance={"parser": PARSER_VERSION},
        settings=["parsing"],
        follows_from=checksums({paths.parsed_index: PARSED_INDEX, paths.records: PAPERS}),
    )


_FROM_INDEX = {name: [("parsed_index", name)] for name in ("paper_id", "source", "file_path")}
"""Columns of blocks, and what they are made of."""


@checked_asset(
    "corpus",
    STATEMENT_PROMISES,
    deps=[blocks],
    kinds={"parquet"},
    version=STATEMENTS_VERSION,
)
def statements(
    settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]
) -> Outcome:
    """What each paper says, piece by piece: sentences, table rows with their labels, list items,
    captions; `data/cache/statements.parquet`.

    A statement is never cut when it is searched, quoted or marked on a page.
    """
    paths = settings.paths
    made_of = PaperTable.required(paths.blocks, BLOCKS)
    tokenizer = settings.chunking.tokenizer

    def update(published: PaperTable) -> PapersUpdate:
        spread = within(settings.parsing.limits, workforce)
        return update_statements(published, made_of, token_counter(tokenizer), spread)

    def audit(draft: PaperTable) -> TableAudit:
        quarantined = draft.manifest.quarantined
        made = draft.columns(["paper_id", "number", "kind", "block", "n_chars", "page_start"])
        in_blocks = made_of.columns(["paper_id", "ordinal", "n_chars", "page_start"])
        used = rows_without(in_blocks, [paper.paper_id for paper in quarantined])
        kinds = Counter(made["kind"].to_pylist())
        return TableAudit(
            check_all(STATEMENT_PROMISES, StatementsCandidate(made, used, quarantined)),
            {f"n_{kind}": count for kind, count in sorted(kinds.items())} | lineage(_FROM_BLOCKS),
            {"preview": first_rows(draft, _STATEMENT_PREVIEW)},
        )

    yield from brought_up_to_date(
        PaperTable.published(paths.statements, STATEMENTS),
        update,
        audit,
        provenance={"tokenizer": tokenizer},
        settings=["chunking"],
        follows_from=[made_of.checksums],
    )


_STATEMENT_PREVIEW = ["paper_id", "number", "kind", "page_start", "section_path", "text"]
KEPT_COLUMNS = (
    "paper_id",
    "text",
    "page_start",
    "page_end",
    "section_path",
    "source",
    "file_path",
)
"""Columns of blocks that statements and chunks also have."""
_FROM_BLOCKS = {name: [("blocks", name)] for name in KEPT_COLUMNS}


def _removal(updated: pa.Table, settings: Settings) -> Removal:
    deletions = PaperTrash(settings).deletions()
    trashed = {paper_id for deletion in deletions for paper_id in deletion.paper_ids}
    # papers that an earlier version of the software read are missed, too
    rows = rows_of_any_version(settings.paths.parsed_index, ["paper_id", "sha256", "error"])
    read = {row["paper_id"]: row["sha256"] for row in rows if row["error"] is None}
    errors = updated["error"].to_pylist()
    by_file = dict(zip(updated["sha256"].to_pylist(), errors, strict=True))
    moved = {
        paper_id: by_file[sha256]
        for paper_id, sha256 in read.items()
        if sha256 and sha256 in by_file
    }
    remaining = moved | dict(zip(updated["paper_id"].to_pylist(), errors, strict=True))
    return Removal(set(read) - trashed, remaining, settings.execution.allow_removal)


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


def _not_read(index: pa.Table) -> dg.MetadataValue[Any]:
    """The files, and the pages of files, of which there is no text, with the reason."""
    rows = []
    for row in sorted(index.to_pylist(), key=how_bad, reverse=True):
        n_missing = (row["n_pages_unread"] or 0) + (row["n_pages_cut"] or 0)
        if row["error"] or n_missing:
            why = row["error"] or f"{n_missing} of {row['n_pages']} pages. {' '.join(row['notes'])}"
            rows.append({"file": row["file_path"] or row["paper_id"], "why": why})
    return table(rows)


def _papers(index: pa.Table) -> str:
    rows = [
        {name: row[name] for name in _PAPER_COLUMNS}
        | {"paper_id": short_id(row["paper_id"]), "notes": " ".join(row["notes"])}
        for row in sorted(index.to_pylist(), key=how_bad, reverse=True)
    ]
    return markdown_table(rows)


logger = logging.getLogger(__name__)
_INDEX_COLUMNS = ["paper_id", "fingerprint", "file_path", "linked_paths", "status"]


@checked_asset(
    "corpus", PAPERS_PROMISES, deps=[parsed_index], kinds={"parquet"}, version=RECORDS_VERSION
)
def papers(settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]) -> Outcome:
    """Who wrote each paper, when and where: its bibliographic record;
    `data/cache/papers.parquet`.

    With each value is where it comes from: the paper's own files, a bibliography beside the papers,
    which wins, or registries, if `enrichment.contact` is set.
    """
    paths = settings.paths
    index = PaperTable.required(paths.parsed_index, PARSED_INDEX)
    parsed = index.columns(_INDEX_COLUMNS)
    parsed = parsed.filter(pc.equal(parsed["status"], PARSED))
    libraries = cache(lambda: _libraries(settings, workforce))

    def update(published: PaperTable) -> PapersUpdate:
        look_up = Registries(settings.enrichment.contact, kept_file(settings))
        before = published.columns(PAPERS.names)
        spread = within(settings.parsing.limits, workforce)
        updated, plan = update_papers(
            before, parsed, libraries(), DocumentStore(paths.kept), spread, look_up
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
            {"papers": _records_page(updated)},
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


def _records_page(records: pa.Table) -> str:
    rows = (
        records.select(["paper_id", "title", "authors", "year", "venue", "doi"])
        .slice(0, MOST_ROWS)
        .to_pylist()
    )
    for row in rows:
        row["authors"] = "; ".join(author["family"] for author in row["authors"])
        row["paper_id"] = short_id(row["paper_id"])
    return markdown_table(rows)
