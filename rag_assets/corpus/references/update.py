"""Bringing the table of cited works up to date with the papers that have blocks."""

from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from rag_assets.core.domain import BLOCK_SEPARATOR, Block
from rag_assets.core.incremental import fingerprint, plan_update
from rag_assets.core.paper_tables import (
    Made,
    PapersUpdate,
    QuarantinedPaper,
    RowsByPaper,
    none_quarantined,
)
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.tables import REFERENCES, blocks_from, packed, to_table, unpacked
from rag_assets.core.workforce.seam import Spread
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.corpus.references.mentions import mentions_in, references_of
from rag_assets.corpus.references.voice import sentences_with_mentions

REFERENCES_VERSION = 5
"""Raise it when the same paper gets other rows than before."""


def reference_rows(paper_id: str, blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """The rows of one paper, without fingerprint; one without number where no reference list was
    found.

    blocks: all of the paper, in reading order.
    """
    entries = references_of(blocks)
    if not entries:
        return [{"paper_id": paper_id, "number": None, "text": "", "mentions": []}]
    texts = [block.text if block.is_indexable else "" for block in blocks]
    mentions: dict[int, list[dict[str, Any]]] = {}
    start = 0
    for block, said in zip(
        blocks, sentences_with_mentions(blocks, mentions_in(texts, entries)), strict=True
    ):
        for one in said:
            place = {
                "start": start + one.start,
                "end": start + one.end,
                "is_reported": one.is_reported,
            }
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


def update_references(published: RowsByPaper, blocks: RowsByPaper, spread: Spread) -> PapersUpdate:
    """Bring the table up to date with the papers that have blocks.

    `published`: schema REFERENCES. `blocks`: schema BLOCKS, a paper's rows in order. `spread`: does
    the work on papers.
    """
    wanted = {
        paper: fingerprint(made_of, REFERENCES_VERSION) for paper, made_of in blocks.papers.items()
    }
    plan = plan_update(published.known, wanted)

    def made() -> Generator[tuple[str, Made]]:
        papers = (
            (paper, own["file_path"][0].as_py(), packed(own))
            for paper, own in blocks.rows(plan.to_build)
        )
        with closing(spread(_rows_of_packed, papers)) as results:
            for (paper, file_path, _), rows in results:
                if isinstance(rows, Failure):
                    yield paper, QuarantinedPaper.lost(paper, file_path, rows, wanted[paper])
                else:
                    yield (
                        paper,
                        to_table(
                            [row | {"fingerprint": wanted[paper]} for row in rows], REFERENCES
                        ),
                    )

    return PapersUpdate(plan, wanted, made())


def _rows_of_packed(paper: tuple[str, str, bytes]) -> list[dict[str, Any]]:
    """paper: its id, its file, and the packed rows of its blocks."""
    paper_id, _, blocks = paper
    return reference_rows(paper_id, blocks_from(unpacked(blocks)))


@dataclass(frozen=True)
class ReferencesCandidate:
    """Papers of cited works before publication."""

    references: Collection[str]
    """paper_id of each paper with rows."""
    papers: Collection[str]
    """paper_id of each paper with blocks."""
    quarantined: Sequence[QuarantinedPaper] = ()


def _papers_without_rows(candidate: ReferencesCandidate) -> Offenders:
    """Papers with blocks and no row, and the other way round."""
    lost = {paper.paper_id for paper in candidate.quarantined}
    found, wanted = set(candidate.references), {*candidate.papers} - lost
    return [{"paper_id": paper, "has_rows": paper in found} for paper in sorted(found ^ wanted)]


REFERENCE_PROMISES: list[Promise[Any]] = [
    Promise(
        "all_looked_at",
        "Every paper with text was looked at, and no other has rows.",
        _papers_without_rows,
    ),
    none_quarantined(
        "Every paper can be looked at. Each that cannot is listed with the reason; the others go on."
    ),
]
