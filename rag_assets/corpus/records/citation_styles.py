"""Papers as a text cites them, and their list of references: by authors and year, or numbered.

Any other style is the work of a reference manager, which `reference_files` writes for.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rag_assets.core.domain import Record
from rag_assets.core.errors import InvalidSelection
from rag_assets.core.settings import AUTHOR_YEAR, NUMERIC
from rag_assets.corpus.records.reference_files import FORMATS, Records

_MOST_AUTHORS = 6


@dataclass(frozen=True, slots=True)
class Sources:
    """Papers as a style cites them."""

    names: Mapping[str, str]
    """How a text names each, by id: "[1]"."""
    references: tuple[str, ...]
    """The list below the text."""


def bibliography(records: Records, style: str) -> str:
    """style: author-year, numeric, bibtex, ris or csl-json. Raises InvalidSelection for another
    one."""
    if writer := FORMATS.get(style):
        return writer(records)
    if style not in (AUTHOR_YEAR, NUMERIC):
        raise InvalidSelection(
            f"There is no style {style}. Give {AUTHOR_YEAR} or {NUMERIC}; or {', '.join(FORMATS)} for a reference "
            "manager, which writes any other style."
        )
    entries = numbered(records).references if style == NUMERIC else _by_authors(records)
    return "".join(f"{entry}\n" for entry in entries)


def numbered(records: Records) -> Sources:
    """Papers numbered in their order."""
    names = {paper: f"[{number}]" for number, paper in enumerate(records, start=1)}
    return Sources(
        names, tuple(f"{names[paper]} {_entry(paper, record)}" for paper, record in records.items())
    )


def _by_authors(records: Records) -> list[str]:
    """Sorted by family names, then by year; papers without authors by their entries."""
    sorted_by = {
        _entry(paper, record): (
            [person.family.casefold() for person in record.authors],
            record.year or 0,
        )
        for paper, record in records.items()
    }
    return sorted(sorted_by, key=lambda entry: (sorted_by[entry], entry))


def _entry(paper_id: str, record: Record) -> str:
    """ "Ada Lund, Bo Moe. Iron in winter. Blood 3(2), 1-9, 2019. https://doi.org/10.1234/iron";
    without what is not known."""
    more = ["et al"] if len(record.authors) > _MOST_AUTHORS else []
    authors = ", ".join([*(person.name for person in record.authors[:_MOST_AUTHORS]), *more])
    issue = f"({record.issue})" if record.issue else ""
    volume = " ".join(filter(None, (record.venue, f"{record.volume or ''}{issue}")))
    printed = ", ".join(filter(None, (volume, record.pages, str(record.year or ""))))
    where = (
        f"https://doi.org/{record.doi}"
        if record.doi
        else f"arXiv:{record.arxiv}"
        if record.arxiv
        else ""
    )
    ended = (
        part if part.endswith((".", "?", "!")) else f"{part}."
        for part in (authors, record.title or paper_id, printed)
        if part
    )
    return " ".join(filter(None, (*ended, where)))
