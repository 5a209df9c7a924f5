"""CSV files to which rows are only added: what was answered, evaluated, and could not be read.

Each line has a checksum in its last column: a damaged line is kept aside, and costs none of the
others.
"""

import csv
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_assets.core.incremental import (
    file_sha256,
    fingerprint,
    keep_aside,
    log_lines,
    write_atomically,
)
from rag_assets.core.text.display import csv_bytes, no_formula

logger = logging.getLogger(__name__)
CHECKSUM_COLUMN = "row_checksum"
"""The last column of every log: of the values before it."""


@dataclass(frozen=True)
class AuditLog:
    """One kind of log."""

    columns: tuple[str, ...]
    """Without the checksum."""
    subject: tuple[str, ...]
    """Columns that tell what a row is about; the last of them is never empty."""
    statement: tuple[str, ...]
    """Columns that hold what a row says about it."""

    def append(self, path: Path, rows: Sequence[Mapping[str, object]]) -> None:
        """Add rows to the log; a reader, or a kill, sees all of them or none.

        A row that says what the last row on its subject says is left out: a run that was killed
        between the log and the publication says it again.
        """
        self._set_damaged_aside(path)
        earlier = self._earlier_rows(path)
        last = {self._key(row): self._said(row) for row in earlier}
        news = [row for row in rows if last.get(self._key(row)) != self._said(row)]
        if news:
            values = [
                _with_checksum([row.get(name) for name in self.columns])
                for row in [*earlier, *news]
            ]
            write_atomically(path, csv_bytes([self._header, *values]))

    def last_rows(self, path: Path) -> list[dict[str, str]]:
        """The newest row on each subject."""
        return list({self._key(row): row for row in self._earlier_rows(path)}.values())

    @property
    def _header(self) -> list[str]:
        return [*self.columns, CHECKSUM_COLUMN]

    def _key(self, row: Mapping[str, object]) -> tuple[str, ...]:
        return tuple(cell(row[name]) for name in self.subject)

    def _said(self, row: Mapping[str, object]) -> tuple[str, ...]:
        return tuple(cell(row[name]) for name in self.statement)

    def _earlier_rows(self, path: Path) -> list[dict[str, str]]:
        if not path.exists():
            return []
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = list(csv.DictReader(file))
        if not rows or not all(row.get(self.subject[-1]) for row in rows):
            aside = path.with_name(f"{path.stem}.{file_sha256(path)[:8]}{path.suffix}")
            path.replace(aside)
            logger.warning(
                "%s has rows that are not of this audit; it is kept as %s and a new one begun.",
                path,
                aside,
            )
            return []
        return [{name: row.get(name) or "" for name in self.columns} for row in rows]

    def _set_damaged_aside(self, path: Path) -> None:
        if damaged := damaged_rows(path):
            rows = [
                line
                for line in log_lines(path)
                if _is_whole(line) and _values(line) != self._header
            ]
            keep_aside(path, damaged, kept=[csv_bytes([self._header]).rstrip(b"\n"), *rows])


def damaged_rows(path: Path) -> list[bytes]:
    """The lines of a log that do not fit their checksums; empty for a file that is no log."""
    lines = log_lines(path)
    damaged = [line for line in lines if not _is_whole(line)]
    return damaged if len(damaged) < len(lines) else []


def _is_whole(line: bytes) -> bool:
    """Whether it is the header, or a row as it was written."""
    try:
        values = _values(line)
    except (ValueError, csv.Error):
        return False
    *others, checksum = values or [""]
    return checksum in (CHECKSUM_COLUMN, fingerprint(others)) and bool(others)


def _with_checksum(values: Sequence[object]) -> list[str]:
    texts = [cell(value) for value in values]
    return [*texts, fingerprint(texts)]


def cell(value: object) -> str:
    """One line that a spreadsheet takes for text."""
    return no_formula("" if value is None else " ".join(str(value).splitlines()))


def _values(line: bytes) -> list[str]:
    (values,) = csv.reader([line.decode("utf-8-sig")])
    return values
