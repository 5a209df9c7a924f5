"""Damage at rest to the files that a run made, and what must be true after the next run."""

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from rag_assets.core.table_files import read_provenance
from rag_assets.evaluation.history import read_history
from rag_assets.search.indexing.exact_vectors import ExactVectors
from rag_assets.search.indexing.folders import is_intact
from rag_assets_testing.world import World
from rag_assets_tests.kept_entries import all_contents, contents
from rag_assets_tests.search.indexing.folders import indexed


def zeroed(path: Path) -> None:
    _replaced(path, bytes(path.stat().st_size))


def halved(path: Path) -> None:
    content = path.read_bytes()
    _replaced(path, content[: len(content) // 2])


def flipped(path: Path) -> None:
    """One bit of one byte, somewhere in the file."""
    content = bytearray(path.read_bytes())
    if content:
        content[random.Random(len(content)).randrange(len(content))] ^= 4
    _replaced(path, bytes(content))


def garbled(path: Path) -> None:
    _replaced(path, random.Random(path.name).randbytes(path.stat().st_size))


def deleted(path: Path) -> None:
    path.unlink()


def _replaced(path: Path, content: bytes) -> None:
    """Another file at the same place: that of a model is shared by the worlds of other tests."""
    path.unlink()
    path.write_bytes(content)


KINDS: tuple[Callable[[Path], None], ...] = (zeroed, halved, flipped, garbled, deleted)


def made_files(world: World) -> list[str]:
    """Every file that a run made, by its path in the data folder; in the order of their names."""
    data = world.paths.data
    given = (world.paths.papers, world.paths.questions, world.paths.templates, data / ".dagster")
    return [
        str(path.relative_to(data))
        for path in sorted(data.rglob("*"))
        if path.is_file()
        and not path.name.endswith(".lock")
        and not any(path.is_relative_to(one) for one in given)
    ]


def state(world: World) -> dict[str, Any]:
    """What is published, without what may differ between two equal worlds.

    That is names and layout of index files, statistics in the footers of tables, lines of logs,
    when and by which run the answers were evaluated, and files that are made again when they are
    next needed (the model, and replies that no question needed).
    """
    paths = world.paths
    tables = (
        paths.parsed_index, paths.blocks, paths.statements, paths.chunks, paths.passages, paths.profiles,
        paths.references,
    )  # fmt: skip
    small = (paths.chunk_stats, paths.index_meta, paths.examples, paths.qa_meta, paths.qa)
    drafts = [path.name for path in paths.data.rglob("*.staged*")]
    return {
        **world.bytes_of(*small),
        "tables": {
            path.name: (pq.read_table(path).to_pylist(), read_provenance(path)) for path in tables
        },
        "documents": {key: one.hex() for key, one in contents(paths.kept, "documents").items()},
        "vectors": vectors(world),
        "chroma": _index(paths.chroma),
        "exact": ExactVectors.open(paths.chroma).fingerprints(),
        "bm25": _index(paths.bm25),
        "latest": json.loads((paths.evaluation / "latest.json").read_bytes())["metrics"],
        "metrics": read_history(paths.evaluation / "history.jsonl")[-1]["metrics"],
        "left over": drafts,
    }


def _index(folder: Path) -> dict[str, str]:
    assert is_intact(folder)
    return indexed(folder)


def vectors(world: World) -> dict[tuple[str, str], str]:
    """What models made of passages; in a file whose bytes depend on its history."""
    return {
        key: hashlib.sha256(content).hexdigest()
        for key, content in all_contents(world.paths.vectors).items()
    }
