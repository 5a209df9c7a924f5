"""Reads the bibliographies beside the papers (or the one that names the papers) and the lists of
retracted papers, and finds the entry that belongs to each paper.

A list of retracted papers has one DOI per line, or is a table such as that of Retraction Watch.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path, PurePosixPath

from rag_assets.core.domain import Record
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.settings import ParseLimits
from rag_assets.core.text.folding import letters_of, title_key
from rag_assets.core.text.works import dois_in, normal_doi
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.core.workforce.workforce import Spread
from rag_assets.corpus.records.printed import known_values
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
"""Matches the name of a column with the DOIs of retraction notices, not of the retracted papers."""
_NATURES = frozenset({"retractionnature", "nature", "type", "updatetype", "status"})
_NO_RETRACTION = re.compile("correct|corrigend|errat|concern|reinstat", re.IGNORECASE)
"""The natures of notices that are no retractions. Retraction Watch lists them as well
(https://gitlab.com/crossref/retraction-watch-data)."""


def retraction_lists(papers: Path) -> dict[str, tuple[set[str], list[str]]]:
    """The result of `read_retractions` for each list below the folder `papers`, by its path in this
    folder."""
    return {
        path: read_retractions(papers / path)
        for path in library_files(papers)
        if is_retraction_list(path)
    }


def is_retraction_list(relative: str) -> bool:
    return PurePosixPath(relative).name.lower() in RETRACTION_LISTS


def read_retractions(path: Path) -> tuple[set[str], list[str]]:
    """The DOIs in a list of retracted papers, and the problems with the file as sentences."""
    dois: set[str] = set()
    try:
        if path.stat().st_size > _MAX_MB * 1_000_000:
            return dois, [f"It has more than {_MAX_MB} MB. Keep only the DOIs, one per line."]
        dois.update(_dois(decoded(path.read_bytes()).text))
    except OSError as error:
        return dois, [f"It cannot be opened ({error.strerror})."]
    except UnreadableDocument as error:
        return dois, [f"It {error}"]
    except csv.Error as error:
        return dois, [
            f"Its table cannot be read to the end ({error}). Keep only the DOIs, one per line."
        ]
    if not dois:
        return dois, [
            "No DOI was found in it, so that it marks no paper. Put one DOI on each line."
        ]
    return dois, []


def _dois(text: str) -> Iterator[str]:
    """The DOIs of retracted papers in the text of a list. In a table, rows about other notices
    (corrections, concerns) are skipped."""
    rows = _rows(text)
    header = next(rows, [])
    if any(map(dois_in, header)):  # the first line is no header
        rows, header = chain([header], rows), []
    names = [re.sub(r"[\W_]", "", name).lower() for name in header]
    doi_columns = [
        column for column, name in enumerate(names) if "doi" in name and not _OF_NOTICE.search(name)
    ]
    nature_columns = [column for column, name in enumerate(names) if name in _NATURES]
    for row in rows:
        natures = [row[column] for column in nature_columns if column < len(row)]
        if any(map(_NO_RETRACTION.search, natures)):
            continue
        # without a column named "DOI", all cells are searched
        for column in doi_columns or range(len(row)):
            if column < len(row):
                doi = normal_doi(row[column])
                yield from [doi] if doi else dois_in(row[column])


def _rows(text: str) -> Iterator[Sequence[str]]:
    """The cells of each line. A line without delimiters has one cell."""
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter in first:
        return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    return ([line] for line in text.splitlines())


@dataclass(frozen=True)
class PaperKeys:
    """What an entry of a bibliography can be matched with."""

    paper_id: str
    files: tuple[str, ...]
    """Paths in the papers folder."""
    record: Record


class Matcher:
    """Finds the entry of a paper: by DOI, arXiv id, file, key or title, in this order. A file
    matches if it is an attachment of the entry, or if the bibliography has the same name as the
    file."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._by_doi = _first_of((entry.record.doi, entry) for entry in entries)
        self._by_arxiv = _first_of((entry.record.arxiv, entry) for entry in entries)
        self._by_file = _first_of((path, entry) for entry in entries for path in _paths(entry))
        self._by_key = _first_of((entry.key.casefold(), entry) for entry in entries)
        self._by_title = _first_of((title_key(entry.record.title), entry) for entry in entries)

    def entry_of(self, paper: PaperKeys) -> Entry | None:
        """The entry of a paper, or None."""
        if not self._entries:
            return None
        record = paper.record
        stems = [stem_of(file) or file for file in paper.files]
        files = [*paper.files, *stems, *(PurePosixPath(file).name for file in paper.files)]
        candidates = (
            self._by_doi.get(record.doi),
            self._by_arxiv.get(record.arxiv),
            *(self._by_file.get(file) for file in files),
            self._by_key.get(paper.paper_id.casefold()),
            self._by_title.get(title_key(record.title)),
        )
        return next(
            (entry for entry in candidates if entry and not _is_other_work(entry.record, record)),
            None,
        )


def _is_other_work(entry: Record, paper: Record) -> bool:
    """Whether entry and paper have different DOIs: a preprint and its published version may have
    the same title."""
    return bool(entry.doi and paper.doi and entry.doi != paper.doi)


def completed(
    record: Record, sources: Mapping[str, str], entry: Entry
) -> tuple[Record, dict[str, str]]:
    """The record with the values of the entry, which replace its own, and the source of each
    field."""
    values = known_values(entry.record)
    return replace(record, **values), dict(sources) | dict.fromkeys(values, entry.library)


def filled(
    record: Record, sources: Mapping[str, str], known: Record, source: str
) -> tuple[Record, dict[str, str]]:
    """The record with its unknown fields filled from `known`, and the source of each field.

    If `known` has another title, the record is returned unchanged. A title may be longer than the
    other: a subtitle, or "RETRACTED:" before it. If both have a year or authors and these differ,
    the source of the field says so: "header; Crossref has 2019".
    """
    titles = letters_of(record.title or ""), letters_of(known.title or "")
    shorter, longer = sorted(titles, key=len)
    # without a title key a title is too short: many titles begin with its words
    if shorter and shorter != longer and (title_key(shorter) is None or shorter not in longer):
        return record, dict(sources)
    own_values = known_values(record)
    new_values = {
        name: value for name, value in known_values(known).items() if name not in own_values
    }
    origins = dict(sources) | dict.fromkeys(new_values, source)
    for name in ("year", "authors"):
        value = _as_text(known, name)
        if value and name not in new_values and value != _as_text(record, name):
            origins[name] = f"{sources.get(name, '')}; {source} has {value}"
    return replace(record, **new_values), origins


def _as_text(record: Record, name: str) -> str:
    """The field `authors` or `year` as text: "Lund; Moe", "2019"."""
    if name == "authors":
        return "; ".join(author.family for author in record.authors)
    return str(record.year or "")


def _paths(entry: Entry) -> Iterable[str]:
    """What a paper's file can be found by: path and name of each attachment. If the bibliography
    has this entry only ("smith.bib"), also its path without the suffix ("smith"), since it may be
    beside "smith.pdf"."""
    for path in entry.files:
        posix = path.replace("\\", "/")
        yield posix
        yield PurePosixPath(posix).name
    if entry.is_alone:
        yield next(
            entry.library[: -len(suffix)]
            for suffix in LIBRARY_SUFFIXES
            if entry.library.lower().endswith(suffix)
        )


def _first_of(pairs: Iterable[tuple[str | None, Entry]]) -> dict[str | None, Entry]:
    """A dictionary of the pairs without None and "". The first entry wins."""
    entries: dict[str | None, Entry] = {}
    for name, entry in pairs:
        if name:
            entries.setdefault(name, entry)
    return entries


_MOST_PROBLEMS, _LIMITS = 50, ParseLimits()


@dataclass(frozen=True)
class Libraries:
    """All bibliographies of a papers folder, and its lists of retracted papers."""

    entries: tuple[Entry, ...] = ()
    problems: tuple[dict[str, str], ...] = ()
    """What could not be read: a file and a problem as a sentence with the line."""
    retracted: Mapping[str, str] = field(default_factory=dict)
    """For each DOI in a list of retracted papers, the path of the list."""

    @classmethod
    def of(
        cls,
        papers: Path,
        spread: Spread,
        paper_list: Path | None = None,
        limits: ParseLimits = _LIMITS,
    ) -> "Libraries":
        """Read all bibliographies and lists of retracted papers below the folder `papers`, sorted
        by path, and the library that names the papers (`paper_list`), if there is one.

        spread: reads the bibliographies in worker processes. limits: for reading `paper_list`.
        Raises MissingInput if `paper_list` cannot be read.
        """
        entries: list[Entry] = []
        problems: list[dict[str, str]] = []
        retracted: dict[str, str] = {}
        bibliographies: dict[str, bytes] = {}

        def add_problems(file: str, messages: Sequence[str]) -> None:
            problems.extend(
                {"file": file, "problem": problem} for problem in messages[:_MOST_PROBLEMS]
            )

        for relative in library_files(papers):
            if is_retraction_list(relative):
                continue
            if isinstance(content := content_of(papers / relative), bytes):
                bibliographies[relative] = content
            else:
                add_problems(relative, [content])
        for relative, (dois, messages) in retraction_lists(papers).items():
            retracted = dict.fromkeys(dois, relative) | retracted
            add_problems(relative, messages)
        outcomes = {
            file[0]: outcome for file, outcome in spread(entries_in, bibliographies.items())
        }
        for relative in bibliographies:
            outcome = outcomes[relative]
            if isinstance(outcome, Failure):
                add_problems(relative, [f"It {outcome.reason}."])
            else:
                entries += outcome[0]
                add_problems(relative, outcome[1])
        if paper_list and is_reference_library(paper_list):
            new_entries, messages = entries_of(paper_list, papers, limits)
            entries += new_entries
            add_problems(paper_list.name, messages)
        return cls(tuple(entries), tuple(problems), retracted)
