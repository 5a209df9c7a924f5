"""Figures of the chunks: of the whole corpus (chunk_stats.json), and one row per paper."""

from collections import Counter
from itertools import groupby
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

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
