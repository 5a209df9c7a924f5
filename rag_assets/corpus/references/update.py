"""Bringing the table of cited works up to date with the papers that have blocks."""

from collections.abc import Sequence
from typing import Any

from rag_assets.core.domain import BLOCK_SEPARATOR, Block
from rag_assets.core.paper_tables import PapersUpdate, RowsByPaper, none_quarantined
from rag_assets.core.promises import Promise
from rag_assets.core.tables import REFERENCES, blocks_from, packed, to_table, unpacked
from rag_assets.core.workforce.seam import Spread
from rag_assets.corpus.each_paper import PaperJob, update_each
from rag_assets.corpus.references.mentions import (
    mentions_in,
    references_of,
    sentences_with_mentions,
)

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
    """Bring the table up to date with the papers that have blocks; see `update_each`.

    `published`: schema REFERENCES. `blocks`: schema BLOCKS.
    """
    return update_each(published, blocks, lambda _: [REFERENCES_VERSION], _packed_rows, spread)


def _packed_rows(job: PaperJob) -> bytes:
    rows = reference_rows(job.paper_id, blocks_from(unpacked(job.packed)))
    return packed(to_table([row | {"fingerprint": job.fingerprint} for row in rows], REFERENCES))


REFERENCE_PROMISES: list[Promise[Any]] = [
    Promise(
        "all_looked_at",
        "Every paper with text was looked at, and no other has rows.",
        lambda candidate: candidate.not_one_each,
    ),
    none_quarantined(
        "Every paper can be looked at. Each that cannot is listed with the reason; the others go on."
    ),
]
