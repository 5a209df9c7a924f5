"""What an index folder says of itself, readable without opening the index.

The manifest holds the checksum of every other file of the folder. Nothing opens a published index before `is_intact`
has compared them: native code that reads damaged files can crash, hang or write without end.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rag_assets.core.checksums import flush_folder, sealed, sha256_of, unsealed
from rag_assets.core.incremental import write_atomically
from rag_assets.search.indexing.protocols import IndexIdentity, IndexManifest

MANIFEST_FILE = "manifest.json"


def read_manifest(folder: Path) -> IndexManifest | None:
    """The manifest in `folder`; None when there is no whole index or its manifest is damaged."""
    found = manifest_content(folder)
    try:
        identity = IndexIdentity(**found["identity"])
        return IndexManifest(identity, str(found["passages"]), int(found["n_passages"]), int(found["n_changed"]))
    except (TypeError, KeyError):  # of an earlier version
        return None


def write_manifest(folder: Path, manifest: IndexManifest) -> None:
    """Declare the closed index in `folder` whole as it stands: its files are flushed, their checksums written down."""
    flush_folder(folder)
    save_manifest(folder, manifest, {"files": _checksums(folder)})


def save_manifest(folder: Path, manifest: IndexManifest, facts: Mapping[str, Any]) -> None:
    """Replace the manifest in `folder` by this one with more facts about the index."""
    folder.mkdir(parents=True, exist_ok=True)
    content = sealed({**asdict(manifest), **facts})
    write_atomically(folder / MANIFEST_FILE, json.dumps(content, indent=2).encode() + b"\n")


def is_intact(folder: Path) -> bool:
    """Whether the index in `folder` has a manifest and exactly the files of it, byte for byte."""
    files = manifest_content(folder).get("files")
    try:
        return files is not None and bool(files == _checksums(folder))
    except OSError:
        return False


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
