"""Where the text of each paper went: from its source to blocks to chunks, and what was left out on purpose.

Characters are counted by `domain.n_text_chars`, when a paper's blocks and chunks are made; here they are summed.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.domain import BlockKind, Zone

_COUNTS = ("n_in_blocks", "n_heading", "n_back_matter")


def text_accounts(chunks: pa.Table, blocks: pa.Table, index: pa.Table) -> list[dict[str, Any]]:
    """One row per paper that was read, the one that lost the largest share first.

    n_source: what the parser counted in the source, white space included, back matter aside. n_in_blocks: text of
    the blocks that belongs into chunks; n_heading, n_back_matter: of those that do not. n_running: blocks that were
    dropped as running headers and footers. n_in_chunks: text that is in a chunk, repeats aside.
    """
    in_blocks = _block_counts(blocks)
    summed = chunks.group_by("paper_id").aggregate([("n_own_chars", "sum")])
    in_chunks = dict(zip(summed["paper_id"].to_pylist(), summed["n_own_chars_sum"].to_pylist(), strict=True))
    parsed = index.filter(pc.equal(index["status"], "parsed")).select(
        ["paper_id", "n_source_chars", "n_dropped_running"]
    )
    rows = [
        {
            "paper_id": paper["paper_id"],
            "n_source": paper["n_source_chars"],
            **in_blocks.get(paper["paper_id"], dict.fromkeys(_COUNTS, 0)),
            "n_running": paper["n_dropped_running"],
            "n_in_chunks": in_chunks.get(paper["paper_id"], 0),
        }
        for paper in parsed.to_pylist()
    ]
    return sorted(rows, key=lambda row: (_share_kept(row), row["paper_id"]))


def lost_text(accounts: Sequence[dict[str, Any]], lost_before: pa.Table) -> list[dict[str, Any]]:
    """The accounts of papers whose chunks lack text of their blocks, or whose blocks lack text of the source.

    lost_before: papers of the latter kind, with the column paper_id.
    """
    lost = set(lost_before["paper_id"].to_pylist())
    return [row for row in accounts if row["n_in_chunks"] < row["n_in_blocks"] or row["paper_id"] in lost]


def _share_kept(row: dict[str, Any]) -> float:
    wanted = row["n_in_blocks"]
    return float(row["n_in_chunks"] / wanted) if wanted else 1.0


def _block_counts(blocks: pa.Table) -> dict[str, dict[str, int]]:
    summed = blocks.group_by(["paper_id", "zone", "kind"]).aggregate([("n_chars", "sum")])
    counts: dict[str, dict[str, int]] = {}
    for row in summed.to_pylist():
        kind = "n_heading" if row["kind"] == BlockKind.HEADING else "n_in_blocks"
        name = "n_back_matter" if row["zone"] == Zone.BACK else kind
        own = counts.setdefault(row["paper_id"], dict.fromkeys(_COUNTS, 0))
        own[name] += row["n_chars_sum"]
    return counts
