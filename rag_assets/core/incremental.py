"""Tools that make every stage incremental: fingerprints, update plans, atomic publication, and
checksums of files.

They work for any content. The stages decide what their keys are (a paper, a passage, a question);
Dagster's data versions are made from the same fingerprints.
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
EVERYBODY = 0o007
"""Rights of those who are neither the owner of a file nor in its group."""
_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
_PAIRS_PER_BATCH = 1000


def fingerprint(*parts: Any) -> str:
    """The first 32 hex digits of the SHA-256 of the parts as canonical JSON. Parts must be JSON
    values (a tuple counts as a list)."""
    content = _CANONICAL.encode(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:32]


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing. Where everybody could enter them, only this
    user can."""
    if not folder.is_dir():
        make_folder(folder.parent)
        is_open = folder.parent.stat().st_mode & EVERYBODY
        folder.mkdir(0o700 if is_open else 0o777, exist_ok=True)


def file_sha256(path: Path) -> str:
    """SHA-256 of the bytes of a file, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class UpdatePlan:
    """The keys of a stage that must be built, dropped or left as they are. Each list is sorted."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    @property
    def to_build(self) -> tuple[str, ...]:
        return tuple(sorted((*self.added, *self.changed)))

    @property
    def to_drop(self) -> tuple[str, ...]:
        """Keys whose published rows must be deleted: the removed ones, and the changed ones, which
        are built again."""
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
    """The plan that turns the published keys into the wanted ones. Both map a key to its
    fingerprint; a key is changed if its fingerprint differs."""
    differing = {key for key, value in wanted.items() if published.get(key) != value}
    return UpdatePlan(
        added=tuple(sorted(differing - published.keys())),
        changed=tuple(sorted(differing & published.keys())),
        removed=tuple(sorted(published.keys() - wanted.keys())),
        unchanged=tuple(sorted(key for key in wanted if key not in differing)),
    )


def data_version(fingerprints: Mapping[str, str]) -> str:
    """One fingerprint for a whole asset; it does not depend on the order of `fingerprints`."""
    return sorted_version(sorted(fingerprints.items()))


def sorted_version(pairs: Iterable[tuple[str, str]]) -> str:
    """The `data_version` of pairs that are sorted already. It equals `fingerprint(list(pairs))`,
    but the JSON is made in batches, so that millions of pairs need little memory."""
    remaining, digest, comma = iter(pairs), hashlib.sha256(b"[["), ""
    while batch := list(islice(remaining, _PAIRS_PER_BATCH)):
        items = _CANONICAL.encode(batch)[1:-1]  # without the brackets of the list
        digest.update((comma + items).encode("utf-8", "surrogatepass"))
        comma = ","
    digest.update(b"]]")
    return digest.hexdigest()[:32]


@dataclass
class StagedFiles:
    """Files and folders that are first written under a temporary name; `publish` moves all of them
    to their final paths."""

    _moves: list[tuple[Path, Path]] = field(default_factory=list)
    """Temporary and final path of each."""

    def path(self, final: Path) -> Path:
        """The temporary path at which to write a file that `publish` moves to `final`. Its folder
        exists."""
        make_folder(final.parent)
        staged = final.with_name(final.name + STAGED_SUFFIX)
        remove(staged)  # a killed run may have left it
        self._moves.append((staged, final))
        return staged

    def put(self, final: Path, content: bytes) -> None:
        """Stage a small file, unless the published file already has this content."""
        if not final.exists() or final.read_bytes() != content:
            self.path(final).write_bytes(content)

    def publish(self) -> None:
        """Write each staged file through to the disk and move it to its final path, where it
        replaces the published one."""
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
            remove(staged)
        self._moves.clear()


@contextmanager
def staging() -> Iterator[StagedFiles]:
    """Staged files for a block; those that are not published at its end are deleted."""
    staged = StagedFiles()
    try:
        yield staged
    finally:
        staged.discard()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a small file; a reader sees the old or the new content, never a part."""
    with staging() as staged:
        staged.put(path, content)
        staged.publish()


def read_sealed(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file that `sealed_json` made; None when it is absent or damaged, so that
    the caller makes it again."""
    try:
        return unsealed(path.read_bytes())
    except OSError:
        return None


def link(file: str | Path, to: str | Path) -> None:
    """Make `to` a hard link to `file`, or a copy if the disk has no links. Afterwards neither may
    be changed, because a link would change with it."""
    try:
        os.link(file, to)
    except OSError:
        shutil.copy2(file, to)


