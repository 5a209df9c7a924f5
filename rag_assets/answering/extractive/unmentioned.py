"""Finds the words of a question that the contexts found do not mention: "melatonin", "blood
pressure", "died".

A sentence may have most words of a question and yet be about something else. A content word of the
question that occurs in no context, in no form and in no word of like meaning, shows that. Two words
are compared as the packaged model reads them alone, which distinguishes synonyms from words that
merely occur together: "died" is like "deaths" (0.8) and not like "infected" (0.1), while within
their sentences both are alike. To read every word of a paper would take long, so only those are
read that their sentences make likely.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.drafts import TokenReader
from rag_assets.answering.extractive.candidates import Span
from rag_assets.answering.extractive.relevance import Vectors, texts_of
from rag_assets.core.domain import Context
from rag_assets.core.text.folding import plain_lower
from rag_assets.core.text.terms import QUESTION_WORDS, WORD, stem_of
from rag_assets.search.embedding.token_vectors import TokenVectors

_LIKELY_WORDS = 12
_LEAST_CHARS = 3


def unmentioned(asked: str, contexts: Sequence[Context], reader: TokenReader) -> tuple[str, ...]:
    """The content words of a question that no context has, neither in another form nor as a word of
    similar meaning. They are in small letters; a hyphenated word is returned whole."""
    passages = [text for one in contexts for text in texts_of(one)]
    around = (text for one in contexts for text in (one.section_title, one.paper_id))
    stems_found = frozenset[str]().union(*map(_stems_in, (*passages, *around)))
    spans: dict[str, Span] = {}
    for word, span in _parts(asked):
        is_content = len(word) >= _LEAST_CHARS and word.isalpha() and word not in QUESTION_WORDS
        if is_content and stem_of(word) not in stems_found:
            spans.setdefault(word, span)
    if not spans:
        return ()
    (question,) = reader.of_texts([asked])
    tokens = dict(zip(passages, reader.of(passages), strict=True))
    in_question = np.array(
        [_direction(question.vectors[_touching(question, *span)]) for span in spans.values()]
    )
    # Vectors within their sentences choose some words of the passages; vectors of the words alone
    # decide whether these have a similar meaning.
    likely = _likely_words(in_question, tokens)
    words_read = sorted({*spans, *(word for words in likely for word in words)})
    alone = {
        word: _direction(one.vectors)
        for word, one in zip(words_read, reader.of_texts(words_read), strict=True)
    }
    missing = [
        span
        for (word, span), words in zip(spans.items(), likely, strict=True)
        if max((float(alone[word] @ alone[other]) for other in words), default=0.0)
        < reader.scale.alike_from
    ]
    return tuple(dict.fromkeys(_whole_word(asked, span) for span in missing))


def likeness(one: str, other: str, reader: TokenReader) -> float:
    """The cosine of the vectors of two words, each read by itself."""
    first, second = (_direction(tokens.vectors) for tokens in reader.of_texts([one, other]))
    return float(first @ second)


def _whole_word(text: str, part: Span) -> str:
    """The word of a text that a part belongs to: "drug-resistant" for the span of "resistant"."""
    return next(
        match[0].lower() for match in WORD.finditer(text) if match.start() <= part[0] < match.end()
    )


@lru_cache(maxsize=2**12)
def _stems_in(text: str) -> frozenset[str]:
    """Stems of all words. Kept in memory, because each part of a question needs them for the same
    passages."""
    return frozenset(stem_of(part) for part, _ in _parts(text))


def _parts(text: str) -> Iterator[tuple[str, Span]]:
    """The words of a text in small plain letters, hyphenated ones in their parts, each with its
    span."""
    for match in WORD.finditer(text):
        start = match.start()
        for part in match[0].split("-"):
            yield plain_lower(part), (start, start + len(part))
            start += len(part) + 1


def _touching(tokens: TokenVectors, start: int, end: int) -> NDArray[np.bool_]:
    """Which tokens overlap `text[start:end]`."""
    touching: NDArray[np.bool_] = (tokens.spans[:, 0] < end) & (tokens.spans[:, 1] > start)
    return touching


def _likely_words(asked: Vectors, passages: Mapping[str, TokenVectors]) -> list[list[str]]:
    """For each vector of a word of the question the `_LIKELY_WORDS` words of the passages with the
    nearest tokens, nearest first.

    asked: shape (words, dimension). passages: the tokens of each passage by its text.
    """
    best: dict[str, NDArray[np.float32]] = {}
    for text, tokens in passages.items():
        if not len(tokens.spans):
            continue
        matches = list(WORD.finditer(text))
        # For each word the index of its first token, and of the first token after it.
        edges = np.searchsorted(tokens.spans[:, 0], [match.span() for match in matches])
        # Words in which no token begins are skipped.
        with_tokens = [nth for nth, (first, end) in enumerate(edges.tolist()) if first < end]
        nearest = _best_within(asked @ tokens.vectors.T, edges[with_tokens])
        for column, nth in enumerate(with_tokens):
            word = matches[nth][0].lower()
            if word not in QUESTION_WORDS:
                near = nearest[:, column]
                best[word] = np.maximum(best[word], near) if word in best else near
    found = list(best)
    if not found:
        return [[] for _ in asked]
    order = np.argsort(-np.stack([best[word] for word in found], axis=1), axis=1, kind="stable")
    return [[found[nth] for nth in row[:_LIKELY_WORDS].tolist()] for row in order]


def _best_within(cosines: NDArray[np.float32], edges: NDArray[np.int64]) -> NDArray[np.float32]:
    """The highest value of each row within each range of columns; shape (rows, ranges).

    edges: start and end (exclusive) of each range, shape (ranges, 2); in order, no range is empty.
    """
    # The end of the last range must be a column too.
    padded = np.pad(cosines, ((0, 0), (0, 1)), constant_values=-1.0)
    return np.asarray(np.maximum.reduceat(padded, edges.ravel(), axis=1)[:, ::2], np.float32)


def _direction(vectors: Vectors) -> Vectors:
    """The mean of token vectors with unit length, shape (dimension,); zeros if there are none."""
    if not len(vectors):
        return np.zeros(vectors.shape[1], np.float32)
    mean = vectors.mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9), np.float32)
