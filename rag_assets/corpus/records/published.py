"""The published records, looked up by paper."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from rag_assets.core.domain import Record
from rag_assets.core.errors import MissingInput
from rag_assets.core.open_table import OpenTable
from rag_assets.core.settings import Paths
from rag_assets.core.table_files import read_columns
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
