"""The parsed index and the blocks: changed papers are parsed, the other rows are kept.

Plans and makes the rows, and says what must hold of them; nothing is published here. `store` checks
each single document.
"""

from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
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
from rag_assets.core.promises import NONE_QUARANTINED, Promise
from rag_assets.core.workforce.workforce import Spread, demanded
from rag_assets.parsing.attempts import ParseJob, ParseOutcome, Report, parse_papers
from rag_assets.parsing.discovery import Paper
from rag_assets.parsing.known_files import examined
from rag_assets.parsing.registry import expected_sources
from rag_assets.parsing.store import DocumentStore, unpacked_document

PARSED = "parsed"
QUARANTINED = "quarantined"
_DAMAGES = ("used_fallback", "is_cut_off")


def repeated_paper_ids(index: pa.Table) -> pa.Table:
    """(paper_id, n_rows) of each paper_id that occurs more than once."""
    counts = (
        index.group_by("paper_id")
        .aggregate([([], "count_all")])
        .rename_columns(["paper_id", "n_rows"])
    )
    return counts.filter(pc.greater(counts["n_rows"], 1)).sort_by("paper_id")


def quarantined(index: pa.Table) -> pa.Table:
    """(paper_id, file_path, error) of each paper that could not be used."""
    rows = index.filter(pc.equal(index["status"], QUARANTINED))
    return rows.select(["paper_id", "file_path", "error"])


def pages_outside(blocks: pa.Table, index: pa.Table) -> pa.Table:
    """(paper_id, ordinal, page_start, page_end, n_pages) of blocks on pages that their document
    does not have."""
    placed = blocks.select(["paper_id", "ordinal", "page_start", "page_end"])
    joined = placed.join(index.select(["paper_id", "n_pages"]), "paper_id")
    is_outside = pc.or_kleene(
        pc.or_kleene(
            pc.less(joined["page_start"], 1), pc.less(joined["page_end"], joined["page_start"])
        ),
        pc.greater(joined["page_end"], joined["n_pages"]),
    )
    return joined.filter(pc.fill_null(is_outside, fill_value=False)).sort_by(
        [("paper_id", "ascending"), ("ordinal", "ascending")]
    )


@dataclass(frozen=True)
class BlocksCandidate:
    """Blocks before publication, and the index of their papers."""

    blocks: pa.Table
    index: pa.Table


def is_doubtful(row: Mapping[str, Any]) -> bool:
    """Whether a paper (a row of the parsed index) was not read from its best file or from a file
    without end, or has pages without text or with words cut in two."""
    return any(row[name] for name in (*_DAMAGES, "n_pages_unread", "n_pages_cut"))


def how_bad(row: Mapping[str, Any]) -> tuple[bool, bool, float, bool]:
    """Sort key of a paper (a row of the parsed index); papers that were read badly come last.

    Whether it is quarantined, whether it is doubtful, the share of its pages without text or with
    words cut in two, and whether it has no heading.
    """
    n_bad = (row["n_pages_unread"] or 0) + (row["n_pages_cut"] or 0)
    return (
        row["status"] != PARSED,
        is_doubtful(row),
        n_bad / max(row["n_pages"] or 0, 1),
        not row["n_headings"],
    )


PARSED_INDEX_PROMISES: list[Promise[pa.Table]] = [
    Promise(
        "ids_unique",
        "Every paper_id occurs once.",
        lambda index: repeated_paper_ids(index).to_pylist(),
    ),
    Promise(
        NONE_QUARANTINED,
        "Every file can be read. Each that cannot is listed with its reason and the remedy; the others go on.",
        lambda index: quarantined(index).to_pylist(),
        "warning",
    ),
    Promise(
        "files_whole",
        "Every paper is read from its best file, and that file is whole. The notes say what is missing.",
        lambda index: [
            row
            for row in index.select(["paper_id", *_DAMAGES, "notes"]).to_pylist()
            if any(row[name] for name in _DAMAGES)
        ],
        "warning",
    ),
]
BLOCK_PROMISES: list[Promise[BlocksCandidate]] = [
    Promise(
        "pages_within_document",
        "Every page of a block is a page of its document.",
        lambda candidate: pages_outside(candidate.blocks, candidate.index).to_pylist(),
    ),
]


_HASHING_THREADS = 4
_MAX_LABEL_CHARS = 20


