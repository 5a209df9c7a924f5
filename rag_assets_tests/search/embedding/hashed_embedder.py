"""An Embedder for tests of the cache: instant, and different for every text."""

import hashlib
from collections.abc import Sequence

import numpy as np

from rag_assets.search.embedding.base import EmbedderFacts, Vectors
from rag_assets_tests.corpus.chunking.papers import words_and_two


class HashedEmbedder:
    def __init__(self, identity: str = "hashed-1", dimension: int = 8) -> None:
        self.facts = EmbedderFacts(identity, dimension, 64, "words")
        self.n_texts_embedded = 0

    @property
    def identity(self) -> str:
        return self.facts.identity

    count_tokens = staticmethod(words_and_two)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.n_texts_embedded += len(texts)
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        seed = hashlib.sha256(f"{self.identity} {text}".encode()).digest()
        vector = np.random.default_rng(list(seed)).standard_normal(self.facts.dimension)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        return [len(texts)]
