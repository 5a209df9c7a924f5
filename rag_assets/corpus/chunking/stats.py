"""Figures of the chunks, for the whole corpus (chunk_stats.json) and per paper, and where the text of each paper went.

Characters are counted by `domain.n_text_chars` when a paper's blocks and chunks are made; here they are summed.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.domain import BlockKind, Zone
from rag_assets.core.text.tokens import ResolvedTokenizer

_TOP_SECTIONS = 20


def chunk_stats(chunks: pa.Table, parsed_index: pa.Table, tokenizer: ResolvedTokenizer) -> dict[str, Any]:
    """JSON-ready statistics of the whole corpus, by source and by the most frequent section titles.

    `chunks`: schema CHUNKS; `parsed_index`: schema PARSED_INDEX, says which papers were read from a fallback. Shares
    are of chunks, 0 to 1; null where there are no chunks.
    """
    fell_back = dict(zip(parsed_index["paper_id"].to_pylist(), parsed_index["used_fallback"].to_pylist(), strict=True))
    columns = chunks.select(["paper_id", "section_title", "source", "n_tokens", "page_start"]).to_pylist()
    sources = sorted({row["source"] for row in columns})
    titles = [title for title, _ in Counter(row["section_title"] for row in columns).most_common(_TOP_SECTIONS)]
    return {
        "tokenizer": {"name": tokenizer.name, "reason": tokenizer.reason},
        "n_papers": len({row["paper_id"] for row in columns}),
        **_figures(columns, fell_back),
        "by_source": {source: _figures([r for r in columns if r["source"] == source], fell_back) for source in sources},
        "by_section_title": {
            title: _figures([r for r in columns if r["section_title"] == title], fell_back) for title in titles
        },
    }


def paper_stats(chunks: pa.Table) -> list[dict[str, Any]]:
    """One row per paper, in order: how many chunks it has, their sizes in tokens, the share with a page (0 to 1).

    `chunks`: schema CHUNKS, sorted by paper.
    """
    columns = chunks.select(["paper_id", "source", "n_tokens", "page_start"]).to_pylist()
    rows = []
    for paper_id, group in groupby(columns, key=lambda row: row["paper_id"]):
        own = list(group)
        n_tokens = [row["n_tokens"] for row in own]
        rows.append(
            {
                "paper_id": paper_id,
                "source": own[0]["source"],
                "n_chunks": len(own),
                "n_tokens_min": min(n_tokens),
                "n_tokens_median": median(n_tokens),
                "n_tokens_max": max(n_tokens),
                "share_with_page": sum(row["page_start"] is not None for row in own) / len(own),
            }
        )
    return rows


def _figures(rows: list[dict[str, Any]], fell_back: dict[str, bool | None]) -> dict[str, Any]:
    if not rows:
        return {"n_chunks": 0, "n_tokens": None, "share_fallback_used": None, "share_missing_pages": None}
    n_tokens = np.array([row["n_tokens"] for row in rows])
    return {
        "n_chunks": len(rows),
        "n_tokens": {
            "min": int(n_tokens.min()),
            "median": float(np.median(n_tokens)),
            "p95": float(np.percentile(n_tokens, 95)),
            "max": int(n_tokens.max()),
        },
        "share_fallback_used": sum(bool(fell_back.get(row["paper_id"])) for row in rows) / len(rows),
        "share_missing_pages": sum(row["page_start"] is None for row in rows) / len(rows),
    }


_COUNTS = ("n_in_blocks", "n_heading", "n_back_matter")


def text_accounts(chunks: pa.Table, blocks: pa.Table, index: pa.Table) -> list[dict[str, Any]]:
    """One row per paper that was read, the one that lost the largest share first.

    n_source: what the parser counted in the source, white space included, back matter aside. n_in_blocks: text of
    the blocks that belongs into chunks; n_heading, n_back_matter: text of the other blocks. n_running: blocks that were
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

    def share_kept(row: dict[str, Any]) -> float:
        return float(row["n_in_chunks"] / row["n_in_blocks"]) if row["n_in_blocks"] else 1.0

    return sorted(rows, key=lambda row: (share_kept(row), row["paper_id"]))


def lost_text(accounts: Sequence[dict[str, Any]], lost_before: pa.Table) -> list[dict[str, Any]]:
    """The accounts of papers whose chunks lack text of their blocks, or whose blocks lack text of the source.

    lost_before: papers of the latter kind, with the column paper_id.
    """
    lost = set(lost_before["paper_id"].to_pylist())
    return [row for row in accounts if row["n_in_chunks"] < row["n_in_blocks"] or row["paper_id"] in lost]


def _block_counts(blocks: pa.Table) -> dict[str, dict[str, int]]:
    summed = blocks.group_by(["paper_id", "zone", "kind"]).aggregate([("n_chars", "sum")])
    counts: dict[str, dict[str, int]] = {}
    for row in summed.to_pylist():
        kind = "n_heading" if row["kind"] == BlockKind.HEADING else "n_in_blocks"
        name = "n_back_matter" if row["zone"] == Zone.BACK else kind
        own = counts.setdefault(row["paper_id"], dict.fromkeys(_COUNTS, 0))
        own[name] += row["n_chars_sum"]
    return counts
