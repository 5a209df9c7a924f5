"""What makes every stage incremental: fingerprints, update plans, atomic publication, and checksums
of what was made.

Nothing here knows what is fingerprinted or published. The stages decide what their keys are (a
paper, a passage, a question); Dagster's data versions are made from the same fingerprints.
"""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from rag_assets.core.errors import BusyDataFolder

logger = logging.getLogger(__name__)
LOCK_NAME = ".write.lock"
STAGED_SUFFIX = ".staged"
REPLACED_SUFFIX = ".replaced"
_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
_PAIRS_AT_ONCE = 1000


def fingerprint(*parts: Any) -> str:
    """32 hex digits of the SHA-256 of the parts' canonical JSON. Parts must be JSON values (tuples
    are lists)."""
    return hashlib.sha256(_CANONICAL.encode(parts).encode("utf-8", "surrogatepass")).hexdigest()[
        :32
    ]


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class UpdatePlan:
    """Which keys of a stage must be built, dropped or left alone. Each list is sorted."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    @property
    def to_build(self) -> tuple[str, ...]:
        return tuple(sorted((*self.added, *self.changed)))

    @property
    def to_drop(self) -> tuple[str, ...]:
        """Keys whose published rows must go: the removed, and the changed before they are built
        again."""
        return tuple(sorted((*self.removed, *self.changed)))

    @property
    def is_noop(self) -> bool:
        return not (self.added or self.changed or self.removed)

    def counts(self) -> dict[str, int]:
        """The four counts every asset reports."""
        return {
            "n_added": len(self.added),
            "n_changed": len(self.changed),
            "n_removed": len(self.removed),
            "n_unchanged": len(self.unchanged),
        }


def plan_update(published: Mapping[str, str], wanted: Mapping[str, str]) -> UpdatePlan:
    """Compare key -> fingerprint of what is published with what is wanted."""
    differing = {key for key, mark in wanted.items() if published.get(key) != mark}
    return UpdatePlan(
        added=tuple(sorted(differing - published.keys())),
        changed=tuple(sorted(differing & published.keys())),
        removed=tuple(sorted(published.keys() - wanted.keys())),
        unchanged=tuple(sorted(key for key in wanted if key not in differing)),
    )


def data_version(fingerprints: Mapping[str, str]) -> str:
    """One fingerprint for a whole asset: equal content gives equal versions, whatever the order it
    came in."""
    return sorted_version(sorted(fingerprints.items()))


def sorted_version(pairs: Iterable[tuple[str, str]]) -> str:
    """The `data_version` of pairs that are sorted already; `fingerprint` of their list, without
    holding the list."""
    left, digest, comma = iter(pairs), hashlib.sha256(b"[["), ""
    while some := list(islice(left, _PAIRS_AT_ONCE)):
        digest.update((comma + _CANONICAL.encode(some)[1:-1]).encode("utf-8", "surrogatepass"))
        comma = ","
    digest.update(b"]]")
    return digest.hexdigest()[:32]


@dataclass
class StagedFiles:
    """Files and folders written beside their final places, moved there together by `publish`."""

    _moves: list[tuple[Path, Path]] = field(default_factory=list)

    def path(self, final: Path) -> Path:
        """Where to write what `publish` will move to `final`. Its folder exists."""
        final.parent.mkdir(parents=True, exist_ok=True)
        staged = final.with_name(final.name + STAGED_SUFFIX)
        _remove(staged)  # what a killed run left
        self._moves.append((staged, final))
        return staged

    def put(self, final: Path, content: bytes) -> None:
        """Stage a small file, unless the published one already holds exactly `content`."""
        if not final.exists() or final.read_bytes() != content:
            self.path(final).write_bytes(content)

    def publish(self) -> None:
        """Flush each staged file to disk and move it over the published one."""
        for staged, final in self._moves:
            if staged.is_dir():
                flush_folder(staged)
            else:
                _flush(staged)
            if staged.is_dir() or final.is_dir():
                replace_folder(staged, final)
            else:
                staged.replace(final)
        self._moves.clear()

    def discard(self) -> None:
        for staged, _ in self._moves:
            _remove(staged)
        self._moves.clear()


@contextmanager
def staging() -> Iterator[StagedFiles]:
    """Staged files; those that are not published by the end of the block are deleted."""
    staged = StagedFiles()
    try:
        yield staged
    finally:
        staged.discard()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a small file so that a reader sees the old or the new content, never a part."""
    with staging() as staged:
        staged.put(path, content)
        staged.publish()


