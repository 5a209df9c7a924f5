"""A vector for each token of a text, as the packaged model sees the token in its context, and where
the token is in the text.

The vector of a text is the mean of these. Compared one by one they show more: which passage has
something similar to each word of the question (`reranking`), and which of its sentences has
(`answering`). Those packages decide which passages are compared; the model's files are in
`local_model`.

The token vectors of passages are stored as codes of two bits per number (`vector_cache`). A vector
is rotated, which spreads its content over all its numbers. Each number then has about a normal
distribution, and is rounded to one of four levels (two bits). A factor is stored with each vector,
so that its products with exact vectors are right on average. Nothing is trained, and the rotation
is the same on every machine. Sources: rotation and factor, Gao and Long 2024, "RaBitQ: Quantizing
High-Dimensional Vectors with a Theoretical Error Bound for Approximate Nearest Neighbor Search";
levels, Max 1960, "Quantizing for Minimum Distortion".
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import EmbeddingSettings, Settings
from rag_assets.search.embedding.base import Role, Vectors, side_by_side, unit_rows
from rag_assets.search.embedding.local_model import (
    LOCAL_MODELS,
    LocalModel,
    TokenScale,
    open_local_model,
)
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


Spans = npt.NDArray[np.int32]

MAX_KEPT_MB = 64.0
"""About 260 passages of 160 tokens with 384 float32 numbers, or 4,000 passages as codes."""
_BYTES_PER_MB = 1_000_000


@dataclass(frozen=True)
class TokenVectors:
    """The tokens of one text, in order, without special tokens."""

    vectors: Vectors
    """Shape (n_tokens, dimension), each of length 1."""
    spans: Spans
    """Shape (n_tokens, 2): token i is `text[start:end]`. Text that the model does not read has no
    tokens."""

    @property
    def n_bytes(self) -> int:
        return self.vectors.nbytes + self.spans.nbytes


class TokenEncoder(Protocol):
    """Makes token vectors. They depend on their own text and the model only. Safe to use from
    several threads. `LocalTokenEncoder` implements it."""

    @property
    def identity(self) -> str:
        """Part of the key of everything that depends on the vectors."""
        ...

    @property
    def scale(self) -> TokenScale:
        """The weights and thresholds for these vectors."""
        ...

    def encode(self, texts: Sequence[str], role: Role) -> list[TokenVectors]:
        """The tokens of each text, in order. Raises MissingModel if the model cannot be loaded."""
        ...


class LocalTokenEncoder:
    """Makes token vectors with the packaged model. Its loaded weights are shared with the embedder
    of passages."""

    def __init__(self, model: LocalModel, n_threads: int) -> None:
        self._model = model
        self._n_threads = n_threads

    @property
    def identity(self) -> str:
        return f"tokens-{self._model.facts.identity}"

    @property
    def scale(self) -> TokenScale:
        return self._model.token_scale

    def encode(self, texts: Sequence[str], role: Role) -> list[TokenVectors]:
        return side_by_side(lambda text: self._encoded(text, role)[1], texts, self._n_threads)

    def embed_and_code(self, texts: Sequence[str]) -> list[tuple[Vectors, StoredTokens]]:
        """For each text its vector and the codes of its tokens, made in one pass of the model."""
        encoded = side_by_side(lambda text: self._encoded(text, "passage"), texts, self._n_threads)
        return [(pooled, stored_tokens(rotated_tokens(tokens))) for pooled, tokens in encoded]

    def _encoded(self, text: str, role: Role) -> tuple[Vectors, TokenVectors]:
        """The vector of a text, and its token vectors relative to the model's centre."""
        pooled, hidden, spans = self._model.pooled_and_tokens(text, role)
        vectors = unit_rows(hidden)
        if self._model.centre is not None:
            vectors = unit_rows(vectors - self._model.centre)
        return pooled, TokenVectors(vectors, spans)


def rotated_tokens(tokens: TokenVectors) -> TokenVectors:
    """The tokens with rotated vectors."""
    return TokenVectors(rotated(tokens.vectors), tokens.spans)


def stored_tokens(tokens: TokenVectors) -> StoredTokens:
    """The codes of tokens whose vectors are rotated."""
    return StoredTokens(codes_of(tokens.vectors), tokens.spans)


class _HasSize(Protocol):
    @property
    def n_bytes(self) -> int: ...


_Value = TypeVar("_Value", bound=_HasSize)


