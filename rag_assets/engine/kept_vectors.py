"""Vectors of sentences and questions kept in memory: an engine sees the same sentences again and again."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np

from rag_assets.search.embedding.base import Embedder, EmbedderFacts, Vectors

MAX_VECTORS = 10_000
"""About 20 MB with 384 numbers each; the least recently used go first."""


class KeptVectors:
    """An Embedder that keeps the vectors of recent texts. Safe to use from several threads."""

    def __init__(self, embedder: Embedder, *, max_vectors: int = MAX_VECTORS) -> None:
        self._embedder = embedder
        self._max_vectors = max_vectors
        self._lock = Lock()
        self._passages: OrderedDict[str, Vectors] = OrderedDict()
        self._queries: OrderedDict[str, Vectors] = OrderedDict()

    @property
    def identity(self) -> str:
        return self._embedder.identity

    @property
    def facts(self) -> EmbedderFacts:
        return self._embedder.facts

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.count_tokens(texts)

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.request_sizes(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            found = {text: self._passages[text] for text in texts if text in self._passages}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        vectors = self._embedder.embed_passages(missing) if missing else ()
        made = {text: vector.copy() for text, vector in zip(missing, vectors, strict=True)}  # a view would keep all
        known = found | made
        self._keep(self._passages, known)
        return np.stack([known[text] for text in texts]) if texts else np.empty((0, self.facts.dimension), np.float32)

    def embed_query(self, text: str) -> Vectors:
        with self._lock:
            vector = self._queries.get(text)
        vector = self._embedder.embed_query(text) if vector is None else vector
        self._keep(self._queries, {text: vector})
        return vector

    def _keep(self, kept: OrderedDict[str, Vectors], used: dict[str, Vectors]) -> None:
        with self._lock:
            for text, vector in used.items():
                kept[text] = vector
                kept.move_to_end(text)
            while len(kept) > self._max_vectors:
                kept.popitem(last=False)
