"""The file that `rag_assets.search.reranking.trained_reader` reads, made of what was trained."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rag_assets.core.incremental import write_atomically
from rag_assets.search.reranking.trained_reader import Matrix


def write_weights(tensors: Mapping[str, Matrix], file: Path) -> str:
    """Write them in half precision, single numbers in float32; returns the file's SHA-256.

    tensors: float32, by the names of `trained_reader`. The same tensors make the same bytes.
    """
    from safetensors.numpy import save

    stored = {
        name: np.ascontiguousarray(values, np.float32 if values.size == 1 else np.float16)
        for name, values in sorted(tensors.items())
    }
    content = save(stored)
    write_atomically(file, content)
    return hashlib.sha256(content).hexdigest()
