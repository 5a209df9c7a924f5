"""Compares every byte of a data folder with the checksums that were kept when it was made.

Runs trust a file whose size and time of change are as they left it; a disk that loses bytes changes neither.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rag_assets.core.errors import BusyDataFolder, data_option
from rag_assets.core.incremental import file_sha256, is_being_written
from rag_assets.core.kept import n_damaged_entries
from rag_assets.core.paper_tables import Manifest, files_by_key, manifest_file
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import shard_file
from rag_assets.parsing.known_files import KnownFiles
from rag_assets.search.indexing.folders import damaged_files
from rag_assets.search.indexing.stores import published_indexes


@dataclass(frozen=True)
class Damage:
    """A file that is not as it was made."""

    path: Path
    problem: str
    """A phrase that can follow its name."""
    remedy: str
    """A sentence."""


def damages(settings: Settings) -> Iterator[Damage]:
    """Everything that is damaged in tables, indexes, kept files and papers; what was never made is not missed.

    Raises BusyDataFolder where a run may just be replacing what seems damaged.
    """
    data = settings.paths.data
    for damage in _seeming_damages(settings):
        if is_being_written(data):
            raise BusyDataFolder.at(data)
        yield damage


def _seeming_damages(settings: Settings) -> Iterator[Damage]:
    paths = settings.paths
    run = f"rag-assets run{data_option(paths.data)}"
    for table in _tables(paths):
        for file, problem in _damaged_in(table):
            yield Damage(file, problem, f"Delete it, then run: {run}" if file.exists() else f"Run: {run}")
    for index in published_indexes(settings):
        files = damaged_files(index.folder)
        for file in files:
            yield Damage(file, "differs from the manifest of its index", f"Run: {run}")
        if not files and index.manifest() is not None and not index.is_intact():
            yield Damage(index.folder, "is not as it was made", f"Run: {run}")
    for kept in (paths.kept, paths.vectors):
        if kept.exists() and (problem := _problem_of(kept)):
            yield Damage(kept, problem, f"Touch it, then run: {run}")
    for paper in KnownFiles.kept_at(paths.known_files).altered():
        yield Damage(
            paper, "cannot be read, or has other bytes than when it was read", "Put the paper there again, or touch it."
        )


def _tables(paths: Paths) -> list[Path]:
    return [
        paths.parsed_index, paths.records, paths.blocks, paths.chunks, paths.summaries, paths.passages, paths.profiles,
        paths.references,
    ]  # fmt: skip


def _damaged_in(table: Path) -> Iterator[tuple[Path, str]]:
    """Files of a table that differ from its manifest, with what is wrong with them."""
    wanted = Manifest.of(table).shards
    found = files_by_key(table)
    if found and not wanted:
        yield manifest_file(table), "is missing or damaged"
        return
    for key in sorted(wanted.keys() - found.keys()):
        yield shard_file(table, key), "is missing"
    for key, file in found.items():
        if key not in wanted:
            yield file, "is not in the manifest of its table"
        elif problem := _problem_of_file(file, wanted[key].sha256):
            yield file, problem


def _problem_of_file(file: Path, sha256: str) -> str:
    try:
        return "" if file_sha256(file) == sha256 else "differs from the manifest of its table"
    except OSError as error:
        return f"cannot be read ({error.strerror})"


def _problem_of(kept: Path) -> str:
    """What is wrong with a file that `core.kept` made; empty for nothing."""
    try:
        with closing(sqlite3.connect(f"{kept.resolve().as_uri()}?mode=ro", uri=True)) as database:
            n_damaged = n_damaged_entries(database)
    except sqlite3.DatabaseError as error:
        return f"cannot be read ({error})"
    return f"has {n_damaged} damaged entries" if n_damaged else ""
