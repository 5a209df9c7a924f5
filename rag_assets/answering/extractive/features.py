"""What is known of each candidate as an answer to a part of the question: one row of numbers per candidate.

A sentence can answer when it is near the question in meaning and everything the question is about is near it: in the
sentence itself, beside it, in its section, or at least somewhere in its paper, whose subject its sentences leave out.
What a question is about and occurs nowhere, under no other word, is what no sentence can answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.drafts import TextTokens, TokenReader
from rag_assets.answering.extractive.asked_words import AskedWord, are_heavy, asked_words, weights_of
from rag_assets.answering.extractive.candidates import Candidate
from rag_assets.answering.extractive.close_reading import Vectors, passages_read, standings, vectors_of
from rag_assets.answering.extractive.word_likeness import Likeness, likenesses
from rag_assets.answering.extractive.words import terms_of, words_of
from rag_assets.domain import Context

FEATURES = (
    "near",  # the mean over the question's tokens of the best cosine among the sentence's (MaxSim)
    "standing",  # how high its passage came in the search
    "in sentence",  # how alike the sentence's words are to the question's, weighted mean of the best of each
    "nearby",  # the same with the text around it in its paragraph
    "in context",  # the same with all of its context and the section's title
    "in paper",  # the same with all that was found of its paper
    "weakest in context",  # the least of the words that the question is about
    "weakest in paper",
    "near by word",  # as `near`, weighted by words
    "weakest near",  # the least cosine of the words that the question is about
    "whole",  # cosine of the means of both
    "length",  # logarithm of its words
    "same words",  # weight of the question's words that it holds literally
)
Matrix = NDArray[np.float64]
_NEARBY_CHARS = 350


class Comparison:
    """Candidates and what they stand in, read once and compared with each part of a question."""

    def __init__(self, candidates: Sequence[Candidate], contexts: Sequence[Context], reader: TokenReader) -> None:
        passages = passages_read(candidates, reader)
        self._candidates = candidates
        self._reader = reader
        self._passages = {passage.text: tokens for passage, tokens in passages.items()}
        self._vectors = vectors_of(candidates, passages, reader)
        self._standing = standings(candidates)
        self._surroundings = _Surroundings(contexts)

    def features(self, question: str) -> Matrix:
        """One row per candidate, in the order of `FEATURES`; zeros where the question has no content words."""
        words = asked_words(question, [candidate.terms for candidate in self._candidates])
        shape = len(self._candidates), len(FEATURES)
        if not words:
            return np.zeros(shape)
        (tokens,) = self._reader.of_texts([question])
        asked = _Asked(tokens, words, likenesses(words, tokens, self._passages, self._reader))
        rows = [self._row(asked, one, own) for one, own in zip(self._candidates, self._vectors, strict=True)]
        return np.array(rows, np.float64).reshape(shape)

    def _row(self, asked: "_Asked", one: Candidate, vectors: Vectors) -> list[float]:
        weights, heavy = weights_of(asked.words), are_heavy(asked.words)
        near, by_word, whole = _nearness(asked, vectors)
        alike = [_best(asked.likenesses, terms) for terms in self._surroundings.of(one)]
        literal = np.array([word.stem in one.terms for word in asked.words], np.float64)
        return [
            near,
            self._standing[one.passage.passage_id],
            *(float(weights @ level) for level in alike),
            *(float(level[heavy].min()) for level in alike[2:]),
            float(weights @ by_word),
            float(by_word[heavy].min()),
            whole,
            float(np.log(max(1, len(words_of(one.text))))),
            float(weights @ literal),
        ]


@dataclass(frozen=True)
class _Asked:
    """A part of the question, ready to be compared."""

    tokens: TextTokens
    words: Sequence[AskedWord]
    likenesses: Sequence[Likeness]
    """Of each word."""


class _Surroundings:
    """The terms of the contexts and papers that candidates stand in; each is read once."""

    def __init__(self, contexts: Sequence[Context]) -> None:
        self._contexts = contexts
        self._of_contexts = [terms_of(f"{one.section_title} {one.text}") for one in contexts]
        self._of_papers: dict[str, frozenset[str]] = {}
        for one, terms in zip(contexts, self._of_contexts, strict=True):
            known = self._of_papers.get(one.paper_id) or terms_of(one.paper_id.replace("_", " "))
            self._of_papers[one.paper_id] = known | terms

    def of(self, candidate: Candidate) -> tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]:
        """Of itself, of the text around it, of its context, of its paper."""
        text = self._contexts[candidate.context].text
        start = max(text.rfind("\n", 0, candidate.start) + 1, candidate.start - _NEARBY_CHARS)
        line_end = text.find("\n", candidate.end)
        end = min(len(text) if line_end < 0 else line_end, candidate.end + _NEARBY_CHARS)
        return (
            candidate.terms,
            terms_of(text[start:end]),
            self._of_contexts[candidate.context],
            self._of_papers[candidate.paper_id],
        )


def _nearness(asked: _Asked, vectors: Vectors) -> tuple[float, Matrix, float]:
    """MaxSim, the same for each word, and the cosine of both means."""
    own, spans = asked.tokens.vectors, asked.tokens.spans
    if not len(vectors) or not len(own):
        return 0.0, np.zeros(len(asked.words)), 0.0
    best = (own @ vectors.T).max(axis=1)
    by_word = np.array([_mean(best[(spans[:, 0] < word.end) & (spans[:, 1] > word.start)]) for word in asked.words])
    one, other = own.mean(axis=0), vectors.mean(axis=0)
    whole = float(one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-9))
    return float(np.clip(best.mean(), 0.0, 1.0)), np.clip(by_word, 0.0, 1.0), whole


def _mean(values: NDArray[np.float32]) -> float:
    return float(values.mean()) if len(values) else 0.0


def _best(likenesses: Sequence[Likeness], terms: frozenset[str]) -> Matrix:
    """For each word of the question how alike the word most like it among `terms` is."""
    return np.array([max((likeness[term] for term in likeness.keys() & terms), default=0.0) for likeness in likenesses])
