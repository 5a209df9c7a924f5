"""What must hold of chunks and passages before they are published: each audit returns the rows that break a promise.

Pure functions over tables. `broken_by_chunks` and `broken_by_passages` apply them to one paper, which is quarantined
for what it breaks; which audit of the whole table withholds publication is decided where the assets are.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.domain import Zone
from rag_assets.settings import ChunkingSettings


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
        back["paper_id"].to_pylist(), back["char_start"].to_pylist(), back["text"].to_pylist(), strict=True
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


def without_page(chunks: pa.Table) -> pa.Table:
    """Chunks of which no page is proven."""
    return chunks.filter(pc.is_null(chunks["page_start"]))


def longer_than_model_reads(passages: pa.Table, max_tokens: int) -> pa.Table:
    """Passages with more tokens, special ones included, than the embedding model reads."""
    return passages.filter(pc.greater(passages["n_tokens"], max_tokens))


def broken_by_chunks(chunks: pa.Table, blocks: pa.Table, settings: ChunkingSettings) -> Iterator[str]:
    """The promises that the chunks of one paper with text break, each as a phrase that can follow its file's name."""
    if not len(chunks):
        yield "has text but no chunk"
    if (n := len(outside_token_bounds(chunks, settings))) > 0:
        yield f"has {n} chunks without a token or with more than {settings.max_tokens} (token_bounds)"
    if (n := len(repeated_ids(chunks, "chunk_id"))) > 0:
        yield f"has {n} chunks with the same id as another (ids_unique)"
    if (n := len(from_back_matter(chunks, blocks))) > 0:
        yield f"has {n} chunks that reach into its reference list or acknowledgements (no_back_matter)"


def broken_by_passages(passages: pa.Table, max_tokens: int) -> Iterator[str]:
    """The promises that the passages of one paper break, as `broken_by_chunks`."""
    if not len(passages):
        yield "has chunks but no passage"
    if (n := len(longer_than_model_reads(passages, max_tokens))) > 0:
        yield f"has {n} passages of more than the {max_tokens} tokens that the embedding model reads (fit_the_model)"
    if (n := len(repeated_ids(passages, "passage_id"))) > 0:
        yield f"has {n} passages with the same id as another (ids_unique)"
