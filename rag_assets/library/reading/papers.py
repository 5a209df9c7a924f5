"""The papers of a data folder with their state (ready, quarantined, waiting), their titles,
abstracts and sections.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow.compute as pc

from rag_assets.core.domain import NO_RECORD, PaperOrder, Record, SourceFormat, Zone
from rag_assets.core.errors import MissingInput, NotFound
from rag_assets.core.incremental import stamp_if_there
from rag_assets.core.paper_tables import manifest_file, quarantined_by
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import published_or_empty, read_columns
from rag_assets.core.tables import PAPERS, records_from
from rag_assets.core.text.folding import plain_lower
from rag_assets.core.text.headings import heading_number, is_of_abstract
from rag_assets.parsing.discovery import Paper
from rag_assets.parsing.paper_lists import find_papers
from rag_assets.parsing.registry import expected_sources

Value = TypeVar("Value")
_Stamp = tuple[int, int, int] | None


class KeptUntilChanged(Generic[Value]):
    """A value read from a file, and read again when the file changes; may be used by several
    threads."""

    def __init__(self, path: Path, read: Callable[[Path], Value]) -> None:
        self._path = path
        self._read = read
        self._lock = threading.Lock()
        self._kept: tuple[_Stamp, Value] | None = None

    def get(self) -> Value:
        """Raises what `read` raises."""
        with self._lock:
            stamp = stamp_if_there(self._path)
            if self._kept is None or self._kept[0] != stamp:
                self._kept = stamp, self._read(self._path)
            return self._kept[1]


logger = logging.getLogger(__name__)
_PAPER_COLUMNS = ("paper_id", "title", "source", "pdf_path", "n_pages", "status", "error")
_BLOCK_COLUMNS = ("paper_id", "text", "section_path", "zone", "is_indexable")
_CHUNK_COLUMNS = tuple(
    "paper_id chunk_id ordinal section_id section_title section_path page_start page_end".split()
)


class PaperState(StrEnum):
    """What can be done with a paper."""

    READY = "ready"
    """Its text is searched."""
    QUARANTINED = "quarantined"
    """The paper could not be used; the reason says why."""
    WAITING = "waiting"
    """The paper is in the papers folder, and no run has read it yet."""


@dataclass(frozen=True, kw_only=True)
class PaperSummary:
    """A paper in a list of papers."""

    paper_id: str
    source: SourceFormat | None
    """Format it was read from; None where that is not known."""
    state: PaperState
    """waiting: in the papers folder, and no run has read it yet."""
    title: str = ""
    """Empty where it has none, or is not read yet."""
    authors: tuple[str, ...] = ()
    """Forename before surname; empty where they are not known."""
    year: int | None = None
    doi: str = ""
    missing: tuple[str, ...] = ()
    """Which of title, authors and year were not printed where they were looked for."""
    n_pages: int | None = None
    n_chunks: int = 0
    reason: str | None = None
    """Why it is quarantined, with the remedy."""
    has_pages: bool = False
    """The paper has a PDF, so its pages can be shown."""
    abstract: str = ""
    """Empty where it has none, or is not read yet."""

    @property
    def named(self) -> str:
        """The text that a search for papers looks in: id, title, authors and year."""
        return " ".join((self.paper_id, self.title, *self.authors, str(self.year or "")))


@dataclass(frozen=True)
class SectionSummary:
    """A section of a paper, or several short ones that were merged."""

    section_id: str
    title: str
    path: str
    """Titles from the outermost section inwards, joined with " > "."""
    page_start: int | None
    page_end: int | None
    chunk_ids: tuple[str, ...]
    """In reading order."""


@dataclass(frozen=True, kw_only=True)
class PaperDetails(PaperSummary):
    """A paper with its sections."""

    sections: tuple[SectionSummary, ...]
    """In reading order."""

    def section(self, name: str) -> SectionSummary:
        """The first section with that id, else with that title or path in any case, else with that
        title behind its number ("results" for "2. Results").

        Raises NotFound, which lists those there are.
        """
        wanted = name.strip().casefold()
        by_id = (section for section in self.sections if section.section_id == name)
        by_title = (
            section
            for section in self.sections
            if wanted in (section.title.casefold(), section.path.casefold())
        )
        by_bare_title = (
            section
            for section in self.sections
            if (number := heading_number(section.title)) and number.title.casefold() == wanted
        )
        match = next(chain(by_id, by_title, by_bare_title), None)
        if match is None:
            titles = "; ".join(section.path or section.title for section in self.sections) or "none"
            raise NotFound(f"{self.paper_id} has no section {name!r}. Its sections: {titles}.")
        return match


class Papers:
    """Reads the published tables and the papers folder; may be used by several threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        paths = settings.paths
        self._index = KeptUntilChanged(
            paths.parsed_index,
            lambda path: {row["paper_id"]: row for row in _rows(path, _PAPER_COLUMNS)},
        )
        self._chunks = KeptUntilChanged(paths.chunks, _chunks_by_paper)
        self._records = KeptUntilChanged(
            paths.records, lambda path: records_from(published_or_empty(path, PAPERS).table)
        )
        self._abstracts = KeptUntilChanged(paths.blocks, _abstracts_by_paper)
        self._uncut = [
            KeptUntilChanged(manifest_file(table), partial(_reasons, table))
            for table in (paths.chunks, paths.passages)
        ]

    def all(self, order: PaperOrder = PaperOrder.ID) -> list[PaperSummary]:
        """Every paper; the id decides among equals."""
        papers = {paper_id: self._summary(row) for paper_id, row in self._index.get().items()}
        for file in self._in_folder():
            if file.paper_id not in papers:
                papers[file.paper_id] = _waiting(file)
        by_id = [paper for _, paper in sorted(papers.items())]
        return sorted(by_id, key=lambda paper: self._sort_key(paper, order))

    def paper(self, paper_id: str) -> PaperDetails:
        """Raises NotFound for an unknown id."""
        row = self._index.get().get(paper_id)
        if row is not None:
            sections = tuple(_sections(self._chunks.get().get(paper_id, ())))
            return PaperDetails(**vars(self._summary(row)), sections=sections)
        waiting = next((paper for paper in self._in_folder() if paper.paper_id == paper_id), None)
        if waiting is None:
            raise NotFound(
                f"There is no paper with the id {paper_id!r}. List the papers to see their ids."
            )
        return PaperDetails(**vars(_waiting(waiting)), sections=())

    def titles(self) -> Mapping[str, str]:
        """Title by id of the papers that were read; empty where a paper has none."""
        return {paper_id: self._title(row) for paper_id, row in self._index.get().items()}

    def n_parsed(self) -> int:
        """Papers that could be read."""
        return sum(row["status"] == "parsed" for row in self._index.get().values())

    def pdf_path(self, paper_id: str) -> str | None:
        """The PDF of a paper that was read, relative to the papers folder; None where it has none.

        Raises NotFound for a paper that was not read.
        """
        row = self._index.get().get(paper_id)
        if row is None:
            raise NotFound(
                f"No paper with the id {paper_id!r} was read. List the papers to see their ids."
            )
        path: str | None = row["pdf_path"]
        return path

    def _title(self, row: Mapping[str, Any]) -> str:
        """Of the record; of the file where there is no record, as of a quarantined paper."""
        record = self._records.get().get(row["paper_id"])
        return (record.title if record else row["title"]) or ""

    def _summary(self, row: Mapping[str, Any]) -> PaperSummary:
        paper_id = row["paper_id"]
        record = self._record(paper_id)
        reason = row["error"] if row["status"] == "quarantined" else None
        reason = reason or next(
            (uncut[paper_id] for reasons in self._uncut if paper_id in (uncut := reasons.get())),
            None,
        )
        return PaperSummary(
            paper_id=paper_id,
            title=self._title(row),
            source=SourceFormat(row["source"]) if row["source"] else None,
            state=PaperState.QUARANTINED if reason else PaperState.READY,
            authors=tuple(author.name for author in record.authors),
            year=record.year,
            doi=record.doi or "",
            missing=tuple(
                name
                for name in ("title", "authors", "year")
                if not reason and not getattr(record, name)
            ),
            n_pages=row["n_pages"],
            n_chunks=len(self._chunks.get().get(paper_id, ())),
            reason=reason,
            has_pages=bool(row["pdf_path"]) and not reason,
            abstract=self._abstracts.get().get(paper_id, ""),
        )

    def _record(self, paper_id: str) -> Record:
        return self._records.get().get(paper_id, NO_RECORD)

    def _sort_key(self, paper: PaperSummary, order: PaperOrder) -> Any:
        match order:
            case PaperOrder.ID:
                return paper.paper_id
            case PaperOrder.TITLE:
                return plain_lower(paper.title or paper.paper_id)
            case PaperOrder.AUTHOR:
                surnames = [
                    plain_lower(author.family) for author in self._record(paper.paper_id).authors
                ]
                return not surnames, surnames, paper.year or 0
            case PaperOrder.YEAR:
                return -(paper.year or 0)

    def _in_folder(self) -> list[Paper]:
        try:
            return find_papers(
                self._settings.paths.papers,
                self._settings.paper_list_file,
                self._settings.parsing.limits,
            )
        except MissingInput:
            return []  # the published papers can be asked without their files


