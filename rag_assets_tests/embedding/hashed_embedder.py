"""An Embedder for tests of the cache: instant, and different for every text."""

import hashlib
from collections.abc import Sequence

import numpy as np

from rag_assets.embedding import EmbedderFacts, Vectors


class HashedEmbedder:
    def __init__(self, model_id: str = "hashed-1", dimension: int = 8) -> None:
        self.facts = EmbedderFacts(model_id, dimension, 64, "words")
        self.n_texts_embedded = 0

    @property
    def model_id(self) -> str:
        return self.facts.model_id

    @property
    def dimension(self) -> int:
        return self.facts.dimension

    @property
    def max_tokens(self) -> int:
        return self.facts.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.n_texts_embedded += len(texts)
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        seed = hashlib.sha256(f"{self.model_id} {text}".encode()).digest()
        vector = np.random.default_rng(list(seed)).standard_normal(self.dimension)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        return [len(texts)]
