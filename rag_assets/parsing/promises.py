"""What must hold of the parsed index and of the blocks, and which papers break it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.promises import NONE_QUARANTINED, Promise

PARSED = "parsed"
QUARANTINED = "quarantined"


def repeated_paper_ids(index: pa.Table) -> pa.Table:
    """(paper_id, n_rows) of each paper_id that occurs more than once."""
    counts = (
        index.group_by("paper_id")
        .aggregate([([], "count_all")])
        .rename_columns(["paper_id", "n_rows"])
    )
    return counts.filter(pc.greater(counts["n_rows"], 1)).sort_by("paper_id")


def quarantined(index: pa.Table) -> pa.Table:
    """(paper_id, file_path, error) of each paper that could not be used."""
    rows = index.filter(pc.equal(index["status"], QUARANTINED))
    return rows.select(["paper_id", "file_path", "error"])


def pages_outside(blocks: pa.Table, index: pa.Table) -> pa.Table:
    """(paper_id, ordinal, page_start, page_end, n_pages) of blocks on pages that their document
    does not have."""
    placed = blocks.select(["paper_id", "ordinal", "page_start", "page_end"])
    joined = placed.join(index.select(["paper_id", "n_pages"]), "paper_id")
    is_outside = pc.or_kleene(
        pc.or_kleene(
            pc.less(joined["page_start"], 1), pc.less(joined["page_end"], joined["page_start"])
        ),
        pc.greater(joined["page_end"], joined["n_pages"]),
    )
    return joined.filter(pc.fill_null(is_outside, fill_value=False)).sort_by(
        [("paper_id", "ascending"), ("ordinal", "ascending")]
    )


@dataclass(frozen=True)
class BlocksCandidate:
    """Blocks before publication, and the index of their papers."""

    blocks: pa.Table
    index: pa.Table


def is_doubtful(row: Mapping[str, Any]) -> bool:
    """Whether a paper (a row of the parsed index) was not read from its best file, or has pages
    without text or with words cut in two."""
    return bool(row["used_fallback"] or row["n_pages_unread"] or row["n_pages_cut"])


def how_bad(row: Mapping[str, Any]) -> tuple[bool, bool, float, bool]:
    """Sort key of a paper (a row of the parsed index); papers that were read badly come last.

    Whether it is quarantined, whether it is doubtful, the share of its pages without text or with
    words cut in two, and whether it has no heading.
    """
    n_bad = (row["n_pages_unread"] or 0) + (row["n_pages_cut"] or 0)
    return (
        row["status"] != PARSED,
        is_doubtful(row),
        n_bad / max(row["n_pages"] or 0, 1),
        not row["n_headings"],
    )


PARSED_INDEX_PROMISES: list[Promise[pa.Table]] = [
    Promise(
        "ids_unique",
        "Every paper_id occurs once.",
        lambda index: repeated_paper_ids(index).to_pylist(),
    ),
    Promise(
        NONE_QUARANTINED,
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
