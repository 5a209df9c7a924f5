"""What an index folder says of itself, readable in milliseconds without opening the index."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from rag_assets.incremental import data_version, write_atomically
from rag_assets.indexing.protocols import IndexIdentity, IndexTarget

MANIFEST_FILE = "manifest.json"
_DRAFT_FILE = "draft.json"


@dataclass(frozen=True)
class IndexManifest:
    """Written last, after the audit: a folder that has one is whole."""

    identity: IndexIdentity
    passages: str
    """Data version of passage_id -> fingerprint."""
    n_passages: int

    @classmethod
    def of(cls, identity: IndexIdentity, fingerprints: Mapping[str, str]) -> Self:
        """What an index of that identity and of exactly these passages would say."""
        return cls(identity, data_version(fingerprints), len(fingerprints))


def read_manifest(folder: Path) -> IndexManifest | None:
    """The manifest in `folder`; None when there is no whole index or its manifest cannot be read."""
    try:
        found = json.loads((folder / MANIFEST_FILE).read_bytes())
        return IndexManifest(IndexIdentity(**found["identity"]), str(found["passages"]), int(found["n_passages"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_manifest(folder: Path, manifest: IndexManifest) -> None:
    """Declare the index in `folder` whole, as it stands: its files and their sizes are written down with it."""
    (folder / _DRAFT_FILE).unlink(missing_ok=True)
    content = asdict(manifest) | {"files": _sizes(folder)}
    write_atomically(folder / MANIFEST_FILE, json.dumps(content, indent=2).encode() + b"\n")


def is_intact(folder: Path) -> bool:
    """Whether the index in `folder` has a manifest and exactly the files of it, none of them cut or grown."""
    try:
        files: dict[str, int] = json.loads((folder / MANIFEST_FILE).read_bytes())["files"]
    except (OSError, ValueError, TypeError, KeyError):
        return False
    return files == _sizes(folder)


def is_current(folder: Path, target: IndexTarget, fingerprints: Mapping[str, str]) -> bool:
    """Whether the index in `folder` is the wanted one and holds exactly these passages."""
    return read_manifest(folder) == IndexManifest.of(target.identity, fingerprints) and is_intact(folder)


def mark_draft(folder: Path, identity: IndexIdentity) -> None:
    """Declare that the unfinished index in `folder` may be resumed for that identity."""
    write_atomically(folder / _DRAFT_FILE, json.dumps(asdict(identity)).encode())
    (folder / MANIFEST_FILE).unlink(missing_ok=True)


def is_resumable(folder: Path, identity: IndexIdentity) -> bool:
    """Whether `folder` is a draft of that identity, unfinished or finished and not yet published."""
    if (finished := read_manifest(folder)) is not None:
        return finished.identity == identity
    try:
        return IndexIdentity(**json.loads((folder / _DRAFT_FILE).read_bytes())) == identity
    except (OSError, ValueError, TypeError):
        return False


def _sizes(folder: Path) -> dict[str, int]:
    """Size in bytes of every file of an index, by its path in the folder."""
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST_FILE and not path.name.endswith(".lock")
    }
