"""What an embedding model is to the rest of the house.

The models themselves live in `local_model` and `hub_model`, the engine that runs them in `fastembed_embedder`, the
choice between them in `providers`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class EmbedderFacts:
    """What must be known of a model before it is loaded."""

    model_id: str
    """Identity of the vectors: whatever changes a vector (provider, weights, quantisation, builder) changes it.
    Letters, digits, dots and dashes only, so that it can name a folder."""
    dimension: int
    """Length of a vector."""
    max_tokens: int
    """Tokens the model reads, special tokens included; what follows them is not in the vector."""


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


class ModelFiles(Protocol):
    """A model fastembed can run, wherever its files come from."""

    @property
    def facts(self) -> EmbedderFacts: ...

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
