"""What must hold of the parsed index and of the blocks, and which papers break it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.domain import Zone
from rag_assets.core.promises import Promise

PARSED = "parsed"
QUARANTINED = "quarantined"
_LEAST_KEPT_SHARE = 0.98
_NEGLIGIBLE_LOSS_CHARS = 20


def repeated_paper_ids(index: pa.Table) -> pa.Table:
    """(paper_id, n_rows) of each paper_id that is there more than once."""
    counts = index.group_by("paper_id").aggregate([([], "count_all")]).rename_columns(["paper_id", "n_rows"])
    return counts.filter(pc.greater(counts["n_rows"], 1)).sort_by("paper_id")


def quarantined(index: pa.Table) -> pa.Table:
    """(paper_id, error) of each paper that could not be used."""
    return index.filter(pc.equal(index["status"], QUARANTINED)).select(["paper_id", "error"])


def pages_outside(blocks: pa.Table, index: pa.Table) -> pa.Table:
    """(paper_id, ordinal, page_start, page_end, n_pages) of blocks on pages that their document does not have."""
    placed = blocks.select(["paper_id", "ordinal", "page_start", "page_end"])
    joined = placed.join(index.select(["paper_id", "n_pages"]), "paper_id")
    is_outside = pc.or_kleene(
        pc.or_kleene(pc.less(joined["page_start"], 1), pc.less(joined["page_end"], joined["page_start"])),
        pc.greater(joined["page_end"], joined["n_pages"]),
    )
    return joined.filter(pc.fill_null(is_outside, fill_value=False)).sort_by(
        [("paper_id", "ascending"), ("ordinal", "ascending")]
    )


def measured(blocks: pa.Table) -> pa.Table:
    """(paper_id, zone, kind, n_chars, length) of blocks: what `text_lost` counts, without the texts.

    length: characters of text and title, and the blank between them.
    """
    length = pc.add(pc.add(pc.utf8_length(blocks["text"]), pc.utf8_length(blocks["title"])), 1)
    return blocks.select(["paper_id", "zone", "kind", "n_chars"]).append_column("length", length)


def text_lost(blocks: pa.Table, index: pa.Table) -> pa.Table:
    """(paper_id, n_source_chars, n_block_chars) of papers whose blocks hold less than 98 % of the source's text.

    blocks: `measured`. Back matter and title pages count on neither side; a table's or figure's caption counts with its
    text. In a paper of a few words a hyphen that was mended is 2 % already, so a few characters are never a loss.
    """
    is_added = pc.is_in(blocks["zone"], value_set=pa.array([str(Zone.BACK), str(Zone.TITLE_PAGE)]))
    read = blocks.filter(pc.invert(is_added))
    by_paper = read.group_by("paper_id").aggregate([("length", "sum")])
    parsed = index.filter(pc.equal(index["status"], PARSED)).select(["paper_id", "n_source_chars"])
    joined = parsed.join(by_paper.rename_columns(["paper_id", "n_block_chars"]), "paper_id")
    n_kept = pc.fill_null(joined["n_block_chars"], 0)
    n_lost = pc.subtract(joined["n_source_chars"], n_kept)
    is_lost = pc.and_(
        pc.less(n_kept, pc.multiply(joined["n_source_chars"], _LEAST_KEPT_SHARE)),
        pc.greater(n_lost, _NEGLIGIBLE_LOSS_CHARS),
    )
    return joined.set_column(2, "n_block_chars", n_kept).filter(is_lost).sort_by("paper_id")


@dataclass(frozen=True)
class BlocksCandidate:
    """Blocks before publication, and the index of their papers."""

    blocks: pa.Table
    index: pa.Table


def is_doubtful(row: Mapping[str, Any]) -> bool:
    """Whether a paper (a row of the parsed index) was not read from its best file, or has pages without text or with
    words cut in two."""
    return bool(row["used_fallback"] or row["n_pages_unread"] or row["n_pages_cut"])


def how_bad(row: Mapping[str, Any]) -> tuple[bool, bool, float, bool]:
    """Sorts papers (rows of the parsed index) by how badly they were read: whether one is quarantined, whether it is
    doubtful, the share of its pages without text or with words cut in two, whether it has no heading."""
    n_bad = (row["n_pages_unread"] or 0) + (row["n_pages_cut"] or 0)
    return row["status"] != PARSED, is_doubtful(row), n_bad / max(row["n_pages"] or 0, 1), not row["n_headings"]


PARSED_INDEX_PROMISES: list[Promise[pa.Table]] = [
    Promise("ids_unique", "Every paper_id occurs once.", lambda index: repeated_paper_ids(index).to_pylist()),
    Promise(
        "none_quarantined",
        "Every file can be read. Each that cannot is listed with its reason and the remedy; the others go on.",
        lambda index: quarantined(index).to_pylist(),
        "warning",
    ),
]
BLOCK_PROMISES: list[Promise[BlocksCandidate]] = [
    Promise(
        "pages_within_document",
        "Every page of a block is a page of its document.",
        lambda candidate: pages_outside(candidate.blocks, candidate.index).to_pylist(),
    ),
]
