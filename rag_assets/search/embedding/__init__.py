"""Texts to vectors: the models, and a cache that embeds no text twice.

What a passage is lives in `chunking`, where vectors are searched in `indexing`. Importing this package loads no model,
no engine and no SDK.
"""

from rag_assets.search.embedding.base import Embedder, EmbedderFacts, Vectors
from rag_assets.search.embedding.missing_vectors import EmbeddingRun, VectorProblem, embed_missing, without_unit_vector
from rag_assets.search.embedding.providers import embedder_facts, open_embedder, require_embedder
from rag_assets.search.embedding.token_vectors import PassageTokens, TokenEncoder, TokenVectors, open_token_encoder
from rag_assets.search.embedding.vector_cache import PublishedVectors, VectorCache, vector_key

__all__ = [
    "Embedder",
    "EmbedderFacts",
    "EmbeddingRun",
    "PassageTokens",
    "PublishedVectors",
    "TokenEncoder",
    "TokenVectors",
    "VectorCache",
    "VectorProblem",
    "Vectors",
    "embed_missing",
    "embedder_facts",
    "open_embedder",
    "open_token_encoder",
    "require_embedder",
    "vector_key",
    "without_unit_vector",
]
