"""Token vectors made small: fewer numbers, one byte each.

Every token vector is reduced, whether it is stored or made for one question, so that both give the same scores. Source
of the projection: Achlioptas 2003, "Database-friendly Random Projections". It needs no training and is the same on
every machine.
"""

import hashlib
from functools import cache

import numpy as np
import numpy.typing as npt

from rag_assets.embedding.base import Vectors

Codes = npt.NDArray[np.int8]

N_NUMBERS = 128
REDUCTION = f"signs{N_NUMBERS}-int8-v1"
"""Part of the identity of what follows from reduced vectors: change it with any change of this module."""
_HIGHEST = 127


def codes_of(vectors: Vectors) -> Codes:
    """vectors: shape (n, dimension), any length. Returns shape (n, 128); each row has its own scale, which is not
    kept: only the direction counts."""
    projected = vectors @ _signs(vectors.shape[1])
    highest = np.abs(projected).max(axis=1, keepdims=True, initial=np.finfo(np.float32).tiny)
    return np.asarray(np.rint(projected * (_HIGHEST / highest)), np.int8)


def vectors_of(codes: Codes) -> Vectors:
    """Unit vectors, shape (n, 128)."""
    wide = codes.astype(np.float32)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return np.asarray(wide / np.maximum(lengths, 1.0), np.float32)


@cache
def _signs(dimension: int) -> Vectors:
    """Shape (dimension, 128), each number 1 or -1, out of a hash: numpy's generators may change between versions."""
    drawn = hashlib.shake_256(REDUCTION.encode()).digest(dimension * N_NUMBERS // 8)
    bits = np.unpackbits(np.frombuffer(drawn, np.uint8)).reshape(dimension, N_NUMBERS)
    return bits.astype(np.float32) * 2 - 1
