"""A cache of vectors by model and text: no text is embedded twice by the same model.

A vector's key is a hash of model and text. Below the cache folder each model has its own folder with

- `pending/`: a journal with one small file per finished batch, so that a kill loses the running batch at most;
- `0.parquet` ... `f.parquet`: the published vectors by the first digit of their keys, sorted by key.

`publish` folds the journal into the shards and forgets what is no longer wanted. What it leaves depends on the wanted
keys and the model only, whatever happened before. One process writes at a time. A damaged file counts as absent.
Embedding what is missing is in `missing_vectors`, what is kept of other models in `earlier_models`.
"""

import io
import logging
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import fingerprint, write_atomically
from rag_assets.search.embedding.base import EmbedderFacts, Vectors

logger = logging.getLogger(__name__)

_SHARDS = "0123456789abcdef"
_PENDING = "pending"


def vector_key(identity: str, text: str) -> str:
    """32 hex digits that name the vector of `text` by that model."""
    return fingerprint(identity, text)


@dataclass(frozen=True)
class PublishedVectors:
    """What a `publish` changed."""

    n_added: int
    n_removed: int
    n_unchanged: int
    n_files_written: int


class VectorCache:
    """The vectors of one model below `folder`."""

    def __init__(self, folder: Path, facts: EmbedderFacts) -> None:
        self.facts = facts
        self._folder = folder / fingerprint(facts.identity)
        self._pending_folder = self._folder / _PENDING
        self._pending: dict[str, Path] = {}
        for path in sorted(self._pending_folder.glob(f"*{SUFFIX}")):
            self._register_batch(path)

    @property
    def folder(self) -> Path:
        """Where the vectors of this model lie; beside it those of others."""
        return self._folder

    def key_of(self, text: str) -> str:
        """The key of the vector of `text` by this cache's model."""
        return vector_key(self.facts.identity, text)

    def missing(self, keys: Iterable[str]) -> list[str]:
        """The keys that have no vector, sorted, each once."""
        return sorted(key for key in set(keys) if key not in self._published[key[0]] and key not in self._pending)

    def add(self, keys: Sequence[str], vectors: Vectors) -> None:
        """Keep a finished batch; it survives a kill from here on. Raises ValueError for vectors of another shape."""
        wanted = (len(keys), self.facts.dimension)
        if vectors.shape != wanted:
            raise ValueError(f"vectors have the shape {vectors.shape}, their keys and the model ask for {wanted}")
        if keys:
            path = self._pending_folder / f"{fingerprint(sorted(keys))}{SUFFIX}"
            write_file(path, keys, vectors)
            self._pending.update(dict.fromkeys(keys, path))

    def load(self, keys: Sequence[str]) -> Vectors:
        """The vectors of `keys` in that order, shape (len(keys), dimension).

        Raises MissingInput when one is missing or its file is damaged by now.
        """
        vectors = np.empty((len(keys), self.facts.dimension), np.float32)
        wanted: dict[Path, list[int]] = defaultdict(list)
        for row, key in enumerate(keys):
            wanted[self._pending.get(key) or self._shard_path(key[0])].append(row)
        missing: set[str] = set()
        for path, rows in sorted(wanted.items()):
            file = read_file(path, self.facts.dimension)
            places = {key: place for place, key in enumerate(file.keys)} if file else {}
            found = [row for row in rows if keys[row] in places]
            missing.update(keys[row] for row in rows if keys[row] not in places)
            if file and found:
                vectors[found] = file.rows[[places[keys[row]] for row in found]]
        if missing:
            raise MissingInput(
                f"{self._folder} has no vector for {len(missing)} of {len(keys)} passages. "
                "Materialize `embeddings` first: rag-assets run --select embeddings"
            )
        return vectors

    def publish(self, wanted: Iterable[str]) -> PublishedVectors:
        """Make the shards hold exactly the vectors of `wanted`; then drop the journal.

        Raises MissingInput, before anything is changed, when one of `wanted` is missing. Only shards that change are
        written. Killed half way, it is completed by the next `publish`.
        """
        wanted_keys = frozenset(wanted)
        if missing := self.missing(wanted_keys):
            raise MissingInput(
                f"{self._folder} has no vector for {len(missing)} of {len(wanted_keys)} passages; nothing was "
                "published. Materialize `embeddings` again: what is missing is embedded then."
            )
        before = frozenset().union(*self._published.values())
        n_files = sum(self._publish_shard(shard, keys) for shard, keys in _by_shard(wanted_keys))
        self._tidy()
        return PublishedVectors(
            n_added=len(wanted_keys - before),
            n_removed=len(before - wanted_keys),
            n_unchanged=len(wanted_keys & before),
            n_files_written=n_files,
        )

    @cached_property
    def _published(self) -> dict[str, frozenset[str]]:
        """Keys of each shard, read when they are first asked for."""
        return {shard: self._keys_of_shard(shard) for shard in _SHARDS}

    def _shard_path(self, shard: str) -> Path:
        return self._folder / f"{shard}{SUFFIX}"

    def _keys_of_shard(self, shard: str) -> frozenset[str]:
        """Read in full, so that damage shows while the vectors can still be made again."""
        path = self._shard_path(shard)
        if not path.exists():
            return frozenset()
        rows = read_file(path, self.facts.dimension)
        if rows is None:
            logger.warning("%s is damaged; `embeddings` computes its vectors again.", path)
            return frozenset()
        return frozenset(rows.keys)

    def _register_batch(self, path: Path) -> None:
        rows = read_file(path, self.facts.dimension)
        if rows is None:
            logger.warning("%s is damaged; `embeddings` computes its batch again.", path)
            return
        self._pending.update(dict.fromkeys(rows.keys, path))

    def _publish_shard(self, shard: str, wanted: frozenset[str]) -> int:
        """Files written: 1 or 0. A shard left without vectors is removed by `_tidy`."""
        if wanted == self._published[shard]:
            return 0
        if wanted:
            keys = sorted(wanted)
            write_file(self._shard_path(shard), keys, self.load(keys))
        self._published[shard] = wanted
        return int(bool(wanted))

    def _tidy(self) -> None:
        """Remove what is not published: journal, emptied shards, unfinished files of killed runs."""
        self._pending.clear()
        published = {self._shard_path(shard) for shard, keys in self._published.items() if keys}
        for path in self._folder.glob("*"):
            if path.is_dir():
                shutil.rmtree(path)
            elif path not in published:
                path.unlink()


