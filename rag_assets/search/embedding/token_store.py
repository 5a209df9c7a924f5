"""Codes of the token vectors of passages, two bits per number, as they are stored (`vector_cache`).

A vector is rotated, which spreads its content over all its numbers. Each number then has about a
normal distribution, and is rounded to one of four levels (two bits). A factor is stored with each
vector, so that its products with exact vectors are right on average. Nothing is trained, and the
rotation is the same on every machine. Sources: rotation and factor, Gao and Long 2024, "RaBitQ:
Quantizing High-Dimensional Vectors with a Theoretical Error Bound for Approximate Nearest Neighbor
Search"; levels, Max 1960, "Quantizing for Minimum Distortion".
"""

import hashlib
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from rag_assets.core.kept import KeptFile
from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.vector_cache import TextCache

DIMENSION = 384
"""Length of a vector of the packaged model."""
BITS = 2
N_BYTES = DIMENSION * BITS // 8
"""Bytes of the code of one vector. Its factor takes two more."""
CODING = f"hadamard{DIMENSION}-{BITS}bit-v1"
"""Part of the identity of everything made from codes. Raise the version in it if this module makes
other codes."""
_LEVELS = np.array([-1.510, -0.4528, 0.4528, 1.510], np.float32)
"""The four values that represent a standard normal number with the least mean squared error."""
_BOUNDARIES = (_LEVELS[1:] + _LEVELS[:-1]) / 2
_SHIFTS = np.arange(0, 8, BITS, dtype=np.uint8)
_LEVELS_OF_BYTE = _LEVELS[np.arange(256, dtype=np.uint8)[:, np.newaxis] >> _SHIFTS & (2**BITS - 1)]
"""For each byte, the four levels that it encodes, shape (256, 4)."""


@dataclass(frozen=True)
class TokenCodes:
    """The codes of the rotated vectors of n tokens."""

    codes: npt.NDArray[np.uint8]
    """Shape (n, 96)."""
    factors: npt.NDArray[np.float16]
    """Shape (n,)."""


def rotated(vectors: Vectors) -> Vectors:
    """The rotated vectors. vectors: shape (n, 384). Lengths, and products between rotated vectors,
    do not change."""
    return vectors @ _rotation()


def codes_of(vectors: Vectors) -> TokenCodes:
    """The codes of rotated vectors of length 1, shape (n, 384)."""
    levels = np.zeros(vectors.shape, np.uint8)
    # numbers of a unit vector are about normal with variance 1 / DIMENSION; np.searchsorted would
    # take several times as long
    for boundary in _BOUNDARIES / np.float32(np.sqrt(DIMENSION)):
        levels += vectors > boundary
    codes = np.zeros((len(vectors), N_BYTES), np.uint8)
    # one byte holds the levels of four consecutive numbers
    for position, shift in enumerate(_SHIFTS):
        codes |= levels[:, position :: len(_SHIFTS)] << shift
    # the factor makes the product of a vector and its code 1
    products = np.einsum("ij,ij->i", vectors, np.take(_LEVELS, levels))
    return TokenCodes(codes, (1 / np.maximum(products, 1.0)).astype(np.float16))


def vectors_of(tokens: TokenCodes) -> Vectors:
    """The rotated vectors that codes represent, shape (n, 384).

    Their product with the original vector is 1, and with other vectors about the same as the
    original's. They are a little longer than 1, so they should be compared with exact vectors only,
    not with each other.
    """
    levels = np.take(_LEVELS_OF_BYTE, tokens.codes, axis=0).reshape(len(tokens.codes), DIMENSION)
    return levels * tokens.factors.astype(np.float32)[:, np.newaxis]


@cache
def _rotation() -> Vectors:
    """An orthogonal matrix, shape (384, 384): a Hadamard matrix whose rows get signs from a hash.
    (Random numbers of numpy may differ between versions.)"""
    drawn = np.frombuffer(hashlib.shake_256(CODING.encode()).digest(DIMENSION // 8), np.uint8)
    signs = np.unpackbits(drawn).astype(np.float32) * 2 - 1
    return signs[:, np.newaxis] * _hadamard() / np.float32(np.sqrt(DIMENSION))


def _hadamard() -> Vectors:
    """A Hadamard matrix, shape (384, 384): entries 1 and -1, and rows at right angles. It is made
    from one of order 12 (Paley's construction), doubled five times (Sylvester's construction)."""
    # an entry depends on whether row - column is a square modulo 11
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


_SPAN, _FACTOR = np.dtype("<u2"), np.dtype("<f2")
_BYTES_PER_TOKEN = N_BYTES + _FACTOR.itemsize + 2 * _SPAN.itemsize
_LAST_OFFSET = 2**16 - 1


@dataclass(frozen=True)
class StoredTokens:
    """The tokens of one passage. Offsets above 65,535 are stored as 65,535."""

    codes: TokenCodes
    spans: npt.NDArray[np.int32]
    """Shape (n, 2): start and end of each token in the text."""

    @property
    def n_bytes(self) -> int:
        return len(self.spans) * _BYTES_PER_TOKEN


class TokenStore(TextCache[StoredTokens]):
    """The stored token vectors of passages, made by one model."""

    def __init__(self, file: KeptFile, identity: str) -> None:
        super().__init__(file, "tokens", f"{identity} {CODING}", _packed, _unpacked)


def _packed(tokens: StoredTokens) -> bytes:
    """The tokens as bytes: the spans, then the factors, then the codes."""
    spans = np.minimum(tokens.spans, _LAST_OFFSET).astype(_SPAN)
    return (
        spans.tobytes()
        + tokens.codes.factors.astype(_FACTOR).tobytes()
        + tokens.codes.codes.tobytes()
    )


def _unpacked(content: bytes) -> StoredTokens:
    n_tokens = len(content) // _BYTES_PER_TOKEN
    after_spans = 2 * n_tokens * _SPAN.itemsize
    spans = np.frombuffer(content, _SPAN, 2 * n_tokens).reshape(n_tokens, 2).astype(np.int32)
    factors = np.frombuffer(content, _FACTOR, n_tokens, after_spans)
    codes = np.frombuffer(content, np.uint8, n_tokens * N_BYTES, after_spans + factors.nbytes)
    return StoredTokens(TokenCodes(codes.reshape(n_tokens, N_BYTES), factors), spans)
