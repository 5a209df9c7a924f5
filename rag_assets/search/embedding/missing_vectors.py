"""Embedding what the cache does not have yet, batch by batch.

The cache lives in `vector_cache`; publishing it is the caller's decision, after the audits.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rag_assets.core.errors import BudgetExhausted, ModelFault
from rag_assets.search.embedding.base import Embedder
from rag_assets.search.embedding.vector_cache import VectorCache

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EmbeddingRun:
    """What `embed_missing` did."""

    n_embedded: int
    seconds: float

    @property
    def vectors_per_s(self) -> float:
        return self.n_embedded / self.seconds if self.seconds > 0 else 0.0


def ignore_progress(done: int, total: int) -> None:
    """A `report` for callers that show no progress of their own."""


def embed_missing(
    cache: VectorCache,
    embedder: Embedder,
    texts_by_key: Mapping[str, str],
    *,
    batch_size: int,
    report: Callable[[int, int], None] = ignore_progress,
) -> EmbeddingRun:
    """Embed the texts whose vectors the cache lacks; after each batch, save it and call `report(done, total)`.

    texts_by_key: the wanted texts by `cache.key_of(text)`. A batch has `batch_size` texts, or fewer where the model's
    provider takes fewer at once. When none is missing the model is not even loaded. Raises ValueError when cache and
    embedder are of different models; BudgetExhausted or a ModelFault, saying how much is left, when a model behind an
    API is not asked any more or does not answer: what is saved is not asked for again.
    """
    if embedder.identity != cache.facts.identity:
        raise ValueError(f"the cache is for {cache.facts.identity}, the embedder is {embedder.identity}")
    # in the order of the keys, so that a batch falls into one shard or two and each is read once when published
    missing = cache.missing(texts_by_key)
    if missing:
        logger.info("Embedding %d passages with %s.", len(missing), embedder.identity)
    started, n_done = time.monotonic(), 0
    for start in range(0, len(missing), batch_size):
        keys = missing[start : start + batch_size]
        for size in embedder.request_sizes([texts_by_key[key] for key in keys]):
            now, keys = keys[:size], keys[size:]
            try:
                cache.add(now, embedder.embed_passages([texts_by_key[key] for key in now]))
            except (BudgetExhausted, ModelFault) as error:
                raise type(error)(
                    f"{error} Of {len(missing)} passages, {len(missing) - n_done} are still to be embedded; "
                    "the others are saved, and another run goes on from there."
                ) from error
            n_done += len(now)
            report(n_done, len(missing))
    return EmbeddingRun(len(missing), time.monotonic() - started)
