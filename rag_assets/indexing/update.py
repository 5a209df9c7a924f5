"""Keeping an index in step with the passages: write the difference to a draft, audit it, publish it whole.

The published folder is never written to. The draft stands beside it and outlives a killed run, so that the next one
goes on where it stopped. Which index it is, is the target's business (`chroma`, `tantivy_index`).
"""

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rag_assets.errors import GuardrailBroken, RagAssetsError
from rag_assets.incremental import DRAFT_SUFFIX, UpdatePlan, plan_update, recover_folder, replace_folder
from rag_assets.indexing.manifest import (
    MANIFEST_FILE,
    IndexManifest,
    is_current,
    is_resumable,
    mark_draft,
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

    Costs milliseconds and opens nothing when the published index is current. A draft left by a killed run is resumed
    if it was made for the same target; a draft that turns out damaged is built anew, once, from nothing.
    """
    recover_folder(folder)
    wanted = {row.passage_id: row.fingerprint for row in rows}
    manifest = IndexManifest.of(target.identity, wanted)
    if is_current(folder, target, wanted):
        shutil.rmtree(_draft_of(folder), ignore_errors=True)
        return IndexDraft(folder, UpdatePlan(unchanged=tuple(sorted(wanted))), None, manifest)
    plan = plan_update(_published(folder, target), wanted)
    work = _Work({row.passage_id: row for row in rows}, wanted, batch, report or _no_report)
    return IndexDraft(folder, plan, _drafted(folder, target, plan, work), manifest)


@dataclass(frozen=True)
class _Work:
    rows: Mapping[str, IndexRow]
    wanted: Mapping[str, str]
    batch: int
    report: Report


def _drafted(folder: Path, target: IndexTarget, plan: UpdatePlan, work: _Work) -> IndexAudit:
    draft = _draft_of(folder)
    if not is_resumable(draft, target.identity):
        shutil.rmtree(draft, ignore_errors=True)
    if draft.exists() or _copy_published(folder, draft, target, plan):
        try:
            audit = _brought_up_to_date(draft, target, work)
        except RagAssetsError:
            raise
        except Exception as error:
            logger.warning("%s cannot be continued (%s); the index is built anew.", draft, type(error).__name__)
        else:
            if audit.holds:
                return audit
            logger.warning("%s does not fit the passages (%s); the index is built anew.", draft, audit)
        shutil.rmtree(draft)
    _start_empty(draft, target)
    return _brought_up_to_date(draft, target, work)


def _copy_published(folder: Path, draft: Path, target: IndexTarget, plan: UpdatePlan) -> bool:
    """Whether the draft could be started from the published index."""
    if not plan.unchanged or (plan.to_drop and not target.forgets_in_place):
        return False
    shutil.copytree(folder, draft, ignore=shutil.ignore_patterns(MANIFEST_FILE))
    mark_draft(draft, target.identity)
    return True


def _start_empty(draft: Path, target: IndexTarget) -> None:
    draft.mkdir(parents=True)
    mark_draft(draft, target.identity)


def _brought_up_to_date(draft: Path, target: IndexTarget, work: _Work) -> IndexAudit:
    with closing(target.write(draft)) as writer:
        todo = plan_update(writer.fingerprints(), work.wanted)
        if todo.to_drop and not target.forgets_in_place:
            return IndexAudit(missing=(), orphans=todo.to_drop, faulty=())
        if todo.to_drop:
            writer.delete(todo.to_drop)
        _write(writer, todo.to_build, work)
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
    return IndexAudit(missing=difference.to_build, orphans=difference.removed, faulty=tuple(written.faults(sample)))


def _published(folder: Path, target: IndexTarget) -> dict[str, str]:
    """passage_id -> fingerprint of the published index; empty when it is absent, another's or cannot be read."""
    manifest = read_manifest(folder)
    if manifest is None or manifest.identity != target.identity or not (folder / target.marker).is_file():
        return {}
    try:
        with closing(target.read(folder)) as reader:
            return reader.fingerprints()
    except Exception as error:
        logger.warning("%s cannot be read (%s); the index is built anew.", folder, type(error).__name__)
        return {}


def _draft_of(folder: Path) -> Path:
    return folder.with_name(folder.name + DRAFT_SUFFIX)


def _no_report(done: int, to_do: int) -> None:
    """For callers who do not watch."""
