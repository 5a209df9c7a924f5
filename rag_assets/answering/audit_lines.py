"""Lines of the audit with a checksum each: a damaged line is kept aside, and costs none of the others.

Which columns the audit has is in `records`.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from rag_assets.checksums import keep_aside
from rag_assets.incremental import fingerprint

CHECKSUM_COLUMN = "row_checksum"
"""The last column: of the values before it."""


def with_checksum(values: Sequence[object]) -> list[str]:
    """The values of one row as they are read back, each on one line, and their checksum."""
    texts = ["" if value is None else " ".join(str(value).splitlines()) for value in values]
    return [*texts, fingerprint(texts)]


def encoded(rows: Sequence[Sequence[str]]) -> bytes:
    """Rows as CSV, one line per row."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def set_damaged_aside(path: Path, columns: Sequence[str]) -> None:
    """Move damaged lines to a file beside the audit. An audit of an earlier version has no checksums and is left alone.

    columns: names of all columns, the checksum's last.
    """
    header = encoded([columns]).rstrip(b"\n")
    lines = [line for line in path.read_bytes().split(b"\n") if line] if path.exists() else []
    whole = [line for line in lines if _is_whole(line)]
    if lines and (lines[0] == header or whole) and len(whole) < len(lines) - (lines[0] == header):
        damaged = [line for line in lines if line != header and not _is_whole(line)]
        keep_aside(path, damaged, kept=[header, *whole])


def _is_whole(line: bytes) -> bool:
    try:
        (values,) = csv.reader([line.decode("utf-8-sig")])
    except (ValueError, csv.Error):
        return False
    return len(values) > 1 and with_checksum(values[:-1]) == values
