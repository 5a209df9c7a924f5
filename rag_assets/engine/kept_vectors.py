"""Vectors of sentences and questions kept in memory: an engine sees the same sentences again and
again."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from threading import Lock

import numpy as np

from rag_assets.core.settings import Settings
from rag_assets.search.embedding.base import Embedder, EmbedderFacts, Vectors
from rag_assets.search.embedding.missing_vectors import stores_tokens
from rag_assets.search.embedding.token_store import TokenStore
from rag_assets.search.embedding.token_vectors import PassageTokens, open_token_encoder
from rag_assets.search.embedding.vector_cache import vector_file

MAX_VECTORS = 10_000
"""About 20 MB with 384 numbers each; the least recently used go first."""


class KeptVectors:
    """An Embedder that keeps the vectors of recent texts. Safe to use from several threads."""

    def __init__(self, embedder: Embedder, *, max_vectors: int = MAX_VECTORS) -> None:
        self._embedder = embedder
        self._max_vectors = max_vectors
        self._lock = Lock()
        self._vectors: OrderedDict[tuple[str, str], Vectors] = OrderedDict()

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
        vectors = self._kept("passage", texts, self._embedder.embed_passages)
        return np.stack(vectors) if texts else np.empty((0, self.facts.dimension), np.float32)

    def embed_query(self, text: str) -> Vectors:
        return self._kept("query", [text], lambda _: [self._embedder.embed_query(text)])[0]

    def _kept(
        self, kind: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Iterable[Vectors]]
    ) -> list[Vectors]:
        with self._lock:
            found = {
                text: self._vectors[kind, text] for text in texts if (kind, text) in self._vectors
            }
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            # copies, because a view would keep the whole batch
            found |= {
                text: vector.copy() for text, vector in zip(missing, embed(missing), strict=True)
            }
        with self._lock:
            for text, vector in found.items():
                self._vectors[kind, text] = vector
                self._vectors.move_to_end((kind, text))
            while len(self._vectors) > self._max_vectors:
                self._vectors.popitem(last=False)
        return [found[text] for text in texts]


def passage_tokens(settings: Settings) -> PassageTokens:
    """The token vectors of passages, with those that are stored."""
    encoder = open_token_encoder(
        settings.embedding, settings.paths.models, settings.execution.n_workers
    )
    if not stores_tokens(settings.embedding):
        return PassageTokens(encoder)
    return PassageTokens(encoder, TokenStore(vector_file(settings.paths.vectors), encoder.identity))
