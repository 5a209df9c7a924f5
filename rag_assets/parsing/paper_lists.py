"""A parquet file that lists the papers: one row per paper with the paths of its files. With such a
list, the papers folder is not searched.

A user names it in the settings, puts it into the papers folder, or puts it at
data/cache/parsed_index.parquet, where the pipeline publishes its own index. From there it is moved
into the papers folder, so that later runs work from the same list.
"""

import logging
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import staging
from rag_assets.core.settings import ParseLimits
from rag_assets.core.table_files import PROVENANCE_KEY, read_provenance, write_table
from rag_assets.parsing.bibliographies import is_reference_library, papers_in, relative_name
from rag_assets.parsing.discovery import (
    INDEX_NAME,
    Paper,
    PaperFile,
    demand_folder,
    discover,
    file_problem,
    safe_id,
)
from rag_assets.parsing.registry import known_suffixes

logger = logging.getLogger(__name__)
_PATH_COLUMNS = ("parsed_xml_path", "parsed_txt_path", "pdf_path")
"""The PDF is optional: without the column no document gets its pages from one."""
_REQUIRED_COLUMNS = ("paper_id", *_PATH_COLUMNS[:2])
_PUBLISHED_COLUMN = "fingerprint"
"""A column of every index that the pipeline published, in all versions."""
_MOVED = {"list_of_papers": "moved from data/cache"}
"""Provenance of a list that `adopt_list` moved; a list without it was put into the papers folder by
a user."""


def find_papers(papers: Path, paper_list: Path | None, limits: ParseLimits) -> list[Paper]:
    """The papers that `paper_list` names. Without it, those that parsed_index.parquet in the papers
    folder names; without that, those that `discover` finds.

    paper_list: a table of papers, or the library of a reference manager (see `bibliographies`).
    Raises MissingInput when the folder or the named file does not exist, or the file is no such
    table.
    """
    if paper_list is not None and is_reference_library(paper_list):
        return papers_in(paper_list, papers, limits)
    if paper_list is not None:
        return _listed_papers(paper_list, papers, limits)
    demand_folder(papers)
    in_papers = papers / INDEX_NAME
    return (
        _listed_papers(in_papers, papers, limits)
        if in_papers.exists()
        else discover(papers, limits)
    )


def demand_papers(found: Sequence[Paper], papers: Path) -> None:
    """Raise MissingInput when no paper was found: there is nothing to build from.

    Do not call it for a corpus that was published before: its papers may all have been deleted on
    purpose.
    """
    if not found:
        raise MissingInput(
            f"There is no paper in {papers}. Put papers into it, in folders as you like, and run again. Read are: "
            f"{', '.join(known_suffixes())}."
        )


def list_to_adopt(published: Path, papers: Path, named: Path | None) -> Path | None:
    """`published`, if the file there is a list of papers of the user; None if it is the index that
    the pipeline published, or does not exist.

    named: the list that the settings name. Raises MissingInput when there is a second list, in the
    settings or in the folder `papers`: it is not known which one is meant, and the one at
    `published` would be lost.
    """
    if not _is_list_of_papers(published):
        return None
    in_papers = papers / INDEX_NAME
    is_users = in_papers.exists() and read_provenance(in_papers) != _MOVED
    if other := named or (in_papers if is_users else None):
        raise MissingInput(
            f"There are two lists of papers, {published} and {other}. Remove the one that is not meant. "
            "Nothing was changed."
        )
    return published


def adopt_list(published: Path, papers: Path) -> None:
    """Move the list of papers at `published` to parsed_index.parquet in the folder `papers`.

    Its relative paths are rewritten. A path may be relative to the folder of the list, to the data
    folder or to the parent of the data folder; the first of these in which the file exists is
    taken. Raises MissingInput when the list cannot be written.
    """
    kept = papers / INDEX_NAME
    table = pq.read_table(published)
    table = table.select(_known_columns(table.schema))
    for column in _PATH_COLUMNS:
        if column in table.schema.names:
            moved = [
                _moved_path(value, published.parent, papers) for value in table[column].to_pylist()
            ]
            table = table.set_column(
                table.schema.get_field_index(column), column, pa.array(moved, pa.string())
            )
    try:
        papers.mkdir(parents=True, exist_ok=True)
        with staging() as staged:
            write_table(table, staged.path(kept), _MOVED)
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


