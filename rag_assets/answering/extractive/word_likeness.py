"""How alike in meaning the words of a question and of passages are: "kids" and "children", "died" and "mortality".

Two words are compared as the packaged model reads them alone, which tells synonyms from words that merely occur
together: "died" is like "deaths" (0.8) and not like "infected" (0.1), while within their sentences both are alike. To
read every word of every passage would take long. So only those are read that their sentences make likely.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.drafts import TextTokens, TokenReader
from rag_assets.answering.extractive.asked_words import AskedWord
from rag_assets.answering.extractive.words import QUESTION_WORDS, WORD, stem_of

N_COMPARED = 12
"""Words of the passages that are read alone for one word of the question."""
_UNLIKE, _ALIKE = 0.35, 0.8
"""Cosines of words that have nothing in common, and of words that mean the same."""
Likeness = Mapping[str, float]
"""Stems of words of the passages -> how alike they are to one word of the question, 0 to 1; itself 1."""
Vectors = NDArray[np.float32]


def likenesses(
    words: Sequence[AskedWord], asked: TextTokens, passages: Mapping[str, TextTokens], reader: TokenReader
) -> list[Likeness]:
    """For each word of the question the words that are like it. asked: tokens of the question. passages: their tokens
    by their texts."""
    in_context = _vectors_in_context(words, asked)
    likely = _likely_words(in_context, passages)
    read = sorted({text for texts in likely for text in texts} | {word.text for word in words})
    alone = {text: _direction(tokens.vectors) for text, tokens in zip(read, reader.of_texts(read), strict=True)}
    return [
        {stem_of(text): _likeness(float(alone[word.text] @ alone[text])) for text in texts} | {word.stem: 1.0}
        for word, texts in zip(words, likely, strict=True)
    ]


def _vectors_in_context(words: Sequence[AskedWord], asked: TextTokens) -> Vectors:
    """Of each word in its question, shape (n_words, dimension)."""
    return np.array([_direction(asked.vectors[_touching(asked, word.start, word.end)]) for word in words], np.float32)


def _touching(tokens: TextTokens, start: int, end: int) -> NDArray[np.bool_]:
    """Which tokens were made of `text[start:end]`."""
    touching: NDArray[np.bool_] = (tokens.spans[:, 0] < end) & (tokens.spans[:, 1] > start)
    return touching


def _likely_words(asked: Vectors, passages: Mapping[str, TextTokens]) -> list[list[str]]:
    """For each word of the question the words, in small letters, that come nearest to it within the passages."""
    best: dict[str, NDArray[np.float32]] = {}
    for text, tokens in passages.items():
        if not len(tokens.spans):
            continue
        cosines = asked @ tokens.vectors.T
        starts = tokens.spans[:, 0]
        for match in WORD.finditer(text):
            word = match[0].lower()
            first, last = np.searchsorted(starts, match.span())
            if word in QUESTION_WORDS or first == last:
                continue
            nearest = cosines[:, first:last].max(axis=1)
            best[word] = np.maximum(best[word], nearest) if word in best else nearest
    found = list(best)
    if not found:
        return [[] for _ in asked]
    order = np.argsort(-np.stack([best[word] for word in found], axis=1), axis=1, kind="stable")
    return [[found[at] for at in row[:N_COMPARED].tolist()] for row in order]


def _direction(vectors: Vectors) -> Vectors:
    """The mean of token vectors, unit length, shape (dimension,); zeros where there are none."""
    if not len(vectors):
        return np.zeros(vectors.shape[1], np.float32)
    mean = vectors.mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9), np.float32)


def _likeness(cosine: float) -> float:
    return min(max((cosine - _UNLIKE) / (_ALIKE - _UNLIKE), 0.0), 1.0)
