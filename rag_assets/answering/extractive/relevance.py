"""How relevant each candidate is to a question, 0 to 1, and comparable between questions.

Three figures, each 0 to 1: how near the candidate comes to each token of the question (MaxSim over its token vectors,
Khattab and Zaharia 2020, "ColBERT"), what share of the question's words it holds together with the sentence before it,
and how high its passage came in the search. Words are weighted by their rarity in the contexts; a word that occurs in
none weighs most, so that a question about something the corpus never names finds no relevant sentence. The cosine of
the whole sentence adds nothing to these (COVID-QA, OHR-Bench).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.extractive.candidates import Candidate
from rag_assets.answering.extractive.close_reading import Vectors
from rag_assets.text.terms import held

Relevances = NDArray[np.float32]
_NEARNESS_WEIGHT, _WORDS_WEIGHT, _STANDING_WEIGHT = 0.5, 0.25, 0.25
_LEANING_DISCOUNT = 0.95
"""A sentence that begins by pointing at one that is not published with it reads badly alone."""


@dataclass(frozen=True)
class Part:
    """One question inside the question: the weights of its words, and every candidate's relevance to it."""

    text: str
    weights: Mapping[str, float]
    relevance: Relevances
    paper_id: str | None = None
    """The paper it is asked of; None for any."""
    is_described: bool = False
    """Whether the question describes that paper."""
    is_read: bool = False
    """Whether the best candidates were read together with the question; what is relevant then answers."""

    def own_weights(self, others: Iterable["Part"]) -> dict[str, float]:
        """The weights of the words that no other part has, summing to 1; of all its words when it has no others."""
        shared = frozenset[str]().union(*(other.weights for other in others if other is not self))
        own = {term: weight for term, weight in self.weights.items() if term not in shared} or dict(self.weights)
        total = sum(own.values())
        return {term: weight / total for term, weight in own.items()} if total else {}


def relevances(
    part: str,
    candidates: Sequence[Candidate],
    weights: Mapping[str, float],
    nearness: Relevances,
    standing: Mapping[str, float],
) -> Relevances:
    """Relevance of every candidate to a part of the question, shape (n,).

    part: its text; a candidate may bring a relevance to it. weights: of the part's words, summing to 1. nearness: from
    `nearness_of`. standing: of each passage, by its id, 0 to 1.
    """
    words = np.array([held(candidate.terms_so_far, weights) for candidate in candidates], np.float32)
    discounts = np.array([_LEANING_DISCOUNT if one.leans_back else 1.0 for one in candidates], np.float32)
    passages = np.array([standing[one.passage.passage_id] for one in candidates], np.float32)
    figures = _NEARNESS_WEIGHT * nearness + _WORDS_WEIGHT * words + _STANDING_WEIGHT * passages
    scored = zip(candidates, (discounts * figures).tolist(), strict=True)
    return np.array([own if one.relevance is None else one.relevance[part] for one, own in scored], np.float32)


def nearness_of(asked: Vectors, candidates: Sequence[Vectors]) -> Relevances:
    """For each candidate the mean over the question's tokens of the best cosine among its own, 0 to 1, shape (n,).

    asked: vectors of the question's tokens; candidates: of each candidate's tokens; unit length. 0 without tokens.
    """
    best = [(asked @ vectors.T).max(axis=1).mean() if len(vectors) else 0.0 for vectors in candidates]
    return np.clip(np.array(best, np.float32), 0.0, 1.0)
