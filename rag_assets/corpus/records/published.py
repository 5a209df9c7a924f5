"""Looks up the published records by paper, and writes a record as a title page: a text that is
searched and quoted like the other sections of its paper."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from rag_assets.core.domain import Record
from rag_assets.core.errors import MissingInput
from rag_assets.core.settings import Paths
from rag_assets.core.table_files import OpenTable, read_columns
from rag_assets.core.tables import records_from


def records_of(paths: Paths, paper_ids: Iterable[str]) -> dict[str, Record]:
    """The records of papers by id, in the order of `paper_ids`. Unknown ids are left out.

    Raises MissingInput if there is no usable table of records.
    """
    table = OpenTable(paths.records)
    row_numbers = {
        paper: number
        for number, paper in enumerate(table.columns(["paper_id"])["paper_id"].to_pylist())
    }
    known_ids = [paper for paper in dict.fromkeys(paper_ids) if paper in row_numbers]
    records = table.values(
        [row_numbers[paper] for paper in known_ids],
        lambda table_rows: list(records_from(table_rows).values()),
    )
    return dict(zip(known_ids, records, strict=True))


def titles_of(paths: Paths) -> dict[str, str]:
    """The title of every paper in the index, by paper_id; "" if it is not known.

    The record's title is taken. A paper without a record (a quarantined one) has the title of its
    file.
    """
    titles = _titles_in(paths.parsed_index)
    return titles | {
        paper: title for paper, title in _titles_in(paths.records).items() if paper in titles
    }


def _titles_in(table: Path) -> dict[str, str]:
    """The titles in a table, by paper_id; empty if the table is missing or unusable."""
    with suppress(MissingInput):
        columns = read_columns(table, ["paper_id", "title"]).to_pydict()
        return {
            paper: title or ""
            for paper, title in zip(columns["paper_id"], columns["title"], strict=True)
        }
    return {}


AUTHORS, AFFILIATIONS, VENUE, DATE, DOI = (
    "Authors",
    "Affiliations",
    "Published in",
    "Publication date",
    "DOI",
)


def title_pages(papers: pa.Table) -> dict[str, str]:
    """The text of each paper's title page, by paper_id; papers without one are left out. papers:
    schema PAPERS."""
    sources = papers["sources"].to_pylist()
    pages = {
        paper: title_page(record, {item["field"]: item["source"] for item in fields})
        for (paper, record), fields in zip(records_from(papers).items(), sources, strict=True)
    }
    return {paper: page for paper, page in pages.items() if page}


def title_page(record: Record, stated_by: Mapping[str, str]) -> str:
    """The record as text: one line per known field, and a last line that names their sources. Empty
    unless more than a title is known.

    stated_by: the source of each field, by the field's name.
    """
    affiliations = dict.fromkeys(
        author.affiliation for author in record.authors if author.affiliation
    )
    statements = {
        AUTHORS: "; ".join(author.name for author in record.authors),
        AFFILIATIONS: "; ".join(affiliations),
        VENUE: _venue(record),
        DATE: str(record.year or ""),
        DOI: record.doi or "",
        "arXiv": record.arxiv or "",
        "Retracted": f"yes, by {record.retracted}" if record.retracted else "",
    }
    if not any(statements.values()):
        return ""
    # fields of the record, as the last line calls them
    fields = {
        "title": "title",
        "authors": "authors",
        "venue": "venue",
        "year": "date",
        "doi": "DOI",
        "arxiv": "arXiv",
    }
    by_source: dict[str, list[str]] = {}
    for field, name in fields.items():
        if field in stated_by and getattr(record, field):
            by_source.setdefault(stated_by[field], []).append(name)
    read_from = "; ".join(f"{source} ({', '.join(names)})" for source, names in by_source.items())
    statements = {"Title": record.title or "", **statements, "Read from": read_from}
    return "\n".join(f"{label}: {value}" for label, value in statements.items() if value)


def _venue(record: Record) -> str:
    """ "Blood, 3(2), 1-9"; empty without a venue."""
    if not record.venue:
        return ""
    volume = f"{record.volume or ''}{f'({record.issue})' if record.issue else ''}"
    return ", ".join(filter(None, (record.venue, volume, record.pages)))
