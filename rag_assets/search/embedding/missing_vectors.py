"""Makes the vectors that the cache lacks, batch by batch.

For the packaged model, token vectors are stored in the same pass. The caller decides what is
published.
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
"""Passages per batch; the cache is saved after each batch."""


@dataclass(frozen=True)
class EmbeddingRun:
    """The result of `embed_missing`."""

    n_embedded: int
    lost: Mapping[str, str] = field(default_factory=dict)
    """By text, why it has no vector, as a phrase that follows a file's name."""


def ignore_progress(done: int, total: int) -> None:
    """The default of `report`: shows nothing."""


Batch = list[str]
Embed = Callable[[Iterable[Batch]], Iterable[tuple[Batch, Vectors | Failure]]]
"""Makes the vectors of batches. Yields each batch with its vectors, in the order in which they are
finished."""
EncodeTokens = Callable[
    [Iterable[Batch]], Iterable[tuple[Batch, list[tuple[Vectors, StoredTokens]] | Failure]]
]
"""Makes the vector and the tokens of each text in batches. Yields each batch with them, in the
order in which they are finished."""


def embed_missing(
    cache: VectorCache,
    embedder: Embedder,
    texts: Iterable[str],
    *,
    batch_size: int,
    embed: Embed | None = None,
    report: Callable[[int, int], None] = ignore_progress,
) -> EmbeddingRun:
    """Embed the texts that have no vector in the cache. After each batch the cache is saved and
    `report(done, total)` is called.

    A batch has `batch_size` texts, or fewer if the model's provider accepts fewer in one request.
    embed: makes the vectors; by default the embedder does, in this process. If no vector is
    missing, the model is not loaded.

    Raises ValueError if cache and embedder have different models. Raises BudgetExhausted or a
    ModelFault, with the number of remaining passages, if a model behind an API must not be asked
    any more or does not answer; vectors saved before are not asked for again.
    """
    if embedder.identity != cache.identity:
        raise ValueError(f"the cache is for {cache.identity}, the embedder is {embedder.identity}")
    missing = cache.missing(texts)
    if missing:
        logger.info("Embedding %d passages with %s.", len(missing), embedder.identity)
    n_done, lost = 0, dict[str, str]()
    batches = _requests(embedder, missing, batch_size)
    embed = embed or (lambda batches: ((one, embedder.embed_passages(one)) for one in batches))
    try:
        for batch, vectors in embed(batches):
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
    """The reason for each text whose vector the cache refused: its length is not 1, or not
    finite."""
    return {
        text: f"has a passage whose vector has {problem}"
        for text in texts
        if (problem := cache.refused.get(text))
    }


def _lost(batch: Batch, failure: Failure) -> dict[str, str]:
    """The reason for each text of a batch that failed. Raises the failure if no text can be its
    cause."""
    if failure.raised:
        raise failure.raised
    return dict.fromkeys(batch, failure.reason)


def _requests(embedder: Embedder, texts: Batch, batch_size: int) -> Iterator[Batch]:
    """The texts in batches of at most `batch_size`, divided further if a provider accepts fewer
    texts in one request."""
    for batch in _batches(texts, batch_size):
        for size in embedder.request_sizes(batch):
            yield batch[:size]
            batch = batch[size:]


def _batches(texts: Batch, batch_size: int) -> Iterator[Batch]:
    return (texts[start : start + batch_size] for start in range(0, len(texts), batch_size))


def stores_tokens(embedding: EmbeddingSettings) -> bool:
    """Whether the token vectors of passages are stored: only for the packaged models. They take 102
    bytes per token, in all seven times as much as the vectors of passages. For other models they
    are made for each question."""
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
    """Store the tokens of the texts that have none.

    The model makes a text's vector in the same pass, so the vectors that `cache` (of the same
    model) lacks are added to it; the result counts these. If the process is killed, the current
    batch is lost.
    """
    missing, n_embedded, n_done, lost = tokens.missing(texts), 0, 0, dict[str, str]()
    for batch, encoded in encode(_batches(missing, batch_size)):
        n_done += len(batch)
        if isinstance(encoded, Failure):
            lost |= _lost(batch, encoded)
            continue
        vectors, token_codes = zip(*encoded, strict=True)
        tokens.add(batch, token_codes)
        without_vector = cache.missing(batch)
        cache.add(
            without_vector,
            [vector for text, vector in zip(batch, vectors, strict=True) if text in without_vector],
        )
        n_embedded += len(without_vector)
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
