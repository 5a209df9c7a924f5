"""Makes the table of papers, with one record per paper, from each paper's files, the bibliographies
beside them and the registries; and its promises."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from rag_assets.core.domain import NO_RECORD, Document, Record, Zone
from rag_assets.core.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.tables import (
    PAPERS,
    fingerprints_by_paper,
    merged,
    records_from,
    rows_without,
    to_table,
)
from rag_assets.core.text.folding import letters_of
from rag_assets.core.text.headings import is_of_abstract
from rag_assets.core.text.works import same_works
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.core.workforce.workforce import Spread, demanded
from rag_assets.corpus.each_paper import not_one_each
from rag_assets.corpus.records.libraries import Libraries, Matcher, PaperKeys, completed, filled
from rag_assets.corpus.records.printed import Sourced, record_of
from rag_assets.corpus.records.registries import LookUp, Registered
from rag_assets.parsing.bibliographies import CORRECTIONS, Entry
from rag_assets.parsing.store import DocumentStore, unpacked_document

RECORDS_VERSION = 9
"""Raise it when the same files give another record than before."""
_MATCHED_BY = ("title", "doi", "arxiv")
"""Fields of a paper's own record with which entries of bibliographies are matched."""


def update_papers(
    published: pa.Table,
    index: pa.Table,
    libraries: Libraries,
    store: DocumentStore,
    spread: Spread,
    look_up: LookUp = lambda dois: {},  # noqa: ARG005 - has the parameter of every `LookUp`
) -> tuple[pa.Table, UpdatePlan]:
    """Bring the records up to date with the parsed papers and the bibliographies.

    published: schema PAPERS. index: paper_id, fingerprint, file_path and linked_paths of the parsed
    papers. spread: reads documents in worker processes; a record whose worker is lost says so, and
    has only what others state. look_up: asks registries about DOIs. Returns the new table, sorted by paper, and the
    plan.

    A document is read only if it changed, or if bibliographies, lists of retracted papers or
    registries now state something else about it.
    """
    papers = {row["paper_id"]: row for row in index.to_pylist()}
    published_rows = {
        row["paper_id"]: row
        for row in published.select(["paper_id", "made_of", *map(_own, _MATCHED_BY)]).to_pylist()
    }
    document_versions = {
        paper: fingerprint(RECORDS_VERSION, row["fingerprint"]) for paper, row in papers.items()
    }
    own_records: dict[str, Sourced] = {}

    def read_records(paper_ids: Iterable[str]) -> None:
        """Read the documents that were not read before, and add their records."""
        unread = [paper for paper in paper_ids if paper not in own_records]
        fingerprints = (papers[paper]["fingerprint"] for paper in unread)
        documents = zip(unread, store.each_packed(fingerprints), strict=True)
        with closing(spread(_own_record, documents)) as results:
            for (paper, _), made in results:
                if isinstance(made, Failure) and made.is_worker_lost:
                    made = NO_RECORD, {"title": f"not read: the file {made.reason}"}
                own_records[paper] = demanded(made)

    read_records(
        paper
        for paper in papers
        if published_rows.get(paper, {}).get("made_of") != document_versions[paper]
    )
    paper_keys = [
        PaperKeys(
            paper,
            (row["file_path"], *row["linked_paths"]),
            own_records[paper][0]
            if paper in own_records
            else Record(**{name: published_rows[paper][_own(name)] for name in _MATCHED_BY}),
        )
        for paper, row in papers.items()
    ]
    statements = _statements(paper_keys, libraries, look_up)
    new_fingerprints = {
        paper: statement.fingerprint(document_versions[paper])
        for paper, statement in statements.items()
    }
    plan = plan_update(fingerprints_by_paper(published), new_fingerprints)
    if plan.is_noop:
        return published, plan
    new_rows = []
    read_records(plan.to_build)
    for paper_id in plan.to_build:
        record, sources = statements[paper_id].added_to(*own_records[paper_id])
        own_values = {_own(name): getattr(own_records[paper_id][0], name) for name in _MATCHED_BY}
        versions = {
            "made_of": document_versions[paper_id],
            "fingerprint": new_fingerprints[paper_id],
        }
        origins = [{"field": field, "source": source} for field, source in sorted(sources.items())]
        new_rows.append(
            asdict(record) | own_values | versions | {"paper_id": paper_id, "sources": origins}
        )
    kept_rows = rows_without(published, plan.to_drop)
    return merged(kept_rows, to_table(new_rows, PAPERS), ["paper_id"]), plan


def _own_record(paper: tuple[str, bytes]) -> Sourced:
    """Runs in a worker. The record of a paper's packed document, before it is completed."""
    document = unpacked_document(paper[1])
    record, sources = record_of(document, _abstract(document))
    letters = letters_of(document.text)
    return replace(record, text_hash=fingerprint(letters) if letters else None), sources


