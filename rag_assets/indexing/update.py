"""Keeping an index in step with the passages: write the difference to a draft, audit it, publish it whole.

The published folder is never written to, and never opened unless it is intact to the byte. The draft stands beside it;
one that a killed run left is thrown away unopened, because what was not closed and flushed can crash or hang whoever
opens it. Which index it is, is decided by the target (`chroma`, `tantivy_index`).
"""

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from rag_assets.errors import GuardrailBroken, RagAssetsError
from rag_assets.incremental import STAGED_SUFFIX, UpdatePlan, plan_update, recover_folder, replace_folder
from rag_assets.indexing.manifest import (
    MANIFEST_FILE,
    GraphWear,
    IndexManifest,
    is_current,
    is_intact,
    read_manifest,
    write_manifest,
)
from rag_assets.indexing.protocols import IndexRow, IndexTarget, IndexWriter

logger = logging.getLogger(__name__)

Report = Callable[[int, int], None]
"""Called with (passages done, passages to do) after each batch."""
_SAMPLE_SIZE = 64


@dataclass(frozen=True)
class IndexAudit:
    """How a drafted index differs from what it should hold; every tuple is empty when it is right."""

    missing: tuple[str, ...]
    """Passages that are not inside, or with another fingerprint."""
    orphans: tuple[str, ...]
    """Entries that belong to no passage."""
    faulty: tuple[str, ...]
    """Passages of a sample that a search does not find as they should be."""
    recall: float | None = None
    """Share of the exact nearest neighbours of a sample that a search finds; None where every search is exact."""

    @property
    def holds(self) -> bool:
        return not (self.missing or self.orphans or self.faulty)

    def __str__(self) -> str:
        counts = {"missing": self.missing, "orphaned": self.orphans, "faulty": self.faulty}
        return "; ".join(f"{len(ids)} {name} ({', '.join(ids[:3])})" for name, ids in counts.items() if ids)


@dataclass(frozen=True)
class IndexDraft:
    """A finished draft, ready to be published, or to be kept back by whoever looks at its audit."""

    folder: Path
    """Where it will be published."""
    plan: UpdatePlan
    """How it differs from the published index."""
    audit: IndexAudit | None
    """None when the published index is current and nothing was drafted."""
    manifest: IndexManifest

    def publish(self) -> None:
        """Put the draft in the place of the published index. Raises GuardrailBroken when its audit does not hold."""
        if self.audit is None:
            return
        draft = _draft_of(self.folder)
        if not self.audit.holds:
            shutil.rmtree(draft, ignore_errors=True)
            raise GuardrailBroken(
                f"{self.folder} was not replaced: its draft does not fit the passages: {self.audit}. "
                "Run again; if it happens again, materialize `passages` and `embeddings` anew."
            )
        write_manifest(draft, self.manifest)
        replace_folder(draft, self.folder)


def update_index(
    folder: Path, rows: Sequence[IndexRow], target: IndexTarget, *, batch: int, report: Report | None = None
) -> UpdatePlan:
    """Draft, audit and publish in one go; see `draft_index` and `IndexDraft.publish`."""
    draft = draft_index(folder, rows, target, batch=batch, report=report)
    draft.publish()
    return draft.plan


def draft_index(
    folder: Path, rows: Sequence[IndexRow], target: IndexTarget, *, batch: int, report: Report | None = None
) -> IndexDraft:
    """Bring a draft of the index in `folder` to exactly `rows`, `batch` rows at a time, and audit it.

    Opens nothing when the published index is current. A draft that turns out damaged, or that finds too few of the
    nearest passages, is built anew, once, from nothing.
    """
    recover_folder(folder)
    shutil.rmtree(_draft_of(folder), ignore_errors=True)
    wanted = {row.passage_id: row.fingerprint for row in rows}
    manifest = IndexManifest.of(target.identity, wanted)
    if is_current(folder, target.identity, wanted):
        unchanged = UpdatePlan(unchanged=tuple(sorted(wanted)))
        return IndexDraft(folder, unchanged, None, read_manifest(folder) or manifest)
    published = _published(folder, target)
    plan = plan_update(published.fingerprints, wanted)
    work = _Work({row.passage_id: row for row in rows}, wanted, batch, report or _no_report)
    audit, wear = _drafted(folder, target, plan, published.wear, work)
    return IndexDraft(folder, plan, audit, replace(manifest, wear=wear))


