"""The update of the parsed index and of the blocks: what changed is parsed, what did not is left alone.

Says what is changed and what a row looks like; how a paper gets parsed is `tries`' matter. Nothing is published here.
The lists at the end say what must hold of both tables; what must hold of one document is in `promises`.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets import tables
from rag_assets.domain import Document, Source, Zone
from rag_assets.incremental import UpdatePlan, file_sha256, fingerprint, plan_update
from rag_assets.parsing.alignment import ALIGNMENT_VERSION
from rag_assets.parsing.attempts import Candidate, Fingerprints, candidates, pdf_beside
from rag_assets.parsing.discovery import PaperFiles
from rag_assets.parsing.page_labels import labelled_blocks
from rag_assets.parsing.registry import expected_sources, installed_extras
from rag_assets.parsing.store import DocumentStore
from rag_assets.parsing.tries import Outcome, PaperToParse, ParseJob, Report, ignore_progress, parse_papers
from rag_assets.promises import Promise

PARSER_VERSION = 2
"""Part of every fingerprint: raise it for a change that concerns all formats. A change of one parser raises the
version of its format in `registry`."""
PARSED = "parsed"
QUARANTINED = "quarantined"
_HASHING_THREADS = 4
_LEAST_KEPT_SHARE = 0.98
_NEGLIGIBLE_LOSS_CHARS = 20


def update_parsed_index(
    papers: Sequence[PaperFiles], published: pa.Table, job: ParseJob, report: Report = ignore_progress
) -> tuple[pa.Table, UpdatePlan]:
    """The parsed index of `papers`; rows of unchanged papers are taken over from `published`.

    A paper is unchanged when its files are, which of them is read, and the version and settings of that file's
    format; then nothing of it is parsed, unless its document is gone from the store. Returns a table of schema
    PARSED_INDEX sorted by paper_id, and the plan. `report(n_done, n_total)` counts the papers to be parsed.
    """
    current = {paper.paper_id: paper for paper in _fingerprinted(papers, job)}
    before = tables.fingerprints_by(published, "paper_id")
    plan = plan_update(before, {paper_id: _wanted(paper, before) for paper_id, paper in current.items()})
    lost = _documents_lost(tables.rows_of(published, "paper_id", plan.unchanged), job.store)
    to_parse = [current[paper_id] for paper_id in sorted({*plan.to_build, *lost})]
    rows = [_row(outcome) for outcome in parse_papers(to_parse, job, report)]
    kept = tables.rows_without(published, "paper_id", [*plan.to_drop, *lost])
    return tables.merged(kept, tables.to_table(rows, tables.PARSED_INDEX), ["paper_id"]), plan


def block_table(index: pa.Table, published: pa.Table, store: DocumentStore) -> tuple[pa.Table, UpdatePlan]:
    """The blocks of all parsed papers of `index`; those of unchanged papers are taken over from `published`.

    Returns a table of schema BLOCKS sorted by paper_id and ordinal, and the plan. Raises MissingInput when a
    document is not in the store.
    """
    parsed = index.filter(pc.equal(index["status"], PARSED))
    wanted = tables.fingerprints_by(parsed, "paper_id")
    plan = plan_update(tables.fingerprints_by(published, "paper_id"), wanted)
    built = [
        _blocks_of(document, wanted[document.paper_id])
        for document in documents_of(tables.rows_of(parsed, "paper_id", plan.to_build), store)
    ]
    new = pa.concat_tables([tables.BLOCKS.empty_table(), *built])
    kept = tables.rows_without(published, "paper_id", plan.to_drop)
    return tables.merged(kept, new, ["paper_id", "ordinal"]), plan


def documents_of(index: pa.Table, store: DocumentStore) -> Iterator[Document]:
    """The documents of the parsed papers of `index`, one at a time. Raises MissingInput when one is not there."""
    parsed = index.filter(pc.equal(index["status"], PARSED))
    return (store.get(kept_as) for kept_as in parsed["fingerprint"].to_pylist())


def repeated_paper_ids(index: pa.Table) -> pa.Table:
    """(paper_id, n_rows) of each paper_id that is there more than once."""
    counts = index.group_by("paper_id").aggregate([([], "count_all")]).rename_columns(["paper_id", "n_rows"])
    return counts.filter(pc.greater(counts["n_rows"], 1)).sort_by("paper_id")


def quarantined(index: pa.Table) -> pa.Table:
    """(paper_id, error) of each paper that could not be used."""
    return index.filter(pc.equal(index["status"], QUARANTINED)).select(["paper_id", "error"])


def pages_outside(blocks: pa.Table, index: pa.Table) -> pa.Table:
    """(paper_id, ordinal, page_start, page_end, n_pages) of blocks on pages that their document does not have."""
    placed = blocks.select(["paper_id", "ordinal", "page_start", "page_end"])
    joined = placed.join(index.select(["paper_id", "n_pages"]), "paper_id")
    is_outside = pc.or_kleene(
        pc.or_kleene(pc.less(joined["page_start"], 1), pc.less(joined["page_end"], joined["page_start"])),
        pc.greater(joined["page_end"], joined["n_pages"]),
    )
    return joined.filter(pc.fill_null(is_outside, fill_value=False)).sort_by(
        [("paper_id", "ascending"), ("ordinal", "ascending")]
    )


def text_lost(blocks: pa.Table, index: pa.Table) -> pa.Table:
    """(paper_id, n_source_chars, n_block_chars) of papers whose blocks hold less than 98 % of the source's text.

    Back matter counts on neither side; a table's or figure's caption counts with its text. In a paper of a few words a
    hyphen that was mended is 2 % already, so a few characters are never a loss.
    """
    read = blocks.filter(pc.not_equal(blocks["zone"], str(Zone.BACK))).select(["paper_id", "text", "title"])
    n_chars = pc.add(pc.add(pc.utf8_length(read["text"]), pc.utf8_length(read["title"])), 1)
    by_paper = pa.table({"paper_id": read["paper_id"], "n": n_chars}).group_by("paper_id").aggregate([("n", "sum")])
    parsed = index.filter(pc.equal(index["status"], PARSED)).select(["paper_id", "n_source_chars"])
    joined = parsed.join(by_paper.rename_columns(["paper_id", "n_block_chars"]), "paper_id")
    n_kept = pc.fill_null(joined["n_block_chars"], 0)
    n_lost = pc.subtract(joined["n_source_chars"], n_kept)
    is_lost = pc.and_(
        pc.less(n_kept, pc.multiply(joined["n_source_chars"], _LEAST_KEPT_SHARE)),
        pc.greater(n_lost, _NEGLIGIBLE_LOSS_CHARS),
    )
    return joined.set_column(2, "n_block_chars", n_kept).filter(is_lost).sort_by("paper_id")


def _fingerprinted(papers: Sequence[PaperFiles], job: ParseJob) -> Iterator[PaperToParse]:
    """Files are hashed whole every time: size and time of change would miss an edit that keeps both."""
    extras = installed_extras()
    with ThreadPoolExecutor(_HASHING_THREADS) as pool:
        for paper, digests in zip(papers, pool.map(_digests, papers), strict=True):
            if paper.problem:
                ranked = [Candidate(file, None) for file in paper.files]
            else:
                ranked = candidates(paper.files, job.settings)
            yield PaperToParse(paper, tuple(ranked), digests, _fingerprints(paper, digests, ranked, job, extras))


def _fingerprints(
    paper: PaperFiles, digests: Mapping[str, str], ranked: Sequence[Candidate], job: ParseJob, extras: Sequence[str]
) -> Fingerprints:
    """Fingerprints that change with the formats a document of this paper is made with, and not with the others."""
    files = [(file.relative, digests.get(file.relative) or file.problem) for file in paper.files]
    inputs = fingerprint(PARSER_VERSION, paper.paper_id, paper.problem, files)
    at = next((place for place, candidate in enumerate(ranked) if candidate.format), len(ranked))
    passed_over = [(candidate.file.relative, candidate.problem) for candidate in ranked[:at]]
    chosen = [(candidate.file.relative, _format_fingerprint(candidate, job)) for candidate in ranked[at : at + 1]]
    pdf = pdf_beside(ranked[at], ranked) if chosen else None
    first_file = fingerprint(inputs, passed_over, chosen, pdf is not None)
    reading_of_pdf = [_format_fingerprint(one, job) for one in ranked if pdf and one.file is pdf]
    everything = [(one.file.relative, one.problem, _format_fingerprint(one, job)) for one in ranked]
    return Fingerprints(
        first_file=first_file,
        with_pdf=fingerprint(first_file, reading_of_pdf, ALIGNMENT_VERSION),
        after_failure=fingerprint(inputs, everything, ALIGNMENT_VERSION, job.limits.fingerprint(), extras),
    )


def _format_fingerprint(candidate: Candidate, job: ParseJob) -> str | None:
    return candidate.format.fingerprint(job.settings) if candidate.format else None


def _digests(paper: PaperFiles) -> dict[str, str]:
    digests: dict[str, str] = {}
    for file in paper.files:
        if file.problem is None and paper.problem is None:
            try:
                digests[file.relative] = file_sha256(file.path)
            except OSError:
                digests[file.relative] = ""  # gone since it was found; the attempt to read it says so
    return digests


def _wanted(paper: PaperToParse, before: Mapping[str, str]) -> str:
    """The published fingerprint, if it is one of those that this paper can have."""
    published = before.get(paper.paper_id)
    return published if published in paper.fingerprints.any_of() else paper.fingerprints.first_file


def _documents_lost(unchanged: pa.Table, store: DocumentStore) -> list[str]:
    parsed = unchanged.filter(pc.equal(unchanged["status"], PARSED))
    kept_as = tables.fingerprints_by(parsed, "paper_id")
    return [paper_id for paper_id, fingerprint in kept_as.items() if not store.has(fingerprint)]


def _row(outcome: Outcome) -> dict[str, Any]:
    common = {
        "paper_id": outcome.paper.paper_id,
        "parsed_xml_path": _path_of(outcome, Source.TEI),
        "parsed_txt_path": _path_of(outcome, Source.TEXT),
        "pdf_path": _path_of(outcome, Source.PDF),
    }
    return common | (_parsed_columns(outcome) or _quarantine_columns(outcome))


def _path_of(outcome: Outcome, source: Source) -> str | None:
    """The paper's file of that format by content, or by suffix where the content could not be told."""
    for candidate in outcome.paper.candidates:
        known = (candidate.source,) if candidate.source else expected_sources(candidate.file.path.name)
        if source in known:
            return candidate.file.relative
    return None


