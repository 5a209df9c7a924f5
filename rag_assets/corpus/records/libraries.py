"""The bibliographies that a user keeps beside the papers or that name them, and the lists of retracted papers.

`matching` says which paper an entry belongs to.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from rag_assets.corpus.records.retractions import read_retractions
from rag_assets.parsing.bibliographies import Entry, read_library
from rag_assets.parsing.discovery import RETRACTION_LISTS, library_files
from rag_assets.parsing.reference_libraries import entries_of, is_reference_library

_MOST_PROBLEMS = 50


@dataclass(frozen=True, slots=True)
class Libraries:
    """All bibliographies of a papers folder."""

    entries: tuple[Entry, ...] = ()
    problems: tuple[dict[str, str], ...] = ()
    """(file, problem) of what could not be read, the problem with its line."""
    retracted: Mapping[str, str] = field(default_factory=dict)
    """The list, by each DOI that is in one."""

    @classmethod
    def of(cls, papers: Path, paper_list: Path | None = None) -> "Libraries":
        """Read every bibliography and every list of retracted papers below the folder `papers`, sorted by path, and the
        library that names the papers. Raises MissingInput when that cannot be read."""
        entries: list[Entry] = []
        problems: list[dict[str, str]] = []
        retracted: dict[str, str] = {}
        for relative in library_files(papers):
            if PurePosixPath(relative).name.lower() in RETRACTION_LISTS:
                dois, wrong = read_retractions(papers / relative)
                retracted = dict.fromkeys(dois, relative) | retracted
            else:
                found, wrong = read_library(papers / relative, relative)
                entries += found
            problems += ({"file": relative, "problem": problem} for problem in wrong[:_MOST_PROBLEMS])
        if paper_list and is_reference_library(paper_list):
            found, wrong = entries_of(paper_list, papers)
            entries += found
            problems += ({"file": paper_list.name, "problem": problem} for problem in wrong[:_MOST_PROBLEMS])
        return cls(tuple(entries), tuple(problems), retracted)
