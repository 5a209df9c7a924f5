"""The relevance of every candidate to a part of the question, 0 to 1, and what a part has of its own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.extractive.answerability import answerabilities
from rag_assets.answering.extractive.candidates import Candidate
from rag_assets.answering.extractive.close_reading import Vectors
from rag_assets.answering.extractive.definitions import defines
from rag_assets.answering.extractive.features import Matrix
from rag_assets.answering.extractive.figures import lacks_figure

Relevances = NDArray[np.float32]
_LEANS_BACK = -0.3
"""A sentence that begins by pointing at one that is not published with it reads badly alone."""
_LACKS_FIGURE = -1.5
"""A sentence without a number cannot say how many."""
_DEFINES = 1.0
"""A sentence that says what something is, where that is asked."""


@dataclass(frozen=True)
class Part:
    """One question inside the question: the weights of its words, and every candidate's relevance to it."""

    text: str
    weights: Mapping[str, float]
    relevance: Relevances

    def own_weights(self, others: Iterable["Part"]) -> dict[str, float]:
        """The weights of the words that no other part has, summing to 1; of all its words when it has no others."""
        shared = frozenset[str]().union(*(other.weights for other in others if other is not self))
        own = {term: weight for term, weight in self.weights.items() if term not in shared} or dict(self.weights)
        total = sum(own.values())
        return {term: weight / total for term, weight in own.items()} if total else {}


def relevances(part: str, candidates: Sequence[Candidate], features: Matrix) -> Relevances:
    """Relevance of every candidate to a part of the question, shape (n,).

    part: its text; a candidate may bring a relevance to it, else it has its answerability. features: one row per
    candidate.
    """
    evidence = np.array([_evidence(part, one) for one in candidates], np.float64)
    scored = zip(candidates, answerabilities(features, evidence).tolist(), strict=True)
    return np.array([own if one.relevance is None else one.relevance[part] for one, own in scored], np.float32)


def _evidence(question: str, one: Candidate) -> float:
    """What the form of a sentence says about it as an answer, in units of the score."""
    return (
        _LEANS_BACK * one.leans_back
        + _LACKS_FIGURE * lacks_figure(question, one.text)
        + _DEFINES * defines(question, one.text)
    )


def nearness_of(asked: Vectors, candidates: Sequence[Vectors]) -> Relevances:
    """For each candidate the mean over the question's tokens of the best cosine among its own, 0 to 1, shape (n,).

    asked: vectors of the question's tokens; candidates: of each candidate's tokens; unit length. 0 without tokens.
    """
    best = [(asked @ vectors.T).max(axis=1).mean() if len(vectors) else 0.0 for vectors in candidates]
    return np.clip(np.array(best, np.float32), 0.0, 1.0)
