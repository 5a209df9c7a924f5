"""Indexes in folders. A new version is made beside the published one from links and copies of its
files: the changed passages are planned by their fingerprints, written and audited, and the new
version is published by a rename.

The published folder is never written to. Its manifest holds the checksum of each file, and an index
is opened only after `is_intact` has compared them: native code that reads damaged files can crash,
hang or write forever. For the same reason a staged folder left by a killed run is deleted without
being opened. Which files an index has is decided by `chroma`, `tantivy_index` and `qdrant.files`.
"""

import json
import logging
import os
import shutil
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Generic, TypeVar

from rag_assets.core.errors import GuardrailBroken, RagAssetsError
from rag_assets.core.incremental import (
    STAGED_SUFFIX,
    StagedFiles,
    UpdatePlan,
    link,
    plan_update,
    recover_folder,
    sealed,
    sha256_of,
    unsealed,
)
from rag_assets.core.promises import Offenders, Promise
from rag_assets.search.indexing.protocols import (
    IndexFiles,
    IndexIdentity,
    IndexManifest,
    IndexRow,
    Opened,
    Report,
)

MANIFEST_FILE = "manifest.json"


def read_manifest(folder: Path) -> IndexManifest | None:
    """The manifest in `folder`; None if there is no complete index or the manifest is damaged."""
    content = manifest_content(folder)
    try:
        identity = IndexIdentity(**content["identity"])
        n_passages, n_changed = int(content["n_passages"]), int(content["n_changed"])
        return IndexManifest(
            identity, str(content["passages"]), n_passages, n_changed, tuple(content["without"])
        )
    except (TypeError, KeyError):
        return None


def write_manifest(folder: Path, manifest: IndexManifest) -> None:
    """Write the manifest of the closed index in `folder`, with the checksums of its files."""
    content = sealed({**asdict(manifest), "files": _checksums(folder)})
    (folder / MANIFEST_FILE).write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def is_intact(folder: Path) -> bool:
    """Whether the index in `folder` has a manifest, and exactly the files that the manifest lists,
    unchanged."""
    return "files" in manifest_content(folder) and not damaged_files(folder)


def damaged_files(folder: Path) -> list[Path]:
    """Files of the index in `folder` that are missing, changed or not in its manifest. Empty if the
    manifest lists no files."""
    listed = manifest_content(folder).get("files")
    if listed is None:
        return []
    try:
        actual = _checksums(folder)
    except OSError:
        return [folder]
    return [
        folder / name
        for name in sorted(listed.keys() | actual.keys())
        if listed.get(name) != actual.get(name)
    ]


def manifest_content(folder: Path) -> dict[str, Any]:
    """The content of the manifest file in `folder`; empty if it is missing or damaged."""
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
    """The index that is published in `folder`. Readers see one complete version while the next one
    is made beside it."""

    folder: Path
    files: IndexFiles[Opened]

    @property
    def identity(self) -> IndexIdentity:
        """The identity that the index should have."""
        return self.files.identity

    def __str__(self) -> str:
        return self.files.address or str(self.folder)

    def manifest(self) -> IndexManifest | None:
        """The manifest of the published version, if there is one. Fast enough to be read before
        each question."""
        return read_manifest(self.folder)

    def is_intact(self) -> bool:
        """Whether the published version is complete and unchanged. Raises StoreUnavailable or
        StoreRefused if its server does not answer."""
        manifest = self.manifest() if is_intact(self.folder) else None
        return manifest is not None and self.files.is_complete(self.folder, manifest.n_indexed)

    def open(self) -> Opened:
        """Open the published version for reading. It stays usable if another version is published
        later. Raises the errors of the index's library."""
        return self.files.open(self.folder)

    def published(self) -> IndexManifest | None:
        """The manifest of the published version; None if no complete version is published. Also
        deletes what a killed run left behind."""
        recover_folder(self.folder)
        shutil.rmtree(self.folder.with_name(self.folder.name + STAGED_SUFFIX), ignore_errors=True)
        if self.is_intact():
            return self.manifest()
        if self.folder.exists():
            logger.warning("%s is damaged or unfinished; the index is built anew.", self)
        return None

    def fingerprints(self) -> dict[str, str]:
        """passage_id -> fingerprint, for all passages of the published version."""
        return self.files.fingerprints(self.folder)

    def copy_to(self, staged: Path) -> None:
        """Link the files of the published version into the new folder `staged`, to be updated
        there."""
        unwanted = shutil.ignore_patterns(MANIFEST_FILE)
        shutil.copytree(self.folder, staged, ignore=unwanted, copy_function=link)


