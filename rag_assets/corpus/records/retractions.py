"""Lists of retracted papers beside the papers: a DOI in each line, or the table of Retraction Watch."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from rag_assets.core.text.identifiers import dois_in, normal_doi

_MAX_MB = 300
_MAX_LINE_CHARS = 2_000
_DOI, _NATURE, _RETRACTION = "OriginalPaperDOI", "RetractionNature", "Retraction"
"""Columns of Retraction Watch's table, which also lists corrections and reinstatements, and the value that counts
(https://gitlab.com/crossref/retraction-watch-data)."""


def read_retractions(path: Path) -> tuple[set[str], list[str]]:
    """The DOIs in a list, and what could not be read of it."""
    found: set[str] = set()
    try:
        if path.stat().st_size > _MAX_MB * 1_000_000:
            return found, [f"It has more than {_MAX_MB} MB. Keep the DOIs alone, one a line."]
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            found.update(_dois(file))
    except OSError as error:
        return found, [f"It cannot be opened ({error.strerror})."]
    except csv.Error as error:
        return found, [f"Its table cannot be read to the end ({error}). Keep the DOIs alone, one a line."]
    return found, []


def _dois(file: TextIO) -> Iterator[str]:
    header = file.readline(_MAX_LINE_CHARS)
    file.seek(0)
    if _DOI in header and _NATURE in header:
        rows = csv.DictReader(file, delimiter=max(",;\t", key=header.count), skipinitialspace=True)
        if not {_DOI, _NATURE} <= set(rows.fieldnames or ()):
            raise csv.Error("no comma, semicolon or tab parts its columns")
        for row in rows:
            if row[_NATURE] == _RETRACTION and (doi := normal_doi(row[_DOI])):
                yield doi
    else:
        while line := file.readline(_MAX_LINE_CHARS):
            yield from dois_in(line)
