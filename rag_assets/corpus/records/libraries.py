"""The bibliographies that a user keeps beside the papers or that name them, the paper that each entry
belongs to, and lists of retracted papers: a DOI in each line, or a table, such as that of Retraction
Watch.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from rag_assets.core.domain import Record
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.settings import ParseLimits
from rag_assets.core.text.folding import letters_of, title_key
from rag_assets.core.text.works import dois_in, normal_doi
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.core.workforce.workforce import Spread
from rag_assets.parsing.bibliographies import (
    Entry,
    content_of,
    entries_in,
    entries_of,
    is_reference_library,
)
from rag_assets.parsing.discovery import LIBRARY_SUFFIXES, RETRACTION_LISTS, library_files
from rag_assets.parsing.registry import stem_of
from rag_assets.parsing.shared.files import decoded

_MAX_MB = 300
_DELIMITERS = ",;\t|"
_OF_NOTICE = re.compile("retraction|notice")
"""In the name of a column with DOIs: those of the notices, not of the papers."""
_NATURES = frozenset({"retractionnature", "nature", "type", "updatetype", "status"})
_NO_RETRACTION = re.compile("correct|corrigend|errat|concern|reinstat", re.IGNORECASE)
"""Retraction Watch lists these, too (https://gitlab.com/crossref/retraction-watch-data)."""


def retraction_lists(papers: Path) -> dict[str, tuple[set[str], list[str]]]:
    """What `read_retractions` finds in each list below the folder `papers`, by its relative
    path."""
    return {
        one: read_retractions(papers / one)
        for one in library_files(papers)
        if is_retraction_list(one)
    }


def is_retraction_list(relative: str) -> bool:
    return PurePosixPath(relative).name.lower() in RETRACTION_LISTS


def read_retractions(path: Path) -> tuple[set[str], list[str]]:
    """The DOIs in a list, and what could not be read of it."""
    found: set[str] = set()
    try:
        if path.stat().st_size > _MAX_MB * 1_000_000:
            return found, [f"It has more than {_MAX_MB} MB. Keep the DOIs alone, one a line."]
        found.update(_dois(decoded(path.read_bytes()).text))
    except OSError as error:
        return found, [f"It cannot be opened ({error.strerror})."]
    except UnreadableDocument as error:
        return found, [f"It {error}"]
    except csv.Error as error:
        return found, [
            f"Its table cannot be read to the end ({error}). Keep the DOIs alone, one a line."
        ]
    if not found:
        return found, [
            "No DOI was found in it, so that it marks no paper. Put one DOI on each line."
        ]
    return found, []


def _dois(text: str) -> Iterator[str]:
    rows = _rows(text)
    header = next(rows, [])
    if any(map(dois_in, header)):
        rows, header = chain([header], rows), []
    names = [re.sub(r"[\W_]", "", name).lower() for name in header]
    of_papers = [
        at for at, name in enumerate(names) if "doi" in name and not _OF_NOTICE.search(name)
    ]
    natures = [at for at, name in enumerate(names) if name in _NATURES]
    for row in rows:
        if not any(_NO_RETRACTION.search(row[at]) for at in natures if at < len(row)):
            for cell in (row[at] for at in of_papers or range(len(row)) if at < len(row)):
                yield from [doi] if (doi := normal_doi(cell)) else dois_in(cell)


def _rows(text: str) -> Iterator[Sequence[str]]:
    """The cells of each line; lines that nothing parts have one."""
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter in first:
        return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    return ([line] for line in text.splitlines())


@dataclass(frozen=True)
class PaperKeys:
    """The values by which an entry can name a paper."""

    paper_id: str
    files: tuple[str, ...]
    """Relative to the papers folder."""
    record: Record


class Matcher:
    """Finds entries by DOI, arXiv id, attachment or file beside the paper, key, and title, in this
    order."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._by_doi = _first_of((one.record.doi, one) for one in entries)
        self._by_arxiv = _first_of((one.record.arxiv, one) for one in entries)
        self._by_file = _first_of((path, one) for one in entries for path in _paths(one))
        self._by_key = _first_of((one.key.casefold(), one) for one in entries)
        self._by_title = _first_of((title_key(one.record.title), one) for one in entries)

    def entry_of(self, paper: PaperKeys) -> Entry | None:
        if not self._entries:
            return None
        record = paper.record
        stems = [stem_of(file) or file for file in paper.files]
        files = [*paper.files, *stems, *(PurePosixPath(file).name for file in paper.files)]
        found = (
            self._by_doi.get(record.doi),
            self._by_arxiv.get(record.arxiv),
            *(self._by_file.get(file) for file in files),
            self._by_key.get(paper.paper_id.casefold()),
            self._by_title.get(title_key(record.title)),
        )
        return next(
            (one for one in found if one is not None and not _is_another(one.record, record)), None
        )


def _is_another(entry: Record, paper: Record) -> bool:
    """Whether both have a DOI, and not the same: a preprint and its published version may share the
    title."""
    return bool(entry.doi and paper.doi and entry.doi != paper.doi)


def completed(
    own: Record, sources: Mapping[str, str], entry: Entry
) -> tuple[Record, dict[str, str]]:
    """The record with the values of the entry, which win, and where each comes from."""
    stated = _stated(entry.record)
    return replace(own, **stated), dict(sources) | dict.fromkeys(stated, entry.library)


def filled(
    own: Record, sources: Mapping[str, str], known: Record, source: str
) -> tuple[Record, dict[str, str]]:
    """The record with what `known` states and it does not; the same if `known` is another work by
    its title. Where both state a year or authors and not the same, the source tells it.

    One title may go on where the other ends: a subtitle, or "RETRACTED:" before it.
    """
    one, other = sorted((letters_of(own.title or ""), letters_of(known.title or "")), key=len)
    if one and one != other and (title_key(one) is None or one not in other):
        return own, dict(sources)
    new = {
        name: value for name, value in _stated(known).items() if getattr(own, name) in (None, ())
    }
    others = {
        name: f"{sources.get(name, '')}; {source} has {other}"
        for name in ("year", "authors")
        if (other := _told(known, name)) and name not in new and other != _told(own, name)
    }
    return replace(own, **new), dict(sources) | dict.fromkeys(new, source) | others


def _told(record: Record, name: str) -> str:
    return (
        "; ".join(one.family for one in record.authors)
        if name == "authors"
        else str(record.year or "")
    )


def _stated(record: Record) -> dict[str, Any]:
    return {
        name: value
        for name in Record.__dataclass_fields__
        if (value := getattr(record, name)) not in (None, ())
    }


def _paths(entry: Entry) -> Iterable[str]:
    """Attachments by path and by name, and the stem of a file that holds this entry alone, as a
    paper beside it has."""
    for path in entry.files:
        posix = path.replace("\\", "/")
        yield posix
        yield PurePosixPath(posix).name
    if entry.is_alone:
        yield next(
            entry.library[: -len(end)]
            for end in LIBRARY_SUFFIXES
            if entry.library.lower().endswith(end)
        )


def _first_of(pairs: Iterable[tuple[str | None, Entry]]) -> dict[str | None, Entry]:
    found: dict[str | None, Entry] = {}
    for name, entry in pairs:
        if name:
            found.setdefault(name, entry)
    return found


_MOST_PROBLEMS, _LIMITS = 50, ParseLimits()


@dataclass(frozen=True)
class Libraries:
    """All bibliographies of a papers folder."""

    entries: tuple[Entry, ...] = ()
    problems: tuple[dict[str, str], ...] = ()
    """(file, problem) of what could not be read, the problem with its line."""
    retracted: Mapping[str, str] = field(default_factory=dict)
    """The list, by each DOI that is in one."""

    @classmethod
    def of(
        cls,
        papers: Path,
        spread: Spread,
        paper_list: Path | None = None,
        limits: ParseLimits = _LIMITS,
    ) -> "Libraries":
        """Read every bibliography and every list of retracted papers below the folder `papers`,
        sorted by path, and the library that names the papers. spread: takes the bibliographies
        apart. limits: of that library. Raises MissingInput when it cannot be read."""
        entries: list[Entry] = []
        problems: list[dict[str, str]] = []
        retracted: dict[str, str] = {}
        bibliographies: dict[str, bytes] = {}

        def tell(file: str, wrong: Sequence[str]) -> None:
            problems.extend(
                {"file": file, "problem": problem} for problem in wrong[:_MOST_PROBLEMS]
            )

        for relative in library_files(papers):
            if is_retraction_list(relative):
                continue
            if isinstance(content := content_of(papers / relative), bytes):
                bibliographies[relative] = content
            else:
                tell(relative, [content])
        for relative, (dois, wrong) in retraction_lists(papers).items():
            retracted = dict.fromkeys(dois, relative) | retracted
            tell(relative, wrong)
        read = {file[0]: made for file, made in spread(entries_in, bibliographies.items())}
        for relative in bibliographies:
            made = read[relative]
            found, wrong = ([], [f"It {made.reason}."]) if isinstance(made, Failure) else made
            entries += found
            tell(relative, wrong)
        if paper_list and is_reference_library(paper_list):
            found, wrong = entries_of(paper_list, papers, limits)
            entries += found
            tell(paper_list.name, wrong)
        return cls(tuple(entries), tuple(problems), retracted)
