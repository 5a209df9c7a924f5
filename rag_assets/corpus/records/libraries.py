"""The bibliographies that a user keeps beside the papers or that name them, and the lists of
retracted papers.

`matching` says which paper an entry belongs to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rag_assets.core.settings import ParseLimits
from rag_assets.core.workforce.seam import Spread
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.corpus.records.retractions import is_retraction_list, retraction_lists
from rag_assets.parsing.bibliographies import Entry, content_of, entries_in
from rag_assets.parsing.discovery import library_files
from rag_assets.parsing.reference_libraries import entries_of, is_reference_library

_MOST_PROBLEMS, _LIMITS = 50, ParseLimits()


@dataclass(frozen=True, slots=True)
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
