"""The parsed index and the blocks: changed papers are parsed, the other rows are kept.

Plans and makes the rows; nothing is published here. `store` checks each single document, `promises`
what must hold of the tables.
"""

from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core import tables
from rag_assets.core.domain import (
    TITLE_PAGE_HEADING,
    Block,
    BlockKind,
    Document,
    SourceFormat,
    Span,
    Zone,
)
from rag_assets.core.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.core.paper_tables import PapersUpdate, RowsByPaper, in_file_order
from rag_assets.core.workforce.workforce import Spread, demanded
from rag_assets.parsing.attempts import ParseJob, ParseOutcome, Report, parse_papers
from rag_assets.parsing.discovery import Paper
from rag_assets.parsing.known_files import examined
from rag_assets.parsing.promises import PARSED, QUARANTINED
from rag_assets.parsing.registry import expected_sources
from rag_assets.parsing.store import DocumentStore, unpacked_document

_HASHING_THREADS = 4
_MAX_LABEL_CHARS = 20


def update_parsed_index(
    papers: Sequence[Paper], published: pa.Table, job: ParseJob, report: Report = lambda *_: None
) -> tuple[pa.Table, UpdatePlan]:
    """The parsed index of `papers`; rows of unchanged papers are taken over from `published`.

    A paper is unchanged when its files are, the settings, and the versions of their formats; then
    nothing of it is parsed, unless its document is gone from the store or damaged. Returns a table
    of schema PARSED_INDEX sorted by paper_id, and the plan. `report(n_done, n_total)` counts the
    papers to be parsed. Raises InvalidSettings and ServiceUnavailable for a GROBID server that
    cannot be asked.
    """
    with ThreadPoolExecutor(_HASHING_THREADS) as pool:
        found = list(
            chain.from_iterable(
                pool.map(partial(examined, settings=job.settings, known=job.known), papers)
            )
        )
    if job.settings.grobid:
        from rag_assets.parsing.grobid import with_readings  # loads the HTTP client

        found = with_readings(found, job)
    current = {paper.paper_id: paper for paper in found}
    before = tables.fingerprints_by_paper(published)
    wanted = {
        paper_id: kept
        if (kept := before.get(paper_id)) not in (None, paper.fingerprint)
        and kept == job.after_failure(paper)
        else paper.fingerprint
        for paper_id, paper in current.items()
    }
    plan = plan_update(before, wanted)
    lost = _documents_lost(tables.rows_of(published, "paper_id", plan.unchanged), job.store)
    to_parse = [current[paper_id] for paper_id in sorted({*plan.to_build, *lost})]
    rows = [_row(outcome) for outcome in parse_papers(to_parse, job, report)]
    kept = tables.rows_without(published, [*plan.to_drop, *lost])
    return tables.merged(kept, tables.to_table(rows, tables.PARSED_INDEX), ["paper_id"]), plan


def update_blocks(
    published: RowsByPaper,
    kept_as: Mapping[str, str],
    store: DocumentStore,
    spread: Spread,
    title_pages: Mapping[str, str],
) -> PapersUpdate:
    """Bring the blocks up to date with the parsed papers.

    published: schema BLOCKS. kept_as: under which fingerprint the store has the document of each
    parsed paper. title_pages: texts that open papers, by id. `made` raises MissingInput when a
    document is not in the store.
    """
    wanted = {
        paper: fingerprint(mark, title_pages[paper]) if paper in title_pages else mark
        for paper, mark in kept_as.items()
    }
    plan = plan_update(published.known, wanted)

    def made() -> Generator[tuple[str, pa.Table]]:
        papers = in_file_order(plan.to_build)
        packed = store.each_packed(kept_as[paper] for paper in papers)
        documents = (
            BlocksToMake(paper, wanted[paper], document, title_pages.get(paper, ""))
            for paper, document in zip(papers, packed, strict=True)
        )
        with closing(spread(block_rows_of, documents)) as results:
            for one, rows in results:
                yield one.paper_id, tables.unpacked(demanded(rows))

    return PapersUpdate(plan, wanted, made())


def _opened_by(title_page: str, document: Document) -> Document:
    """The document with a title page before it. It has no page: what it says may come from another
    file."""
    if not title_page:
        return document
    unplaced = (Span(0, len(title_page), None, None),)
    block = Block(
        BlockKind.LIST, title_page, (TITLE_PAGE_HEADING,), Zone.TITLE_PAGE, spans=unplaced
    )
    return replace(document, blocks=(block, *document.blocks))


