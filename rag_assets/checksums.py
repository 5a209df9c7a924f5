"""SHA-256 of files that were made here, so that damage is noticed by content.

Which files have a checksum, and what is done about a damaged one, is decided where they are published:
`indexing.manifest` for the two indexes.
"""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple


class _Stat(NamedTuple):
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path) -> "_Stat":
        found = path.stat()
        return cls(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


_known: dict[Path, tuple[_Stat, str]] = {}


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, 64 hex digits.

    A file is read in full once per process, and again only when its inode, size or times changed. So bytes that the
    disk loses without a write are noticed by the next process. Raises OSError when the file cannot be read.
    """
    path = path.absolute()
    before = _Stat.of(path)
    known = _known.get(path)
    if known is None or known[0] != before:
        with path.open("rb") as file:
            known = (before, hashlib.file_digest(file, "sha256").hexdigest())
        _known[path] = known
    return known[1]


def flush_folder(folder: Path) -> None:
    """Write every file and folder below `folder` through to the disk, so that a power cut cannot tear them."""
    for path in (folder, *sorted(folder.rglob("*"))):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
