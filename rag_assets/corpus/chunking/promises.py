"""What must hold for chunks and passages before they are published, and statistics of the chunks:
of the whole corpus (chunk_stats.json), and how much text of each paper reached its chunks.

The function of a promise returns the rows that break it. `broken_by_chunks` and
`broken_by_passages` check one paper. A paper that breaks a promise is quarantined: it is left out
with the reason, and the others go on. The lists at the end check the whole table.
`domain.n_text_chars` counts the characters when blocks and chunks are made; here the counts are
summed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.domain import TITLE_PAGE_HEADING, StatementKind, Zone
from rag_assets.core.paper_tables import QuarantinedPaper, none_quarantined
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.settings import ChunkingSettings
from rag_assets.core.text.works import looks_like_reference

_TOP_SECTIONS = 20


def chunk_stats(
    chunks: pa.Table, parsed_index: pa.Table, settings: ChunkingSettings
) -> dict[str, Any]:
    """JSON-ready statistics of the whole corpus, of each source and of the most frequent section
    titles.

    `chunks`: schema CHUNKS; `parsed_index`: schema PARSED_INDEX, which says for which papers the
    fallback parser was used. Shares are shares of chunks, 0 to 1; null where there are no chunks.
    """
    papers = parsed_index.select(["paper_id", "used_fallback"]).to_pylist()
    fell_back = {row["paper_id"]: row["used_fallback"] for row in papers}
    rows = chunks.select(
        ["paper_id", "section_title", "source", "n_tokens", "page_start"]
    ).to_pylist()
    sources = sorted({row["source"] for row in rows})
    titles = [
        title
        for title, _ in Counter(row["section_title"] for row in rows).most_common(_TOP_SECTIONS)
    ]
    return {
        "tokenizer": settings.tokenizer,
        "n_papers": len({row["paper_id"] for row in rows}),
        **_figures(rows, fell_back),
        "by_source": {
            source: _figures([row for row in rows if row["source"] == source], fell_back)
            for source in sources
        },
        "by_section_title": {
            title: _figures([row for row in rows if row["section_title"] == title], fell_back)
            for title in titles
        },
    }


def _figures(rows: list[dict[str, Any]], fell_back: dict[str, bool | None]) -> dict[str, Any]:
    """The statistics of some chunks. fell_back: by paper_id, whether the fallback parser was used."""
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
            "p95": round(float(np.percentile(n_tokens, 95)), 1),
            "max": int(n_tokens.max()),
        },
        "share_fallback_used": sum(bool(fell_back.get(row["paper_id"])) for row in rows)
        / len(rows),
        "share_missing_pages": sum(row["page_start"] is None for row in rows) / len(rows),
    }


_COUNTS = ("n_in_blocks", "n_heading", "n_back_matter", "n_title_page")
_MOST_LOST_SHARE, _NEGLIGIBLE_CHARS = 0.02, 20
"""A paper may lose 2 % of its characters, or 20 characters: in a paper of a few words, one mended
hyphen is more than 2 %."""


def text_accounts(chunks: pa.Table, statements: pa.Table, index: pa.Table) -> list[dict[str, Any]]:
    """One row of character counts per parsed paper; the paper that lost the largest share comes
    first.

    n_source: characters in the source, counted by the parser without back matter and title page.
    n_in_blocks: characters of the blocks that belong in chunks; n_title_page: how many of these are
    on the title page. n_heading, n_back_matter: characters of the other blocks. n_running: blocks
    dropped as running headers and footers. n_in_chunks: characters in chunks, each counted once.
    n_lost: characters that did not get from the source into blocks, or from blocks into chunks.
    """
    in_blocks = _text_counts(statements)
    summed = chunks.group_by("paper_id").aggregate([("n_own_chars", "sum")])
    in_chunks = {row["paper_id"]: row["n_own_chars_sum"] for row in summed.to_pylist()}
    parsed = index.filter(pc.equal(index["status"], "parsed")).select(
        ["paper_id", "n_source_chars", "n_dropped_running"]
    )
    rows = []
    for paper in parsed.to_pylist():
        paper_id, n_source = paper["paper_id"], paper["n_source_chars"]
        counts = in_blocks.get(paper_id, dict.fromkeys(_COUNTS, 0))
        n_chunked = in_chunks.get(paper_id, 0)
        # the title page is made from records, it is not in the source
        n_read = counts["n_in_blocks"] + counts["n_heading"] - counts["n_title_page"]
        n_lost = max(n_source - n_read, 0) + max(counts["n_in_blocks"] - n_chunked, 0)
        rows.append(
            {
                "paper_id": paper_id,
                "n_source": n_source,
                **counts,
                "n_running": paper["n_dropped_running"],
                "n_in_chunks": n_chunked,
                "n_lost": n_lost,
            }
        )
    return sorted(rows, key=lambda row: (-share_lost(row), row["paper_id"]))


def share_lost(account: Mapping[str, Any]) -> float:
    """Share of a paper's text that did not get from its source into its chunks, 0 to 1."""
    return float(account["n_lost"] / max(account["n_source"], account["n_lost"], 1))