def opened_for_reading(
    folder: Path, open_index: Callable[[Path], Reader], copied: Collection[str] = ()
) -> Reader:
    """Open an index so that the published folder is not written to.

    Both engines write where they open an index: tantivy a lock file, Chroma a row in its database.
    So the index is opened in a temporary folder of links to its files, unless `folder` is writable
    and no file needs to be copied. The temporary folder is deleted together with the returned
    index.

    copied: names of files that are copied instead of linked, because the engine writes into them or
    opens them again by path while it searches. Raises what `open_index` raises.
    """
    if not copied and os.access(folder, os.W_OK):
        return open_index(folder)
    temporary = Path(mkdtemp(prefix="rag-assets-index-"))
    try:
        for file in sorted(
            path for path in folder.rglob("*") if path.is_file() and path.suffix != _LOCK
        ):
            target = temporary / file.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.name in copied:
                shutil.copyfile(file, target)
            else:
                target.symlink_to(file.absolute())
        index = open_index(temporary)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    weakref.finalize(index, shutil.rmtree, temporary, ignore_errors=True)
    return index


_SAMPLE_SIZE = 64


@dataclass(frozen=True)
class IndexAudit:
    """How a new version of an index differs from the passages; all tuples are empty if it is
    right."""

    missing: tuple[str, ...]
    """Passages that are not in the index, or have another fingerprint there."""
    orphans: tuple[str, ...]
    """Ids in the index that belong to no passage."""
    faulty: tuple[str, ...]
    """Passages of a sample that the index does not store or find correctly."""

    @property
    def holds(self) -> bool:
        return not (self.missing or self.orphans or self.faulty)

    def __str__(self) -> str:
        counts = {"missing": self.missing, "orphaned": self.orphans, "faulty": self.faulty}
        return "; ".join(
            f"{len(ids)} {name} ({', '.join(ids[:3])})" for name, ids in counts.items() if ids
        )


@dataclass(frozen=True)
class StagedIndex:
    """A new version of an index, written and audited, that readers do not see yet. It has no files
    if the published version is up to date."""

    plan: UpdatePlan
    """How it differs from the published version."""
    manifest: IndexManifest
    audit: IndexAudit | None = None
    """None if nothing was written."""
    folder: Path | None = None
    """Where it was written; None if nothing was."""
    staged: StagedFiles = field(default_factory=StagedFiles)

    @property
    def megabytes_written(self) -> float:
        """Size of its files that are not links to files of the published version."""
        files = [path.stat() for path in self.folder.rglob("*")] if self.folder else []
        return sum(file.st_size for file in files if file.st_nlink == 1) / 1e6

    def publish(self) -> None:
        """Show it to readers. If its audit found a difference, it is deleted instead and
        GuardrailBroken is raised."""
        if self.folder is None or self.audit is None:
            return
        if not self.audit.holds:
            self.staged.discard()
            raise GuardrailBroken(
                f"The {self.manifest.identity.kind} index was not replaced: its new version does not fit the passages: "
                f"{self.audit}. Run again; if it happens again, materialize `passages` and `embeddings` anew."
            )
        write_manifest(self.folder, self.manifest)
        self.staged.publish()