def _chunks_by_paper(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The listed columns of the chunks, by paper, in reading order."""
    rows = sorted(_rows(path, _CHUNK_COLUMNS), key=lambda row: (row["paper_id"], row["ordinal"]))
    return {
        paper_id: list(own) for paper_id, own in groupby(rows, lambda row: str(row["paper_id"]))
    }


def _abstracts_by_paper(path: Path) -> dict[str, str]:
    paragraphs: dict[str, list[str]] = {}
    is_front = (pc.field("zone") == str(Zone.FRONT)) & pc.field("is_indexable")
    for row in _rows(path, _BLOCK_COLUMNS, where=is_front):
        if is_of_abstract(row["section_path"], row["text"]):
            paragraphs.setdefault(row["paper_id"], []).append(row["text"])
    return {paper: "\n\n".join(own) for paper, own in paragraphs.items()}


def _rows(
    path: Path, columns: Sequence[str], where: pc.Expression | None = None
) -> list[dict[str, Any]]:
    """Some columns of a published table; no rows if it is missing or damaged."""
    try:
        table = read_columns(path, columns)
    except MissingInput as error:
        if path.exists():
            logger.warning("%s", error)
        return []
    rows: list[dict[str, Any]] = (table if where is None else table.filter(where)).to_pylist()
    return rows


def _reasons(table: Path, _manifest: Path) -> dict[str, str]:
    """Why papers were kept out of a table, by id."""
    return {paper.paper_id: paper.error for paper in quarantined_by(table)}


def _sections(chunks: Sequence[Mapping[str, Any]]) -> Iterator[SectionSummary]:
    by_section: dict[str, list[Mapping[str, Any]]] = {}
    for row in chunks:
        by_section.setdefault(row["section_id"], []).append(row)
    for section_id, own in by_section.items():
        yield SectionSummary(
            section_id=section_id,
            title=own[0]["section_title"],
            path=own[0]["section_path"],
            page_start=own[0]["page_start"],
            page_end=own[-1]["page_end"],
            chunk_ids=tuple(row["chunk_id"] for row in own),
        )


def _waiting(paper: Paper) -> PaperSummary:
    sources = (source for file in paper.files for source in expected_sources(file.path.name))
    return PaperSummary(
        paper_id=paper.paper_id, source=next(sources, None), state=PaperState.WAITING
    )