def _by_shard(keys: Iterable[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """All shards, with their part of the keys."""
    parts: dict[str, set[str]] = {shard: set() for shard in _SHARDS}
    for key in keys:
        parts[key[0]].add(key)
    return ((shard, frozenset(part)) for shard, part in parts.items())


SUFFIX = ".parquet"


class KeyedVectors(NamedTuple):
    """The content of a file."""

    keys: list[str]
    """Sorted."""
    rows: Vectors
    """Shape (len(keys), dimension)."""


def write_file(path: Path, keys: Sequence[str], vectors: Vectors) -> None:
    """Write or replace a file with vectors, shape (len(keys), dimension), at least one; equal ones give equal bytes."""
    order = sorted(range(len(keys)), key=keys.__getitem__)
    rows = np.asarray(vectors, np.float32)[order]
    column = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
    table = pa.table({"key": pa.array([keys[at] for at in order], pa.string()), "vector": column})
    sink = io.BytesIO()
    # vectors neither repeat nor compress: without both attempts the files are written several times faster
    pq.write_table(table, sink, compression="none", use_dictionary=False, write_page_checksum=True)
    write_atomically(path, sink.getvalue())


def read_file(path: Path, dimension: int | None) -> KeyedVectors | None:
    """None when the file is absent, damaged (page checksums are compared) or of another dimension than is given."""
    try:
        with pa.OSFile(str(path)) as file:
            # in Arrow's own memory: its threads must not touch Python objects when the process exits
            content = file.read_buffer()
        table = pq.read_table(pa.BufferReader(content), page_checksum_verification=True)
        column = table["vector"].combine_chunks()
        found = column.type.list_size if pa.types.is_fixed_size_list(column.type) else 0
        if column.type != pa.list_(pa.float32(), found if dimension is None else dimension):
            return None
        return KeyedVectors(table["key"].to_pylist(), column.flatten().to_numpy().reshape(-1, found))
    except (pa.ArrowException, OSError, ValueError, KeyError):
        return None


def keep_rows(path: Path, keys: Collection[str]) -> None:
    """Leave only the vectors of `keys` in a file of any dimension; delete it when it is damaged or none is left."""
    held = read_file(path, None)
    kept = [at for at, key in enumerate(held.keys) if key in keys] if held else []
    if held is None or not kept:
        path.unlink()
    elif len(kept) < len(held.keys):
        write_file(path, [held.keys[at] for at in kept], held.rows[kept])