def _parsed_columns(outcome: Outcome) -> dict[str, Any]:
    if outcome.parsed is None:
        return {}
    document = outcome.parsed.summary
    others = [
        candidate.file.relative
        for candidate in outcome.paper.candidates
        if candidate.file.relative != document.file_path
    ]
    return {
        "title": document.title,
        "source": str(document.source),
        "file_path": document.file_path,
        "linked_paths": sorted(others),
        "sha256": outcome.paper.sha256s[document.file_path],
        "n_pages": document.n_pages,
        "page_source": str(document.page_source),
        "page_labels": list(document.page_labels),
        "n_blocks": outcome.parsed.n_blocks,
        "n_source_chars": document.n_source_chars,
        "n_dropped_running": document.n_dropped_running,
        "used_fallback": document.file_path != outcome.paper.candidates[0].file.relative,
        "notes": list(document.notes),
        "status": PARSED,
        "fingerprint": outcome.parsed.fingerprint,
    }


def _quarantine_columns(outcome: Outcome) -> dict[str, Any]:
    files = [candidate.file.relative for candidate in outcome.paper.candidates]
    return {
        "file_path": files[0] if files else None,
        "linked_paths": sorted(files[1:]),
        "sha256": outcome.paper.sha256s.get(files[0]) if files else None,
        "n_blocks": 0,
        "used_fallback": False,
        "notes": [],
        "page_labels": [],
        "status": QUARANTINED,
        "error": " ".join(outcome.failures).encode("utf-8", "replace").decode("utf-8"),
        "fingerprint": outcome.paper.fingerprints.after_failure,
    }


def _blocks_of(document: Document, kept_as: str) -> pa.Table:
    common = {
        "paper_id": document.paper_id,
        "file_path": document.file_path,
        "source": str(document.source),
        "fingerprint": kept_as,
    }
    return tables.to_table(tables.block_rows(labelled_blocks(document), common, document.block_starts), tables.BLOCKS)


@dataclass(frozen=True)
class BlocksCandidate:
    """Blocks that wait for publication, and the index of the papers they are of."""

    blocks: pa.Table
    index: pa.Table


PARSED_INDEX_PROMISES: list[Promise[pa.Table]] = [
    Promise("ids_unique", "Every paper_id occurs once.", lambda index: repeated_paper_ids(index).to_pylist()),
    Promise(
        "none_quarantined",
        "Every file can be read. Each that cannot is listed with its reason and the remedy; the others go on.",
        lambda index: quarantined(index).to_pylist(),
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
