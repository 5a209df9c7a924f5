"""Lists of retracted papers beside the papers: a DOI in each line, or a table, such as that of
Retraction Watch."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath

from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.text.identifiers import dois_in, normal_doi
from rag_assets.parsing.discovery import RETRACTION_LISTS, library_files
from rag_assets.parsing.shared.files.raw import decoded

_MAX_MB = 300
_DELIMITERS = ",;\t|"
_OF_NOTICE = re.compile("retraction|notice")
"""In the name of a column with DOIs: those of the notices, not of the papers."""
_NATURES = frozenset({"retractionnature", "nature", "type", "updatetype", "status"})
_NO_RETRACTION = re.compile("correct|corrigend|errat|concern|reinstat", re.IGNORECASE)
"""Retraction Watch lists these, too (https://gitlab.com/crossref/retraction-watch-data)."""


def retraction_lists(papers: Path) -> dict[str, tuple[set[str], list[str]]]:
    """What `read_retractions` finds in each list below the folder `papers`, by its relative
    path."""
    return {
        one: read_retractions(papers / one)
        for one in library_files(papers)
        if is_retraction_list(one)
    }


def is_retraction_list(relative: str) -> bool:
    return PurePosixPath(relative).name.lower() in RETRACTION_LISTS


def read_retractions(path: Path) -> tuple[set[str], list[str]]:
    """The DOIs in a list, and what could not be read of it."""
    found: set[str] = set()
    try:
        if path.stat().st_size > _MAX_MB * 1_000_000:
            return found, [f"It has more than {_MAX_MB} MB. Keep the DOIs alone, one a line."]
        found.update(_dois(decoded(path.read_bytes()).text))
    except OSError as error:
        return found, [f"It cannot be opened ({error.strerror})."]
    except UnreadableDocument as error:
        return found, [f"It {error}"]
    except csv.Error as error:
        return found, [
            f"Its table cannot be read to the end ({error}). Keep the DOIs alone, one a line."
        ]
    if not found:
        return found, [
            "No DOI was found in it, so that it marks no paper. Put one DOI on each line."
        ]
    return found, []


def _dois(text: str) -> Iterator[str]:
    rows = _rows(text)
    header = next(rows, [])
    if any(map(dois_in, header)):
        rows, header = chain([header], rows), []
    names = [re.sub(r"[\W_]", "", name).lower() for name in header]
    of_papers = [
        at for at, name in enumerate(names) if "doi" in name and not _OF_NOTICE.search(name)
    ]
    natures = [at for at, name in enumerate(names) if name in _NATURES]
    for row in rows:
        if not any(_NO_RETRACTION.search(row[at]) for at in natures if at < len(row)):
            for cell in (row[at] for at in of_papers or range(len(row)) if at < len(row)):
                yield from [doi] if (doi := normal_doi(cell)) else dois_in(cell)


def _rows(text: str) -> Iterator[Sequence[str]]:
    """The cells of each line; lines that nothing parts have one."""
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter in first:
        return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    return ([line] for line in text.splitlines())
