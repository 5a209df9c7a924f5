"""What was found in the files of papers, so that a file is read again only when it changed.

A file is the one that was read while its inode, size and both times of change are the same. One
that changed within moments of being read is not kept: another change in the same tick of the clock
would leave no trace.
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.incremental import file_sha256, fingerprint, sealed, unsealed, write_atomically
from rag_assets.parsing import registry
from rag_assets.parsing.shared.files.raw import head_and_sha256

_SETTLED_AFTER_NS = 2_000_000_000
"""More than the coarsest tick of a usual file system."""


Stands = tuple[int, int, int, int]
"""Inode and size of a file, when its content changed and when anything of it did, in ns."""


@dataclass(frozen=True)
class KnownFile:
    """A file as it was read."""

    stands: Stands
    sha256: str
    format: int | None
    """Place in `FORMATS`; None if it is none of them."""
    problem: str = ""
    """Why it is none of them."""


def _read(path: Path, stands: Stands) -> KnownFile:
    head, sha256 = head_and_sha256(path)
    try:
        return KnownFile(stands, sha256, registry.FORMATS.index(registry.sniff(path.name, head)))
    except UnreadableDocument as error:
        return KnownFile(stands, sha256, None, str(error))


class KnownFiles:
    """The files of one run; may be used by several threads."""

    def __init__(self, earlier: Mapping[str, KnownFile] | None = None) -> None:
        self._earlier, self._found = dict(earlier or {}), dict[str, KnownFile]()

    @classmethod
    def kept_at(cls, path: Path) -> Self:
        """The entries of the run before; empty if they are of another version or the file is
        damaged."""
        try:
            kept = unsealed(path.read_bytes()) or {}
            return cls(
                _adapter().validate_python(kept["files"])
                if kept.get("version") == _version()
                else None
            )
        except (OSError, ValidationError):
            return cls()

    def read(self, path: Path) -> KnownFile:
        """What is in a file. Raises OSError."""
        name, now_ns = str(path.absolute()), time.time_ns()
        stands = _stands(path)
        known = self._earlier.get(name)
        if known is None or known.stands != stands:
            known = _read(path, stands)
        if max(stands[2:]) < now_ns - _SETTLED_AFTER_NS:
            self._found[name] = known
        return known

    def keep_at(self, path: Path) -> None:
        """Keep what was read in this run, if it is not what was kept before."""
        if self._found == self._earlier and path.exists():
            return
        files = {name: vars(one) for name, one in sorted(self._found.items())}
        write_atomically(path, json.dumps(sealed({"version": _version(), "files": files})).encode())

    def altered(self) -> Iterator[Path]:
        """Files that cannot be read any more, or whose bytes are others than those that were read,
        though nothing else of them changed."""
        for name, known in self._earlier.items():
            path = Path(name)
            try:
                if _stands(path) == known.stands and file_sha256(path) != known.sha256:
                    yield path
            except (FileNotFoundError, NotADirectoryError):  # the next run sees that
                continue
            except OSError:
                yield path


def _stands(path: Path) -> Stands:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _version() -> str:
    return fingerprint(
        registry.PARSER_VERSION, [(known.parse, known.version) for known in registry.FORMATS]
    )


def _adapter() -> TypeAdapter[dict[str, KnownFile]]:
    return TypeAdapter(dict[str, KnownFile])
