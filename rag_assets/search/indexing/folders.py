"""Indexes in folders: brought in step with the passages (plan by row hash, write, audit, publish),
staged beside the published one as links and copies, published by a rename.

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
        """Link the files of the published version into a new folder, to be updated there."""
        unwanted = shutil.ignore_patterns(MANIFEST_FILE)
        shutil.copytree(self.folder, staged, ignore=unwanted, copy_function=link)


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


_SAMPLE_SIZE = 64


@dataclass(frozen=True)
class IndexAudit:
    """How a staged index differs from what it should hold; every tuple is empty when it is
    right."""

    missing: tuple[str, ...]
    """Passages that are not inside, or with another fingerprint."""
    orphans: tuple[str, ...]
    """Entries that belong to no passage."""
    faulty: tuple[str, ...]
    """Passages of a sample that the index does not hold or find as it should."""

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
    """A written and audited index that readers do not see yet; without files when the published one
    is current."""

    plan: UpdatePlan
    """How it differs from the published index."""
    manifest: IndexManifest
    audit: IndexAudit | None = None
    """None when nothing was written."""
    folder: Path | None = None
    """Where it was written."""
    staged: StagedFiles = field(default_factory=StagedFiles)

    @property
    def megabytes_written(self) -> float:
        """Size of its files that are not those of the published version."""
        files = [path.stat() for path in self.folder.rglob("*")] if self.folder else []
        return sum(file.st_size for file in files if file.st_nlink == 1) / 1e6

    def publish(self) -> None:
        """Let readers see it. Raises GuardrailBroken, and deletes it, when its audit does not
        hold."""
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
    """Write a version of the index that holds exactly `rows`, without those of lost papers, and
    audit it.

    Does nothing when the published index is current. Updates a copy of it when few passages changed
    since it was built from nothing (`IndexFiles.most_changed`); otherwise, and when the updated
    copy does not fit, builds from nothing.
    """
    wanted = {row.passage_id: row for row in rows if row.paper_id not in lost}
    fingerprints = {id_: row.fingerprint for id_, row in wanted.items()}
    report = report or (lambda *_: None)
    without = tuple(sorted(row.passage_id for row in rows if row.paper_id in lost))
    described = IndexManifest.of(target.identity, {row.passage_id: row.fingerprint for row in rows})
    manifest = replace(described, without=without)
    published = target.published()
    if published == manifest and published.without == without:
        return StagedIndex(UpdatePlan(unchanged=tuple(sorted(wanted))), published)
    can_go_on = published is not None and published.identity == target.identity
    plan = plan_update(target.fingerprints() if can_go_on else {}, fingerprints)
    n_changed = len(plan.to_build) + len(plan.removed) + (published.n_changed if published else 0)
    staged = StagedFiles()
    folder = staged.path(target.folder)
    try:
        if plan.unchanged and n_changed <= target.files.most_changed * len(rows):
            audit = _updated(target, folder, wanted, report)
            if audit is not None:
                return StagedIndex(
                    plan, replace(manifest, n_changed=n_changed), audit, folder, staged
                )
        folder.mkdir(parents=True)
        return StagedIndex(
            plan, manifest, _written(target.files, folder, wanted, report), folder, staged
        )
    except RagAssetsError:
        staged.discard()
        raise


def _updated(
    target: FolderIndex[Any], folder: Path, wanted: Mapping[str, IndexRow], report: Report
) -> IndexAudit | None:
    """The audit of an updated copy of the published version; None when it does not fit and was
    deleted."""
    try:
        target.copy_to(folder)
        audit = _written(target.files, folder, wanted, report)
        if audit.holds:
            return audit
        reason = f"its updated copy does not fit the passages ({audit})"
    except RagAssetsError:
        raise
    except Exception as error:  # the errors of Chroma and tantivy share no narrower base
        reason = f"its copy could not be updated ({type(error).__name__}: {error})"
    logger.warning("The %s index is built anew: %s.", target.identity.kind, reason)
    shutil.rmtree(folder, ignore_errors=True)
    return None


def _written(
    files: IndexFiles[Any], folder: Path, wanted: Mapping[str, IndexRow], report: Report
) -> IndexAudit:
    """Write the rows and audit what the folder holds then."""
    files.write(folder, wanted, report)
    difference = plan_update(
        files.fingerprints(folder), {id_: row.fingerprint for id_, row in wanted.items()}
    )
    ids = sorted(wanted)
    faulty = files.faulty(folder, [wanted[id_] for id_ in ids[:: max(1, len(ids) // _SAMPLE_SIZE)]])
    return IndexAudit(difference.to_build, difference.removed, faulty)


def _not_in_step(staged: StagedIndex) -> Offenders:
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
        _not_in_step,
    )
]
META_PROMISES: list[Promise[Mapping[str, Any]]] = [
    Promise(
        "indexes_agree",
        "Both indexes describe the passages and the model of this run; if not, materialize chroma_index, bm25_index.",
        lambda meta: meta["problems"],
    )
]