def stage_index(
    target: FolderIndex[Any],
    rows: Sequence[IndexRow],
    *,
    lost: Collection[str] = (),
    report: Report | None = None,
) -> StagedIndex:
    """Write a version of the index that holds exactly `rows`, without the papers in `lost`, and
    audit it.

    If the published version is up to date, nothing is written. If few passages changed since the
    index was last built from nothing (`IndexFiles.most_changed`), a copy of it is updated.
    Otherwise, or if the audit of the copy fails, the index is built from nothing.

    lost: ids of papers without vectors. report: called with (passages done, passages to do).
    """
    wanted = {row.passage_id: row for row in rows if row.paper_id not in lost}
    fingerprints = {id_: row.fingerprint for id_, row in wanted.items()}
    report = report or (lambda *_: None)
    without = tuple(sorted(row.passage_id for row in rows if row.paper_id in lost))
    all_rows = IndexManifest.of(target.identity, {row.passage_id: row.fingerprint for row in rows})
    manifest = replace(all_rows, without=without)
    published = target.published()
    # `==` compares identity and passages, but not `without`
    if published == manifest and published.without == without:
        return StagedIndex(UpdatePlan(unchanged=tuple(sorted(wanted))), published)
    can_be_updated = published is not None and published.identity == target.identity
    plan = plan_update(target.fingerprints() if can_be_updated else {}, fingerprints)
    # changed passages since the index was built from nothing, in all updates together
    n_changed = len(plan.to_build) + len(plan.removed) + (published.n_changed if published else 0)
    staged = StagedFiles()
    folder = staged.path(target.folder)
    try:
        if plan.unchanged and n_changed <= target.files.most_changed * len(rows):
            audit = _update_copy(target, folder, wanted, report)
            if audit is not None:
                return StagedIndex(
                    plan, replace(manifest, n_changed=n_changed), audit, folder, staged
                )
        folder.mkdir(parents=True)
        audit = _write_and_audit(target.files, folder, wanted, report)
        return StagedIndex(plan, manifest, audit, folder, staged)
    except RagAssetsError:
        staged.discard()
        raise


def _update_copy(
    target: FolderIndex[Any], folder: Path, wanted: Mapping[str, IndexRow], report: Report
) -> IndexAudit | None:
    """Update a copy of the published version and audit it. If it does not match the passages, the
    copy is deleted and None is returned."""
    try:
        target.copy_to(folder)
        audit = _write_and_audit(target.files, folder, wanted, report)
        if audit.holds:
            return audit
        reason = f"its updated copy does not fit the passages ({audit})"
    except RagAssetsError:
        raise
    except Exception as error:  # Chroma and tantivy have no common class of errors
        reason = f"its copy could not be updated ({type(error).__name__}: {error})"
    logger.warning("The %s index is built anew: %s.", target.identity.kind, reason)
    shutil.rmtree(folder, ignore_errors=True)
    return None


def _write_and_audit(
    files: IndexFiles[Any], folder: Path, wanted: Mapping[str, IndexRow], report: Report
) -> IndexAudit:
    """Write the rows into the folder, and compare what it then holds with the rows."""
    files.write(folder, wanted, report)
    difference = plan_update(
        files.fingerprints(folder), {id_: row.fingerprint for id_, row in wanted.items()}
    )
    ids = sorted(wanted)
    faulty = files.faulty(folder, [wanted[id_] for id_ in ids[:: max(1, len(ids) // _SAMPLE_SIZE)]])
    return IndexAudit(difference.to_build, difference.removed, faulty)


def _differences(staged: StagedIndex) -> Offenders:
    """One row for each passage that the audit found missing, orphaned or faulty."""
    audit = staged.audit
    if audit is None:
        return []
    return [
        *(
            {"passage_id": id_, "problem": "missing, or of another content"}
            for id_ in audit.missing
        ),
        *({"passage_id": id_, "problem": "orphan: belongs to no passage"} for id_ in audit.orphans),
        *(
            {"passage_id": id_, "problem": "is not held or found as it should be"}
            for id_ in audit.faulty
        ),
    ]


INDEX_PROMISES: list[Promise[StagedIndex]] = [
    Promise(
        "ids_equal_passages",
        "The index holds every passage, nothing else, and finds them; no orphans.",
        _differences,
    )
]
META_PROMISES: list[Promise[Mapping[str, Any]]] = [
    Promise(
        "indexes_agree",
        "Both indexes describe the passages and the model of this run; if not, materialize chroma_index, bm25_index.",
        lambda meta: meta["problems"],
    )
]
