"""A list of papers that a user put at data/cache/parsed_index.parquet, where the pipeline publishes its own index.

The list is moved into the papers folder, where `paper_list` reads it, before the published index takes its place. So
later runs work from the same list.
"""

import logging
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.errors import MissingInput
from rag_assets.incremental import staging
from rag_assets.parsing.discovery import INDEX_NAME
from rag_assets.parsing.paper_list import PATH_COLUMNS, REQUIRED_COLUMNS
from rag_assets.table_files import PROVENANCE_KEY, read_provenance, write_table

logger = logging.getLogger(__name__)
_OURS = "fingerprint"
"""A column of every index that was published here, whatever its version."""
_MARK = {"list_of_papers": "moved from data/cache"}
"""Provenance of a moved list; a list without it was put into the papers folder by a user."""


def list_to_adopt(published: Path, papers: Path, named: Path | None) -> Path | None:
    """The list of papers at `published`, the place of the published index; None when there is none.

    `named` is the list that the settings name. Raises MissingInput when that or a list of the user in the folder
    `papers` names the papers as well: it is not known which one is meant, and the one at `published` would be lost.
    """
    if not _is_list_of_papers(published):
        return None
    in_papers = papers / INDEX_NAME
    others = [*([named] if named else []), *([in_papers] if in_papers.exists() and not _was_moved(in_papers) else [])]
    if others:
        raise MissingInput(
            f"There are two lists of papers, {published} and {others[0]}. Remove the one that is not meant. "
            "Nothing was changed."
        )
    return published


def adopt_list(published: Path, papers: Path) -> None:
    """Move the list of papers at `published` to parsed_index.parquet in the folder `papers`.

    Relative paths in it count from its own folder, the data folder or the folder that holds the data folder, wherever
    the file is. Raises MissingInput when it cannot be written there.
    """
    kept = papers / INDEX_NAME
    table = pq.read_table(published)
    table = table.select([name for name in (*REQUIRED_COLUMNS, "pdf_path") if name in table.schema.names])
    for column in PATH_COLUMNS:
        if column in table.schema.names:
            moved = [_from(papers, value, published.parent) for value in table[column].to_pylist()]
            table = table.set_column(table.schema.get_field_index(column), column, pa.array(moved, pa.string()))
    try:
        papers.mkdir(parents=True, exist_ok=True)
        with staging() as staged:
            write_table(table, staged.path(kept), _MARK)
            staged.publish()
        published.unlink()
    except OSError as error:
        raise MissingInput(
            f"{published} is a list of papers. It cannot be moved to {kept} ({error.strerror}), where later runs need "
            "it. Put it elsewhere and name it with the setting paper_list."
        ) from error
    logger.warning(
        "%s is a list of papers and was moved to %s, because the index of the parsed papers takes its place. "
        "Change the list there, or put a new one here.",
        published,
        kept,
    )


def _is_list_of_papers(path: Path) -> bool:
    try:
        found = pq.read_schema(path)
    except (OSError, pa.ArrowException):
        return False
    is_published_here = PROVENANCE_KEY in (found.metadata or {}) or _OURS in found.names
    return not is_published_here and set(REQUIRED_COLUMNS) <= set(found.names)


def _was_moved(path: Path) -> bool:
    return read_provenance(path) == _MARK


def _from(papers: Path, value: object, folder: Path) -> str | None:
    """A path of the list as it reads from the folder `papers`."""
    if not isinstance(value, str) or not value.strip():
        return None
    data = papers.parent
    places = [place / value for place in (folder, data, data.parent)]
    found = next((place for place in places if place.exists()), places[0])
    return str(found) if Path(value).is_absolute() else Path(os.path.relpath(found, papers)).as_posix()