@dataclass(frozen=True)
class _Statements:
    """What bibliographies, registries and lists of retracted papers state about one paper."""

    entries: Sequence[Entry]
    """The entry of a bibliography and the correction, if there are any; the later ones win."""
    registered: Registered | None
    retracted_by: str | None
    """Path of the list of retracted papers that has the paper's DOI."""

    def fingerprint(self, made_of: str) -> str:
        """The fingerprint of a paper's row. made_of: the fingerprint of what its own record is made
        of."""
        registered = self.registered
        return fingerprint(
            made_of,
            [[asdict(entry.record), entry.library] for entry in self.entries],
            registered and [registered.registry, asdict(registered.record)],
            self.retracted_by,
        )

    def added_to(self, record: Record, sources: dict[str, str]) -> Sourced:
        """The paper's own record completed with these statements, and the source of each field."""
        for entry in self.entries:
            record, sources = completed(record, sources, entry)
        if registered := self.registered:
            record, sources = filled(record, sources, registered.record, registered.registry)
        if self.retracted_by:
            record = replace(record, retracted=self.retracted_by)
            sources = sources | {"retracted": self.retracted_by}
        return record, sources


def _statements(
    papers: Sequence[PaperKeys], libraries: Libraries, look_up: LookUp
) -> dict[str, _Statements]:
    """The statements about each paper, by paper_id. Registries are asked about the corrected DOI,
    the entry's, or the paper's own."""
    corrections = {entry.key: entry for entry in libraries.entries if entry.library == CORRECTIONS}
    matcher = Matcher([entry for entry in libraries.entries if entry.library != CORRECTIONS])
    entries: dict[str, list[Entry]] = {}
    dois: dict[str, str] = {}
    for paper in papers:
        stated = (matcher.entry_of(paper), corrections.get(paper.paper_id))
        entries[paper.paper_id] = list(filter(None, stated))
        records = [paper.record, *(entry.record for entry in entries[paper.paper_id])]
        dois[paper.paper_id] = next((one.doi for one in reversed(records) if one.doi), "")
    registered = look_up({doi for doi in dois.values() if doi})
    return {
        paper_id: _Statements(entries[paper_id], registered.get(doi), libraries.retracted.get(doi))
        for paper_id, doi in dois.items()
    }


def _abstract(document: Document) -> str | None:
    """The text of the abstract, or None if none is found."""
    paragraphs = [
        block.text
        for block in document.blocks
        if block.zone is Zone.FRONT and block.is_indexable
        if is_of_abstract(block.section_path, block.text)
    ]
    return "\n\n".join(paragraphs) or None


def _own(name: str) -> str:
    """The column with a value of the paper's own record, before it is completed: "own_title"."""
    return f"own_{name}"


@dataclass(frozen=True)
class PapersCandidate:
    """Records before publication, with what they are checked against: the ids of the parsed papers
    and the bibliographies."""

    papers: pa.Table
    paper_ids: Sequence[str]
    libraries: Libraries


def _incomplete(candidate: PapersCandidate) -> Offenders:
    """The papers whose title, authors or year are not known."""
    rows = candidate.papers.select(["paper_id", "title", "authors", "year"]).to_pylist()
    missing = (
        (row["paper_id"], [name for name in ("title", "authors", "year") if not row[name]])
        for row in rows
    )
    return [{"paper_id": paper, "missing": ", ".join(names)} for paper, names in missing if names]


def _same_twice(candidate: PapersCandidate) -> list[dict[str, Any]]:
    works = same_works(records_from(candidate.papers))
    return [{"paper_id": paper, "same_work_as": first} for paper, first in sorted(works.items())]


def _retracted(candidate: PapersCandidate) -> Offenders:
    rows = candidate.papers.select(["paper_id", "doi", "retracted"]).to_pylist()
    return [row for row in rows if row["retracted"]]


PAPERS_PROMISES: list[Promise[PapersCandidate]] = [
    Promise(
        "one_per_paper",
        "Every paper that was read has one record, and no other has one.",
        lambda candidate: not_one_each(
            candidate.papers["paper_id"].to_pylist(), candidate.paper_ids
        ),
    ),
    Promise(
        "records_complete",
        "Every paper has a title, authors and a year. Those listed were not printed where they were looked for, or could "
        "not be read for sure; nothing is guessed. Name them in a bibliography beside the papers "
        "(papers/library.bib, .ris or .csl.json), whose values win.",
        _incomplete,
        "warning",
    ),
    Promise(
        "libraries_readable",
        "Every entry of the bibliographies beside the papers can be read. Mend those listed; the others are used.",
        lambda candidate: candidate.libraries.problems,
        "warning",
    ),
    Promise(
        "no_work_twice",
        "No work is there twice, as preprint and published version, in two files or as a copy: both count as one source. "
        "Remove the one that you do not want to cite.",
        _same_twice,
        "warning",
    ),
    Promise(
        "none_retracted",
        "No paper is known to be retracted. Answers mark every statement that cites one of those listed; remove those "
        "that you do not want to cite.",
        _retracted,
        "warning",
    ),
]
