"""What a folder holds: byte for byte, or as the index that it is."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_assets.core.incremental import UpdatePlan
from rag_assets.search.indexing.chroma import ChromaFiles
from rag_assets.search.indexing.folders import (
    FolderIndex,
    is_intact,
    read_manifest,
    stage_index,
)
from rag_assets.search.indexing.protocols import IndexIdentity, IndexManifest, IndexRow
from rag_assets.search.indexing.tantivy_index import TantivyFiles
from rag_assets_tests.search.indexing.rows import vectors_of


def update_index(target: FolderIndex[Any], rows: Sequence[IndexRow]) -> UpdatePlan:
    """Stage, audit and publish in one go."""
    staged = stage_index(target, rows)
    staged.publish()
    return staged.plan


def indexed(folder: Path) -> dict[str, str]:
    """passage_id -> fingerprint of the index in `folder`, whichever of the two it is."""
    files = TantivyFiles() if (folder / "meta.json").exists() else ChromaFiles("any", vectors_of)
    return files.fingerprints(folder)


def is_current(folder: Path, identity: IndexIdentity, fingerprints: Mapping[str, str]) -> bool:
    """Whether the index in `folder` is the wanted one, undamaged, and holds exactly these
    passages."""
    return read_manifest(folder) == IndexManifest.of(identity, fingerprints) and is_intact(folder)


def snapshot(folder: Path) -> dict[str, tuple[str, int]]:
    """Digest and modification time of every file."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
