"""What must hold of chunks and passages before they are published.

Each function returns the rows that break a promise. `broken_by_chunks` and `broken_by_passages`
apply them to one paper, which is then quarantined: left out with its reason, so that the other
papers go on. The lists at the end apply them to the whole table.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.domain import TITLE_PAGE_HEADING, Zone
from rag_assets.core.paper_tables import QuarantinedPaper, none_quarantined
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.settings import ChunkingSettings
from rag_assets.core.text.references import looks_like_reference
from rag_assets.corpus.chunking.stats import lost_text, share_lost

_LEAST_REFERENCES = 2
_MOST_TOLD = 10


@dataclass(frozen=True)
class ChunksCandidate:
    """Chunks before publication, and what they are checked against."""

    chunks: pa.Table
    """Without their texts."""
    back_matter: pa.Table
    like_references: Offenders
    """See `reading_as_references`."""
    settings: ChunkingSettings
    quarantined: Sequence[QuarantinedPaper]
    accounts: Sequence[dict[str, Any]]
    """Where the text of each paper that was not quarantined went, see `stats`."""


@dataclass(frozen=True)
class PassagesCandidate:
    """Passages before publication, and what they are checked against."""

    passages: pa.Table
    """Without their texts."""
    max_tokens: int
    """What the embedding model reads."""
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


def from_back_matter(chunks: pa.Table, blocks: pa.Table) -> pa.Table:
    """Chunks whose range in the document shares a character with a block of the back matter."""
    back = blocks.filter(pc.equal(blocks["zone"], str(Zone.BACK)))
    ranges: dict[str, list[tuple[int, int]]] = {}
    for paper, start, text in zip(
        back["paper_id"].to_pylist(),
        back["char_start"].to_pylist(),
        back["text"].to_pylist(),
        strict=True,
    ):
        ranges.setdefault(paper, []).append((start, start + len(text)))
    overlaps = [
        any(start < back_end and back_start < end for back_start, back_end in ranges.get(paper, ()))
        for paper, start, end in zip(
            chunks["paper_id"].to_pylist(),
            chunks["char_start"].to_pylist(),
            chunks["char_end"].to_pylist(),
            strict=True,
        )
    ]
    return chunks.filter(pa.array(overlaps, pa.bool_()))


def reading_as_references(chunks: pa.Table) -> pa.Table:
    """Chunks outside the back matter that are a list of references by the form of their lines."""
    found = []
    for text in chunks["text"].to_pylist():
        lines = [line for line in text.split("\n") if line.strip()]
        n = sum(map(looks_like_reference, lines))
        found.append(n >= _LEAST_REFERENCES and 2 * n >= len(lines))
    return chunks.filter(pa.array(found, pa.bool_()))


def with_half_a_page_range(chunks: pa.Table) -> pa.Table:
    """Chunks with a first page and no last one, or the reverse."""
    return chunks.filter(pc.xor(pc.is_null(chunks["page_start"]), pc.is_null(chunks["page_end"])))


def without_page(chunks: pa.Table) -> pa.Table:
    """Chunks without a proven page; a title page has none, since its statements may come from other
    files."""
    is_placeable = pc.not_equal(chunks["section_title"], TITLE_PAGE_HEADING)
    return chunks.filter(pc.and_(pc.is_null(chunks["page_start"]), is_placeable))


def longer_than_model_reads(passages: pa.Table, max_tokens: int) -> pa.Table:
    """Passages with more tokens, special ones included, than the embedding model reads."""
    return passages.filter(pc.greater(passages["n_tokens"], max_tokens))


def broken_by_chunks(
    chunks: pa.Table, blocks: pa.Table, settings: ChunkingSettings
) -> Iterator[str]:
    """The promises that the chunks of one paper break, each as a phrase that can follow its file's
    name."""
    if not len(chunks) and pc.any(blocks["is_indexable"]).as_py():
        yield "has text but no chunk"
    if (n := len(outside_token_bounds(chunks, settings))) > 0:
        yield f"has {n} chunks without a token or with more than {settings.max_tokens} (token_bounds)"
    if (n := len(repeated_ids(chunks, "chunk_id"))) > 0:
        yield f"has {n} chunks with the same id as another (ids_unique)"
    if (n := len(from_back_matter(chunks, blocks))) > 0:
        yield f"has {n} chunks that reach into its reference list (no_back_matter)"
    if (n := len(with_half_a_page_range(chunks))) > 0:
        yield f"has {n} chunks with only one end of their page range (pages_whole)"


def broken_by_passages(passages: pa.Table, max_tokens: int) -> Iterator[str]:
    """The promises that the passages of one paper break, as `broken_by_chunks`."""
    if not len(passages):
        yield "has chunks but no passage"
    if (n := len(longer_than_model_reads(passages, max_tokens))) > 0:
        yield f"has {n} passages of more than the {max_tokens} tokens that the embedding model reads (fit_the_model)"
    if (n := len(repeated_ids(passages, "passage_id"))) > 0:
        yield f"has {n} passages with the same id as another (ids_unique)"


def _lost_in_words(_: ChunksCandidate, rows: Offenders) -> str:
    told = (
        f"{row['paper_id']} {share_lost(row):.0%} ({row['n_lost']:,} characters)"
        for row in rows[:_MOST_TOLD]
    )
    n_more = len(rows) - _MOST_TOLD
    more = f" and {n_more} more papers" if n_more > 0 else ""
    return f"Text was lost between the file and its chunks: {', '.join(told)}{more}. Compare with the file."


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
