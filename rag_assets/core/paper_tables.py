"""Tables with rows of papers: which papers they have, and how they are brought up to date.

A table is one file, from `SPLIT_AT` papers on a folder of 16 files, then of 256, ... A paper's rows
lie in the file that a hash of its id names, sorted by paper. A hidden manifest beside the table
says of each of its files which papers it has, with their fingerprints, and the checksum of its
bytes. A file whose size and time of change are those of the manifest is not opened; any other is
read whole, so a manifest that is lost costs time only.

An updated table is written beside the published one. Files of papers that changed are written, the
others are linked. The rows of a file are held only until all its papers are made. What files are is
in `table_files`.
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
        """The paper whose work did not end. Raises what no paper can cause."""
        if failure.raised:
            raise failure.raised
        return cls(paper_id, file_path, f"{file_path} {failure.reason}", fingerprint)

    def as_row(self) -> dict[str, str]:
        return asdict(self)


class WithQuarantine(Protocol):
    """What a promise is checked on, with the papers that could not be used."""

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
    """Rows that can be read paper by paper: a `PaperTable`; tests keep them in memory."""

    @property
    def papers(self) -> Mapping[str, str]: ...

    @property
    def known(self) -> Mapping[str, str]: ...

    def rows(self, papers: Iterable[str]) -> Iterator[tuple[str, pa.Table]]: ...


@dataclass(frozen=True)
class PapersUpdate:
    """How a table is to change."""

    plan: UpdatePlan
    wanted: Mapping[str, str]
    """Fingerprint by paper_id of the papers of `plan`, the removed aside."""
    made: Generator[tuple[str, Made]]
    """What was made of each paper to build, in the order it is finished; nothing is made before it
    is asked for."""
    again: Sequence[str] = ()
    """Unchanged papers that are made too."""


def update_to(table: pa.Table, plan: UpdatePlan, published: RowsByPaper) -> PapersUpdate:
    """The update that ends in `table`, which is sorted by paper. plan: how it differs from the
    published one."""
    marks = fingerprints_by_paper(table)
    again = [
        paper
        for paper in plan.unchanged
        if paper in marks and marks[paper] != published.papers.get(paper)
    ]
    made = (pair for pair in by_paper(rows_of(table, "paper_id", [*plan.to_build, *again])))
    return PapersUpdate(plan, marks, made, again)


@dataclass(frozen=True)
class Shard:
    """What the manifest says of one file."""

    n_bytes: int
    modified_ns: int
    sha256: str
    n_rows: int
    provenance: dict[str, Any]
    papers: dict[str, str]
    """Fingerprint by paper_id."""
    without_rows: dict[str, str] = field(default_factory=dict)
    """Likewise, of papers of which no row was made."""


@dataclass(frozen=True)
class Manifest:
    """Which files a table has, and the papers that could not be used."""

    shards: dict[str, Shard] = field(default_factory=dict)
    """By the key of the file, see `shard_key`."""
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
        shards = {
            key: vars(shard) for key, shard in self.shards.items()
        }  # asdict copies each paper
        quarantined = [paper.as_row() for paper in self.quarantined]
        return json.dumps(sealed({"shards": shards, "quarantined": quarantined})).encode()


def manifest_file(table: Path) -> Path:
    """Where the manifest of a table lies."""
    return table.with_name(f".{table.stem}.manifest.json")


def files_by_key(table: Path) -> dict[str, Path]:
    """The files of a table that are there, by the key that their names give; see `shard_key`."""
    return {
        shard_key(file): file
        for file in ([table] if table.is_file() else sorted(table.glob("*.parquet")))
    }


def paper_hash(paper_id: str) -> str:
    """64 hex digits; a paper's rows lie in the file whose key they begin with."""
    return hashlib.sha256(paper_id.encode()).hexdigest()


def quarantined_by(table: Path) -> list[QuarantinedPaper]:
    """The papers that the stage of a table could not use."""
    return Manifest.of(table).quarantined