@dataclass(frozen=True)
class _Work:
    rows: Mapping[str, IndexRow]
    wanted: Mapping[str, str]
    batch: int
    report: Report


@dataclass(frozen=True)
class _Published:
    """What can be gone on from."""

    fingerprints: Mapping[str, str]
    wear: GraphWear | None


def _drafted(
    folder: Path, target: IndexTarget, plan: UpdatePlan, wear: GraphWear | None, work: _Work
) -> tuple[IndexAudit, GraphWear | None]:
    draft = _draft_of(folder)
    if plan.unchanged and (target.forgets_in_place or not plan.to_drop):
        shutil.copytree(folder, draft, ignore=shutil.ignore_patterns(MANIFEST_FILE))
        try:
            audit = _brought_up_to_date(draft, target, work)
            after = _worn(wear, plan, audit)
            reason = _why_anew(audit, after, target, len(work.wanted))
        except RagAssetsError:
            raise
        except Exception as error:  # Chroma's and tantivy's errors share no narrower base
            reason = f"its copy could not be updated ({type(error).__name__}: {error})"
        if not reason:
            return audit, after
        logger.warning("%s is built anew: %s.", folder, reason)
        shutil.rmtree(draft)
    draft.mkdir(parents=True)
    audit = _brought_up_to_date(draft, target, work)
    return audit, None if audit.recall is None else GraphWear(audit.recall, audit.recall, 0)


def _worn(wear: GraphWear | None, plan: UpdatePlan, audit: IndexAudit) -> GraphWear | None:
    if wear is None or audit.recall is None:
        return None
    return GraphWear(audit.recall, wear.recall_when_built, wear.n_dead + len(plan.to_drop))


def _why_anew(audit: IndexAudit, wear: GraphWear | None, target: IndexTarget, n_passages: int) -> str:
    """Why an update by difference is not good enough; empty when it is.

    A graph that was no better when it was built is not built again for that, or every update would do so.
    """
    if not audit.holds:
        return f"its updated copy does not fit the passages ({audit})"
    if wear is None:
        return ""
    if wear.recall < min(target.min_recall, wear.recall_when_built):
        return (
            f"after many updates it finds {wear.recall:.1%} of the nearest passages, less than indexing.min_recall "
            f"({target.min_recall:.1%}); the vectors come from the cache"
        )
    if wear.n_dead > n_passages:
        return f"it carries {wear.n_dead} deleted vectors, more than the {n_passages} it is asked for"
    return ""


def _brought_up_to_date(draft: Path, target: IndexTarget, work: _Work) -> IndexAudit:
    with closing(target.write(draft)) as writer:
        todo = plan_update(writer.fingerprints(), work.wanted)
        if todo.to_drop:
            writer.delete(todo.to_drop)
        _write(writer, todo.to_build, work)
    target.complete(draft, list(work.rows.values()))
    with closing(target.write(draft)) as written:  # opened anew: what counts is what is on disk
        return _audited(written, work)


def _write(writer: IndexWriter, ids: Sequence[str], work: _Work) -> None:
    for start in range(0, len(ids), work.batch):
        writer.upsert([work.rows[id_] for id_ in ids[start : start + work.batch]])
        work.report(min(start + work.batch, len(ids)), len(ids))


def _audited(written: IndexWriter, work: _Work) -> IndexAudit:
    difference = plan_update(written.fingerprints(), work.wanted)
    ids = sorted(work.wanted)
    sample = [work.rows[id_] for id_ in ids[:: max(1, len(ids) // _SAMPLE_SIZE)]]
    return IndexAudit(
        missing=difference.to_build,
        orphans=difference.removed,
        faulty=tuple(written.faults(sample)),
        recall=written.recall(sample),
    )


def _published(folder: Path, target: IndexTarget) -> _Published:
    """What the published index holds; nothing when it is absent, another's or not intact."""
    manifest = read_manifest(folder)
    if not is_intact(folder):
        if folder.exists():
            logger.warning("%s is damaged or unfinished; the index is built anew.", folder)
        return _Published({}, None)
    if manifest is None or manifest.identity != target.identity:
        return _Published({}, None)
    with closing(target.read(folder)) as reader:
        return _Published(reader.fingerprints(), manifest.wear)


def _draft_of(folder: Path) -> Path:
    return folder.with_name(folder.name + STAGED_SUFFIX)


def _no_report(done: int, to_do: int) -> None:
    """For callers who do not watch."""
