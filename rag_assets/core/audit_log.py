"""CSV files to which rows are only added: logs of answers, of evaluations, and of files that could
not be read.

Each line has a checksum in its last column. A damaged line is moved to another file, and the others
stay.
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
"""The last column of every log: a checksum of the values before it."""


@dataclass(frozen=True)
class AuditLog:
    """The columns of one kind of log, by which its files are read and written."""

    columns: tuple[str, ...]
    """All columns but the checksum."""
    subject: tuple[str, ...]
    """Columns that identify the subject of a row, such as a question; the last of them is never
    empty."""
    statement: tuple[str, ...]
    """Columns with the statement of a row about its subject, such as the answer."""

    def append(self, path: Path, rows: Sequence[Mapping[str, object]]) -> None:
        """Add rows to the log, all at once or none.

        A row with the same statement as the last row about its subject is left out: a run that was
        killed after it wrote the log, and is repeated, adds no row twice.
        """
        self._move_damaged_rows(path)
        earlier = self._earlier_rows(path)
        last_statement = {self._subject_of(row): self._statement_of(row) for row in earlier}
        new = [
            row
            for row in rows
            if last_statement.get(self._subject_of(row)) != self._statement_of(row)
        ]
        if new:
            values = [
                _with_checksum([row.get(name) for name in self.columns]) for row in [*earlier, *new]
            ]
            write_atomically(path, csv_bytes([self._header, *values]))

    def last_rows(self, path: Path) -> list[dict[str, str]]:
        """The last row about each subject."""
        return list({self._subject_of(row): row for row in self._earlier_rows(path)}.values())

    @property
    def _header(self) -> list[str]:
        return [*self.columns, CHECKSUM_COLUMN]

    def _subject_of(self, row: Mapping[str, object]) -> tuple[str, ...]:
        return tuple(cell(row[name]) for name in self.subject)

    def _statement_of(self, row: Mapping[str, object]) -> tuple[str, ...]:
        return tuple(cell(row[name]) for name in self.statement)

    def _earlier_rows(self, path: Path) -> list[dict[str, str]]:
        """The rows of the log. A file that is no log of this kind is renamed, with a warning, and
        counts as empty."""
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

    def _move_damaged_rows(self, path: Path) -> None:
        """Move the damaged lines of the log to a file beside it."""
        if damaged := damaged_rows(path):
            rows = [
                line
                for line in log_lines(path)
                if _is_whole(line) and _values(line) != self._header
            ]
            keep_aside(path, damaged, kept=[csv_bytes([self._header]).rstrip(b"\n"), *rows])


def damaged_rows(path: Path) -> list[bytes]:
    """The lines of a log whose checksum is wrong; empty for a file in which all are wrong, because
    it is no log."""
    lines = log_lines(path)
    damaged = [line for line in lines if not _is_whole(line)]
    return damaged if len(damaged) < len(lines) else []


def _is_whole(line: bytes) -> bool:
    """Whether a line is the header, or a row with the right checksum."""
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
    """A value on one line, written so that a spreadsheet reads it as text, not as a formula."""
    return no_formula("" if value is None else " ".join(str(value).splitlines()))


def _values(line: bytes) -> list[str]:
    (values,) = csv.reader([line.decode("utf-8-sig")])
    return values
