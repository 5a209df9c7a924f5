"""Storing the token vectors of the passages that have none, in the same pass of the model that embeds them.

Only where the packaged model embeds the passages: with another one, tokens are made when a question needs them.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rag_assets.core.settings import EmbeddingSettings, RetrievalSettings
from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.missing_vectors import ignore_progress
from rag_assets.search.embedding.token_store import TokenStore, text_key
from rag_assets.search.embedding.token_vectors import LocalTokenEncoder
from rag_assets.search.embedding.vector_cache import VectorCache


def stores_tokens(embedding: EmbeddingSettings, retrieval: RetrievalSettings) -> bool:
    """Whether token vectors are kept with the index."""
    return retrieval.store_token_vectors and embedding.model.startswith("local:")


def store_missing_tokens(
    store: TokenStore,
    encoder: LocalTokenEncoder,
    cache: VectorCache,
    texts: Mapping[str, Sequence[str]],
    *,
    batch_size: int,
    report: Callable[[int, int], None] = ignore_progress,
) -> int:
    """Store the tokens of these texts, paper by paper; returns how many vectors were added to the cache on the way.

    texts: of the passages by paper_id. cache: of the same model; it is given the vectors it lacks. A paper whose file
    holds exactly its texts is left alone, and of another one only new texts are encoded. A kill loses the tokens of
    one paper and a batch of vectors.
    """
    by_key = {paper_id: {text_key(text): text for text in of_paper} for paper_id, of_paper in sorted(texts.items())}
    stale = {paper_id: wanted for paper_id, wanted in by_key.items() if store.keys(paper_id) != wanted.keys()}
    n_embedded = 0
    for nth, (paper_id, wanted) in enumerate(stale.items(), start=1):
        tokens = {key: held for key, held in store.held(paper_id).items() if key in wanted}
        missing = [text for key, text in wanted.items() if key not in tokens]
        for start in range(0, len(missing), batch_size):
            batch = missing[start : start + batch_size]
            vectors, of_batch = zip(*encoder.embed_and_code(batch), strict=True)
            tokens |= dict(zip(map(text_key, batch), of_batch, strict=True))
            n_embedded += _add_missing(cache, dict(zip(map(cache.key_of, batch), vectors, strict=True)))
        store.put(paper_id, tokens)
        report(nth, len(stale))
    return n_embedded


def _add_missing(cache: VectorCache, vectors: Mapping[str, Vectors]) -> int:
    """How many of the vectors, given by key, the cache did not have."""
    new = cache.missing(vectors)
    if new:
        cache.add(new, np.stack([vectors[key] for key in new]))
    return len(new)
