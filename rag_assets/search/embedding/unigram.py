"""A Unigram tokenizer: a text becomes the pieces whose probabilities have the greatest product.

The libraries for this load 250,000 pieces in half a second and 200 MB (docs/adr/0033); a question
should not pay for that. Here they are a dictionary, and what was found for a word is kept: texts
are made of the same words. Source: Kudo 2018, "Subword Regularization".
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
"""Begins each word in the pieces (SentencePiece)."""
_LESS_THAN_ALL = 10.0
"""So much less than that of any piece is the score of an unknown character."""
_KEPT_WORDS, _LONGEST_KEPT = 30_000, 32


class UnigramTokenizer:
    """Safe to use from several threads."""

    def __init__(self, pieces: Pieces) -> None:
        self.start, self.end, self._unknown = pieces.start, pieces.end, pieces.unknown
        self._ids = {text: id_ for id_, text in enumerate(pieces.texts)}
        self._scores = pieces.scores
        self._replaced = pieces.replaced
        self._longest = max(map(len, self._ids))
        self._of_unknown = min(pieces.scores) - _LESS_THAN_ALL
        self._kept = lru_cache(_KEPT_WORDS)(self._best)

    def tokens(self, text: str) -> tuple[list[int], Spans]:
        """The tokens of a text, without special ones, and the characters of each, shape (n, 2). A
        token that only says that a word begins has none."""
        read = [self._replaced.get(ord(character), character) for character in text]
        origin = [place for place, one in enumerate(read) for _ in one]
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        for word in _WORD.finditer("".join(read)):
            start = word.start()
            for id_, length in self._pieces(word[0]):
                ids.append(id_)
                first = origin[start] if length else origin[word.start()]
                spans.append((first, origin[start + length - 1] + 1 if length else first))
                start += length
        return ids, np.array(spans, np.int32).reshape(-1, 2)

    def _pieces(self, word: str) -> Sequence[tuple[int, int]]:
        """The id of each piece, and how many characters of the word it is."""
        return self._kept(word) if len(word) <= _LONGEST_KEPT else self._best(word)

    def _best(self, word: str) -> Sequence[tuple[int, int]]:
        text = _BEFORE_WORD + word
        best = [0.0, *[-math.inf] * len(text)]
        last: list[tuple[int, int]] = [(0, 0)] * len(best)
        for start in range(len(text)):
            for end in range(start + 1, min(start + self._longest, len(text)) + 1):
                id_ = self._ids.get(text[start:end])
                if id_ is None and end > start + 1:
                    continue
                score = self._of_unknown if id_ is None else self._scores[id_]
                if best[start] + score > best[end]:
                    best[end] = best[start] + score
                    last[end] = start, self._unknown if id_ is None else id_
        found: list[tuple[int, int]] = []
        end = len(text)
        while end:
            start, id_ = last[end]
            found.append((id_, end - max(start, len(_BEFORE_WORD))))
            end = start
        return found[::-1]
