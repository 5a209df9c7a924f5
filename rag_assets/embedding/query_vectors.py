"""Vectors of questions kept on disk, so that a question which is asked again is not paid for again.

For models behind an API only: a model that runs here is asked faster than a file is read. Vectors of passages live in
`vector_cache`.
"""

import hashlib
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from rag_assets.incremental import STAGED_SUFFIX, fingerprint

Vectors = NDArray[np.float32]
logger = logging.getLogger(__name__)
MAX_FILES = 10_000
"""About 120 MB of vectors with 3,072 numbers; the questions not asked for longest go first."""
_SUFFIX = ".vector"
_DIGEST_BYTES = 32


class QueryVectors:
    """A folder of vectors of questions, by model and text. May be used by several threads and processes."""

    def __init__(self, folder: Path, *, max_files: int = MAX_FILES) -> None:
        self._folder = folder
        self._max_files = max_files
        self._lock = Lock()

    def get(self, identity: str, text: str, embed: Callable[[str], Vectors]) -> Vectors:
        """The vector of a question by the model of that identity; `embed(text)`, kept, when it was not asked before.

        A damaged file is embedded anew; one that cannot be written costs the next run a request.
        """
        path = self._folder / f"{fingerprint('query', identity, text)}{_SUFFIX}"
        known = _read(path)
        if known is not None:
            return known
        vector = embed(text)
        with self._lock:
            self._keep(path, vector)
        return vector

    def _keep(self, path: Path, vector: Vectors) -> None:
        content = vector.astype("<f4").tobytes()
        staged = path.with_name(f"{path.name}.{uuid4().hex}{STAGED_SUFFIX}")  # several processes may ask the same
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            staged.write_bytes(hashlib.sha256(content).digest() + content)
            staged.replace(path)
            self._prune()
        except OSError as error:
            logger.warning("%s cannot be written (%s): its question will be embedded again.", path, error)
            with suppress(OSError):
                staged.unlink()

    def _prune(self) -> None:
        with os.scandir(self._folder) as entries:
            files = [(entry.stat().st_mtime_ns, entry.path) for entry in entries if entry.is_file()]
        for _, path in sorted(files)[: max(0, len(files) - self._max_files)]:
            Path(path).unlink(missing_ok=True)


def _read(path: Path) -> Vectors | None:
    """The vector in the file, and note that it was asked for; None when there is none or it is damaged."""
    try:
        content = path.read_bytes()
        digest, rest = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(rest).digest() != digest:
            return None
        os.utime(path)
    except OSError:
        return None
    return np.frombuffer(rest, "<f4").astype(np.float32)
