"""The vector index in a Lance dataset: searched by an approximate index and updated by what changed.

A dataset has versions, and its files never change. `manifest.json` names the published version, and is replaced once,
after the audit: what is written before is a later version that no reader opens. An update writes the passages that
changed, nothing else. The published version and the one before it are kept, the latter for readers that have it open.

Passages that are not in the approximate index are compared one by one. They join it when there are `EXACT_UP_TO` of
them, so a small corpus has no approximate index, and what joins costs the same in a large one.
"""

import logging
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import pyarrow as pa

from rag_assets.core.errors import MissingExtra
from rag_assets.core.incremental import fingerprint, flush_folder, plan_update
from rag_assets.search.indexing.folders import manifest_content, read_manifest, save_manifest
from rag_assets.search.indexing.protocols import (
    IndexIdentity,
    IndexManifest,
    IndexRow,
    Report,
    Scope,
    Scored,
    Vectors,
    VectorSource,
)

if TYPE_CHECKING:
    from lance import LanceDataset

logger = logging.getLogger(__name__)
EXACT_UP_TO = 5000
"""Passages outside the approximate index, or in the scope of a search, that are compared one by one."""
_ROWS_AT_ONCE = 5000
_IDS_AT_ONCE = 1000
_KIND = "IVF_RQ"
"""Partitions, in which a number of a vector is one bit. Source: Gao and Long 2024, "RaBitQ"."""
_BITS = 8
"""The index takes vectors whose length is a multiple of this; others are compared one by one."""
_N_PARTITIONS, _READ_AGAIN = 40, 2
"""Parts of the index that a search looks into, and how many candidates for each hit are compared by their whole
vectors."""
_FEWEST_FOUND = 200
"""Of equally near passages a search may give any: more are asked for, so that ids decide."""
_VECTOR_ERROR = 1e-4


class LanceStore:
    """One version of a dataset, for reading; see `VectorStore`."""

    def __init__(self, dataset: "LanceDataset") -> None:
        self._dataset = dataset

    def search(self, question: Vectors, limit: int, scope: Scope | None = None) -> list[Scored]:
        if limit <= 0 or (scope is not None and scope.is_empty) or not self._dataset.count_rows():
            return []
        allowed = None if scope is None else _filter(scope)
        nearest = {
            "column": "vector",
            "q": question,
            "k": max(limit, _FEWEST_FOUND),
            "metric": "cosine",
            "minimum_nprobes": _N_PARTITIONS,  # more of them are read while fewer than k are found
            "refine_factor": _READ_AGAIN,
            "use_index": allowed is None or self._dataset.count_rows(allowed) > EXACT_UP_TO,
        }
        found = self._dataset.to_table(
            columns=["passage_id", "_distance"], nearest=nearest, filter=allowed, prefilter=True
        )
        rows = zip(found["passage_id"].to_pylist(), found["_distance"].to_pylist(), strict=True)
        hits = [Scored(id_, 1.0 - distance) for id_, distance in rows]
        return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))[:limit]

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        if not passage_ids:
            return {}
        found = self._dataset.to_table(columns=["passage_id", "vector"], filter=_any_of("passage_id", passage_ids))
        vectors = found["vector"].combine_chunks().flatten().to_numpy().reshape(len(found), len(question))
        cosines = np.einsum("ij,j->i", vectors, question)
        return dict(zip(found["passage_id"].to_pylist(), cosines.tolist(), strict=True))

    def close(self) -> None:
        """Lance has nothing to close; its files are released with the object."""


class LanceIndex:
    """The vectors of one model in datasets below `folder`; see `Index`."""

    most_changed = 0.2
    """Passages that join the approximate index do not move its partitions."""

    def __init__(self, folder: Path, source: VectorSource) -> None:
        """Nothing is opened. Raises MissingExtra when Lance is not installed."""
        try:
            import lance  # noqa: F401
        except ModuleNotFoundError:
            raise MissingExtra.named("lance", purpose='indexing.vector_store = "lance"') from None
        self.folder = folder
        self.source = source

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def identity(self) -> IndexIdentity:
        return IndexIdentity("lance", self.source.model_id, fingerprint(_KIND))

    def manifest(self) -> IndexManifest | None:
        return read_manifest(self.folder)

    def is_intact(self) -> bool:
        """Whether every file of the published version is there with its size. Their content is not read: the time
        would grow with the corpus."""
        files = manifest_content(self.folder).get("files")
        return files is not None and files.items() <= _sizes(self.folder).items()

    def published(self) -> IndexManifest | None:
        content = manifest_content(self.folder)
        for left in self.folder.glob("*.lance"):
            if left.name not in (content.get("dataset"), content.get("dataset_before")):
                shutil.rmtree(left, ignore_errors=True)
        if self.is_intact():
            return self.manifest()
        if self.folder.exists():
            logger.warning("%s is damaged or unfinished; the index is built anew.", self.folder)
        return None

    def fingerprints(self) -> dict[str, str]:
        return _fingerprints(self.dataset())

    def dataset(self) -> "LanceDataset":
        """The published version."""
        import lance

        content = manifest_content(self.folder)
        return lance.dataset(self.folder / content["dataset"], version=content["dataset_version"])

    def open(self) -> LanceStore:
        return LanceStore(self.dataset())

    def stage(self) -> "LanceVersion":
        return LanceVersion(self, manifest_content(self.folder)["dataset"], self.dataset())

    def stage_empty(self) -> "LanceVersion":
        return LanceVersion(self, f"{uuid4().hex[:12]}.lance", None)


