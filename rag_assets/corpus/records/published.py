"""The published records, looked up by paper, and a record as a text that is searched and quoted like
the other sections of its paper: the title page.
"""

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
    """The records of papers by id, in their order; without ids that no paper has.

    Raises MissingInput when there is no table of records that can be used.
    """
    table = OpenTable(paths.records)
    rows = {
        paper: row for row, paper in enumerate(table.columns(["paper_id"])["paper_id"].to_pylist())
    }
    wanted = [paper for paper in dict.fromkeys(paper_ids) if paper in rows]
    records = table.values(
        [rows[paper] for paper in wanted], lambda part: list(records_from(part).values())
    )
    return dict(zip(wanted, records, strict=True))


def titles_of(paths: Paths) -> dict[str, str]:
    """The title of every paper in the index, by id: that of its record, or of its file where it has
    no record, as a quarantined one. Empty where it is not known."""
    titles = _titles_in(paths.parsed_index)
    return titles | {
        paper: title for paper, title in _titles_in(paths.records).items() if paper in titles
    }


def _titles_in(table: Path) -> dict[str, str]:
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
    """The title page of each paper that has one, by id. papers: schema PAPERS."""
    sources = (
        {one["field"]: one["source"] for one in row} for row in papers["sources"].to_pylist()
    )
    written = zip(records_from(papers).items(), sources, strict=True)
    return {
        paper: text
        for (paper, record), stated_by in written
        if (text := title_page(record, stated_by))
    }


def title_page(record: Record, stated_by: Mapping[str, str]) -> str:
    """One line per statement, and where they come from; empty unless authors, year, venue or DOI
    are known."""
    affiliations = dict.fromkeys(one.affiliation for one in record.authors if one.affiliation)
    statements = {
        AUTHORS: "; ".join(one.name for one in record.authors),
        AFFILIATIONS: "; ".join(affiliations),
        VENUE: _venue(record),
        DATE: str(record.year or ""),
        DOI: record.doi or "",
        "arXiv": record.arxiv or "",
        "Retracted": f"yes, by {record.retracted}" if record.retracted else "",
    }
    if not any(statements.values()):
        return ""
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
    if not record.venue:
        return ""
    volume = f"{record.volume or ''}{f'({record.issue})' if record.issue else ''}"
    return ", ".join(filter(None, (record.venue, volume, record.pages)))