def update_parsed_index(
    papers: Sequence[Paper], published: pa.Table, job: ParseJob, report: Report = lambda *_: None
) -> tuple[pa.Table, UpdatePlan]:
    """Parse the changed papers. Returns a table of schema PARSED_INDEX sorted by paper_id, and the
    plan.

    The row of an unchanged paper is taken over from `published`. A paper is unchanged if its files,
    the settings and the versions of the formats are; it is parsed again only if its document is
    missing from the store or damaged. `report(n_done, n_total)` counts the papers to be parsed.
    Raises InvalidSettings and ServiceUnavailable for a GROBID server that cannot be asked.
    """
    with ThreadPoolExecutor(_HASHING_THREADS) as pool:
        found = list(  # `examined` gives several papers where two files have one format
            chain.from_iterable(
                pool.map(partial(examined, settings=job.settings, known=job.known), papers)
            )
        )
    if job.settings.grobid:
        from rag_assets.parsing.grobid import with_readings  # loads the HTTP client

        found = with_readings(found, job)
    current = {paper.paper_id: paper for paper in found}
    before = tables.fingerprints_by_paper(published)
    wanted = {}
    for paper_id, paper in current.items():
        wanted[paper_id] = paper.fingerprint
        known = before.get(paper_id)
        if known != paper.fingerprint and known == job.failure_fingerprint(paper):
            wanted[paper_id] = known  # it failed before, and nothing that could help has changed
    plan = plan_update(before, wanted)
    lost = _documents_lost(tables.rows_of(published, "paper_id", plan.unchanged), job.store)
    to_parse = [current[paper_id] for paper_id in sorted({*plan.to_build, *lost})]
    rows = [_row(outcome) for outcome in parse_papers(to_parse, job, report)]
    kept = tables.rows_without(published, [*plan.to_drop, *lost])
    return tables.merged(kept, tables.to_table(rows, tables.PARSED_INDEX), ["paper_id"]), plan


def update_blocks(
    published: RowsByPaper,
    store_keys: Mapping[str, str],
    store: DocumentStore,
    spread: Spread,
    title_pages: Mapping[str, str],
) -> PapersUpdate:
    """Bring the blocks up to date with the parsed papers.

    published: schema BLOCKS. store_keys: paper id -> key of its document in the store. title_pages:
    paper id -> text that is put before the document. The generator of rows raises MissingInput when
    a document is not in the store.
    """
    wanted = {
        paper_id: fingerprint(key, title_pages[paper_id]) if paper_id in title_pages else key
        for paper_id, key in store_keys.items()
    }
    plan = plan_update(published.known, wanted)

    def new_rows() -> Generator[tuple[str, pa.Table]]:
        papers = in_file_order(plan.to_build)
        packed = store.each_packed(store_keys[paper_id] for paper_id in papers)
        documents = (
            BlocksToMake(paper_id, wanted[paper_id], document, title_pages.get(paper_id, ""))
            for paper_id, document in zip(papers, packed, strict=True)
        )
        with closing(spread(block_rows_of, documents)) as results:
            for item, rows in results:
                yield item.paper_id, tables.unpacked(demanded(rows))

    return PapersUpdate(plan, wanted, new_rows())


def _with_title_page(title_page: str, document: Document) -> Document:
    """The document with a title page as its first block. That block has no page number, because its
    text may come from another file."""
    if not title_page:
        return document
    unplaced = (Span(0, len(title_page), None, None),)
    block = Block(
        BlockKind.LIST, title_page, (TITLE_PAGE_HEADING,), Zone.TITLE_PAGE, spans=unplaced
    )
    return replace(document, blocks=(block, *document.blocks))


def _documents_lost(unchanged: pa.Table, store: DocumentStore) -> list[str]:
    """Ids of the unchanged papers whose document is missing from the store or damaged."""
    parsed = unchanged.filter(pc.equal(unchanged["status"], PARSED))
    store_keys = tables.fingerprints_by_paper(parsed)
    missing = set(store.missing(store_keys.values()))
    return [paper_id for paper_id, key in store_keys.items() if key in missing]


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
    """Path of the first file of the paper that has the format `source` by its content, or by its
    suffix if the content is of no known format. TEI of GROBID does not count: it is no file of the
    user."""
    for file in (file for file in paper.files if not file.read_by):
        sources = (file.format.source,) if file.format else expected_sources(file.path.name)
        if source in sources:
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
        "is_cut_off": document.is_cut_off,
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
    """What a worker needs to make the block rows of one paper."""

    paper_id: str
    fingerprint: str
    """Value of the column `fingerprint` of its rows."""
    document: bytes
    """The packed document, as the store keeps it."""
    title_page: str
    """Empty if there is none."""


def block_rows_of(paper: BlocksToMake) -> bytes:
    """Runs in a worker. Packed rows of a paper's blocks."""
    document = _with_title_page(paper.title_page, unpacked_document(paper.document))
    common = {
        "paper_id": document.paper_id,
        "file_path": document.file_path,
        "source": str(document.source),
        "fingerprint": paper.fingerprint,
    }
    rows = tables.block_rows(labelled_blocks(document), common, document.block_starts)
    return tables.packed(tables.to_table(rows, tables.BLOCKS))


def labelled_blocks(document: Document) -> tuple[Block, ...]:
    """The document's blocks; each span gets the page labels that are printed there ("xii", "118").

    Labels are only shown; nothing is computed from them, because they may be roman, jump or repeat.
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
    """The label of a page; pages count from 1."""
    return labels[page - 1] if page is not None and 1 <= page <= len(labels) else None


def _clean(label: str | None) -> str | None:
    """A label on one line; None when it is empty, too long for a label, or not printable."""
    text = " ".join((label or "").split())
    return text if text and text.isprintable() and len(text) <= _MAX_LABEL_CHARS else None