def lost_text(accounts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The accounts of papers that lost more than 2 % of their text, and more than 20 characters."""
    return [
        row
        for row in accounts
        if share_lost(row) > _MOST_LOST_SHARE and row["n_lost"] > _NEGLIGIBLE_CHARS
    ]


def _text_counts(statements: pa.Table) -> dict[str, dict[str, int]]:
    """Characters of each paper's statements, by paper_id and by the names in `_COUNTS`."""
    summed = statements.group_by(["paper_id", "zone", "kind"]).aggregate([("n_chars", "sum")])
    counts: dict[str, dict[str, int]] = {}
    for row in summed.to_pylist():
        if row["zone"] == Zone.BACK:
            name = "n_back_matter"
        elif row["kind"] == StatementKind.HEADING:
            name = "n_heading"
        else:
            name = "n_in_blocks"
        paper_counts = counts.setdefault(row["paper_id"], dict.fromkeys(_COUNTS, 0))
        paper_counts[name] += row["n_chars_sum"]
        if row["zone"] == Zone.TITLE_PAGE and name == "n_in_blocks":
            paper_counts["n_title_page"] += row["n_chars_sum"]
    return counts


_LEAST_REFERENCES = 2
_MOST_LISTED = 10


@dataclass(frozen=True)
class ChunksCandidate:
    """Chunks before publication, and what they are checked against."""

    chunks: pa.Table
    """Without the column of texts."""
    back_matter: pa.Table
    like_references: Offenders
    """The rows that `reading_as_references` found."""
    settings: ChunkingSettings
    quarantined: Sequence[QuarantinedPaper]
    accounts: Sequence[dict[str, Any]]
    """The rows of `text_accounts`, without quarantined papers."""


@dataclass(frozen=True)
class PassagesCandidate:
    """Passages before publication, and what they are checked against."""

    passages: pa.Table
    """Without the column of texts."""
    max_tokens: int
    """The most tokens that the embedding model reads."""
    quarantined: Sequence[QuarantinedPaper]


def repeated_ids(table: pa.Table, key: str) -> pa.Table:
    """Rows whose `key` (chunk_id, passage_id) occurs more than once."""
    counts = table.group_by(key).aggregate([(key, "count")])
    repeated = counts.filter(pc.greater(counts[f"{key}_count"], 1))[key]
    return table.filter(pc.is_in(table[key], value_set=repeated.combine_chunks()))


def outside_token_bounds(chunks: pa.Table, settings: ChunkingSettings) -> pa.Table:
    """Chunks without a token or with more than the maximum."""
    n_tokens = chunks["n_tokens"]
    return chunks.filter(pc.or_(pc.less(n_tokens, 1), pc.greater(n_tokens, settings.max_tokens)))


def from_back_matter(chunks: pa.Table, statements: pa.Table) -> pa.Table:
    """Chunks whose range in the paper's text shares a character with a statement of the back
    matter."""
    back = statements.filter(pc.equal(statements["zone"], str(Zone.BACK)))
    ranges: dict[str, list[tuple[int, int]]] = {}
    for row in back.select(["paper_id", "char_start", "char_end"]).to_pylist():
        ranges.setdefault(row["paper_id"], []).append((row["char_start"], row["char_end"]))
    overlaps = [
        any(
            row["char_start"] < end and start < row["char_end"]
            for start, end in ranges.get(row["paper_id"], ())
        )
        for row in chunks.select(["paper_id", "char_start", "char_end"]).to_pylist()
    ]
    return chunks.filter(pa.array(overlaps, pa.bool_()))


def reading_as_references(chunks: pa.Table) -> pa.Table:
    """Chunks outside the back matter that look like a list of references: at least two lines, and
    at least half of all lines, have the form of a reference."""
    are_references = []
    for text in chunks["text"].to_pylist():
        lines = [line for line in text.split("\n") if line.strip()]
        n_references = sum(map(looks_like_reference, lines))
        are_references.append(n_references >= _LEAST_REFERENCES and 2 * n_references >= len(lines))
    return chunks.filter(pa.array(are_references, pa.bool_()))


def with_half_a_page_range(chunks: pa.Table) -> pa.Table:
    """Chunks that have a first page but no last page, or the reverse."""
    return chunks.filter(pc.xor(pc.is_null(chunks["page_start"]), pc.is_null(chunks["page_end"])))


def without_page(chunks: pa.Table) -> pa.Table:
    """Chunks without a known page, except title pages: these may be made from several files."""
    is_placeable = pc.not_equal(chunks["section_title"], TITLE_PAGE_HEADING)
    return chunks.filter(pc.and_(pc.is_null(chunks["page_start"]), is_placeable))


def longer_than_model_reads(passages: pa.Table, max_tokens: int) -> pa.Table:
    """Passages with more tokens than the embedding model reads, special tokens included."""
    return passages.filter(pc.greater(passages["n_tokens"], max_tokens))


def broken_by_chunks(
    chunks: pa.Table, statements: pa.Table, settings: ChunkingSettings
) -> Iterator[str]:
    """The promises that the chunks of one paper break. Each is a phrase that follows the file's
    name: "has 2 chunks with the same id as another (ids_unique)"."""
    in_chunks = pc.and_(
        pc.not_equal(statements["kind"], str(StatementKind.HEADING)),
        pc.not_equal(statements["zone"], str(Zone.BACK)),
    )
    if not len(chunks) and pc.any(in_chunks).as_py():
        yield "has text but no chunk"
    unbounded = f"without a token or with more than {settings.max_tokens} (token_bounds)"
    for rows, problem in (
        (outside_token_bounds(chunks, settings), unbounded),
        (repeated_ids(chunks, "chunk_id"), "with the same id as another (ids_unique)"),
        (
            from_back_matter(chunks, statements),
            "that reach into its reference list (no_back_matter)",
        ),
        (with_half_a_page_range(chunks), "with only one end of their page range (pages_whole)"),
    ):
        if len(rows):
            yield f"has {len(rows)} chunks {problem}"


def broken_by_passages(passages: pa.Table, max_tokens: int) -> Iterator[str]:
    """The promises that the passages of one paper break, as phrases like those of
    `broken_by_chunks`."""
    if not len(passages):
        yield "has chunks but no passage"
    if n := len(longer_than_model_reads(passages, max_tokens)):
        yield f"has {n} passages of more than the {max_tokens} tokens that the embedding model reads (fit_the_model)"
    if n := len(repeated_ids(passages, "passage_id")):
        yield f"has {n} passages with the same id as another (ids_unique)"


def _lost_in_words(_: ChunksCandidate, rows: Offenders) -> str:
    """The message of the promise `no_text_lost`."""
    listed = (
        f"{row['paper_id']} {share_lost(row):.0%} ({row['n_lost']:,} characters)"
        for row in rows[:_MOST_LISTED]
    )
    n_more = len(rows) - _MOST_LISTED
    more = f" and {n_more} more" if n_more > 0 else ""
    return f"Text was lost between the file and its chunks: {', '.join(listed)}{more}. Compare with the file."


CHUNK_PROMISES: list[Promise[Any]] = [
    Promise(
        "ids_unique",
        "Every chunk id occurs once.",
        lambda candidate: (
            repeated_ids(candidate.chunks, "chunk_id").select(["chunk_id", "paper_id"]).to_pylist()
        ),
    ),
    Promise(
        "token_bounds",
        "Every chunk has at least one token and at most chunking.max_tokens.",
        lambda candidate: (
            outside_token_bounds(candidate.chunks, candidate.settings)
            .select(["chunk_id", "n_tokens", "section_title"])
            .to_pylist()
        ),
    ),
    Promise(
        "no_back_matter",
        "No chunk comes from the reference list.",
        lambda candidate: (
            from_back_matter(candidate.chunks, candidate.back_matter)
            .select(["chunk_id", "section_title"])
            .to_pylist()
        ),
    ),
    Promise(
        "no_references",
        "No chunk is a list of references by its form. Where one is, the paper's list was not found by its heading.",
        lambda candidate: candidate.like_references,
        "warning",
    ),
    Promise(
        "pages_whole",
        "A chunk with a first page has a last one.",
        lambda candidate: (
            with_half_a_page_range(candidate.chunks)
            .select(["chunk_id", "page_start", "page_end"])
            .to_pylist()
        ),
    ),
    none_quarantined(
        "Every paper can be chunked. Each that cannot is listed with what it breaks; the others go on."
    ),
    Promise(
        "pages_known",
        "Every chunk has a page. If many have none, ask GROBID for coordinates (teiCoordinates) or put the PDF beside.",
        lambda candidate: (
            without_page(candidate.chunks).select(["chunk_id", "file_path"]).to_pylist()
        ),
        "warning",
    ),
    Promise(
        "no_text_lost",
        "At least 98 % of a paper's text comes from its file into its chunks; headers, footers and reference lists "
        "aside. The table counts characters and what was left out.",
        lambda candidate: lost_text(candidate.accounts),
        "warning",
        _lost_in_words,
    ),
]
PASSAGE_PROMISES: list[Promise[Any]] = [
    Promise(
        "fit_the_model",
        "No passage is longer than the embedding model reads.",
        lambda candidate: (
            longer_than_model_reads(candidate.passages, candidate.max_tokens)
            .select(["passage_id", "n_tokens"])
            .to_pylist()
        ),
    ),
    Promise(
        "ids_unique",
        "Every passage id occurs once.",
        lambda candidate: (
            repeated_ids(candidate.passages, "passage_id")
            .select(["passage_id", "paper_id"])
            .to_pylist()
        ),
    ),
    none_quarantined(
        "Every paper can be cut into passages. Each that cannot is listed with what it breaks; the others go on."
    ),
]
