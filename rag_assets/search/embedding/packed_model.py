"""Reads the file with multilingual-e5-small: its tokenizer, and its matrices with four bits per
number.

The file has, in this order: a header with the dimensions, the pieces of the tokenizer with their
scores, the characters that are replaced, a directory of tensors, and the tensors. Numbers are
little-endian. A matrix is stored in blocks of 32 numbers (Q4_0 of llama.cpp): a scale of 16 bits
and 16 bytes. The low halves of the bytes are the first 16 numbers, the high halves are the other
16. A number is (half - 8) * scale.

The file is mapped into memory: a process reads only the word vectors that its texts need, and all
processes share them. `local_model` runs the model.

The usual libraries load the 250,000 pieces of the tokenizer in half a second and take 200 MB
(docs/adr/0033); a question should not need that. Here the pieces are two dictionaries, of which
English needs the smaller one, and the pieces of words seen before are cached. Source: Kudo 2018,
"Subword Regularization".
"""

import math
import mmap
import re
import struct
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
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
"""Names of a layer's parts in the file and, as values, in a Hugging Face `BertModel`."""


_BEFORE_WORD = "▁"
"""Each word begins with this character in the pieces (SentencePiece)."""
_LAST_OF_PLAIN = _BEFORE_WORD.encode()[-1]
"""A piece that ends in ASCII, and this character alone, have no greater last byte."""


@dataclass(frozen=True)
class Pieces:
    """Contents of a Unigram tokenizer. The id of a piece is its index."""

    text: bytes
    """All pieces, one after the other, in UTF-8."""
    bounds: NDArray[np.uint32]
    """Where each piece begins in `text`, and the end of the last one."""
    scores: Vectors
    """Logarithms of probabilities."""
    start: int
    """Id of the special token that begins each text."""
    end: int
    unknown: int
    replaced: dict[int, str]
    """By code point, the text that replaces a character."""

    def id_of(self, piece: bytes) -> int | None:
        return (self._plain if piece[-1] <= _LAST_OF_PLAIN else self._others).get(piece)

    @cached_property
    def _plain(self) -> dict[bytes, int]:
        """The third of the pieces that texts in English need."""
        return self._ids(self._last_bytes <= _LAST_OF_PLAIN)

    @cached_property
    def _others(self) -> dict[bytes, int]:
        return self._ids(self._last_bytes > _LAST_OF_PLAIN)

    @property
    def _last_bytes(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.text, np.uint8)[self.bounds[1:] - 1]

    def _ids(self, chosen: NDArray[np.bool_]) -> dict[bytes, int]:
        starts, ends = self.bounds[:-1][chosen].tolist(), self.bounds[1:][chosen].tolist()
        ids = np.flatnonzero(chosen).tolist()
        return {self.text[a:b]: id_ for a, b, id_ in zip(starts, ends, ids, strict=True)}