def _listed_papers(listing: Path, papers: Path, limits: ParseLimits) -> list[Paper]:
    """The papers of a table with `paper_id`, `parsed_xml_path`, `parsed_txt_path` and perhaps
    `pdf_path`.

    Relative paths count from the folder of the table; null or empty ones are fine. A row whose
    files are missing, or whose paper_id occurs in a row above, becomes a paper with a problem.
    Raises MissingInput when it is not such a table.
    """
    found: dict[str, Paper] = {}
    n_rows_of: Counter[str] = Counter()
    for row in _rows_of(listing):
        listed_id = str(row["paper_id"] if row["paper_id"] is not None else "").strip()
        paper_id = safe_id(listed_id)
        files = tuple(
            _listed_file(listing.parent / path, papers, limits) for path in _paths_of(row)
        )
        n_rows_of[paper_id] += 1
        problem = _row_problem(listing, listed_id, files)
        if (nth := n_rows_of[paper_id]) > 1:
            problem = f"{listing.name} names paper_id {paper_id} {nth} times; the first row is used. Give each paper one row."
            paper_id = safe_id(f"{listed_id}/{nth}")
        found[paper_id] = Paper(paper_id, files, problem)
    return list(found.values())


def _rows_of(listing: Path) -> list[dict[str, object]]:
    if not listing.is_file():
        raise MissingInput(
            f"{listing}, which the setting paper_list names, does not exist. Write it or unset the setting."
        )
    try:
        columns = _known_columns(pq.read_schema(listing))
        table = pq.read_table(listing, columns=columns)
    except (OSError, pa.ArrowException) as error:
        raise MissingInput(
            f"{listing} cannot be read as a parquet file. Write it again."
        ) from error
    if missing := [name for name in _REQUIRED_COLUMNS if name not in columns]:
        raise MissingInput(
            f"{listing} has no column {', '.join(missing)}. Needed are {', '.join(_REQUIRED_COLUMNS)}."
        )
    rows: list[dict[str, object]] = table.to_pylist()
    return rows


def _known_columns(schema: pa.Schema) -> list[str]:
    return [name for name in ("paper_id", *_PATH_COLUMNS) if name in schema.names]


def _paths_of(row: Mapping[str, object]) -> list[str]:
    paths = [row.get(column) for column in _PATH_COLUMNS]
    return list(dict.fromkeys(path for path in paths if isinstance(path, str) and path.strip()))


def _listed_file(path: Path, papers: Path, limits: ParseLimits) -> PaperFile:
    return PaperFile(path, relative_name(path, papers), file_problem(path, limits))


def _row_problem(listing: Path, listed_id: str, files: Sequence[PaperFile]) -> str:
    """Why a row names no paper, as a whole sentence; empty if it does."""
    if not listed_id:
        return f"{listing.name} has a row without paper_id. Give it one."
    if not files:
        return f"{listing.name} names no file for {listed_id}. Fill in parsed_xml_path or parsed_txt_path."
    return ""


def _is_list_of_papers(path: Path) -> bool:
    """Whether the file is a list of a user, not the index that the pipeline published."""
    try:
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowException):
        return False
    is_published_here = (
        PROVENANCE_KEY in (schema.metadata or {}) or _PUBLISHED_COLUMN in schema.names
    )
    return not is_published_here and set(_REQUIRED_COLUMNS) <= set(schema.names)


def _moved_path(value: object, folder: Path, papers: Path) -> str | None:
    """A path of a list in `folder`, changed so that it is right for a list in the folder `papers`;
    an absolute path stays."""
    if not isinstance(value, str) or not value.strip():
        return None
    data = papers.parent
    candidates = [base / value for base in (folder, data, data.parent)]
    target = next((path for path in candidates if path.exists()), candidates[0])
    if Path(value).is_absolute():
        return str(target)
    return Path(os.path.relpath(target, papers)).as_posix()