@dataclass(frozen=True)
class PaperTable:
    """A table, by its manifest; for the process that may write the data folder. `drafted`
    updates it."""

    path: Path
    """Where it is published."""
    schema: pa.Schema
    files: Mapping[str, Path]
    """Each file by its key."""
    manifest: Manifest

    @classmethod
    def published(cls, path: Path, schema: pa.Schema) -> Self:
        """The published table. Files that cannot be used are left out, with a warning: their papers
        count as absent."""
        recover_folder(path)
        known = Manifest.of(path)
        files = files_by_key(path)
        usable = {
            key: _shard_of(file, schema, known.shards.get(key), key, path)
            for key, file in files.items()
        }
        shards = {key: shard for key, shard in usable.items() if shard}
        with_rows = {paper for shard in shards.values() for paper in shard.papers}
        quarantined = [
            paper for paper in known.quarantined if paper.paper_id not in with_rows
        ]  # an older manifest's
        return cls(path, schema, {key: files[key] for key in shards}, Manifest(shards, quarantined))

    @classmethod
    def required(cls, path: Path, schema: pa.Schema) -> Self:
        """The published table. Raises MissingInput when there is none, or a file of it cannot be
        used."""
        table = cls.published(path, schema)
        if not path.exists():
            raise MissingInput.table(path, asset=path.stem)
        if (n_wanted := 16 ** len(next(iter(table.files), ""))) != len(table.files):
            problem = f"can be used in {len(table.files)} of {n_wanted} parts"
            raise MissingInput.unusable_table(path, problem=problem, asset=path.stem)
        return table

    @cached_property
    def papers(self) -> dict[str, str]:
        """Fingerprint of the rows by paper_id, of papers that have rows."""
        return {
            paper: mark
            for shard in self.manifest.shards.values()
            for paper, mark in shard.papers.items()
        }

    @cached_property
    def known(self) -> dict[str, str]:
        """Likewise, of all papers that were looked at, whatever came of it."""
        quarantined = {paper.paper_id: paper.fingerprint for paper in self.manifest.quarantined}
        shards = self.manifest.shards.values()
        without = {paper: mark for shard in shards for paper, mark in shard.without_rows.items()}
        return quarantined | without | self.papers

    @property
    def version(self) -> str:
        """Data version; changes whenever a row does."""
        return data_version(self.papers)

    @property
    def checksums(self) -> list[str]:
        """SHA-256 of each file."""
        return [shard.sha256 for shard in self.manifest.shards.values()]

    @property
    def n_rows(self) -> int:
        return sum(shard.n_rows for shard in self.manifest.shards.values())

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all rows."""
        return read_files(self.files.values(), self.schema, names)

    def parts(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """The same, file by file."""
        return (read_files([file], self.schema, names) for file in self.files.values())

    def rows(self, papers: Iterable[str]) -> Iterator[tuple[str, pa.Table]]:
        """Each of these papers that has rows, with its rows; the papers of a file come together."""
        wanted = set(papers)
        for key, shard in self.manifest.shards.items():
            if own := shard.papers.keys() & wanted:
                yield from by_paper(self.rows_in(key, own))

    def rows_in(self, key: str, papers: Collection[str]) -> pa.Table:
        """The rows of these papers in one file."""
        rows = read_files([self.files[key]], self.schema, self.schema.names)
        return rows_of(rows, "paper_id", papers)

    def restated(self, staged: StagedFiles) -> Self:
        """The table itself; the manifest beside it is written with what is known now."""
        staged.put(manifest_file(self.path), self.manifest.to_bytes())
        return self


def shard_of(
    file: Path,
    papers: Mapping[str, str],
    without_rows: Mapping[str, str],
    n_rows: int,
    provenance: Mapping[str, Any],
) -> Shard:
    """What a manifest says of a file with these papers."""
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
    """What is in a published file; None when it cannot be used, or is a copy of another part.
    known: what the manifest says of it."""
    if not key and not table.is_file():
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
    # without provenance, it is written again: a look-up would decode all of one large group
    return shard_of(file, papers, {}, len(rows), provenance if is_in_groups else {})


SPLIT_AT = 2_000
"""The least papers of a table that is a folder."""
_WAYS = 16


def in_file_order(papers: Iterable[str]) -> list[str]:
    """Papers so that those of one file come together, however many files there are."""
    return sorted(papers, key=paper_hash)


def is_current(table: PaperTable, update: PapersUpdate, provenance: Mapping[str, Any]) -> bool:
    """Whether no file of the table must be written or left out."""
    keys = _keys(len(update.wanted))
    is_made = update.plan.is_noop and not update.again and not _outdated(table, keys, provenance)
    return is_made and files_by_key(table.path).keys() == {*keys}


def drafted(
    table: PaperTable, update: PapersUpdate, provenance: Mapping[str, Any], staged: StagedFiles
) -> PaperTable:
    """The updated table; `staged.publish` puts it in its place, with its manifest.

    provenance: what all rows are made with; another one writes all files. Raises GuardrailBroken
    when several papers were made, none could be used and no other is left.
    """
    if is_current(table, update, provenance):
        return table.restated(staged)
    plan, keys = update.plan, _keys(len(update.wanted))
    n_digits = len(keys[0])
    made = {*plan.to_build, *update.again}
    rewritten = _outdated(table, keys, provenance) | {
        paper_hash(paper)[:n_digits] for paper in (*plan.to_drop, *made)
    }
    target = staged.path(table.path)
    if n_digits:
        target.mkdir()
    files = {key: shard_file(target, key) for key in keys}
    shards = {key: table.manifest.shards[key] for key in keys if key not in rewritten}
    for key in shards:
        link(table.files[key], files[key])

    dropped = {*plan.to_drop, *made}
    failed: list[QuarantinedPaper] = []
    for key, new in _by_file(update, rewritten, n_digits, failed):
        rows = merged(
            _kept(table, key, dropped),
            pa.concat_tables([table.schema.empty_table(), *new.values()]),
            ["paper_id"],
        )
        write_table(rows, files[key], provenance)
        without = _without_rows(table, key, dropped) | {
            paper: update.wanted[paper] for paper, own in new.items() if not len(own)
        }
        shards[key] = shard_of(
            files[key], fingerprints_by_paper(rows), without, len(rows), provenance
        )
    _demand_one(update, failed)

    still = [
        paper for paper in table.manifest.quarantined if paper.paper_id in {*plan.unchanged} - made
    ]
    quarantined = sorted([*still, *failed], key=lambda paper: paper.paper_id)
    return PaperTable(
        table.path, table.schema, files, Manifest(dict(sorted(shards.items())), quarantined)
    ).restated(staged)


def _by_file(
    update: PapersUpdate, keys: Iterable[str], n_digits: int, failed: list[QuarantinedPaper]
) -> Iterator[tuple[str, dict[str, pa.Table]]]:
    """Each file with the rows that were made for it, by paper, as soon as they are complete."""
    waiting: dict[str, set[str]] = {key: set() for key in keys}
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


def _demand_one(update: PapersUpdate, failed: list[QuarantinedPaper]) -> None:
    if len(failed) > 1 and len(failed) == len(update.wanted):
        first = min(failed, key=lambda paper: paper.paper_id)
        raise GuardrailBroken(
            f"None of the {len(failed)} papers can be used, so nothing was changed. The first: {first.error}"
        )


def _outdated(table: PaperTable, keys: Iterable[str], provenance: Mapping[str, Any]) -> set[str]:
    """The files that must be written, whatever changed in them."""
    shards = table.manifest.shards
    return {key for key in keys if key not in shards or shards[key].provenance != provenance}


def _kept(table: PaperTable, key: str, dropped: set[str]) -> pa.Table:
    """The rows that a file takes over, however many files the published table has."""
    tables = [table.schema.empty_table()]
    for own, shard in _overlapping(table, key):
        if papers := [
            paper
            for paper in shard.papers
            if paper not in dropped and paper_hash(paper).startswith(key)
        ]:
            tables.append(table.rows_in(own, papers))
    return pa.concat_tables(tables)


def _without_rows(table: PaperTable, key: str, dropped: set[str]) -> dict[str, str]:
    known = (item for _, shard in _overlapping(table, key) for item in shard.without_rows.items())
    return {
        paper: mark
        for paper, mark in known
        if paper not in dropped and paper_hash(paper).startswith(key)
    }


def _overlapping(table: PaperTable, key: str) -> Iterator[tuple[str, Shard]]:
    return (
        (own, shard)
        for own, shard in table.manifest.shards.items()
        if own.startswith(key) or key.startswith(own)
    )


def _keys(n_papers: int) -> list[str]:
    """The keys of the files of a table with so many papers; see `shard_key`."""
    n_digits = 0
    while n_papers >= SPLIT_AT * _WAYS**n_digits:
        n_digits += 1
    return [f"{number:0{n_digits}x}" for number in range(_WAYS**n_digits)] if n_digits else [""]