class PackedModel:
    """An open file. Raises MissingModel if the file has another format."""

    def __init__(self, file: Path) -> None:
        """Read the header, the tokenizer and the directory of tensors."""
        with file.open("rb") as open_file:
            self._data = mmap.mmap(open_file.fileno(), 0, access=mmap.ACCESS_READ)
        self._position = 0
        if self._next("4s") != (_MAGIC,):
            raise MissingModel(f"{file} does not begin with {_MAGIC!r}: it is no packed model.")
        _, self.n_hidden, self.n_layers, self.n_heads, self._n_wide, *more = self._next("I7ifi")
        self._n_words, self.n_positions, _, self.epsilon, _ = more
        n_pieces, start, end, _, unknown, n_bytes = self._next("5iQ")
        raw_bounds, raw_scores, text = self._next(f"{4 * n_pieces + 4}s{4 * n_pieces}s{n_bytes}s")
        bounds, scores = np.frombuffer(raw_bounds, "<u4"), np.frombuffer(raw_scores, "<f4")
        replaced = {}
        for _ in range(self._next("iI")[0]):
            character, n_others = self._next("IB")
            replaced[character] = "".join(map(chr, self._next(f"{n_others}I")))
        self.pieces = Pieces(text, bounds, scores, start, end, unknown, replaced)
        self._tensors: dict[str, tuple[int, int]] = {}
        """By name, the offset of a tensor in the file and how many numbers it has."""
        for _ in range(self._next("i")[0]):
            (length,) = self._next("H")
            name, _, n_numbers, offset, _ = self._next(f"{length}sBIQQ")
            self._tensors[name.decode()] = offset, n_numbers

    def _next(self, form: str) -> tuple[Any, ...]:
        """The next values of the file. form: their types as in `struct`."""
        values = struct.unpack_from(f"<{form}", self._data, self._position)
        self._position += struct.calcsize(f"<{form}")
        return values

    def embeddings(self, ids: Sequence[int]) -> Vectors:
        """For each token of a text the sum of its word, position and segment vectors, shape
        (len(ids), n_hidden)."""
        words = self._unpacked(self._blocks("emb.word", self._n_words)[list(ids)])
        positions = self._floats("emb.pos").reshape(self.n_positions, self.n_hidden)
        # all tokens belong to the first segment
        return words + positions[: len(ids)] + self._floats("emb.type")[: self.n_hidden]

    def weights(self) -> dict[str, Vectors]:
        """All other tensors, by their names in a Hugging Face `BertModel`."""
        tensors = {
            "embeddings.LayerNorm.weight": self._floats("emb.ln.w"),
            "embeddings.LayerNorm.bias": self._floats("emb.ln.b"),
        }
        for layer in range(self.n_layers):
            for short, name in (_DENSE | _NORMS).items():
                short_name, full_name = f"l{layer}.{short}", f"encoder.layer.{layer}.{name}"
                tensors[f"{full_name}.bias"] = self._floats(f"{short_name}.b")
                if short in _NORMS:
                    tensors[f"{full_name}.weight"] = self._floats(f"{short_name}.w")
                else:
                    n_rows = self._n_wide if short == "fi" else self.n_hidden
                    tensors[f"{full_name}.weight"] = self._unpacked(
                        self._blocks(f"{short_name}.w", n_rows)
                    )
        return tensors

    @staticmethod
    def _unpacked(blocks: NDArray[Any]) -> Vectors:
        """The numbers of a matrix's blocks as float32. blocks: shape (n rows, blocks per row)."""
        halves = blocks["halves"]
        numbers = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32) - _MIDDLE
        scaled = numbers * blocks["scale"].astype(np.float32)[..., np.newaxis]
        return np.asarray(scaled.reshape(len(blocks), -1), np.float32)

    def _blocks(self, name: str, n_rows: int) -> NDArray[Any]:
        """The blocks of a matrix, shape (n_rows, blocks per row)."""
        offset, n = self._tensors[name]
        return self._array(_BLOCK, n // _BLOCK_LENGTH, offset).reshape(n_rows, -1)

    def _floats(self, name: str) -> Vectors:
        offset, n = self._tensors[name]
        return self._array("<f4", n, offset)

    def _array(self, kind: Any, n: int, offset: int) -> NDArray[Any]:
        return np.frombuffer(self._data, kind, n, offset)


Spans = NDArray[np.int32]
_WORD = re.compile("[^ ]+")
_LESS_THAN_ALL = 10.0
"""The score of an unknown character is less than that of every piece by this much."""
_KEPT_WORDS, _LONGEST_KEPT = 30_000, 32


class UnigramTokenizer:
    """Cuts texts into tokens. Safe to use from several threads."""

    def __init__(self, pieces: Pieces) -> None:
        self.start, self.end, self._unknown = pieces.start, pieces.end, pieces.unknown
        self._id_of, self._scores = pieces.id_of, pieces.scores
        self._replaced = pieces.replaced
        self._longest = int(np.diff(pieces.bounds).max())  # in bytes
        self._unknown_score = float(pieces.scores.min()) - _LESS_THAN_ALL
        self._cached_pieces = lru_cache(_KEPT_WORDS)(self._best_pieces)

    def tokens(self, text: str) -> tuple[list[int], Spans]:
        """The ids of a text's tokens, without special tokens, and the range of characters of each,
        shape (n, 2). The range is empty for a token that only marks the beginning of a word."""
        replaced = [self._replaced.get(ord(character), character) for character in text]
        # for each character after the replacements, the index of its origin in `text`
        origin = [index for index, characters in enumerate(replaced) for _ in characters]
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        for word in _WORD.finditer("".join(replaced)):
            # `start` counts the characters of the word's pieces so far; a piece without characters
            # is only the mark of a beginning
            start = word.start()
            for id_, length in self._pieces(word[0]):
                ids.append(id_)
                first = origin[start] if length else origin[word.start()]
                spans.append((first, origin[start + length - 1] + 1 if length else first))
                start += length
        return ids, np.array(spans, np.int32).reshape(-1, 2)

    def _pieces(self, word: str) -> Sequence[tuple[int, int]]:
        """The id of each piece of a word, and how many of the word's characters it has."""
        if len(word) <= _LONGEST_KEPT:
            return self._cached_pieces(word)
        return self._best_pieces(word)

    def _best_pieces(self, word: str) -> Sequence[tuple[int, int]]:
        """Find the pieces with the greatest sum of scores, by dynamic programming: `best[end]` is
        the greatest sum for the first `end` characters, `last[end]` the start and the id of the
        last piece in it. An unknown character is a piece by itself."""
        text = _BEFORE_WORD + word
        encoded = text.encode("utf-8", "surrogatepass")
        # the bytes before each character, and at the end the number of all bytes
        places = [0, *accumulate(len(one.encode("utf-8", "surrogatepass")) for one in text)]
        best = [0.0, *[-math.inf] * len(text)]
        last: list[tuple[int, int]] = [(0, 0)] * len(best)
        for start in range(len(text)):
            stop = bisect_right(places, places[start] + self._longest)
            for end in range(start + 1, max(start + 2, stop)):
                id_ = self._id_of(encoded[places[start] : places[end]])
                if id_ is None and end > start + 1:
                    continue
                score = self._unknown_score if id_ is None else self._scores.item(id_)
                if best[start] + score > best[end]:
                    best[end] = best[start] + score
                    last[end] = start, self._unknown if id_ is None else id_
        # follow the best pieces from the end; `_BEFORE_WORD` is not a character of the word
        pieces: list[tuple[int, int]] = []
        end = len(text)
        while end:
            start, id_ = last[end]
            pieces.append((id_, end - max(start, len(_BEFORE_WORD))))
            end = start
        return pieces[::-1]
