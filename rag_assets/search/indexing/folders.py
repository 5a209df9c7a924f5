"""Indexes whose files lie in one folder: staged beside it as links and copies, published by a rename.

The published folder is never written to. A manifest holds the checksum of each of its files, and nothing opens an index
before `is_intact` has compared them: native code that reads damaged files can crash, hang or write without end. A
staged folder that a killed run left is deleted unopened for the same reason. Which files there are is decided by
`chroma` and `tantivy_index`.
"""

import json
import logging
import os
import shutil
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Generic, Protocol, TypeVar

from rag_assets.core.incremental import (
    STAGED_SUFFIX,
    flush_folder,
    link,
    recover_folder,
    replace_folder,
    sealed,
    sha256_of,
    unsealed,
    write_atomically,
)
from rag_assets.search.indexing.protocols import IndexIdentity, IndexManifest, IndexRow, Opened, Report

MANIFEST_FILE = "manifest.json"


def read_manifest(folder: Path) -> IndexManifest | None:
    """The manifest in `folder`; None when there is no whole index or its manifest is damaged."""
    found = manifest_content(folder)
    try:
        identity = IndexIdentity(**found["identity"])
        n_passages, n_changed = int(found["n_passages"]), int(found["n_changed"])
        return IndexManifest(identity, str(found["passages"]), n_passages, n_changed, tuple(found["without"]))
    except (TypeError, KeyError):
        return None


def write_manifest(folder: Path, manifest: IndexManifest) -> None:
    """Flush the files of the closed index in `folder` and write down their checksums."""
    flush_folder(folder)
    save_manifest(folder, manifest, {"files": _checksums(folder)})


def save_manifest(folder: Path, manifest: IndexManifest, facts: Mapping[str, Any]) -> None:
    """Replace the manifest in `folder` by this one with more facts about the index."""
    folder.mkdir(parents=True, exist_ok=True)
    content = sealed({**asdict(manifest), **facts})
    write_atomically(folder / MANIFEST_FILE, json.dumps(content, indent=2).encode() + b"\n")


def is_intact(folder: Path) -> bool:
    """Whether the index in `folder` has a manifest and exactly the files of it, byte for byte."""
    return "files" in manifest_content(folder) and not damaged_files(folder)


def damaged_files(folder: Path) -> list[Path]:
    """Files of the index in `folder` that are missing, too many or not as its manifest says, byte for byte; none where
    there is no manifest of files."""
    wanted = manifest_content(folder).get("files")
    if wanted is None:
        return []
    try:
        found = _checksums(folder)
    except OSError:
        return [folder]
    return [folder / name for name in sorted(wanted.keys() | found.keys()) if wanted.get(name) != found.get(name)]


def manifest_content(folder: Path) -> dict[str, Any]:
    """Everything in the manifest file in `folder`; empty when it is missing or damaged."""
    try:
        return unsealed((folder / MANIFEST_FILE).read_bytes()) or {}
    except OSError:
        return {}


def _checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of an index, by its path in the folder."""
    return {
        path.relative_to(folder).as_posix(): sha256_of(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST_FILE and not path.name.endswith(".lock")
    }


logger = logging.getLogger(__name__)
Reader = TypeVar("Reader")
_LOCK = ".lock"


class IndexFiles(Protocol[Opened]):
    """How one engine keeps an index in a folder. Everything but what is opened for reading is closed again when a
    method returns."""

    @property
    def most_changed(self) -> float:
        """See `Index`."""
        ...

    @property
    def only_replaced(self) -> str:
        """Pattern of names of files that are replaced by others, and never written into: a new version links them."""
        ...

    @property
    def identity(self) -> IndexIdentity: ...

    def fingerprints(self, folder: Path) -> dict[str, str]:
        """passage_id -> fingerprint of everything in the folder's files; empty for an empty folder."""
        ...

    def write(self, folder: Path, rows: Mapping[str, IndexRow], report: Report) -> None:
        """See `IndexVersion.write`."""
        ...

    def faulty(self, folder: Path, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        """See `IndexVersion.faulty`."""
        ...

    def open(self, folder: Path) -> Opened:
        """See `Index.open`."""
        ...


@dataclass(frozen=True)
class FolderIndex(Generic[Opened]):
    """An index published in `folder`; see `Index`."""

    folder: Path
    files: IndexFiles[Opened]

    @property
    def identity(self) -> IndexIdentity:
        return self.files.identity

    @property
    def most_changed(self) -> float:
        return self.files.most_changed

    def __str__(self) -> str:
        return str(self.folder)

    def manifest(self) -> IndexManifest | None:
        return read_manifest(self.folder)

    def is_intact(self) -> bool:
        return is_intact(self.folder)

    def open(self) -> Opened:
        return self.files.open(self.folder)

    def published(self) -> IndexManifest | None:
        recover_folder(self.folder)
        shutil.rmtree(self._staged, ignore_errors=True)
        if is_intact(self.folder):
            return read_manifest(self.folder)
        if self.folder.exists():
            logger.warning("%s is damaged or unfinished; the index is built anew.", self.folder)
        return None

    def fingerprints(self) -> dict[str, str]:
        return self.files.fingerprints(self.folder)

    def stage(self) -> "FolderVersion":
        def taken_over(file: str, to: str) -> None:
            (link if fnmatchcase(Path(file).name, self.files.only_replaced) else shutil.copy2)(file, to)

        ignored = shutil.ignore_patterns(MANIFEST_FILE)
        shutil.copytree(self.folder, self._staged, ignore=ignored, copy_function=taken_over)
        return FolderVersion(self._staged, self.folder, self.files)

    def stage_empty(self) -> "FolderVersion":
        self._staged.mkdir(parents=True)
        return FolderVersion(self._staged, self.folder, self.files)

    @property
    def _staged(self) -> Path:
        return self.folder.with_name(self.folder.name + STAGED_SUFFIX)


@dataclass(frozen=True)
class FolderVersion:
    """A folder beside the published one; see `IndexVersion`."""

    _folder: Path
    _final: Path
    _files: IndexFiles[Any]

    def fingerprints(self) -> dict[str, str]:
        return self._files.fingerprints(self._folder)

    def write(self, rows: Mapping[str, IndexRow], report: Report) -> None:
        self._files.write(self._folder, rows, report)

    def faulty(self, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        return self._files.faulty(self._folder, sample)

    def publish(self, manifest: IndexManifest) -> None:
        write_manifest(self._folder, manifest)
        replace_folder(self._folder, self._final)

    def discard(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def opened_for_reading(folder: Path, open_index: Callable[[Path], Reader], copied: Collection[str] = ()) -> Reader:
    """`open_index(folder)`; of a temporary folder of links to its files, where the folder cannot be written or `copied`
    names a file.

    Both engines write where they open: tantivy a lock file, Chroma a row in its database. No search needs either.

    copied: names of the files that the engine writes, or opens again by their path while it searches. They are copied
    instead. The temporary folder is removed with the index. Raises what `open_index` raises.
    """
    if not copied and os.access(folder, os.W_OK):
        return open_index(folder)
    view = Path(mkdtemp(prefix="rag-assets-index-"))
    try:
        for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != _LOCK):
            place = view / file.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            if file.name in copied:
                shutil.copyfile(file, place)
            else:
                place.symlink_to(file.absolute())
        index = open_index(view)
    except BaseException:
        shutil.rmtree(view, ignore_errors=True)
        raise
    weakref.finalize(index, shutil.rmtree, view, ignore_errors=True)
    return index