class _RecentlyUsed(Generic[_Value]):
    """A cache in memory with a limit in bytes; the values that were not used for the longest time
    are dropped first. Safe to use from several threads."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._values: OrderedDict[str, _Value] = OrderedDict()
        self._n_bytes = 0

    def get_all(self, keys: Iterable[str]) -> dict[str, _Value]:
        """The values of those keys that are in the cache."""
        with self._lock:
            return {key: self._values[key] for key in keys if key in self._values}

    def keep(self, used: Mapping[str, _Value]) -> None:
        """Add the values, or mark them as used, and drop others above the limit."""
        with self._lock:
            for key, value in used.items():
                if key not in self._values:
                    self._values[key] = value
                    self._n_bytes += value.n_bytes
                self._values.move_to_end(key)
            while self._n_bytes > self._most_bytes:
                _, dropped = self._values.popitem(last=False)
                self._n_bytes -= dropped.n_bytes


class PassageTokens:
    """Token vectors of passages, with a cache in memory. Safe to use from several threads.

    An engine has one of these, so a passage that is reranked and then searched for sentences is
    encoded once.
    """

    def __init__(
        self, encoder: TokenEncoder, store: TokenStore | None = None, *, max_mb: float = MAX_KEPT_MB
    ) -> None:
        """store: codes of passages that may have been stored; they are used before anything is
        encoded. With a store, all vectors are rotated. max_mb: limit of the cache in memory, in MB
        (10^6 bytes)."""
        self._encoder = encoder
        self._store = store
        most_bytes = int(max_mb * _BYTES_PER_MB)
        self._kept: _RecentlyUsed[TokenVectors] = _RecentlyUsed(
            most_bytes // 2 if store else most_bytes
        )
        self._kept_codes: _RecentlyUsed[StoredTokens] = _RecentlyUsed(most_bytes // 2)

    @property
    def identity(self) -> str:
        return f"{self._encoder.identity}-{CODING}" if self._store else self._encoder.identity

    @property
    def scale(self) -> TokenScale:
        return self._encoder.scale

    def of(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The tokens of each passage, in order.

        With a store, their vectors are restored from codes, even if they are encoded now. Their
        products with the vectors of a question are about the cosines; their products with each
        other are not.
        """
        if self._store is None:
            return self._exact(texts, "passage")
        codes = self._kept_codes.get_all(texts)
        codes |= self._store.get_all(text for text in texts if text not in codes)
        missing = [text for text in dict.fromkeys(texts) if text not in codes]
        codes |= {
            text: stored_tokens(tokens)
            for text, tokens in zip(missing, self._encoded(missing, "passage"), strict=True)
        }
        self._kept_codes.keep(codes)
        return [TokenVectors(vectors_of(codes[text].codes), codes[text].spans) for text in texts]

    def of_texts(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The exact token vectors of questions, and of other texts that are compared with
        passages."""
        return self._exact(texts, "query")

    def _exact(self, texts: Sequence[str], role: Role) -> list[TokenVectors]:
        """The exact token vectors of texts, from the cache or encoded now."""
        # the vectors of a text depend on its role, too
        keys = {text: f"{role}: {text}" for text in texts}
        tokens_by_key = self._kept.get_all(keys.values())
        missing = [text for text, key in keys.items() if key not in tokens_by_key]
        for text, tokens in zip(missing, self._encoded(missing, role), strict=True):
            tokens_by_key[keys[text]] = tokens
        self._kept.keep(tokens_by_key)
        return [tokens_by_key[keys[text]] for text in texts]

    def _encoded(self, texts: Sequence[str], role: Role) -> list[TokenVectors]:
        """The token vectors of texts, rotated if there is a store."""
        tokens = self._encoder.encode(texts, role)
        return [rotated_tokens(encoded) for encoded in tokens] if self._store else tokens


def open_token_encoder(
    settings: EmbeddingSettings, models_folder: Path, n_threads: int = 1
) -> LocalTokenEncoder:
    """The packaged model that `settings` name; if they name another model, the default packaged
    one.

    Opening it is cheap: it is built below `models_folder` and loaded when the first text is
    encoded.
    """
    provider, _, name = settings.model.partition(":")
    if provider != "local" or name not in LOCAL_MODELS:
        name = EmbeddingSettings().model.partition(":")[2]
    return LocalTokenEncoder(open_local_model(name, models_folder, n_threads), n_threads)


def stores_tokens(embedding: EmbeddingSettings) -> bool:
    """Whether the token vectors of passages are stored: only for the packaged models. They take 102
    bytes per token, in all seven times as much as the vectors of passages. For other models they
    are made for each question."""
    return embedding.model.startswith("local:")


def passage_tokens(settings: Settings, encoder: TokenEncoder) -> PassageTokens:
    """Computes the token vectors of passages, or reads them if they are stored."""
    if not stores_tokens(settings.embedding):
        return PassageTokens(encoder)
    return PassageTokens(encoder, TokenStore(KeptFile(settings.paths.vectors), encoder.identity))
