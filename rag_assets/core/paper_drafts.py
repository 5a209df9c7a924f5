"""Writes updated tables with rows of papers beside the published ones.

A table is one file, from `SPLIT_AT` papers on a folder of 16 files, then of 256, ... A paper's rows
lie in the file that a hash of its id names, sorted by paper. Files of papers that changed are
written, the others are linked. The rows of a file are held only until all its papers are made.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any

import pyarrow as pa

from rag_assets.core.errors import GuardrailBroken
from rag_assets.core.incremental import StagedFiles, link
from rag_assets.core.paper_tables import (
    Manifest,
    PapersUpdate,
    PaperTable,
    QuarantinedPaper,
    Shard,
    files_by_key,
    paper_hash,
    shard_of,
)
from rag_assets.core.table_files import shard_file, write_table
from rag_assets.core.tables import fingerprints_by, merged

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
            one: update.wanted[one] for one, own in new.items() if not len(own)
        }
        shards[key] = shard_of(
            files[key], fingerprints_by(rows, "paper_id"), without, len(rows), provenance
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
    found = [table.schema.empty_table()]
    for own, shard in _overlapping(table, key):
        if kept := [
            paper
            for paper in shard.papers
            if paper not in dropped and paper_hash(paper).startswith(key)
        ]:
            found.append(table.rows_in(own, kept))
    return pa.concat_tables(found)


def _without_rows(table: PaperTable, key: str, dropped: set[str]) -> dict[str, str]:
    known = (item for _, shard in _overlapping(table, key) for item in shard.without_rows.items())
    return {
        paper: mark
        for paper, mark in known
        if paper not in dropped and paper_hash(paper).startswith(key)
    }


def _overlapping(table: PaperTable, key: str) -> Iterator[tuple[str, Shard]]:
    return (
        (own, one)
        for own, one in table.manifest.shards.items()
        if own.startswith(key) or key.startswith(own)
    )


def _keys(n_papers: int) -> list[str]:
    """The keys of the files of a table with so many papers; see `shard_key`."""
    n_digits = 0
    while n_papers >= SPLIT_AT * _WAYS**n_digits:
        n_digits += 1
    return [f"{number:0{n_digits}x}" for number in range(_WAYS**n_digits)] if n_digits else [""]
