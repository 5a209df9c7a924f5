"""Tables with rows of papers: which papers they contain, and how they are updated.

A table is one file; from `SPLIT_AT` papers on, it is a folder of 16 files, then of 256, and so on.
Each of these files is called a shard. Its key is a few hexadecimal digits, and it contains the
papers whose hash begins with these digits, sorted by id; a table in one file has the empty key. A
hidden manifest beside the table lists the papers of each shard with their fingerprints, and the
checksum of the file. A shard whose size and time of change agree with the manifest is not opened;
any other is read whole, so a lost manifest costs only time.

An update writes a new table beside the published one: shards with changed papers are written, the
others are linked. The rows of a shard are in memory only until all its papers are made. How files
are written and read is in `table_files`.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias

import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from rag_assets.core.errors import GuardrailBroken, MissingInput
from rag_assets.core.incremental import (
    StagedFiles,
    UpdatePlan,
    data_version,
    file_sha256,
    link,
    recover_folder,
    sealed,
    unsealed,
)
from rag_assets.core.promises import NONE_QUARANTINED, Promise
from rag_assets.core.table_files import read_files, shard_file, shard_key, whole_file, write_table
from rag_assets.core.tables import by_paper, fingerprints_by_paper, merged, rows_of
from rag_assets.core.workforce.worker_process import Failure


@dataclass(frozen=True)
class QuarantinedPaper:
    """A paper that one stage could not use."""

    paper_id: str
    file_path: str
    error: str
    """Why, as whole sentences."""
    fingerprint: str
    """Fingerprint that its rows would have; the paper is tried again when this changes."""

    @classmethod
    def lost(cls, paper_id: str, file_path: str, failure: Failure, fingerprint: str) -> Self:
        """A paper whose work crashed or was stopped. If the work raised an error instead, that is a
        bug, and the error is raised here."""
        if failure.raised:
            raise failure.raised
        return cls(paper_id, file_path, f"{file_path} {failure.reason}", fingerprint)

    def as_row(self) -> dict[str, str]:
        return asdict(self)


class WithQuarantine(Protocol):
    """Something about which a promise is checked, and that knows the papers that could not be
    used."""

    @property
    def quarantined(self) -> Sequence[QuarantinedPaper]: ...


def none_quarantined(sentence: str) -> Promise[WithQuarantine]:
    """The promise that warns of papers that could not be used. sentence: see `Promise`."""
    return Promise(
        NONE_QUARANTINED,
        sentence,
        lambda candidate: [paper.as_row() for paper in candidate.quarantined],
        "warning",
    )


Made: TypeAlias = pa.Table | QuarantinedPaper
"""The rows of one paper, or why there are none."""


class RowsByPaper(Protocol):
    """Rows that can be read paper by paper: a `PaperTable`, or rows in memory in tests."""

    @property
    def papers(self) -> Mapping[str, str]:
        """Id -> fingerprint of the papers that have rows."""

    @property
    def known(self) -> Mapping[str, str]:
        """Id -> fingerprint of all papers that were processed, also of those without rows."""

    def rows(self, papers: Iterable[str]) -> Iterator[tuple[str, pa.Table]]:
        """Id and rows of each of these papers that has rows."""


@dataclass(frozen=True)
class PapersUpdate:
    """The changes of a table."""

    plan: UpdatePlan
    wanted: Mapping[str, str]
    """Id -> fingerprint of all papers of `plan`, without the removed ones."""
    made: Generator[tuple[str, Made]]
    """Id and new rows of each paper to build, in the order in which they are finished. The work
    begins when the generator is read."""
    again: Sequence[str] = ()
    """Papers that the plan calls unchanged, but whose rows are made again."""


def update_to(table: pa.Table, plan: UpdatePlan, published: RowsByPaper) -> PapersUpdate:
    """The update that turns the published table into `table`, which is sorted by paper. plan: the
    difference between them; unchanged papers with another fingerprint are written again."""
    wanted = fingerprints_by_paper(table)
    again = [
        paper
        for paper in plan.unchanged
        if paper in wanted and wanted[paper] != published.papers.get(paper)
    ]
    made = (pair for pair in by_paper(rows_of(table, "paper_id", [*plan.to_build, *again])))
    return PapersUpdate(plan, wanted, made, again)


@dataclass(frozen=True)
class Shard:
    """The entry of one file in the manifest."""

    n_bytes: int
    modified_ns: int
    sha256: str
    n_rows: int
    provenance: dict[str, Any]
    papers: dict[str, str]
    """Id -> fingerprint of the papers that have rows here."""
    without_rows: dict[str, str] = field(default_factory=dict)
    """Id -> fingerprint of the papers that were processed and gave no rows."""


@dataclass(frozen=True)
class Manifest:
    """The shards of a table, and the papers that could not be used."""

    shards: dict[str, Shard] = field(default_factory=dict)
    """Key -> shard."""
    quarantined: list[QuarantinedPaper] = field(default_factory=list)

    @classmethod
    def of(cls, table: Path) -> Self:
        """The manifest beside a table; an empty one when it is missing or damaged."""
        try:
            return TypeAdapter(cls).validate_python(
                unsealed(manifest_file(table).read_bytes()) or {}
            )
        except (OSError, ValidationError):
            return cls()

    def to_bytes(self) -> bytes:
        # `vars`, because `asdict` would copy each paper
        shards = {key: vars(shard) for key, shard in self.shards.items()}
        quarantined = [paper.as_row() for paper in self.quarantined]
        return json.dumps(sealed({"shards": shards, "quarantined": quarantined})).encode()


def manifest_file(table: Path) -> Path:
    """The path of the manifest of a table."""
    return table.with_name(f".{table.stem}.manifest.json")


def files_by_key(table: Path) -> dict[str, Path]:
    """Key -> file of the existing shards of a table; the key is in the name of a file."""
    return {
        shard_key(file): file
        for file in ([table] if table.is_file() else sorted(table.glob("*.parquet")))
    }


def paper_hash(paper_id: str) -> str:
    """64 hex digits. The rows of a paper are in the shard whose key is the beginning of its
    hash."""
    return hashlib.sha256(paper_id.encode()).hexdigest()


def quarantined_by(table: Path) -> list[QuarantinedPaper]:
    """The papers that the stage of a table could not use."""
    return Manifest.of(table).quarantined


@dataclass(frozen=True)
class PaperTable:
    """A published table with its manifest, for the process that may write the data folder.
    `drafted` updates it."""

    path: Path
    schema: pa.Schema
    files: Mapping[str, Path]
    """Key -> file of each shard."""
    manifest: Manifest

    @classmethod
    def published(cls, path: Path, schema: pa.Schema) -> Self:
        """The published table. Shards that cannot be used are left out, with a warning, and their
        papers count as absent."""
        recover_folder(path)
        known = Manifest.of(path)
        files = files_by_key(path)
        shards: dict[str, Shard] = {}
        for key, file in files.items():
            if shard := _shard_of(file, schema, known.shards.get(key), key, path):
                shards[key] = shard
        # the manifest may be older than the files
        with_rows = {paper for shard in shards.values() for paper in shard.papers}
        quarantined = [paper for paper in known.quarantined if paper.paper_id not in with_rows]
        return cls(path, schema, {key: files[key] for key in shards}, Manifest(shards, quarantined))

    @classmethod
    def required(cls, path: Path, schema: pa.Schema) -> Self:
        """The published table. Raises MissingInput when there is none, or one of its files cannot
        be used."""
        table = cls.published(path, schema)
        if not path.exists():
            raise MissingInput.table(path, asset=path.stem)
        if (n_wanted := 16 ** len(next(iter(table.files), ""))) != len(table.files):
            problem = f"can be used in {len(table.files)} of {n_wanted} parts"
            raise MissingInput.unusable_table(path, problem=problem, asset=path.stem)
        return table

    @cached_property
    def papers(self) -> dict[str, str]:
        """Id -> fingerprint of the papers that have rows."""
        return {
            paper: value
            for shard in self.manifest.shards.values()
            for paper, value in shard.papers.items()
        }

    @cached_property
    def known(self) -> dict[str, str]:
        """Id -> fingerprint of all papers that were processed: those with rows, those without, and
        the quarantined ones."""
        quarantined = {paper.paper_id: paper.fingerprint for paper in self.manifest.quarantined}
        shards = self.manifest.shards.values()
        without = {paper: value for shard in shards for paper, value in shard.without_rows.items()}
        return quarantined | without | self.papers

    @property
    def version(self) -> str:
        """Data version of the table; it changes whenever a row does."""
        return data_version(self.papers)

    @property
    def checksums(self) -> list[str]:
        """SHA-256 of each file."""
        return [shard.sha256 for shard in self.manifest.shards.values()]

    @property
    def n_rows(self) -> int:
        return sum(shard.n_rows for shard in self.manifest.shards.values())

    def columns(self, names: Sequence[str]) -> pa.Table:
        """These columns of all rows."""
        return read_files(self.files.values(), self.schema, names)

    def parts(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """These columns of all rows, one table per file."""
        return (read_files([file], self.schema, names) for file in self.files.values())

    def rows(self, papers: Iterable[str]) -> Iterator[tuple[str, pa.Table]]:
        """Id and rows of each of these papers that has rows, file by file."""
        wanted = set(papers)
        for key, shard in self.manifest.shards.items():
            if found := shard.papers.keys() & wanted:
                yield from by_paper(self.rows_in(key, found))

    def rows_in(self, key: str, papers: Collection[str]) -> pa.Table:
        """The rows of these papers in one file."""
        rows = read_files([self.files[key]], self.schema, self.schema.names)
        return rows_of(rows, "paper_id", papers)

    def restated(self, staged: StagedFiles) -> Self:
        """The table itself; stages its manifest as it is now."""
        staged.put(manifest_file(self.path), self.manifest.to_bytes())
        return self


def shard_of(
    file: Path,
    papers: Mapping[str, str],
    without_rows: Mapping[str, str],
    n_rows: int,
    provenance: Mapping[str, Any],
) -> Shard:
    """The manifest entry of a file that contains these papers."""
    status = file.stat()
    return Shard(
        status.st_size,
        status.st_mtime_ns,
        file_sha256(file),
        n_rows,
        dict(provenance),
        dict(papers),
        dict(without_rows),
    )


def _shard_of(
    file: Path, schema: pa.Schema, known: Shard | None, key: str, table: Path
) -> Shard | None:
    """The manifest entry of a published file; None when it cannot be used, or its papers belong
    into another shard. known: its entry in the published manifest."""
    if not key and not table.is_file():  # a file without key inside a folder
        return None
    status = file.stat()
    if known and (known.n_bytes, known.modified_ns) == (status.st_size, status.st_mtime_ns):
        return known
    if known and known.sha256 == file_sha256(file):
        return replace(known, modified_ns=status.st_mtime_ns)
    read = whole_file(file, schema)
    if read is None:
        return None
    rows, provenance, is_in_groups = read
    papers = fingerprints_by_paper(rows)
    if not all(paper_hash(paper).startswith(key) for paper in papers):
        return None
    # without its provenance the file is written again: to find a row, all of a large group would
    # have to be decoded
    return shard_of(file, papers, {}, len(rows), provenance if is_in_groups else {})


SPLIT_AT = 2_000
"""A table with at least this many papers is a folder."""
_WAYS = 16
"""Number of shards for each digit of their keys."""


def in_file_order(papers: Iterable[str]) -> list[str]:
    """The papers sorted by hash, so that the papers of one shard are neighbours."""
    return sorted(papers, key=paper_hash)


def is_current(table: PaperTable, update: PapersUpdate, provenance: Mapping[str, Any]) -> bool:
    """Whether the update changes no file of the table."""
    keys = _keys(len(update.wanted))
    is_made = update.plan.is_noop and not update.again and not _outdated(table, keys, provenance)
    return is_made and files_by_key(table.path).keys() == {*keys}


def drafted(
    table: PaperTable, update: PapersUpdate, provenance: Mapping[str, Any], staged: StagedFiles
) -> PaperTable:
    """Write the updated table and its manifest to temporary paths, from which `staged.publish`
    moves them. Returns the updated table.

    provenance: what all rows are made with; if it changes, all files are written. Raises
    GuardrailBroken when the table would have no papers, because none of several could be used.
    """
    if is_current(table, update, provenance):
        return table.restated(staged)
    plan, keys = update.plan, _keys(len(update.wanted))
    n_digits = len(keys[0])
    rebuilt = {*plan.to_build, *update.again}
    dropped = {*plan.to_drop, *rebuilt}
    rewritten_keys = _outdated(table, keys, provenance) | {
        paper_hash(paper)[:n_digits] for paper in dropped
    }
    target = staged.path(table.path)
    if n_digits:
        target.mkdir()
    files = {key: shard_file(target, key) for key in keys}
    shards = {key: table.manifest.shards[key] for key in keys if key not in rewritten_keys}
    for key in shards:
        link(table.files[key], files[key])

    failed: list[QuarantinedPaper] = []
    for key, new_rows in _by_shard(update, rewritten_keys, n_digits, failed):
        rows = merged(
            _kept_rows(table, key, dropped),
            pa.concat_tables([table.schema.empty_table(), *new_rows.values()]),
            ["paper_id"],
        )
        write_table(rows, files[key], provenance)
        without_rows = _kept_without_rows(table, key, dropped) | {
            paper: update.wanted[paper] for paper, own in new_rows.items() if not len(own)
        }
        shards[key] = shard_of(
            files[key], fingerprints_by_paper(rows), without_rows, len(rows), provenance
        )
    _demand_usable_paper(update, failed)

    kept = {*plan.unchanged} - rebuilt
    still_failed = [paper for paper in table.manifest.quarantined if paper.paper_id in kept]
    quarantined = sorted([*still_failed, *failed], key=lambda paper: paper.paper_id)
    return PaperTable(
        table.path, table.schema, files, Manifest(dict(sorted(shards.items())), quarantined)
    ).restated(staged)


def _by_shard(
    update: PapersUpdate, keys: Iterable[str], n_digits: int, failed: list[QuarantinedPaper]
) -> Iterator[tuple[str, dict[str, pa.Table]]]:
    """Do the work of the update. Yields the key of each shard with its new rows (id of a paper ->
    rows) as soon as all its papers are made, and at last the shards without new rows. Papers that
    could not be used are added to `failed`."""
    waiting: dict[str, set[str]] = {key: set() for key in keys}
    """Key -> papers that are not made yet."""
    for paper in (*update.plan.to_build, *update.again):
        waiting[paper_hash(paper)[:n_digits]].add(paper)
    made: defaultdict[str, dict[str, pa.Table]] = defaultdict(dict)
    with closing(update.made) as results:
        for paper, result in results:
            key = paper_hash(paper)[:n_digits]
            if isinstance(result, QuarantinedPaper):
                failed.append(result)
            else:
                made[key][paper] = result
            waiting[key].discard(paper)
            if not waiting[key]:
                del waiting[key]
                yield key, made.pop(key, {})
    for key in waiting:
        yield key, made.pop(key, {})


def _demand_usable_paper(update: PapersUpdate, failed: list[QuarantinedPaper]) -> None:
    if len(failed) > 1 and len(failed) == len(update.wanted):
        first = min(failed, key=lambda paper: paper.paper_id)
        raise GuardrailBroken(
            f"None of the {len(failed)} papers can be used, so nothing was changed. The first: {first.error}"
        )


def _outdated(table: PaperTable, keys: Iterable[str], provenance: Mapping[str, Any]) -> set[str]:
    """The keys of the shards that must be written even if no paper in them changed."""
    shards = table.manifest.shards
    return {key for key in keys if key not in shards or shards[key].provenance != provenance}


def _kept_rows(table: PaperTable, key: str, dropped: set[str]) -> pa.Table:
    """The published rows that the new shard `key` keeps: those of its papers that are not
    dropped."""
    tables = [table.schema.empty_table()]
    for old_key, shard in _overlapping(table, key):
        if papers := [
            paper
            for paper in shard.papers
            if paper not in dropped and paper_hash(paper).startswith(key)
        ]:
            tables.append(table.rows_in(old_key, papers))
    return pa.concat_tables(tables)


def _kept_without_rows(table: PaperTable, key: str, dropped: set[str]) -> dict[str, str]:
    """Id -> fingerprint of the papers without rows that the new shard `key` keeps."""
    known = (item for _, shard in _overlapping(table, key) for item in shard.without_rows.items())
    return {
        paper: value
        for paper, value in known
        if paper not in dropped and paper_hash(paper).startswith(key)
    }


def _overlapping(table: PaperTable, key: str) -> Iterator[tuple[str, Shard]]:
    """Key and shard of the published shards that may contain papers of the new shard `key`. If the
    number of shards changes, these are one larger or several smaller ones."""
    return (
        (old_key, shard)
        for old_key, shard in table.manifest.shards.items()
        if old_key.startswith(key) or key.startswith(old_key)
    )


def _keys(n_papers: int) -> list[str]:
    """The keys of the shards of a table with `n_papers` papers: [""] for one file, else "0" to "f",
    "00" to "ff" and so on."""
    n_digits = 0
    while n_papers >= SPLIT_AT * _WAYS**n_digits:
        n_digits += 1
    return [f"{number:0{n_digits}x}" for number in range(_WAYS**n_digits)] if n_digits else [""]
