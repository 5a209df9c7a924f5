"""Embeds what the cache does not have yet, batch by batch.

With the packaged model, token vectors are stored in the same pass. Publishing is the caller's
decision.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_assets.core.errors import BudgetExhausted, ModelFault
from rag_assets.core.paper_tables import QuarantinedPaper, none_quarantined
from rag_assets.core.promises import Promise
from rag_assets.core.settings import EmbeddingSettings
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.search.embedding.base import Embedder, Vectors
from rag_assets.search.embedding.token_store import StoredTokens, TokenStore
from rag_assets.search.embedding.vector_cache import VectorCache

logger = logging.getLogger(__name__)
EMBEDDING_BATCH = 64
"""Passages embedded between two saves."""


@dataclass(frozen=True)
class EmbeddingRun:
    """What `embed_missing` did."""

    n_embedded: int
    lost: Mapping[str, str] = field(default_factory=dict)
    """Why there is no vector, as a phrase that can follow the name of a file, by text."""


def ignore_progress(done: int, total: int) -> None:
    """A `report` for callers that show no progress of their own."""


Batch = list[str]
Embed = Callable[[Iterable[Batch]], Iterable[tuple[Batch, Vectors | Failure]]]
"""Makes the vectors of batches: each with its vectors, in the order they finish."""
EncodeTokens = Callable[
    [Iterable[Batch]], Iterable[tuple[Batch, list[tuple[Vectors, StoredTokens]] | Failure]]
]
"""Likewise: for each text its vector and its tokens."""


def embed_missing(
    cache: VectorCache,
    embedder: Embedder,
    texts: Iterable[str],
    *,
    batch_size: int,
    embed: Embed | None = None,
    report: Callable[[int, int], None] = ignore_progress,
) -> EmbeddingRun:
    """Embed the texts whose vectors the cache lacks; after each batch, save it and call
    `report(done, total)`.

    A batch has `batch_size` texts, or fewer where the model's provider takes fewer at once. embed:
    what the vectors are made by; None: the embedder, here, one batch after the other. When none is
    missing the model is not even loaded. Raises ValueError when cache and embedder are of different
    models; BudgetExhausted or a ModelFault, saying how much is left, when a model behind an API is
    not asked any more or does not answer: what is saved is not asked for again.
    """
    if embedder.identity != cache.identity:
        raise ValueError(f"the cache is for {cache.identity}, the embedder is {embedder.identity}")
    missing = cache.missing(texts)
    if missing:
        logger.info("Embedding %d passages with %s.", len(missing), embedder.identity)
    n_done, lost = 0, dict[str, str]()
    batches = _requests(embedder, missing, batch_size)
    try:
        for batch, vectors in embed(batches) if embed else _one_by_one(embedder, batches):
            n_done += len(batch)
            if isinstance(vectors, Failure):
                lost |= _lost(batch, vectors)
            else:
                cache.add(batch, vectors)
            report(n_done, len(missing))
    except (BudgetExhausted, ModelFault) as error:
        raise type(error)(
            f"{error} Of {len(missing)} passages, {len(missing) - n_done} are still to be embedded; "
            "the others are saved, and another run goes on from there."
        ) from error
    lost |= _refused(cache, missing)
    return EmbeddingRun(len(missing) - len(lost), lost)


def _refused(cache: VectorCache, texts: Iterable[str]) -> dict[str, str]:
    """The reason for each text whose vector was not kept, because it is not of length 1 or not
    finite."""
    return {
        text: f"has a passage whose vector has {why}"
        for text in texts
        if (why := cache.refused.get(text))
    }


def _lost(batch: Batch, failure: Failure) -> dict[str, str]:
    """The reason for each text of a batch. Raises what no text can cause."""
    if failure.raised:
        raise failure.raised
    return dict.fromkeys(batch, failure.reason)


def _one_by_one(embedder: Embedder, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Vectors]]:
    return ((batch, embedder.embed_passages(batch)) for batch in batches)


def _requests(embedder: Embedder, texts: Batch, batch_size: int) -> Iterator[Batch]:
    for batch in _batches(texts, batch_size):
        for size in embedder.request_sizes(batch):
            now, batch = batch[:size], batch[size:]
            yield now


def _batches(texts: Batch, batch_size: int) -> Iterator[Batch]:
    return (texts[start : start + batch_size] for start in range(0, len(texts), batch_size))


def stores_tokens(embedding: EmbeddingSettings) -> bool:
    """Whether token vectors are kept with the index: 102 bytes per token, seven times a passage's
    vector. With another model than the packaged one they are made for each question."""
    return embedding.model.startswith("local:")


def store_missing_tokens(
    tokens: TokenStore,
    encode: EncodeTokens,
    cache: VectorCache,
    texts: Iterable[str],
    *,
    batch_size: int,
    report: Callable[[int, int], None] = ignore_progress,
) -> EmbeddingRun:
    """Store the tokens of the texts that have none. Returns the vectors that were added to the
    cache on the way.

    cache: of the same model; it is given the vectors it lacks. A kill loses the batch that is being
    made.
    """
    missing, n_embedded, n_done, lost = tokens.missing(texts), 0, 0, dict[str, str]()
    for batch, made in encode(_batches(missing, batch_size)):
        n_done += len(batch)
        if isinstance(made, Failure):
            lost |= _lost(batch, made)
            continue
        vectors, coded = zip(*made, strict=True)
        tokens.add(batch, coded)
        new = cache.missing(batch)
        cache.add(new, [vector for text, vector in zip(batch, vectors, strict=True) if text in new])
        n_embedded += len(new)
        report(n_done, len(missing))
    refused = _refused(cache, missing)
    return EmbeddingRun(n_embedded - len(refused), lost | refused)


@dataclass(frozen=True)
class VectorsCandidate:
    """Vectors before publication."""

    quarantined: Sequence[QuarantinedPaper]


EMBEDDING_PROMISES: list[Promise[Any]] = [
    none_quarantined(
        "Vectors of length 1 can be made of every paper. Each other is listed with the reason; it is found by its "
        "words only, and the next run tries it again."
    ),
]
