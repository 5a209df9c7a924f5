"""Vectors of questions kept on disk, so that a question which is asked again is not paid for again.

For models behind an API only: a model that runs here is asked faster than a file is read. Vectors of passages live in
`vector_cache`.
"""

import hashlib
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from uuid import uuid4

import numpy as np

from rag_assets.embedding.base import Embedder, Vectors
from rag_assets.incremental import STAGED_SUFFIX, fingerprint

logger = logging.getLogger(__name__)
MAX_FILES = 10_000
"""About 120 MB of vectors with 3,072 numbers; the questions not asked for longest go first."""
_SUFFIX = ".vector"
_DIGEST_BYTES = 32


class CachedQueryEmbedder:
    """An Embedder that asks another one for a question only once; everything else is the other's."""

    def __init__(self, embedder: Embedder, folder: Path, *, max_files: int = MAX_FILES) -> None:
        self._embedder = embedder
        self._folder = folder
        self._max_files = max_files
        self._lock = Lock()

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def max_tokens(self) -> int:
        return self._embedder.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.count_tokens(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        """As Embedder. A damaged file is embedded anew; one that cannot be written costs the next run a request."""
        path = self._folder / f"{fingerprint('query', self.model_id, text)}{_SUFFIX}"
        known = _read(path, self.dimension)
        if known is not None:
            return known
        vector = self._embedder.embed_query(text)
        with self._lock:
            self._keep(path, vector)
        return vector

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.request_sizes(texts)

    def _keep(self, path: Path, vector: Vectors) -> None:
        content = vector.astype("<f4").tobytes()
        draft = path.with_name(f"{path.name}.{uuid4().hex}{STAGED_SUFFIX}")  # several processes may ask the same
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(hashlib.sha256(content).digest() + content)
            draft.replace(path)
            self._prune()
        except OSError as error:
            logger.warning("%s cannot be written (%s): its question will be embedded again.", path, error)
            with suppress(OSError):
                draft.unlink()

    def _prune(self) -> None:
        with os.scandir(self._folder) as entries:
            files = [(entry.stat().st_mtime_ns, entry.path) for entry in entries if entry.is_file()]
        for _, path in sorted(files)[: max(0, len(files) - self._max_files)]:
            Path(path).unlink(missing_ok=True)


def _read(path: Path, dimension: int) -> Vectors | None:
    """The vector in the file, and note that it was asked for; None when there is none or it is damaged."""
    try:
        content = path.read_bytes()
        digest, rest = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(rest).digest() != digest or len(rest) != 4 * dimension:
            return None
        os.utime(path)
    except OSError:
        return None
    return np.frombuffer(rest, "<f4").astype(np.float32)
