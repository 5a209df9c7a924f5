"""The bibliographic record of a paper: who wrote it, when and where it appeared, and under which
identifiers."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Person:
    """An author, or an organisation that is one; then `given` is empty."""

    family: str
    given: str = ""
    orcid: str | None = None
    affiliation: str | None = None

    @property
    def name(self) -> str:
        """ "Ada B. Lund"."""
        return f"{self.given} {self.family}".strip()


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a paper as a publication. None, or nothing, where it is not known: nothing
    is guessed."""

    title: str | None = None
    authors: tuple[Person, ...] = ()
    year: int | None = None
    venue: str | None = None
    """Journal, conference or series it appeared in."""
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    doi: str | None = None
    """In lower case, without a resolver: "10.1234/keys.77"."""
    arxiv: str | None = None
    """Without version and prefix: "2206.01062"."""
    pmid: str | None = None
    abstract: str | None = None
    keywords: tuple[str, ...] = ()
    language: str | None = None
    """Code of ISO 639, "en"."""
    licence: str | None = None
    type: str | None = None
    """Type of CSL 1.0: article-journal, paper-conference, chapter, book, thesis, report, ..."""
    retracted: str | None = None
    """Who says that it was retracted: Crossref, OpenAlex, a list beside the papers, or the paper
    itself with the place, "the paper itself, p. 1". None: none of them does."""


NO_RECORD = Record()


class PaperOrder(StrEnum):
    """The fields a list of papers can be sorted by; papers without a value come last."""

    ID = "id"
    TITLE = "title"
    AUTHOR = "author"
    """Family names of the authors in their order, then the year."""
    YEAR = "year"
    """The newest first."""


@dataclass(frozen=True, slots=True)
class PrintedFront:
    """The first pages of a PDF."""

    title: str
    """Empty where none is found."""
    lines: tuple[str, ...]
    """Texts of the first blocks, in reading order."""
    text: str
    """All text of the first page line by line, with margins and running lines."""
