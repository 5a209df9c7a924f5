"""Indexes in folders: staged beside the published one as links and copies, published by a rename.

The published folder is never written to. A manifest holds the checksum of each of its files, and
nothing opens an index before `is_intact` has compared them: native code that reads damaged files
can crash, hang or write without end. A staged folder that a killed run left is deleted unopened for
the same reason. Which files there are is decided by `chroma`, `tantivy_index` and `qdrant.files`.
"""

import json
import logging
import os
import shutil
import weakref
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Generic, TypeVar

from rag_assets.core.incremental import (
    STAGED_SUFFIX,
    link,
    recover_folder,
    sealed,
    sha256_of,
    unsealed,
)
from rag_assets.search.indexing.protocols import IndexFiles, IndexIdentity, IndexManifest, Opened

MANIFEST_FILE = "manifest.json"


def read_manifest(folder: Path) -> IndexManifest | None:
    """The manifest in `folder`; None when there is no whole index or its manifest is damaged."""
    found = manifest_content(folder)
    try:
        identity = IndexIdentity(**found["identity"])
        n_passages, n_changed = int(found["n_passages"]), int(found["n_changed"])
        return IndexManifest(
            identity, str(found["passages"]), n_passages, n_changed, tuple(found["without"])
        )
    except (TypeError, KeyError):
        return None


def write_manifest(folder: Path, manifest: IndexManifest) -> None:
    """Write down what the closed index in `folder` is, and the checksums of its files."""
    content = sealed({**asdict(manifest), "files": _checksums(folder)})
    (folder / MANIFEST_FILE).write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def is_intact(folder: Path) -> bool:
    """Whether the index in `folder` has a manifest and exactly the files of it, byte for byte."""
    return "files" in manifest_content(folder) and not damaged_files(folder)


def damaged_files(folder: Path) -> list[Path]:
    """Files of the index in `folder` that are missing, too many or not as its manifest says, byte
    for byte; none where there is no manifest of files."""
    wanted = manifest_content(folder).get("files")
    if wanted is None:
        return []
    try:
        found = _checksums(folder)
    except OSError:
        return [folder]
    return [
        folder / name
        for name in sorted(wanted.keys() | found.keys())
        if wanted.get(name) != found.get(name)
    ]


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


@dataclass(frozen=True)
class FolderIndex(Generic[Opened]):
    """The index that is published in `folder`. Readers see one whole version while the next is made
    beside it."""

    folder: Path
    files: IndexFiles[Opened]

    @property
    def identity(self) -> IndexIdentity:
        """Identity of the index that is wanted."""
        return self.files.identity

    def __str__(self) -> str:
        return self.files.place or str(self.folder)

    def manifest(self) -> IndexManifest | None:
        """The manifest of the published version, if any; cheap enough to be read before each
        question."""
        return read_manifest(self.folder)

    def is_intact(self) -> bool:
        """Whether the published version is unchanged. Raises StoreUnavailable, StoreRefused if no
        server answers."""
        manifest = self.manifest() if is_intact(self.folder) else None
        return manifest is not None and self.files.is_there(self.folder, manifest.n_held)

    def open(self) -> Opened:
        """Open the published version, whatever is published later. Raises what its library
        raises."""
        return self.files.open(self.folder)

    def published(self) -> IndexManifest | None:
        """What readers see; None when nothing whole is published. Also removes what a killed run
        left."""
        recover_folder(self.folder)
        shutil.rmtree(self.folder.with_name(self.folder.name + STAGED_SUFFIX), ignore_errors=True)
        if self.is_intact():
            return self.manifest()
        if self.folder.exists():
            logger.warning("%s is damaged or unfinished; the index is built anew.", self)
        return None

    def fingerprints(self) -> dict[str, str]:
        """passage_id -> fingerprint of everything that is published."""
        return self.files.fingerprints(self.folder)

    def copy_to(self, staged: Path) -> None:
        """Put the files of the published version into a new folder, to be updated there."""

        def taken_over(file: str, to: str) -> None:
            (link if fnmatchcase(Path(file).name, self.files.only_replaced) else shutil.copy2)(
                file, to
            )

        shutil.copytree(
            self.folder,
            staged,
            ignore=shutil.ignore_patterns(MANIFEST_FILE),
            copy_function=taken_over,
        )


def opened_for_reading(
    folder: Path, open_index: Callable[[Path], Reader], copied: Collection[str] = ()
) -> Reader:
    """`open_index(folder)`; of a temporary folder of links to its files, where the folder cannot be
    written or `copied` names a file.

    Both engines write where they open: tantivy a lock file, Chroma a row in its database. No search
    needs either.

    copied: names of the files that the engine writes, or opens again by their path while it
    searches. They are copied instead. The temporary folder is removed with the index. Raises what
    `open_index` raises.
    """
    if not copied and os.access(folder, os.W_OK):
        return open_index(folder)
    view = Path(mkdtemp(prefix="rag-assets-index-"))
    try:
        for file in sorted(
            path for path in folder.rglob("*") if path.is_file() and path.suffix != _LOCK
        ):
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
