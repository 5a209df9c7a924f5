"""Token vectors of passages on disk: one file per paper, keyed by the text of the passage.

A file holds exactly the passages of its paper, so an edit writes one file and a deleted paper takes its file along.
What is in it depends on the texts and the model only. A passage is read by itself; one whose bytes are not as they were
written counts as missing, and is encoded when it is asked for.
"""

import hashlib
import logging
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

import numpy as np
import numpy.typing as npt

from rag_assets.embedding.reduced_tokens import N_NUMBERS, Codes
from rag_assets.incremental import fingerprint, write_atomically

logger = logging.getLogger(__name__)
SUFFIX = ".tokens"
_DIGEST_BYTES = 32
_COUNT_BYTES = 4
_HEAD_BYTES = _DIGEST_BYTES + _COUNT_BYTES
_ROW = np.dtype([("key", "S16"), ("offset", "<u8"), ("n_tokens", "<u4"), ("digest", "S8")])
_SPAN = np.dtype("<u4")
_BYTES_PER_TOKEN = N_NUMBERS + 2 * _SPAN.itemsize


@dataclass(frozen=True)
class StoredTokens:
    """The tokens of one passage, reduced."""

    codes: Codes
    spans: npt.NDArray[np.int32]


def text_key(text: str) -> bytes:
    """16 hex digits of a hash of the text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest().encode()


class TokenStore:
    """The token vectors of one model below `folder`. Reading is safe from several threads; one process writes."""

    def __init__(self, folder: Path, identity: str) -> None:
        self._root = folder
        self._folder = folder / fingerprint(identity)

    def get(self, paper_id: str, text: str) -> StoredTokens | None:
        """The tokens of a passage of that paper; None when they are not there or damaged."""
        try:
            with self._file(paper_id).open("rb") as file:
                n_bytes = os.fstat(file.fileno()).st_size  # damaged numbers may ask for more than memory holds
                n_rows = int.from_bytes(file.read(_HEAD_BYTES)[_DIGEST_BYTES:], "little")
                rows = np.frombuffer(file.read(min(n_rows * _ROW.itemsize, n_bytes)), _ROW)
                at = int(np.searchsorted(rows["key"], key := text_key(text)))
                if at == len(rows) or rows["key"][at] != key:
                    return None
                file.seek(int(rows["offset"][at]))
                content = file.read(min(int(rows["n_tokens"][at]) * _BYTES_PER_TOKEN, n_bytes))
        except (OSError, ValueError, OverflowError):
            return None
        return _unpacked(content) if _digest(content) == rows["digest"][at].ljust(8, b"\0") else None

    def keys(self, paper_id: str) -> frozenset[bytes]:
        """Keys of the texts that are kept of a paper; none when the file is missing or damaged."""
        content, rows = self._read(paper_id)
        if not content and self._file(paper_id).exists():
            logger.warning("%s is damaged; `embeddings` computes it again.", self._file(paper_id))
        return frozenset(rows["key"].tolist())

    def held(self, paper_id: str) -> dict[bytes, StoredTokens]:
        """All that is kept of a paper, by the key of its text; empty when the file is missing or damaged."""
        content, rows = self._read(paper_id)
        return {
            key: _unpacked(content[offset : offset + n_tokens * _BYTES_PER_TOKEN])
            for key, offset, n_tokens, _ in rows.tolist()
        }

    def put(self, paper_id: str, tokens: Mapping[bytes, StoredTokens]) -> None:
        """Keep exactly these of a paper. Written whole or not at all."""
        keys = sorted(tokens)
        contents = [_packed(tokens[key]) for key in keys]
        offsets = np.cumsum([_HEAD_BYTES + len(keys) * _ROW.itemsize, *(len(content) for content in contents)])
        rows = np.array(
            [
                (key, offset, len(tokens[key].codes), _digest(content))
                for key, offset, content in zip(keys, offsets, contents, strict=False)
            ],
            _ROW,
        )
        rest = len(keys).to_bytes(_COUNT_BYTES, "little") + rows.tobytes() + b"".join(contents)
        write_atomically(self._file(paper_id), hashlib.sha256(rest).digest() + rest)

    def prune(self, papers: Collection[str]) -> None:
        """Delete what is kept of other papers, and of other models."""
        wanted = {self._file(paper_id) for paper_id in papers}
        for path in self._root.glob("*"):
            if path != self._folder:
                rmtree(path) if path.is_dir() else path.unlink()
        for path in self._folder.glob("*"):
            if path not in wanted:
                path.unlink()
        with suppress(OSError):
            self._folder.rmdir()  # only if it is empty

    def _read(self, paper_id: str) -> "tuple[bytes, npt.NDArray[np.void]]":
        """A whole file and its table of passages, both empty when it is missing or damaged."""
        try:
            content = self._file(paper_id).read_bytes()
        except FileNotFoundError:
            return b"", np.empty(0, _ROW)
        if hashlib.sha256(content[_DIGEST_BYTES:]).digest() != content[:_DIGEST_BYTES]:
            return b"", np.empty(0, _ROW)
        n_rows = int.from_bytes(content[_DIGEST_BYTES:_HEAD_BYTES], "little")
        return content, np.frombuffer(content, _ROW, n_rows, _HEAD_BYTES)

    def _file(self, paper_id: str) -> Path:
        return self._folder / f"{fingerprint(paper_id)}{SUFFIX}"


def _packed(tokens: StoredTokens) -> bytes:
    return tokens.spans.astype(_SPAN).tobytes() + tokens.codes.tobytes()


def _unpacked(content: bytes) -> StoredTokens:
    n_tokens = len(content) // _BYTES_PER_TOKEN
    spans = np.frombuffer(content, _SPAN, 2 * n_tokens).reshape(n_tokens, 2).astype(np.int32)
    codes = np.frombuffer(content, np.int8, n_tokens * N_NUMBERS, 2 * n_tokens * _SPAN.itemsize)
    return StoredTokens(codes.reshape(n_tokens, N_NUMBERS), spans)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=8).digest()
