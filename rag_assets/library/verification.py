"""Compares every byte of a data folder with the checksums that were kept when it was made.

Runs trust a file whose size and time of change are as they left it; a disk that loses bytes changes
neither. Each made file has a witness: tables, indexes and models have a manifest, answers and
reports a record beside them. JSON files, lines of logs and entries of databases hold their own
checksum. A witness that is missing or does not fit is damage, too.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

from rag_assets.core.audit_log import damaged_rows
from rag_assets.core.databases import damage_in, history_databases
from rag_assets.core.errors import BusyDataFolder, data_option
from rag_assets.core.incremental import (
    damaged_lines,
    existing,
    file_sha256,
    is_being_written,
    read_sealed,
)
from rag_assets.core.kept import drop_damaged
from rag_assets.core.paper_tables import Manifest, files_by_key, manifest_file
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.settings.paths import OPENING_LOCK, says_nothing
from rag_assets.core.table_files import shard_file
from rag_assets.parsing.known_files import KnownFiles
from rag_assets.search.embedding.local_model import CHECK_RECORD, MODEL_MANIFEST, damage_of
from rag_assets.search.indexing.folders import MANIFEST_FILE, damaged_files
from rag_assets.search.indexing.published_set import not_newest
from rag_assets.search.indexing.stores import published_indexes

_MISSING, _DAMAGED = "is missing", "is missing or damaged"
DamagedFile: TypeAlias = tuple[Path, str]
"""A file, and what is wrong with it: a phrase that can follow its name."""


@dataclass(frozen=True)
class Damage:
    """A file that is not as it was made."""

    path: Path
    problem: str
    """A phrase that can follow its name."""
    remedy: str
    """A sentence."""


def damages(settings: Settings) -> Iterator[Damage]:
    """Everything that is damaged among papers and made files; what was never made is not missed.

    Raises BusyDataFolder where a run may just be replacing what seems damaged.
    """
    data = settings.paths.data
    for damage in _seeming_damages(settings):
        if is_being_written(data):
            raise BusyDataFolder.at(data)
        yield damage


def _seeming_damages(settings: Settings) -> Iterator[Damage]:
    paths = settings.paths
    data = data_option(paths.data)
    run = f"Run: rag-assets run{data}"
    of_tables = chain.from_iterable(map(_damaged_in, _tables(paths)))
    for file, problem in chain(of_tables, _damaged_models(paths)):
        yield Damage(file, problem, f"Delete it, then run: {run[5:]}" if file.exists() else run)
    indexes = [index.folder for index in published_indexes(settings)]
    for file, problem in chain(
        chain.from_iterable(map(_damaged_in_index, indexes)),
        _damaged_databases((paths.kept, paths.vectors)),
        _damaged_databases(history_databases(paths.dagster)),
        _missing_history(paths.dagster),
        ((config, _DAMAGED) for config in _emptied(paths.dagster)),
        _damaged_json(paths),
        _outdated_set(settings),
        ((file, _MISSING) for file in _missing(paths, indexes)),
        _damaged_answers(paths.qa, paths.qa_meta),
        _damaged_reports(paths),
        *(_damaged_lines(audit, damaged_rows) for audit in paths.audits),
        _damaged_lines(paths.evaluation_history, damaged_lines),
    ):
        yield Damage(file, problem, run)
    logs_of_runs = (paths.dagster / "history" / "runs").glob("*-*.db")
    for file, problem in _damaged_databases(logs_of_runs):
        yield Damage(file, problem, "Delete it; only what that run logged is lost.")
    for file, problem in _damaged_databases([paths.conversations]):
        yield Damage(file, problem, "Moved aside, and begun anew, by the next rag-assets chat.")
    for answers in sorted(paths.qa.parent.glob(f"*/{paths.qa.name}")):
        ask = f"Delete {answers.parent}, then ask its questions again: rag-assets qa --questions FILE{data}"
        for file, problem in _damaged_answers(answers, answers.with_name(paths.qa_meta.name)):
            yield Damage(file, problem, ask)
    for log in sorted((paths.evaluation / "runs").glob("*.jsonl")):
        for file, problem in _damaged_lines(log, damaged_lines):
            yield Damage(
                file, problem, "Its lost answers are asked again by the same rag-assets eval run."
            )
    for paper in KnownFiles.kept_at(paths.known_files).altered():
        problem = "cannot be read, or has other bytes than when it was read"
        yield Damage(paper, problem, "Put the paper there again, or touch it.")


def _outdated_set(settings: Settings) -> Iterator[DamagedFile]:
    """The first file of the published set that does not fit; folders of earlier versions have no
    set."""
    if existing(settings.paths.published_set).exists():
        for file in islice(not_newest(settings), 1):
            yield file, "is damaged, or not the newest: a run was ended before it published all"


def _damaged_in_index(folder: Path) -> Iterator[DamagedFile]:
    if folder.exists() and read_sealed(folder / MANIFEST_FILE) is None:
        yield folder / MANIFEST_FILE, _DAMAGED
    for file in damaged_files(folder):
        yield file, "differs from the manifest of its index"


def _damaged_models(paths: Paths) -> Iterator[DamagedFile]:
    for folder in sorted(paths.models.glob("*")):
        is_built_here = any((folder / name).exists() for name in (MODEL_MANIFEST, "model.onnx"))
        if is_built_here and (problem := damage_of(folder)):
            yield folder, f"holds a damaged model: {problem}"
    for record in sorted(paths.models.rglob(f"*{CHECK_RECORD}")):
        if read_sealed(record) is None:
            yield record, _DAMAGED


def _damaged_json(paths: Paths) -> Iterator[DamagedFile]:
    of_tables = {manifest_file(table) for table in _tables(paths)}
    for file in [*sorted(paths.cache.glob("*.json")), paths.latest_evaluation]:
        if file not in of_tables and file.exists() and read_sealed(file) is None:
            yield file, "is damaged"


def _emptied(home: Path) -> Iterator[Path]:
    """The dagster.yaml of the history, which our commands never leave empty."""
    if (home / OPENING_LOCK).exists() and says_nothing(home / "dagster.yaml"):
        yield home / "dagster.yaml"


def _damaged_reports(paths: Paths) -> Iterator[DamagedFile]:
    for text in sorted(paths.reports.rglob("*.md")):
        meta = text.with_suffix(".meta.json")
        yield from _damaged_answers(text.with_suffix(".jsonl"), meta)
        wanted = (read_sealed(meta) or {}).get("text_sha256")
        if wanted and (problem := _problem_of_file(text, wanted, meta.name)):
            yield text, problem


def _damaged_lines(log: Path, find: Callable[[Path], Sequence[bytes]]) -> Iterator[DamagedFile]:
    try:
        if damaged := find(log):
            yield log, f"has {len(damaged)} damaged lines"
    except OSError as error:
        yield log, f"cannot be read ({error.strerror})"


def _missing(paths: Paths, indexes: list[Path]) -> Iterator[Path]:
    """Files that are gone though others, which are made from them, are there."""
    is_indexed = paths.qa.exists() or all(folder.exists() for folder in indexes)
    if is_indexed or paths.index_meta.exists():
        made = [*_tables(paths), paths.chunk_stats, paths.vectors, *indexes, paths.index_meta]
        yield from (file for file in made if not file.exists())


def _damaged_answers(answers: Path, meta: Path) -> Iterator[DamagedFile]:
    known = read_sealed(meta)
    if known is None:
        if answers.exists():
            yield meta, _DAMAGED
    elif not answers.exists():
        yield answers, _MISSING
    elif problem := _problem_of_file(answers, str(known.get("sha256")), meta.name):
        yield answers, problem


def _tables(paths: Paths) -> list[Path]:
    return [
        paths.parsed_index, paths.records, paths.blocks, paths.statements, paths.chunks, paths.summaries,
        paths.passages, paths.profiles, paths.references,
    ]  # fmt: skip


def _damaged_in(table: Path) -> Iterator[DamagedFile]:
    """Files of a table that differ from its manifest, with what is wrong with them."""
    wanted = Manifest.of(table).shards
    files = files_by_key(table)
    if not wanted:
        if files or manifest_file(table).exists():
            yield manifest_file(table), _DAMAGED
        return
    for key in sorted(wanted.keys() - files.keys()):
        yield shard_file(table, key), _MISSING
    for key, file in files.items():
        if key not in wanted:
            yield file, "is not in the manifest of its table"
        elif problem := _problem_of_file(file, wanted[key].sha256, "the manifest of its table"):
            yield file, problem


def _problem_of_file(file: Path, sha256: str, witness: str) -> str:
    try:
        return "" if file_sha256(file) == sha256 else f"differs from {witness}"
    except OSError as error:
        return f"cannot be read ({error.strerror})"


def _damaged_databases(files: Iterable[Path]) -> Iterator[DamagedFile]:
    for file in filter(Path.exists, files):
        try:
            if damage := damage_in(file):
                yield file, damage
            elif file.suffix == ".sqlite3" and (n_damaged := _n_dropped(file)):
                yield file, f"had {n_damaged} damaged entries, which were dropped"
        except sqlite3.DatabaseError as error:
            yield file, f"cannot be read ({error})"


def _missing_history(home: Path) -> Iterator[DamagedFile]:
    """Databases that are gone while another one of the same history is there."""
    files = history_databases(home)
    if any(file.exists() for file in files):
        yield from ((file, _MISSING) for file in files if not file.exists())


def _n_dropped(file: Path) -> int:
    """The number of damaged entries in a file that `core.kept` made; they are deleted."""
    with closing(sqlite3.connect(file)) as database:
        return drop_damaged(database)
