"""A vector for each token of a text, as the packaged model sees the token in its context, and where
the token is in the text.

The vector of a text is the mean of these. Compared one by one they show more: which passage has
something similar to each word of the question (`reranking`), and which of its sentences has
(`answering`). Those packages decide which passages are compared; the model's files are in
`local_model`.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from rag_assets.core.settings import EmbeddingSettings
from rag_assets.search.embedding.base import Role, Vectors, side_by_side
from rag_assets.search.embedding.local_model import (
    LOCAL_MODELS,
    LocalModel,
    TokenScale,
    open_local_model,
)
from rag_assets.search.embedding.token_store import (
    CODING,
    StoredTokens,
    TokenStore,
    codes_of,
    rotated,
    vectors_of,
)

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
        vectors = _unit_rows(hidden)
        if self._model.centre is not None:
            vectors = _unit_rows(vectors - self._model.centre)
        return pooled, TokenVectors(vectors, spans)


def _unit_rows(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, np.finfo(np.float32).tiny), np.float32)


def rotated_tokens(tokens: TokenVectors) -> TokenVectors:
    """The tokens with rotated vectors, see `token_store`."""
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
