"""Token vectors of passages on disk: one file per paper, keyed by the text of the passage.

A file holds exactly the passages of its paper, so an edit writes one file and a deleted paper takes its file along. A
passage is read by itself; a damaged one counts as missing, and is encoded when it is asked for.

A vector is rotated, so that its content is spread over all its numbers: each is then distributed like a normal one, and
is rounded to one of four levels (two bits). With every vector goes the factor that makes its products with exact
vectors right on average. Nothing is trained, and the rotation is the same on every machine. Sources: rotation and
factor, Gao and Long 2024, "RaBitQ: Quantizing High-Dimensional Vectors with a Theoretical Error Bound for Approximate
Nearest Neighbor Search"; levels, Max 1960, "Quantizing for Minimum Distortion".
"""

import hashlib
import logging
import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import rmtree

import numpy as np
import numpy.typing as npt

from rag_assets.core.incremental import fingerprint, write_atomically
from rag_assets.search.embedding.base import Vectors

DIMENSION = 384
"""Length of a vector of the packaged model."""
BITS = 2
N_BYTES = DIMENSION * BITS // 8
"""Bytes of the codes of one vector; its factor takes two more."""
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


logger = logging.getLogger(__name__)
SUFFIX = ".tokens"
FORMAT = f"{CODING}-file-v2"
"""Names the folder beside the model: raise it when files are laid out otherwise."""
_DIGEST_BYTES = 32
_COUNT_BYTES = 4
_HEAD_BYTES = _DIGEST_BYTES + _COUNT_BYTES
_ROW = np.dtype([("key", "<u8"), ("digest", "<u8"), ("offset", "<u8"), ("n_tokens", "<u4")])
_SPAN, _FACTOR = np.dtype("<u2"), np.dtype("<f2")
_BYTES_PER_TOKEN = N_BYTES + _FACTOR.itemsize + 2 * _SPAN.itemsize
_LAST_PLACE = 2**16 - 1


@dataclass(frozen=True)
class StoredTokens:
    """The tokens of one passage. Places in the text behind its 65,535th character count as that one."""

    codes: TokenCodes
    spans: npt.NDArray[np.int32]

    @property
    def n_bytes(self) -> int:
        return len(self.spans) * _BYTES_PER_TOKEN


def text_key(text: str) -> int:
    """A hash of the text, 64 bits."""
    return _digest(text.encode("utf-8", "surrogatepass"))


class TokenStore:
    """The token vectors of one model below `folder`. Reading is safe from several threads; one process writes."""

    def __init__(self, folder: Path, identity: str) -> None:
        """identity: of the model."""
        self._root = folder
        self._folder = folder / fingerprint(identity, FORMAT)

    def get(self, paper_id: str, texts: Iterable[str]) -> dict[str, StoredTokens]:
        """The tokens of passages of that paper, by text; without those that are not there or damaged.

        Only their bytes are read, and the table of what the paper has.
        """
        found: dict[str, StoredTokens] = {}
        with suppress(OSError, ValueError, OverflowError), self._file(paper_id).open("rb", buffering=0) as file:
            n_bytes = os.fstat(file.fileno()).st_size  # damaged numbers may ask for more than memory holds
            n_rows = int.from_bytes(file.read(_HEAD_BYTES)[_DIGEST_BYTES:], "little")
            rows = np.frombuffer(file.read(min(n_rows * _ROW.itemsize, n_bytes)), _ROW)
            for text in texts:
                at = int(np.searchsorted(rows["key"], key := text_key(text)))
                if at == len(rows) or rows["key"][at] != key:
                    continue
                wanted = min(int(rows["n_tokens"][at]) * _BYTES_PER_TOKEN, n_bytes)
                content = os.pread(file.fileno(), wanted, int(rows["offset"][at]))
                if _digest(content) == rows["digest"][at]:
                    found[text] = _unpacked(content)
        return found

    def keys(self, paper_id: str) -> frozenset[int]:
        """Keys of the texts that are kept of a paper; none when the file is missing or damaged."""
        content, rows = self._read(paper_id)
        if not content and self._file(paper_id).exists():
            logger.warning("%s is damaged; `embeddings` computes it again.", self._file(paper_id))
        return frozenset(rows["key"].tolist())

    def held(self, paper_id: str) -> dict[int, StoredTokens]:
        """All that is kept of a paper, by the key of its text; empty when the file is missing or damaged."""
        content, rows = self._read(paper_id)
        return {
            key: _unpacked(content[offset : offset + n_tokens * _BYTES_PER_TOKEN])
            for key, _, offset, n_tokens in rows.tolist()
        }

    def put(self, paper_id: str, tokens: Mapping[int, StoredTokens]) -> None:
        """Keep exactly these of a paper. Written whole or not at all."""
        keys = sorted(tokens)
        contents = [_packed(tokens[key]) for key in keys]
        offsets = np.cumsum([_HEAD_BYTES + len(keys) * _ROW.itemsize, *(len(content) for content in contents)])
        rows = np.array(
            [
                (key, _digest(content), offset, len(tokens[key].spans))
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
    spans = np.minimum(tokens.spans, _LAST_PLACE).astype(_SPAN)
    return spans.tobytes() + tokens.codes.factors.astype(_FACTOR).tobytes() + tokens.codes.codes.tobytes()


def _unpacked(content: bytes) -> StoredTokens:
    n_tokens = len(content) // _BYTES_PER_TOKEN
    after_spans = 2 * n_tokens * _SPAN.itemsize
    spans = np.frombuffer(content, _SPAN, 2 * n_tokens).reshape(n_tokens, 2).astype(np.int32)
    factors = np.frombuffer(content, _FACTOR, n_tokens, after_spans)
    codes = np.frombuffer(content, np.uint8, n_tokens * N_BYTES, after_spans + factors.nbytes)
    return StoredTokens(TokenCodes(codes.reshape(n_tokens, N_BYTES), factors), spans)


def _digest(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")
