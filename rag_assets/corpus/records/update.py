"""The table of papers: one record each, from its own files and the bibliographies beside them; and
its promises."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from rag_assets.core.domain import Document, Record, Zone
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
from rag_assets.core.text.headings import is_of_abstract
from rag_assets.core.text.works import same_works
from rag_assets.corpus.each_paper import not_one_each
from rag_assets.corpus.records.libraries import Libraries, Matcher, PaperKeys, completed, filled
from rag_assets.corpus.records.printed import Sourced, record_of
from rag_assets.corpus.records.registries import LookUp, Registered
from rag_assets.parsing.bibliographies import Entry
from rag_assets.parsing.store import DocumentStore, unpacked_document

RECORDS_VERSION = 6
"""Raise it when the same files give another record than before."""
_MATCHED_BY = ("title", "doi", "arxiv")


def update_papers(
    published: pa.Table,
    index: pa.Table,
    libraries: Libraries,
    store: DocumentStore,
    look_up: LookUp = lambda dois: {},  # noqa: ARG005 - the shape of one that asks
) -> tuple[pa.Table, UpdatePlan]:
    """Bring the records up to date with the parsed papers and the bibliographies.

    published: schema PAPERS. index: paper_id, fingerprint, file_path, linked_paths of the parsed
    papers. A document is read only if it changed, or what libraries, lists and registries say of
    it. look_up: asks registries about DOIs. Returns the new table, sorted by paper, and the plan.
    """
    papers = {row["paper_id"]: row for row in index.to_pylist()}
    known = {
        row["paper_id"]: row
        for row in published.select(["paper_id", "made_of", *map(_own, _MATCHED_BY)]).to_pylist()
    }
    made_of = {
        paper: fingerprint(RECORDS_VERSION, row["fingerprint"]) for paper, row in papers.items()
    }
    own: dict[str, Sourced] = {}

    def read_records(paper_ids: Iterable[str]) -> None:
        new = [paper for paper in paper_ids if paper not in own]
        for paper, packed in zip(
            new, store.each_packed(papers[one]["fingerprint"] for one in new), strict=True
        ):
            document = unpacked_document(packed)
            own[paper] = record_of(document, _abstract(document))

    read_records(paper for paper in papers if known.get(paper, {}).get("made_of") != made_of[paper])
    names = [
        PaperKeys(
            paper,
            (row["file_path"], *row["linked_paths"]),
            own[paper][0]
            if paper in own
            else Record(**{name: known[paper][_own(name)] for name in _MATCHED_BY}),
        )
        for paper, row in papers.items()
    ]
    statements = _statements(names, libraries, look_up)
    wanted = {paper: one.fingerprint(made_of[paper]) for paper, one in statements.items()}
    plan = plan_update(fingerprints_by_paper(published), wanted)
    if plan.is_noop:
        return published, plan
    made = []
    read_records(plan.to_build)
    for paper_id in plan.to_build:
        record, sources = statements[paper_id].added_to(*own[paper_id])
        stated = {_own(name): getattr(own[paper_id][0], name) for name in _MATCHED_BY}
        marks = {"made_of": made_of[paper_id], "fingerprint": wanted[paper_id]}
        origins = [{"field": field, "source": source} for field, source in sorted(sources.items())]
        made.append(asdict(record) | stated | marks | {"paper_id": paper_id, "sources": origins})
    kept = rows_without(published, plan.to_drop)
    return merged(kept, to_table(made, PAPERS), ["paper_id"]), plan


@dataclass(frozen=True)
class _Statements:
    """What libraries, registries and lists of retracted papers say of a paper."""

    entry: Entry | None
    registered: Registered | None
    retracted_by: str | None

    def fingerprint(self, made_of: str) -> str:
        entry, known = self.entry, self.registered
        return fingerprint(
            made_of,
            entry and [asdict(entry.record), entry.library],
            known and [known.registry, asdict(known.record)],
            self.retracted_by,
        )

    def added_to(self, record: Record, sources: dict[str, str]) -> Sourced:
        if self.entry:
            record, sources = completed(record, sources, self.entry)
        if known := self.registered:
            record, sources = filled(record, sources, known.record, known.registry)
        if by := self.retracted_by:
            record, sources = replace(record, retracted=by), sources | {"retracted": by}
        return record, sources


def _statements(
    papers: Sequence[PaperKeys], libraries: Libraries, look_up: LookUp
) -> dict[str, _Statements]:
    matcher = Matcher(libraries.entries)
    entries = {paper.paper_id: matcher.entry_of(paper) for paper in papers}
    dois = {
        paper.paper_id: (entry.record.doi if (entry := entries[paper.paper_id]) else None)
        or paper.record.doi
        or ""
        for paper in papers
    }
    registered = look_up({doi for doi in dois.values() if doi})
    return {
        paper: _Statements(entries[paper], registered.get(doi), libraries.retracted.get(doi))
        for paper, doi in dois.items()
    }


def _abstract(document: Document) -> str | None:
    paragraphs = [
        block.text
        for block in document.blocks
        if block.zone is Zone.FRONT and block.is_indexable
        if is_of_abstract(block.section_path, block.text)
    ]
    return "\n\n".join(paragraphs) or None


def _own(name: str) -> str:
    return f"own_{name}"


@dataclass(frozen=True)
class PapersCandidate:
    """Records before publication, the ids of the papers that were parsed, and the
    bibliographies."""

    papers: pa.Table
    paper_ids: Sequence[str]
    libraries: Libraries


def _incomplete(candidate: PapersCandidate) -> Offenders:
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
        "No work is there twice, as preprint and published version or in two files: both count as one source. Remove "
        "the one that you do not want to cite.",
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
