"""Token vectors in few bytes: rotated, and each number rounded to one of four levels, a quarter of a byte.

A vector is rotated first, so that what it holds is spread over all its numbers: each is then distributed like a normal
one, and the same levels fit all of them. With every vector goes the factor that makes its products with exact vectors
right on average. Sources: rotation and factor, Gao and Long 2024, "RaBitQ: Quantizing High-Dimensional Vectors with a
Theoretical Error Bound for Approximate Nearest Neighbor Search"; levels, Max 1960, "Quantizing for Minimum Distortion".
Nothing is trained, and the rotation is the same on every machine.
"""

import hashlib
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from rag_assets.search.embedding.base import Vectors

DIMENSION = 384
"""Of the packaged model."""
BITS = 2
N_BYTES = DIMENSION * BITS // 8
"""Of the codes of one vector; its factor takes two more."""
CODING = f"hadamard{DIMENSION}-{BITS}bit-v1"
"""Part of the identity of what follows from codes: change it with any change of this module."""
_LEVELS = np.array([-1.510, -0.4528, 0.4528, 1.510], np.float32)
"""That stand for a standard normal number with the least mean square error."""
_BOUNDARIES = (_LEVELS[1:] + _LEVELS[:-1]) / 2
_SHIFTS = np.arange(0, 8, BITS, dtype=np.uint8)
_LEVELS_OF_BYTE = _LEVELS[np.arange(256, dtype=np.uint8)[:, np.newaxis] >> _SHIFTS & (2**BITS - 1)]
"""Shape (256, 4)."""


@dataclass(frozen=True)
class TokenCodes:
    """The rotated vectors of n tokens."""

    codes: npt.NDArray[np.uint8]
    """Shape (n, 96)."""
    factors: npt.NDArray[np.float16]
    """Shape (n,)."""


def rotated(vectors: Vectors) -> Vectors:
    """vectors: shape (n, 384). Their lengths and the products among them stay as they are."""
    return vectors @ _rotation()


def codes_of(vectors: Vectors) -> TokenCodes:
    """vectors: rotated, unit length, shape (n, 384)."""
    levels = np.zeros(vectors.shape, np.uint8)
    for boundary in _BOUNDARIES / np.float32(np.sqrt(DIMENSION)):  # np.searchsorted takes several times as long
        levels += vectors > boundary
    codes = np.zeros((len(vectors), N_BYTES), np.uint8)
    for nth, shift in enumerate(_SHIFTS):
        codes |= levels[:, nth :: len(_SHIFTS)] << shift
    products = np.einsum("ij,ij->i", vectors, np.take(_LEVELS, levels))
    return TokenCodes(codes, (1 / np.maximum(products, 1.0)).astype(np.float16))


def vectors_of(tokens: TokenCodes) -> Vectors:
    """Rotated vectors, shape (n, 384): the product with one that was coded is 1, with others about as it was.

    They are a little longer than 1, so they are to be compared with exact vectors, not with each other.
    """
    levels = np.take(_LEVELS_OF_BYTE, tokens.codes, axis=0).reshape(len(tokens.codes), DIMENSION)
    return levels * tokens.factors.astype(np.float32)[:, np.newaxis]


@cache
def _rotation() -> Vectors:
    """Orthogonal, shape (384, 384): the rows of a Hadamard matrix, each with a sign out of a hash.

    numpy's generators may change between versions.
    """
    drawn = np.frombuffer(hashlib.shake_256(CODING.encode()).digest(DIMENSION // 8), np.uint8)
    signs = np.unpackbits(drawn).astype(np.float32) * 2 - 1
    return signs[:, np.newaxis] * _hadamard() / np.float32(np.sqrt(DIMENSION))


def _hadamard() -> Vectors:
    """Entries 1 and -1, rows at right angles, shape (384, 384): that of order 12 by Paley's construction, doubled five
    times by Sylvester's."""
    prime = 11
    squares = {number * number % prime for number in range(1, prime)}
    matrix = np.ones((prime + 1, prime + 1), np.float32)
    matrix[1:, 0] = -1
    for row in range(prime):
        for column in range(prime):
            difference = (row - column) % prime
            matrix[row + 1, column + 1] = 1 if difference in squares or not difference else -1
    while len(matrix) < DIMENSION:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix
