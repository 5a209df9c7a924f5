"""Bringing the table of cited works up to date with the papers that have blocks."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.domain import BLOCK_SEPARATOR, Block
from rag_assets.core.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.tables import (
    REFERENCES,
    blocks_from,
    by_paper,
    fingerprints_by,
    merged,
    packed,
    rows_of,
    rows_without,
    to_table,
    unpacked,
)
from rag_assets.core.workforce.seam import Spread, demanded
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.corpus.chunking.promises import QuarantinedPaper
from rag_assets.corpus.references.entries import references_of
from rag_assets.corpus.references.mentions import mentions_in
from rag_assets.corpus.references.voice import sentences_with_mentions

REFERENCES_VERSION = 3
"""Raise it when the same paper gets other rows than before."""


def reference_rows(paper_id: str, blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """The rows of one paper, without fingerprint; one without number where no reference list was found.

    blocks: all of the paper, in reading order.
    """
    entries = references_of(blocks)
    if not entries:
        return [{"paper_id": paper_id, "number": None, "text": "", "mentions": []}]
    texts = [block.text if block.is_indexable else "" for block in blocks]
    mentions: dict[int, list[dict[str, Any]]] = {}
    start = 0
    for block, said in zip(blocks, sentences_with_mentions(blocks, mentions_in(texts, entries)), strict=True):
        for one in said:
            place = {"start": start + one.start, "end": start + one.end, "is_reported": one.is_reported}
            for number in one.numbers:
                mentions.setdefault(number, []).append(place)
        start += len(block.text) + len(BLOCK_SEPARATOR)
    return [
        {
            "paper_id": paper_id,
            "number": entry.number,
            "text": entry.text,
            "year": next(iter(entry.years), None),
            "doi": entry.doi,
            "page": entry.page,
            "mentions": mentions.get(entry.number, []),
        }
        for entry in entries
    ]


def update_references(
    published: pa.Table,
    made_of: pa.Table,
    read_blocks: Callable[[], pa.Table],
    spread: Spread,
    quarantined: Sequence[QuarantinedPaper] = (),
) -> tuple[pa.Table, UpdatePlan, list[QuarantinedPaper]]:
    """Bring the table up to date with the papers that have blocks.

    `published`: schema REFERENCES. `made_of`: paper_id and fingerprint of the blocks. `read_blocks`: gives the whole
    blocks, sorted by paper, a paper's rows in order; called only if rows must be made. `spread`: does the work on
    papers. `quarantined`: papers that have no rows because they passed its limits. Returns the new table, sorted by
    paper and number, the plan, and the papers that are quarantined now.
    """
    wanted = {
        paper: fingerprint(version, REFERENCES_VERSION)
        for paper, version in fingerprints_by(made_of, "paper_id").items()
    }
    known = {paper.paper_id: paper.fingerprint for paper in quarantined} | fingerprints_by(published, "paper_id")
    plan = plan_update(known, wanted)
    if plan.is_noop:
        return published, plan, list(quarantined)

    def papers() -> Iterator[tuple[str, bytes]]:
        for paper_id, own in by_paper(rows_of(read_blocks(), "paper_id", plan.to_build)):
            yield paper_id, packed(own)

    made: list[dict[str, Any]] = []
    failed = [paper for paper in quarantined if paper.paper_id in plan.unchanged]
    if plan.to_build:
        with closing(spread(_rows_of_packed, papers())) as results:
            for (paper_id, _), rows in results:
                if isinstance(rows, Failure) and not rows.raised:
                    failed.append(QuarantinedPaper(paper_id, "", f"{paper_id} {rows.reason}", wanted[paper_id]))
                else:
                    made += [row | {"fingerprint": wanted[paper_id]} for row in demanded(rows)]
    kept = rows_without(published, "paper_id", plan.to_drop)
    new = to_table(made, REFERENCES)
    return merged(kept, new, ["paper_id", "number"]), plan, sorted(failed, key=lambda paper: paper.paper_id)


def _rows_of_packed(paper: tuple[str, bytes]) -> list[dict[str, Any]]:
    paper_id, blocks = paper
    return reference_rows(paper_id, blocks_from(unpacked(blocks)))


@dataclass(frozen=True)
class ReferencesCandidate:
    """Cited works before publication."""

    references: pa.Table
    blocks: pa.Table
    """paper_id of the blocks they were made of."""
    quarantined: Sequence[QuarantinedPaper] = ()


def _papers_without_rows(candidate: ReferencesCandidate) -> Offenders:
    """Papers with blocks and no row that are not quarantined, and the other way round."""
    found, wanted = (
        set(pc.unique(table["paper_id"]).to_pylist()) for table in (candidate.references, candidate.blocks)
    )
    wanted -= {paper.paper_id for paper in candidate.quarantined}
    return [{"paper_id": paper, "has_rows": paper in found} for paper in sorted(found ^ wanted)]


REFERENCE_PROMISES: list[Promise[ReferencesCandidate]] = [
    Promise("all_looked_at", "Every paper with text was looked at, and no other has rows.", _papers_without_rows),
    Promise(
        "lists_read",
        "The reference list of every paper can be taken apart within parsing.limits. Of a paper that is named here, no "
        "sentence is known to report other works; the others are not touched.",
        lambda candidate: [{"paper_id": one.paper_id, "why": one.error} for one in candidate.quarantined],
        "warning",
    ),
]
