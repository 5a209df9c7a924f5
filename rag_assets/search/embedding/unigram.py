"""A Unigram tokenizer: it cuts a text into the pieces with the greatest product of probabilities.

The usual libraries load the 250,000 pieces in half a second and take 200 MB (docs/adr/0033); a
question should not need that. Here the pieces are a dictionary, and the pieces of words seen before
are cached. Source: Kudo 2018, "Subword Regularization".
"""

import math
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rag_assets.search.embedding.packed_model import Pieces

Spans = NDArray[np.int32]
_WORD = re.compile("[^ ]+")
_BEFORE_WORD = "▁"
"""Each word begins with this character in the pieces (SentencePiece)."""
_LESS_THAN_ALL = 10.0
"""The score of an unknown character is less than that of every piece by this much."""
_KEPT_WORDS, _LONGEST_KEPT = 30_000, 32


class UnigramTokenizer:
    """Cuts texts into tokens. Safe to use from several threads."""

    def __init__(self, pieces: Pieces) -> None:
        self.start, self.end, self._unknown = pieces.start, pieces.end, pieces.unknown
        self._ids = dict(zip(pieces.texts, range(len(pieces.texts)), strict=True))
        self._scores = pieces.scores
        self._replaced = pieces.replaced
        self._longest = max(map(len, self._ids))  # in characters
        self._unknown_score = min(pieces.scores) - _LESS_THAN_ALL
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
        best = [0.0, *[-math.inf] * len(text)]
        last: list[tuple[int, int]] = [(0, 0)] * len(best)
        for start in range(len(text)):
            for end in range(start + 1, min(start + self._longest, len(text)) + 1):
                id_ = self._ids.get(text[start:end])
                if id_ is None and end > start + 1:
                    continue
                score = self._unknown_score if id_ is None else self._scores[id_]
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