def read_sealed(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file that was made here, see `sealed_json`; None when it is absent or
    damaged, so that it is made again."""
    try:
        return unsealed(path.read_bytes())
    except OSError:
        return None


def link(file: str | Path, to: str | Path) -> None:
    """The same file at another place; a copy where the disk has no links. Neither may be written
    into."""
    try:
        os.link(file, to)
    except OSError:
        shutil.copy2(file, to)


def replace_folder(new: Path, final: Path) -> None:
    """Put `new` in the place of `final`, where one of them is a folder; `recover_folder` mends a
    kill between the two moves."""
    replaced = final.with_name(final.name + REPLACED_SUFFIX)
    _remove(replaced)
    if final.exists():
        final.rename(replaced)
    new.rename(final)
    _remove(replaced)


def recover_folder(final: Path) -> None:
    """Undo a `replace_folder` that was killed half way: what was published last comes back."""
    replaced = final.with_name(final.name + REPLACED_SUFFIX)
    if replaced.exists():
        if final.exists():
            _remove(replaced)
        else:
            replaced.rename(final)


def _remove(path: Path) -> None:
    """Delete a file, a link or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def only_writer(data_dir: Path, *, patience_s: float) -> Iterator[None]:
    """Hold the right to write a data folder, waiting up to `patience_s` for the process that has
    it.

    The lock is the operating system's, so a killed process holds nothing. Who holds it may ask
    again within the same thread. Raises BusyDataFolder.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    lock = FileLock(data_dir.resolve() / LOCK_NAME, is_singleton=True)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if patience_s > 0:
            logger.warning("Another run is writing %s; waiting for it.", data_dir)
        try:
            lock.acquire(timeout=patience_s)
        except Timeout as error:
            raise BusyDataFolder.at(data_dir) from error
    try:
        yield
    finally:
        lock.release()


def is_being_written(data_dir: Path) -> bool:
    """Whether another process has the right to write a data folder."""
    try:
        with only_writer(data_dir, patience_s=0):
            return False
    except BusyDataFolder:
        return True
    except OSError:  # a folder that cannot be written
        return False


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


CHECKSUM_KEY = "checksum"


_known: dict[tuple[Path, Callable[[Path], str]], tuple[tuple[int, ...], str]] = {}
"""Inode, size and times of the files that were read, with what was found in them."""


def found_in(path: Path, read: Callable[[Path], str]) -> str:
    """What `read` finds in a file.

    A file is read once per process, and again only when its inode, size or times changed. So bytes
    that the disk loses without a write are noticed by the next process. Raises OSError when the
    file cannot be looked at, and what `read` raises.
    """
    path = path.absolute()
    status = path.stat()
    before = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if (path, read) not in _known or _known[path, read][0] != before:
        _known[path, read] = (before, read(path))
    return _known[path, read][1]


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, 64 hex digits; see `found_in`."""
    return found_in(path, file_sha256)


def flush_folder(folder: Path) -> None:
    """Write every file and folder below `folder` through to the disk, so that a power cut cannot
    tear them."""
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


def sealed_json(content: Mapping[str, Any]) -> bytes:
    """The text of a JSON file that can be checked without any other file; see `read_sealed`."""
    return json.dumps(sealed(content), indent=2, ensure_ascii=False).encode() + b"\n"


def unsealed(content: bytes) -> dict[str, Any] | None:
    """The JSON object in `content` without its checksum; None when that is missing or does not
    fit."""
    try:
        found = json.loads(content)
    except ValueError:
        return None
    plain = (
        {key: value for key, value in found.items() if key != CHECKSUM_KEY}
        if isinstance(found, dict)
        else {}
    )
    return plain if sealed(plain) == found else None


def log_lines(log: Path) -> list[bytes]:
    """The lines of a log that have content; an empty list where there is no file."""
    content = log.read_bytes() if log.exists() else b""
    return [line for line in content.split(b"\n") if line.strip()]


def damaged_lines(log: Path) -> list[bytes]:
    """The lines of a log of sealed objects that do not fit their checksums."""
    return [line for line in log_lines(log) if unsealed(line) is None]


def keep_aside(log: Path, damaged: Sequence[bytes], *, kept: Sequence[bytes]) -> None:
    """Leave only the lines `kept` in a log, and add the `damaged` ones to a file beside it; says so
    in one line."""
    aside = log.with_name(f"{log.stem}.damaged{log.suffix}")
    earlier = aside.read_bytes() if aside.exists() else b""
    write_atomically(aside, earlier + b"".join(line + b"\n" for line in damaged))
    write_atomically(log, b"".join(line + b"\n" for line in kept))
    logger.warning(
        "%s has %d damaged lines; they were moved to %s, the others stay.", log, len(damaged), aside
    )
