"""Embeds what the cache does not have yet, batch by batch, and audits the vectors before they are published.

With the packaged model, token vectors are stored in the same pass. Publishing is the caller's decision.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

import numpy as np

from rag_assets.core.errors import BudgetExhausted, ModelFault
from rag_assets.core.promises import Promise
from rag_assets.core.settings import EmbeddingSettings
from rag_assets.search.embedding.base import Embedder, Vectors
from rag_assets.search.embedding.token_store import TokenStore, text_key
from rag_assets.search.embedding.token_vectors import LocalTokenEncoder
from rag_assets.search.embedding.vector_cache import VectorCache

logger = logging.getLogger(__name__)
EMBEDDING_BATCH = 64
"""Passages embedded between two saves."""


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


def stores_tokens(embedding: EmbeddingSettings) -> bool:
    """Whether token vectors are kept with the index: 102 bytes per token, seven times a passage's vector. With another
    model than the packaged one they are made for each question."""
    return embedding.model.startswith("local:")


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


_LENGTH_TOLERANCE = 1e-3


@dataclass(frozen=True)
class VectorProblem:
    """A passage and what is wrong with its vector."""

    passage_id: str
    problem: str


def without_unit_vector(cache: VectorCache, keys: Mapping[str, str]) -> list[VectorProblem]:
    """Passages whose vector is missing (or was refused as damaged), not finite, or not of length 1.

    keys: passage_id -> key of its vector. In the order given. Looks at unpublished vectors too; holds one shard in
    memory at a time.
    """
    missing = set(cache.missing(keys.values()))
    problems = dict.fromkeys(missing, "no vector") | _wrong_lengths(cache, sorted(set(keys.values()) - missing))
    return [VectorProblem(passage_id, problems[key]) for passage_id, key in keys.items() if key in problems]


def _wrong_lengths(cache: VectorCache, keys: Sequence[str]) -> dict[str, str]:
    problems: dict[str, str] = {}
    for _, group in groupby(keys, key=lambda key: key[0]):
        of_shard = list(group)
        lengths = np.linalg.norm(cache.load(of_shard), axis=1)
        for at in np.flatnonzero(~(np.abs(lengths - 1.0) <= _LENGTH_TOLERANCE)):  # NaN is not <= either
            problems[of_shard[at]] = f"length {lengths[at]:.4f}, not 1"
    return problems


EMBEDDING_PROMISES: list[Promise[Sequence[VectorProblem]]] = [
    Promise(
        "unit_vectors",
        "Every passage has one vector of length 1.",
        lambda problems: [asdict(problem) for problem in problems],
    )
]
