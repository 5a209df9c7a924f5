"""A vector for each token of a text, as the packaged model sees it within the whole text, and where the token stands.

A pooled vector is the mean of these. Compared one by one they tell more: which passage holds something like each word
of the question (`reranking`), and which of its sentences does (`answering`). Which passages are compared is decided
there; the model's files live in `local_model`.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

import numpy as np
import numpy.typing as npt

from rag_assets.domain import Passage
from rag_assets.embedding.base import Vectors
from rag_assets.embedding.local_model import PRECISIONS, LocalModel
from rag_assets.embedding.reduced_tokens import REDUCTION, codes_of, vectors_of
from rag_assets.embedding.token_store import StoredTokens, TokenStore
from rag_assets.settings import EmbeddingSettings

Spans = npt.NDArray[np.int32]

MAX_KEPT_MB = 64.0
"""About 260 passages of 160 tokens with 384 numbers each; three times as many of reduced ones."""
_BYTES_PER_MB = 1_000_000


@dataclass(frozen=True)
class TokenVectors:
    """The tokens of one text, in order, without special ones."""

    vectors: Vectors
    """Shape (n_tokens, dimension), unit length each."""
    spans: Spans
    """Shape (n_tokens, 2): token i was made of `text[start:end]`. What the model does not read has no token."""

    @property
    def n_bytes(self) -> int:
        return self.vectors.nbytes + self.spans.nbytes


class TokenEncoder(Protocol):
    """Makes token vectors. They depend on their own text and the model only. Safe to use from several threads."""

    @property
    def identity(self) -> str:
        """Part of the key of whatever follows from the vectors."""
        ...

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The tokens of each text, in the order given. Raises MissingModel when the model cannot be loaded."""
        ...


class LocalTokenEncoder:
    """The TokenEncoder over the packaged model; shares its loaded weights with the embedder of passages."""

    def __init__(self, model: LocalModel, n_threads: int) -> None:
        self._model = model
        self._n_threads = n_threads

    @property
    def identity(self) -> str:
        return f"tokens-{self._model.facts.identity}"

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [tokens for _, tokens in self.embed_and_encode(texts)]

    def embed_and_encode(self, texts: Sequence[str]) -> list[tuple[Vectors, TokenVectors]]:
        """Of each text the vector that the embedder of this model gives, and its tokens, in one pass of the model."""
        if len(texts) < 2:
            return [self._encoded(text) for text in texts]
        with ThreadPoolExecutor(self._n_threads) as pool:
            return list(pool.map(self._encoded, texts))

    def _encoded(self, text: str) -> tuple[Vectors, TokenVectors]:
        pooled, hidden, spans = self._model.pooled_and_tokens(text)
        lengths = np.linalg.norm(hidden, axis=1, keepdims=True)
        return pooled, TokenVectors(hidden / np.maximum(lengths, np.finfo(np.float32).tiny), spans)


class ReducedTokenEncoder:
    """A TokenEncoder whose vectors are those that a TokenStore keeps, so that both give the same scores."""

    def __init__(self, encoder: TokenEncoder) -> None:
        self._encoder = encoder

    @property
    def identity(self) -> str:
        return f"{self._encoder.identity}-{REDUCTION}"

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [restored(reduced(tokens)) for tokens in self._encoder.encode(texts)]


def reduced(tokens: TokenVectors) -> StoredTokens:
    return StoredTokens(codes_of(tokens.vectors), tokens.spans)


def restored(tokens: StoredTokens) -> TokenVectors:
    return TokenVectors(vectors_of(tokens.codes), tokens.spans)


class PassageTokens:
    """Token vectors of passages, kept in memory up to a bound. Safe to use from several threads.

    One per engine: a passage that is reranked and then read for its sentences is encoded once.
    """

    def __init__(self, encoder: TokenEncoder, store: TokenStore | None = None, *, max_mb: float = MAX_KEPT_MB) -> None:
        """store: where reduced tokens may have been kept, read before anything is encoded; the encoder then reduces
        what it makes. max_mb: of the vectors kept in memory, in MB (10^6 bytes); those not asked for longest go first.
        """
        self._encoder = encoder
        self._store = store
        self._most_bytes = int(max_mb * _BYTES_PER_MB)
        self._lock = Lock()
        self._kept: OrderedDict[str, TokenVectors] = OrderedDict()
        self._n_bytes = 0

    @property
    def identity(self) -> str:
        return self._encoder.identity

    def of(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        """The tokens of each passage, in the order given; spans are offsets in `passage.text`."""
        if self._store is not None:
            self._load_stored({passage.text: passage.paper_id for passage in passages}, self._store)
        return self.of_texts([passage.text for passage in passages])

    def of_texts(self, texts: Sequence[str]) -> list[TokenVectors]:
        """As `of`, for questions and whatever else is compared with passages."""
        with self._lock:
            known = {text: self._kept[text] for text in texts if text in self._kept}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        known |= dict(zip(missing, self._encoder.encode(missing), strict=True))
        self._keep(known)
        return [known[text] for text in texts]

    def _load_stored(self, papers: Mapping[str, str], store: TokenStore) -> None:
        """papers: paper_id by text."""
        with self._lock:
            missing = [text for text in papers if text not in self._kept]
        found = {text: tokens for text in missing if (tokens := store.get(papers[text], text)) is not None}
        self._keep({text: restored(tokens) for text, tokens in found.items()})

    def _keep(self, used: dict[str, TokenVectors]) -> None:
        with self._lock:
            for key, tokens in used.items():
                if key not in self._kept:
                    self._kept[key] = tokens
                    self._n_bytes += tokens.n_bytes
                self._kept.move_to_end(key)
            while self._n_bytes > self._most_bytes:
                _, dropped = self._kept.popitem(last=False)
                self._n_bytes -= dropped.n_bytes


def open_token_encoder(settings: EmbeddingSettings, models_folder: Path, n_threads: int = 1) -> LocalTokenEncoder:
    """The packaged model in the precision that `settings` name, or in int8 where they name another model.

    Opening it is free; it is built below `models_folder` and loaded when the first text is encoded.
    """
    provider, _, name = settings.model.partition(":")
    if provider != "local" or name not in PRECISIONS:
        name = EmbeddingSettings().model.partition(":")[2]
    return LocalTokenEncoder(LocalModel(name, models_folder, n_threads), n_threads)