def replace_folder(new: Path, final: Path) -> None:
    """Replace `final` by `new` if one of them is a folder, which the operating system cannot
    replace in one step. `final` is first moved to another name; if the process is killed after
    that, `recover_folder` moves it back."""
    replaced = final.with_name(final.name + REPLACED_SUFFIX)
    remove(replaced)
    if final.exists():
        final.rename(replaced)
    new.rename(final)
    remove(replaced)


def existing(final: Path) -> Path:
    """`final`, or its last version while `replace_folder` is between its two renames."""
    replaced = final.with_name(final.name + REPLACED_SUFFIX)
    return replaced if replaced.exists() and not final.exists() else final


def recover_folder(final: Path) -> None:
    """Finish or undo a `replace_folder` that was killed: `final` exists again afterwards."""
    replaced = final.with_name(final.name + REPLACED_SUFFIX)
    if replaced.exists():
        if final.exists():
            remove(replaced)
        else:
            replaced.rename(final)


def remove(path: Path) -> None:
    """Delete a file, a link or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def only_writer(data_dir: Path, *, patience_s: float) -> Iterator[None]:
    """Hold the lock of a data folder within the block; only one process can hold it. Waits up to
    `patience_s` seconds for it, then raises BusyDataFolder.

    It is a lock of the operating system, so it is released if the process is killed. A thread that
    holds it may take it again.
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
    """Whether another process holds the lock of a data folder."""
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


Stamp = tuple[int, int, int, int]
"""Inode, size in bytes, time of the last change of the content, and of any change; times in ns."""
_results: dict[tuple[Path, Callable[[Path], str]], tuple[Stamp, str]] = {}
"""Path and reader of a file -> stamp of the file when it was read, and the result."""


def stamp_of(path: Path) -> Stamp:
    """The stamp of a file, which changes with every write. Raises OSError."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def stamp_if_there(path: Path) -> tuple[int, int, int] | None:
    """Changes when another file is put in the place of a published one; None while there is no
    file. Unlike `stamp_of` it stays when another name is given to the file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def read_once(path: Path, read: Callable[[Path], str]) -> str:
    """The result of `read(path)`, which is called once per process and file, and again only when
    the inode, size or times of the file have changed.

    Damage that changes none of these is noticed by the next process. Raises OSError when the file
    cannot be found, and the errors of `read`.
    """
    path = path.absolute()
    stamp = stamp_of(path)
    if (path, read) not in _results or _results[path, read][0] != stamp:
        _results[path, read] = (stamp, read(path))
    return _results[path, read][1]


def sha256_of(path: Path) -> str:
    """SHA-256 of the bytes of a file, 64 hex digits; computed once, see `read_once`."""
    return read_once(path, file_sha256)


def flush_folder(folder: Path) -> None:
    """Write every file and folder below `folder` through to the disk, so that they are complete
    even after a power cut."""
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
    """The content of a JSON file that contains its own checksum; see `read_sealed`."""
    return json.dumps(sealed(content), indent=2, ensure_ascii=False).encode() + b"\n"


def unsealed(content: bytes) -> dict[str, Any] | None:
    """The JSON object in `content` without its checksum; None when that is missing or wrong."""
    try:
        found = json.loads(content)
    except ValueError:
        return None
    if not isinstance(found, dict) or sealed(found) != found:
        return None
    return {key: value for key, value in found.items() if key != CHECKSUM_KEY}


def log_lines(log: Path) -> list[bytes]:
    """The lines of a log that are not blank; none if there is no file."""
    content = log.read_bytes() if log.exists() else b""
    return [line for line in content.split(b"\n") if line.strip()]


def damaged_lines(log: Path) -> list[bytes]:
    """The lines of a log of sealed objects whose checksum is wrong."""
    return [line for line in log_lines(log) if unsealed(line) is None]


def keep_aside(log: Path, damaged: Sequence[bytes], *, kept: Sequence[bytes]) -> None:
    """Leave only the lines `kept` in a log, add the `damaged` ones to a file beside it, and log a
    warning."""
    aside = log.with_name(f"{log.stem}.damaged{log.suffix}")
    earlier = aside.read_bytes() if aside.exists() else b""
    write_atomically(aside, earlier + b"".join(line + b"\n" for line in damaged))
    write_atomically(log, b"".join(line + b"\n" for line in kept))
    logger.warning(
        "%s has %d damaged lines; they were moved to %s, the others stay.", log, len(damaged), aside
    )
