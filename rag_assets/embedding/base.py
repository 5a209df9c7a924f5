"""What an embedding model is to the rest of the house.

Models that run here live in `local_model` and `hub_model`, the engine that runs them in `fastembed_embedder`; models
behind an API in `hosted_models` and `hosted_embedder`; the choice between them in `providers`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rag_assets.embedding.prefixes import Prefixes

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class EmbedderFacts:
    """What must be known of a model before it is loaded."""

    model_id: str
    """Identity of the vectors: whatever changes a vector (provider, weights, quantisation, builder, prefixes) changes
    it. Letters, digits, dots and dashes only, so that it can name a folder."""
    dimension: int
    """Length of a vector."""
    max_tokens: int
    """Tokens of a passage that the model reads, special tokens included, the prefix of passages not; what follows
    them is not in the vector."""
    tokenizer_id: str
    """Names the tokenizer that counts: where it and `max_tokens` stay, another model needs no other passages."""


class TokenCounts(Protocol):
    """Counts tokens as the embedding model sees them."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by the model's own tokenizer: special tokens included, nothing cut off."""
        ...


class Embedder(TokenCounts, Protocol):
    """Makes vectors. A vector depends on its own text and the model only, never on what is embedded with it."""

    @property
    def model_id(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), in the order given."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimension,)."""
        ...

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        """How many of `texts`, in order, `embed_passages` handles at once; who saves after each pays for none twice."""
        ...


class ModelFiles(Protocol):
    """A model fastembed can run, wherever its files come from."""

    @property
    def facts(self) -> EmbedderFacts: ...

    @property
    def prefixes(self) -> Prefixes:
        """What the model expects before a question and before a passage."""
        ...

    @property
    def fastembed_name(self) -> str:
        """Under which fastembed knows how to pool and normalise the model's output."""
        ...

    def tokenizer_file(self) -> Path:
        """The model's tokenizer.json, without building or loading the model if that can be avoided."""
        ...

    def ready_folder(self) -> Path:
        """The folder fastembed loads; built or fetched first when it is not there. Raises MissingModel."""
        ...


def unit(vector: NDArray[Any]) -> Vectors:
    """The vector scaled to length 1 (not all models do); one of length 0 is left for the audit to find."""
    wide = vector.astype(np.float64)
    length = float(np.linalg.norm(wide))
    return (wide / length if length > 0 else wide).astype(np.float32)