class LanceVersion:
    """Versions of a dataset after the published one, or a dataset that nothing names yet; see `IndexVersion`."""

    def __init__(self, index: LanceIndex, name: str, before: "LanceDataset | None") -> None:
        """name: of the folder of the dataset. before: its published version; None to begin an empty one."""
        self._index = index
        self._name = name
        self._before = before

    @cached_property
    def _dataset(self) -> "LanceDataset":
        """The newest version. What a killed run wrote after the published one is in it: `write` compares all of it with
        the wanted rows, so nothing of that stays that does not belong there."""
        import lance

        return lance.dataset(self._index.folder / self._name)

    def fingerprints(self) -> dict[str, str]:
        return _fingerprints(self._dataset)

    def write(self, rows: Mapping[str, IndexRow], report: Report) -> None:
        held = {} if self._before is None else self.fingerprints()
        plan = plan_update(held, {id_: row.fingerprint for id_, row in rows.items()})
        for ids in _batches(plan.to_drop, _IDS_AT_ONCE):
            self._dataset.delete(_any_of("passage_id", ids))
        self._append(plan.to_build, rows, report)
        if self._before is None and not plan.to_build:
            self._add([], np.empty((0, 1), np.float32))
        self._index_what_is_outside()

    def _append(self, ids: Sequence[str], rows: Mapping[str, IndexRow], report: Report) -> None:
        for number, some in enumerate(_batches(ids, _ROWS_AT_ONCE)):
            batch = [rows[id_] for id_ in some]
            self._add(batch, self._index.source.vectors_of(batch))
            report(number * _ROWS_AT_ONCE + len(batch), len(ids))

    def _add(self, rows: Sequence[IndexRow], vectors: Vectors) -> None:
        import lance

        table = pa.table(
            {
                "passage_id": pa.array([row.passage_id for row in rows], pa.string()),
                "paper_id": pa.array([row.paper_id for row in rows], pa.string()),
                "fingerprint": pa.array([row.fingerprint for row in rows], pa.string()),
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel(), pa.float32()), vectors.shape[1]),
            }
        )
        place = self._index.folder / self._name
        lance.write_dataset(table, place, mode="append" if place.exists() else "create")
        self._dataset.checkout_latest()

    def _index_what_is_outside(self) -> None:
        dataset = self._dataset
        names = {index.name for index in dataset.describe_indices()}
        can_be_packed = dataset.schema.field("vector").type.list_size % _BITS == 0
        if not names and can_be_packed and dataset.count_rows() > EXACT_UP_TO:
            dataset.create_index("vector", _KIND, metric="cosine")
            for column in ("passage_id", "paper_id"):
                dataset.create_scalar_index(column, "BTREE")
        elif names and dataset.stats.index_stats("vector_idx")["num_unindexed_rows"] > EXACT_UP_TO:
            dataset.optimize.compact_files(target_rows_per_fragment=EXACT_UP_TO, materialize_deletions=False)
            dataset.optimize.optimize_indices(num_indices_to_merge=0)

    def faulty(self, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        """Passages that are not stored with their vector, or whose vector does not find its like."""
        store = LanceStore(self._dataset)
        found = zip(sample, self._index.source.vectors_of(sample) if sample else (), strict=True)
        return tuple(
            row.passage_id
            for row, vector in found
            if min(store.cosines(vector, [row.passage_id]).get(row.passage_id, 0.0), _best(store, vector))
            <= 1.0 - _VECTOR_ERROR
        )

    def publish(self, manifest: IndexManifest) -> None:
        folder = self._index.folder
        before = manifest_content(folder).get("dataset")
        kept = {self._dataset.version, self._before.version if self._before else None}
        if outdated := [one["version"] for one in self._dataset.versions() if one["version"] not in kept]:
            self._dataset.cleanup_old_versions(versions=outdated)
        flush_folder(folder / self._name)
        facts = {
            "dataset": self._name,
            "dataset_version": self._dataset.version,
            "dataset_before": before,
            "files": {path: size for path, size in _sizes(folder).items() if path.startswith(self._name)},
        }
        save_manifest(folder, manifest, facts)

    def discard(self) -> None:
        if self._before is None:
            shutil.rmtree(self._index.folder / self._name, ignore_errors=True)


def _best(store: LanceStore, vector: Vectors) -> float:
    return max((hit.score for hit in store.search(vector, 1)), default=0.0)


def _fingerprints(dataset: "LanceDataset") -> dict[str, str]:
    found = dataset.to_table(columns=["passage_id", "fingerprint"])
    return dict(zip(found["passage_id"].to_pylist(), found["fingerprint"].to_pylist(), strict=True))


def _filter(scope: Scope) -> str:
    if scope.passage_ids is not None:
        return _any_of("passage_id", sorted(scope.passage_ids))
    return _any_of("paper_id", scope.paper_ids or ())


def _any_of(column: str, values: Collection[str]) -> str:
    """A condition in Lance's SQL, in which a quote is doubled and nothing else has a meaning inside quotes."""
    quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
    return f"{column} IN ({quoted})"


def _batches(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))


def _sizes(folder: Path) -> dict[str, int]:
    """Size in bytes of every file of the datasets, by its path in the folder."""
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and ".lance/" in path.as_posix()
    }