def _documents_lost(unchanged: pa.Table, store: DocumentStore) -> list[str]:
    parsed = unchanged.filter(pc.equal(unchanged["status"], PARSED))
    kept_as = tables.fingerprints_by_paper(parsed)
    lost = set(store.missing(kept_as.values()))
    return [paper_id for paper_id, fingerprint in kept_as.items() if fingerprint in lost]


def _row(outcome: ParseOutcome) -> dict[str, Any]:
    paper, document = outcome.paper, outcome.summary
    common = {
        "paper_id": paper.paper_id,
        "parsed_xml_path": _path_of(paper, SourceFormat.TEI),
        "parsed_txt_path": _path_of(paper, SourceFormat.TEXT),
        "pdf_path": _path_of(paper, SourceFormat.PDF),
        "fingerprint": outcome.fingerprint,
        "n_blocks": outcome.kinds.total(),
        "n_headings": outcome.kinds[BlockKind.HEADING],
        "n_tables": outcome.kinds[BlockKind.TABLE],
    }
    return common | (_parsed_columns(paper, document) if document else _quarantine_columns(outcome))


def _path_of(paper: Paper, source: SourceFormat) -> str | None:
    """The paper's file of that format by content, or by suffix where the content could not be
    told."""
    for file in (file for file in paper.files if not file.read_by):
        known = (file.format.source,) if file.format else expected_sources(file.path.name)
        if source in known:
            return file.relative
    return None


def _parsed_columns(paper: Paper, document: Document) -> dict[str, Any]:
    first = paper.files[0]
    sha256s = {file.relative: file.sha256 for file in paper.files if not file.read_by}
    return {
        "title": document.title,
        "source": str(document.source),
        "file_path": document.file_path,
        "linked_paths": sorted(sha256s.keys() - {document.file_path}),
        "sha256": sha256s[document.file_path],
        "n_pages": document.n_pages,
        "page_source": str(document.page_source),
        "page_labels": list(document.page_labels),
        "n_source_chars": document.n_source_chars,
        "n_dropped_running": document.n_dropped_running,
        "used_fallback": (document.file_path, document.source)
        != (first.relative, first.format and first.format.source),
        "notes": list(document.notes),
        "n_pages_unread": document.n_pages_unread,
        "n_pages_cut": document.n_pages_cut,
        "status": PARSED,
    }


def _quarantine_columns(outcome: ParseOutcome) -> dict[str, Any]:
    sha256s = {file.relative: file.sha256 for file in outcome.paper.files if not file.read_by}
    first = next(iter(sha256s), None)
    return {
        "file_path": first,
        "linked_paths": sorted(sha256s.keys() - {first}),
        "sha256": sha256s.get(first or "") or None,
        "used_fallback": False,
        "notes": [],
        "page_labels": [],
        "status": QUARANTINED,
        "error": outcome.error,
    }


class BlocksToMake(NamedTuple):
    """A paper as it is sent to a worker."""

    paper_id: str
    fingerprint: str
    """That its rows are given."""
    document: bytes
    """As the store keeps it."""
    title_page: str
    """Empty for none."""


def block_rows_of(paper: BlocksToMake) -> bytes:
    """Packed rows of a paper's blocks."""
    document = _opened_by(paper.title_page, unpacked_document(paper.document))
    common = {
        "paper_id": document.paper_id,
        "file_path": document.file_path,
        "source": str(document.source),
        "fingerprint": paper.fingerprint,
    }
    rows = tables.block_rows(labelled_blocks(document), common, document.block_starts)
    return tables.packed(tables.to_table(rows, tables.BLOCKS))


def labelled_blocks(document: Document) -> tuple[Block, ...]:
    """The document's blocks, their spans with the labels printed on their pages ("xii", "118").

    Labels are shown, never counted with: they may be roman, jump or repeat.
    """
    labels = [_clean(label) for label in document.page_labels]
    if not any(labels):
        return document.blocks
    return tuple(
        replace(
            block,
            spans=_labelled_spans(block.spans, labels),
            title_spans=_labelled_spans(block.title_spans, labels),
        )
        for block in document.blocks
    )


def _labelled_spans(spans: Sequence[Span], labels: Sequence[str | None]) -> tuple[Span, ...]:
    return tuple(
        replace(
            span,
            label_start=_label(span.page_start, labels),
            label_end=_label(span.page_end, labels),
        )
        for span in spans
    )


def _label(page: int | None, labels: Sequence[str | None]) -> str | None:
    return labels[page - 1] if page is not None and 1 <= page <= len(labels) else None


def _clean(label: str | None) -> str | None:
    """A label on one line; None when it is empty, too long for a label, or not printable."""
    text = " ".join((label or "").split())
    return text if text and text.isprintable() and len(text) <= _MAX_LABEL_CHARS else None
