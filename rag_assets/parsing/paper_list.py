"""A parquet file that names the papers, instead of a sweep: one row a paper with the paths of its files.

What such a table looks like and how its paths are read lives here; what is done with the papers, as for those that a
sweep found, in `corpus`.
"""

import os
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.errors import MissingInput
from rag_assets.parsing.discovery import (
    INDEX_NAME,
    CandidateFile,
    PaperFiles,
    demand_folder,
    discover,
    file_problem,
    safe_id,
)
from rag_assets.parsing.registry import known_suffixes
from rag_assets.settings import ParseLimits

REQUIRED_COLUMNS = ("paper_id", "parsed_xml_path", "parsed_txt_path")
PATH_COLUMNS = ("parsed_xml_path", "parsed_txt_path", "pdf_path")
"""The PDF is optional: without the column no document gets its pages from one."""


def find_papers(papers: Path, parsed_index: Path | None, limits: ParseLimits) -> list[PaperFiles]:
    """The papers that `parsed_index` names, or a parsed_index.parquet in the papers folder, or a sweep finds.

    Raises MissingInput when the folder or the named file is not there, or the file is no such table.
    """
    if parsed_index is not None:
        return listed_papers(parsed_index, papers, limits)
    demand_folder(papers)
    dropped_in = papers / INDEX_NAME
    return listed_papers(dropped_in, papers, limits) if dropped_in.exists() else discover(papers, limits)


def demand_papers(found: Sequence[PaperFiles], papers: Path) -> None:
    """Raise MissingInput when no paper was found: without one there is nothing to make.

    Not for a corpus that was published before: there, all papers may have been deleted on purpose.
    """
    if not found:
        raise MissingInput(
            f"There is no paper in {papers}. Put papers into it, in folders as you like, and run again. Read are: "
            f"{', '.join(known_suffixes())}."
        )


def listed_papers(index: Path, papers: Path, limits: ParseLimits) -> list[PaperFiles]:
    """The papers of a table with `paper_id`, `parsed_xml_path`, `parsed_txt_path` and perhaps `pdf_path`.

    Relative paths count from the folder of the table; null or empty ones are fine. A row whose files are missing, or
    whose paper_id was there before, becomes a paper with a problem. Raises MissingInput when it is no such table.
    """
    rows = _read(index)
    found: dict[str, PaperFiles] = {}
    n_before: Counter[str] = Counter()
    for row in rows:
        given = str(row["paper_id"] if row["paper_id"] is not None else "").strip()
        paper_id = safe_id(given)
        files = tuple(_listed_file(index.parent / path, papers, limits) for path in _paths_of(row))
        n_before[paper_id] += 1
        if n_before[paper_id] > 1:
            repeated = safe_id(f"{given}/{n_before[paper_id]}")
            found[repeated] = PaperFiles(
                repeated,
                files,
                f"{index.name} names paper_id {paper_id} {n_before[paper_id]} times; the first row "
                "is used. Give each paper one row.",
            )
        else:
            found[paper_id] = PaperFiles(paper_id, files, _row_problem(index, given, files))
    return list(found.values())


def _read(index: Path) -> list[dict[str, object]]:
    if not index.is_file():
        raise MissingInput(
            f"{index}, which the setting paper_list names, does not exist. Write it or unset the setting."
        )
    try:
        schema = pq.read_schema(index)
        columns = [name for name in (*REQUIRED_COLUMNS, "pdf_path") if name in schema.names]
        table = pq.read_table(index, columns=columns)
    except (OSError, pa.ArrowException) as error:
        raise MissingInput(f"{index} cannot be read as a parquet file. Write it again.") from error
    if missing := [name for name in REQUIRED_COLUMNS if name not in columns]:
        raise MissingInput(f"{index} has no column {', '.join(missing)}. Needed are {', '.join(REQUIRED_COLUMNS)}.")
    rows: list[dict[str, object]] = table.to_pylist()
    return rows


def _paths_of(row: Mapping[str, object]) -> list[str]:
    paths = [row.get(column) for column in PATH_COLUMNS]
    return list(dict.fromkeys(path for path in paths if isinstance(path, str) and path.strip()))


def _listed_file(path: Path, papers: Path, limits: ParseLimits) -> CandidateFile:
    relative = os.path.relpath(path.absolute(), papers.absolute())
    name = unicodedata.normalize("NFC", Path(relative).as_posix())
    return CandidateFile(path, name, file_problem(path, limits))


def _row_problem(index: Path, given: str, files: tuple[CandidateFile, ...]) -> str | None:
    if not given:
        return f"{index.name} has a row without paper_id. Give it one."
    if not files:
        return f"{index.name} names no file for {given}. Fill in parsed_xml_path or parsed_txt_path."
    return None
