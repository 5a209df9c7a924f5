"""What an embedding model is to the rest of the project, and the work that all adapters share.

Adapters are in `local_model`, `fastembed_model` and `hosted_embedder`; `providers` decides which one a setting means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import Kept
from rag_assets.search.embedding.prefixes import Prefixes

Vectors = NDArray[np.float32]
Role = Literal["query", "passage"]


@dataclass(frozen=True)
class EmbedderFacts:
    """What must be known of a model before it is loaded."""

    identity: str
    """Part of every cache key and of the index: whatever changes a vector (provider, weights, quantisation, builder,
    prefixes) changes it. Letters, digits, dots and dashes only, so that it can name a folder."""
    dimension: int
    """Length of a vector."""
    max_tokens: int
    """Tokens of a passage that the model reads, special tokens included, the prefix of passages not; what follows
    them is not in the vector."""
    tokenizer_id: str
    """Names the tokenizer that counts: where it and `max_tokens` stay, another model needs no other passages."""


class Embedder(Protocol):
    """Makes vectors. A vector depends on its own text and the model only, never on what is embedded with it."""

    @property
    def identity(self) -> str:
        """Part of every cache key, see `EmbedderFacts`."""
        ...

    @property
    def facts(self) -> EmbedderFacts: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as the model sees it: special tokens included, nothing cut off. Loads no model."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), in the order given."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimension,)."""
        ...

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        """Sizes of the batches, in order, that `embed_passages` makes of `texts`; callers save after each."""
        ...


class EmbeddingModel(Protocol):
    """What an adapter provides. Opening one is free: nothing is loaded, fetched or sent before it is needed."""

    @property
    def facts(self) -> EmbedderFacts: ...

    @property
    def prefixes(self) -> Prefixes:
        """What the model expects before a question and before a passage."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`."""
        ...

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.request_sizes`; the prefix is not part of the texts."""
        ...

    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), of one batch; the prefix is part of the texts."""
        ...


class ModelEmbedder:
    """The Embedder over any adapter: prefixes, batches, and questions that were asked before."""

    def __init__(self, model: EmbeddingModel, query_vectors: Kept[Vectors] | None = None) -> None:
        """query_vectors: keeps the vectors of questions; None: each is asked for again."""
        self._model = model
        self._query_vectors = query_vectors

    @property
    def identity(self) -> str:
        return self.facts.identity

    @property
    def facts(self) -> EmbedderFacts:
        return self._model.facts

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._model.count_tokens(texts)

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        return self._model.request_sizes(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`. If a batch fails, the vectors of those before it are lost, see `request_sizes`."""
        vectors = np.empty((len(texts), self.facts.dimension), np.float32)
        start = 0
        for size in self.request_sizes(texts):
            batch = [self._model.prefixes.passage + text for text in texts[start : start + size]]
            vectors[start : start + size] = self._model.vectors(batch, "passage")
            start += size
        return vectors

    def embed_query(self, text: str) -> Vectors:
        if self._query_vectors is None:
            return self._embedded_query(text)
        key = fingerprint("query", self.identity, text)
        return self._query_vectors.once(key, lambda: self._embedded_query(text))[0]

    def _embedded_query(self, text: str) -> Vectors:
        vector: Vectors = self._model.vectors([self._model.prefixes.query + text], "query")[0]
        return vector


def unit(vector: NDArray[Any]) -> Vectors:
    """The vector scaled to length 1 (not all models do); one of length 0 is left for the audit to find."""
    wide = vector.astype(np.float64)
    length = float(np.linalg.norm(wide))
    return (wide / length if length > 0 else wide).astype(np.float32)
