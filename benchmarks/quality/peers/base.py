"""What peers share: the parsed papers, pieces of them with pages, vectors and words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import tantivy

from benchmarks.quality.measures import Found
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import read_columns
from rag_assets.core.text.tokens import token_counter
from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.missing_vectors import embed_missing
from rag_assets.search.embedding.providers import embedder_facts, open_embedder
from rag_assets.search.embedding.vector_cache import VectorCache

_COLUMNS = [
    "paper_id",
    "ordinal",
    "text",
    "section_path",
    "page_start",
    "page_end",
    "title",
    "is_indexable",
]


class Peer(Protocol):
    """A way to search."""

    def search(self, question: str, limit: int) -> list[Found]:
        """The best pieces, best first."""


@dataclass(frozen=True)
class SourceBlock:
    """A paragraph, heading, list or table of a paper as the pipeline parsed it."""

    paper_id: str
    title: str
    """What the parsed paper begins with where it has no title of its own; may be empty."""
    headings: tuple[str, ...]
    text: str
    page_start: int | None
    page_end: int | None


@dataclass(frozen=True)
class Piece:
    """What a peer indexes, and what it hands to a reader."""

    indexed: str
    found: Found


class PeerVectors:
    """Vectors of texts by the model of the settings, kept on disk by content."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        models = settings.paths.models
        self._embedder = open_embedder(
            settings.embedding, models, n_threads=settings.execution.n_workers
        )
        self._cache = VectorCache(
            KeptFile(folder / "vectors.sqlite3"), embedder_facts(settings.embedding, models)
        )

    def of(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (n, dimension)."""
        embed_missing(self._cache, self._embedder, texts, batch_size=64)
        return np.stack(self._cache.load(texts))

    def of_question(self, text: str) -> Vectors:
        """A unit vector."""
        return self._embedder.embed_query(text)


class Words:
    """BM25 over texts in memory: tantivy with English stems, as it comes."""

    def __init__(self, texts: Sequence[str]) -> None:
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("text", tokenizer_name="en_stem")
        schema.add_integer_field("place", stored=True)
        self._index = tantivy.Index(schema.build())
        writer = self._index.writer()
        for place, text in enumerate(texts):
            writer.add_document(tantivy.Document(text=text, place=place))
        writer.commit()
        self._index.reload()

    def search(self, question: str, limit: int) -> list[int]:
        """Places of the best texts, best first."""
        query, _errors = self._index.parse_query_lenient(question, ["text"])
        searcher = self._index.searcher()
        return [
            searcher.doc(address)["place"][0] for _, address in searcher.search(query, limit).hits
        ]


Build = Callable[[Sequence[SourceBlock], PeerVectors], Peer]


def source_blocks(settings: Settings) -> list[SourceBlock]:
    """What the pipeline parsed and indexes, in reading order."""
    rows = read_columns(settings.paths.blocks, _COLUMNS).to_pylist()
    rows.sort(key=lambda row: (row["paper_id"], row["ordinal"]))
    return [
        SourceBlock(
            row["paper_id"],
            row["title"] or "",
            tuple(row["section_path"] or ()),
            row["text"],
            row["page_start"],
            row["page_end"],
        )
        for row in rows
        if row["is_indexable"]
    ]


def by_paper(blocks: Sequence[SourceBlock]) -> Mapping[str, list[SourceBlock]]:
    papers: dict[str, list[SourceBlock]] = {}
    for block in blocks:
        papers.setdefault(block.paper_id, []).append(block)
    return papers


def nearest(vectors: Vectors, question: Vectors, limit: int) -> list[int]:
    """Places of the vectors with the greatest cosine, best first."""
    return [int(place) for place in np.argsort(-(vectors @ question))[:limit]]


def reciprocal_ranks(rankings: Sequence[Sequence[int]], k: int = 60) -> list[int]:
    """Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, place in enumerate(ranking, start=1):
            scores[place] = scores.get(place, 0.0) + 1 / (k + rank)
    return sorted(scores, key=lambda place: -scores[place])


class Packing:
    """Fills a budget of tokens with what was found, best first; what does not fit is passed
    over."""

    def __init__(self) -> None:
        self._counter = token_counter("wordpiece")

    def packed(self, found: Sequence[Found], budget_tokens: int) -> list[Found]:
        chosen: list[Found] = []
        n_left = budget_tokens
        for one, n_tokens in zip(
            found, self._counter.count_all([one.text for one in found]), strict=True
        ):
            if n_tokens <= n_left or not chosen:
                chosen.append(one)
                n_left -= n_tokens
        return chosen
