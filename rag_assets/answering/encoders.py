"""What answering needs of an embedding model; adapters live in `rag_assets.embedding`."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class SentenceEncoder(Protocol):
    """The part of an embedding model that is needed here; unit vectors."""

    @property
    def model_id(self) -> str: ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    def embed_query(self, text: str) -> NDArray[np.float32]: ...
