"""Figures of the chunks, for the whole corpus (chunk_stats.json) and per paper, and where the text
of each paper went.

Characters are counted by `domain.n_text_chars` when a paper's blocks and chunks are made; here they
are summed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.domain import BlockKind, Zone
from rag_assets.core.text.tokens import ResolvedTokenizer

_TOP_SECTIONS = 20


def chunk_stats(
    chunks: pa.Table, parsed_index: pa.Table, tokenizer: ResolvedTokenizer
) -> dict[str, Any]:
    """JSON-ready statistics of the whole corpus, by source and by the most frequent section titles.

    `chunks`: schema CHUNKS; `parsed_index`: schema PARSED_INDEX, says which papers were read from a
    fallback. Shares are of chunks, 0 to 1; null where there are no chunks.
    """
    fell_back = dict(
        zip(
            parsed_index["paper_id"].to_pylist(),
            parsed_index["used_fallback"].to_pylist(),
            strict=True,
        )
    )
    columns = chunks.select(
        ["paper_id", "section_title", "source", "n_tokens", "page_start"]
    ).to_pylist()
    sources = sorted({row["source"] for row in columns})
    titles = [
        title
        for title, _ in Counter(row["section_title"] for row in columns).most_common(_TOP_SECTIONS)
    ]
    return {
        "tokenizer": {"name": tokenizer.name, "reason": tokenizer.reason},
        "n_papers": len({row["paper_id"] for row in columns}),
        **_figures(columns, fell_back),
        "by_source": {
            source: _figures([r for r in columns if r["source"] == source], fell_back)
            for source in sources
        },
        "by_section_title": {
            title: _figures([r for r in columns if r["section_title"] == title], fell_back)
            for title in titles
        },
    }


def paper_stats(chunks: pa.Table) -> list[dict[str, Any]]:
    """One row per paper, in order: how many chunks it has, their sizes in tokens, the share with a
    page (0 to 1).

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
        return {
            "n_chunks": 0,
            "n_tokens": None,
            "share_fallback_used": None,
            "share_missing_pages": None,
        }
    n_tokens = np.array([row["n_tokens"] for row in rows])
    return {
        "n_chunks": len(rows),
        "n_tokens": {
            "min": int(n_tokens.min()),
            "median": float(np.median(n_tokens)),
            "p95": float(np.percentile(n_tokens, 95)),
            "max": int(n_tokens.max()),
        },
        "share_fallback_used": sum(bool(fell_back.get(row["paper_id"])) for row in rows)
        / len(rows),
        "share_missing_pages": sum(row["page_start"] is None for row in rows) / len(rows),
    }


_COUNTS = ("n_in_blocks", "n_heading", "n_back_matter", "n_title_page")
_MOST_LOST_SHARE, _NEGLIGIBLE_CHARS = 0.02, 20
"""In a paper of a few words a hyphen that was mended is 2 % already."""


def text_accounts(chunks: pa.Table, blocks: pa.Table, index: pa.Table) -> list[dict[str, Any]]:
    """One row per paper that was read, the one that lost the largest share first.

    n_source: what the parser counted in the source, back matter and title page aside. n_in_blocks:
    text of the blocks that belongs into chunks, n_title_page of it from the title page; n_heading,
    n_back_matter: text of the other blocks. n_running: blocks that were dropped as running headers
    and footers. n_in_chunks: text that is in a chunk, repeats aside. n_lost: what is missing in
    blocks, and of these in chunks.
    """
    in_blocks = _block_counts(blocks)
    summed = chunks.group_by("paper_id").aggregate([("n_own_chars", "sum")])
    in_chunks = dict(
        zip(summed["paper_id"].to_pylist(), summed["n_own_chars_sum"].to_pylist(), strict=True)
    )
    parsed = index.filter(pc.equal(index["status"], "parsed")).select(
        ["paper_id", "n_source_chars", "n_dropped_running"]
    )
    rows = []
    for paper in parsed.to_pylist():
        paper_id, n_source = paper["paper_id"], paper["n_source_chars"]
        counts = in_blocks.get(paper_id, dict.fromkeys(_COUNTS, 0))
        n_chunked = in_chunks.get(paper_id, 0)
        n_before = n_source - (counts["n_in_blocks"] + counts["n_heading"] - counts["n_title_page"])
        n_lost = max(n_before, 0) + max(counts["n_in_blocks"] - n_chunked, 0)
        account = {
            "n_running": paper["n_dropped_running"],
            "n_in_chunks": n_chunked,
            "n_lost": n_lost,
        }
        rows.append({"paper_id": paper_id, "n_source": n_source, **counts, **account})
    return sorted(rows, key=lambda row: (-share_lost(row), row["paper_id"]))


def share_lost(account: Mapping[str, Any]) -> float:
    """Share of a paper's text, 0 to 1, that did not come from its source into its chunks."""
    return float(account["n_lost"] / max(account["n_source"], account["n_lost"], 1))


def lost_text(accounts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The accounts of papers that lost more than 2 % of their text."""
    return [
        row
        for row in accounts
        if share_lost(row) > _MOST_LOST_SHARE and row["n_lost"] > _NEGLIGIBLE_CHARS
    ]


def _block_counts(blocks: pa.Table) -> dict[str, dict[str, int]]:
    summed = blocks.group_by(["paper_id", "zone", "kind"]).aggregate([("n_chars", "sum")])
    counts: dict[str, dict[str, int]] = {}
    for row in summed.to_pylist():
        kind = "n_heading" if row["kind"] == BlockKind.HEADING else "n_in_blocks"
        name = "n_back_matter" if row["zone"] == Zone.BACK else kind
        own = counts.setdefault(row["paper_id"], dict.fromkeys(_COUNTS, 0))
        own[name] += row["n_chars_sum"]
        own["n_title_page"] += (
            row["n_chars_sum"] if row["zone"] == Zone.TITLE_PAGE and name == "n_in_blocks" else 0
        )
    return counts
