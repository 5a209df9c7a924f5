"""Checksums of what was made here, so that damage is noticed by content.

Small JSON files carry their own (`sealed`), tables too (`table_files`), an index has those of its files in its manifest
(`indexing.folders`). What is done about damage is decided where the file is made: it counts as absent.
"""

import json
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_assets.core.incremental import file_sha256, fingerprint, write_atomically

logger = logging.getLogger(__name__)
CHECKSUM_KEY = "checksum"


_known: dict[Path, tuple[tuple[int, ...], str]] = {}
"""Inode, size and times of the files that were read, with their checksums."""


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, 64 hex digits.

    A file is read in full once per process, and again only when its inode, size or times changed. So bytes that the
    disk loses without a write are noticed by the next process. Raises OSError when the file cannot be read.
    """
    path = path.absolute()
    found = path.stat()
    before = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    if path not in _known or _known[path][0] != before:
        _known[path] = (before, file_sha256(path))
    return _known[path][1]


def flush_folder(folder: Path) -> None:
    """Write every file and folder below `folder` through to the disk, so that a power cut cannot tear them."""
    for path in (folder, *sorted(folder.rglob("*"))):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object with its checksum as the last key; see `unsealed`."""
    plain = {key: value for key, value in content.items() if key != CHECKSUM_KEY}
    return plain | {CHECKSUM_KEY: fingerprint(plain)}


def unsealed(content: bytes) -> dict[str, Any] | None:
    """The JSON object in `content` without its checksum; None when that is missing or does not fit."""
    try:
        found = json.loads(content)
    except ValueError:
        return None
    if not isinstance(found, dict) or sealed(found) != found:
        return None
    return {key: value for key, value in found.items() if key != CHECKSUM_KEY}


def keep_aside(log: Path, damaged: Sequence[bytes], *, kept: Sequence[bytes]) -> None:
    """Leave only the lines `kept` in a log, and add the `damaged` ones to a file beside it; says so in one line."""
    aside = log.with_name(f"{log.stem}.damaged{log.suffix}")
    earlier = aside.read_bytes() if aside.exists() else b""
    write_atomically(aside, earlier + b"".join(line + b"\n" for line in damaged))
    write_atomically(log, b"".join(line + b"\n" for line in kept))
    logger.warning("%s has %d damaged lines; they were moved to %s, the others stay.", log, len(damaged), aside)
