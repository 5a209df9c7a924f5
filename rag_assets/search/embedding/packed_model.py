"""Reads the file that carries multilingual-e5-small: its tokenizer, and its matrices in four bits.

Numbers are little-endian. A header has the dimensions; then come the pieces of the tokenizer with
their scores, the characters that are replaced, a directory of tensors, and the tensors. A matrix is
kept in blocks of 32 numbers (Q4_0 of llama.cpp): a scale of 16 bits and 16 bytes, whose low halves
are the first 16 numbers and whose high halves are the others, each less 8 and times the scale.

The file is mapped into memory: a process reads only the word vectors that its texts need, and all
processes share them. `local_model` runs the model, `unigram` takes texts apart.
"""

import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.errors import MissingModel
from rag_assets.search.embedding.base import Vectors

_MAGIC = b"E5S1"
_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
_BLOCK_LENGTH, _MIDDLE = 32, 8
_DENSE = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
"""Names of a layer's parts in the file, and in a Hugging Face `BertModel`."""


@dataclass(frozen=True)
class Pieces:
    """Contents of a Unigram tokenizer; the id of a piece is its place."""

    texts: Sequence[str]
    scores: Sequence[float]
    """Logarithms of probabilities."""
    start: int
    """Id of the special token before each text."""
    end: int
    unknown: int
    replaced: dict[int, str]
    """By code point: what is read in its place."""


class PackedModel:
    """An open file. Raises MissingModel when it has another format."""

    def __init__(self, file: Path) -> None:
        with file.open("rb") as opened:
            self._data = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 0
        if self._next("4s") != (_MAGIC,):
            raise MissingModel(f"{file} does not begin with {_MAGIC!r}: it is no packed model.")
        _, self.n_hidden, self.n_layers, self.n_heads, self._n_wide, *more = self._next("I7ifi")
        self._n_words, self.n_positions, _, self.epsilon, _ = more
        n_pieces, start, end, _, unknown, n_bytes = self._next("5iQ")
        bounds, scores = self._next(f"{n_pieces + 1}I"), self._next(f"{n_pieces}f")
        (text,) = self._next(f"{n_bytes}s")
        replaced = {}
        for _ in range(self._next("iI")[0]):
            character, n_others = self._next("IB")
            replaced[character] = "".join(map(chr, self._next(f"{n_others}I")))
        texts = [text[a:b].decode() for a, b in pairwise(bounds)]
        self.pieces = Pieces(texts, scores, start, end, unknown, replaced)
        self._places: dict[str, tuple[int, int]] = {}
        for _ in range(self._next("i")[0]):
            (length,) = self._next("H")
            name, _, n_numbers, place, _ = self._next(f"{length}sBIQQ")
            self._places[name.decode()] = place, n_numbers

    def _next(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return values

    def embeddings(self, ids: Sequence[int]) -> Vectors:
        """For each token of a text the sum of its word, position and segment vectors, shape (n,
        n_hidden)."""
        words = self._unpacked(self._blocks("emb.word", self._n_words)[list(ids)])
        positions = self._floats("emb.pos").reshape(self.n_positions, self.n_hidden)
        return words + positions[: len(ids)] + self._floats("emb.type")[: self.n_hidden]

    def weights(self) -> dict[str, Vectors]:
        """All other tensors, by their names in a Hugging Face `BertModel`."""
        found = {
            "embeddings.LayerNorm.weight": self._floats("emb.ln.w"),
            "embeddings.LayerNorm.bias": self._floats("emb.ln.b"),
        }
        for layer in range(self.n_layers):
            for short, name in (_DENSE | _NORMS).items():
                own, full = f"l{layer}.{short}", f"encoder.layer.{layer}.{name}"
                found[f"{full}.bias"] = self._floats(f"{own}.b")
                if short in _NORMS:
                    found[f"{full}.weight"] = self._floats(f"{own}.w")
                else:
                    n_rows = self._n_wide if short == "fi" else self.n_hidden
                    found[f"{full}.weight"] = self._unpacked(self._blocks(f"{own}.w", n_rows))
        return found

    @staticmethod
    def _unpacked(blocks: NDArray[Any]) -> Vectors:
        """blocks: of n rows, shape (n, blocks per row)."""
        halves = blocks["halves"]
        numbers = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32) - _MIDDLE
        scaled = numbers * blocks["scale"].astype(np.float32)[..., np.newaxis]
        return np.asarray(scaled.reshape(len(blocks), -1), np.float32)

    def _blocks(self, name: str, n_rows: int) -> NDArray[Any]:
        at, n = self._places[name]
        return self._array(_BLOCK, n // _BLOCK_LENGTH, at).reshape(n_rows, -1)

    def _floats(self, name: str) -> Vectors:
        at, n = self._places[name]
        return self._array("<f4", n, at)

    def _array(self, kind: Any, n: int, at: int) -> NDArray[Any]:
        return np.frombuffer(self._data, kind, n, at)
