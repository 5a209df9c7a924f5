"""Brings an index in step with the passages: plan by row hash, write, audit, publish.

The version that readers see is never written to: the next one is written into a staged folder,
which takes its place.
"""

import logging
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rag_assets.core.errors import GuardrailBroken, RagAssetsError
from rag_assets.core.incremental import StagedFiles, UpdatePlan, plan_update
from rag_assets.core.promises import Offenders, Promise
from rag_assets.search.indexing.folders import FolderIndex, write_manifest
from rag_assets.search.indexing.protocols import IndexFiles, IndexManifest, IndexRow, Report

logger = logging.getLogger(__name__)
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


def update_index(
    target: FolderIndex[Any], rows: Sequence[IndexRow], *, report: Report | None = None
) -> UpdatePlan:
    """Stage, audit and publish in one go; see `stage_index` and `StagedIndex.publish`."""
    staged = stage_index(target, rows, report=report)
    staged.publish()
    return staged.plan


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
