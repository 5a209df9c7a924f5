"""How relevant each candidate is to a question, 0 to 1.

The relevance of a sentence is the mean of its cosine with the question and of the weight of the question's words in it.
Words are weighted by their rarity in the contexts; a word that occurs in none weighs most, so that a question about
something the corpus never names finds no relevant sentence.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.drafts import SentenceEncoder
from rag_assets.answering.extractive.candidates import Candidate
from rag_assets.answering.extractive.words import held, term_weights
from rag_assets.questions import QuestionPart

_LEANS_BACK = re.compile(
    r"^(?:(?:in|for|with|by|of) )?(?:this|these|those|they|their|it|its|such|he|she)\b", re.IGNORECASE
)
_LEANING_DISCOUNT = 0.9
"""A sentence that begins by pointing at the one before it reads badly alone."""


@dataclass(frozen=True)
class Part:
    """One question inside the question: the weights of its words, and every candidate's relevance to it."""

    text: str
    weights: Mapping[str, float]
    relevance: NDArray[np.float32]

    def own_weights(self, others: Iterable["Part"]) -> dict[str, float]:
        """The weights of the words that no other part has, summing to 1; of all its words when it has no others."""
        shared = frozenset[str]().union(*(other.weights for other in others if other is not self))
        own = {term: weight for term, weight in self.weights.items() if term not in shared} or dict(self.weights)
        total = sum(own.values())
        return {term: weight / total for term, weight in own.items()} if total else {}


def scored_part(
    part: QuestionPart, candidates: Sequence[Candidate], vectors: NDArray[np.float32], encoder: SentenceEncoder
) -> Part:
    """A part of the question with the relevance of every candidate. vectors: of the candidates, shape (n, dim)."""
    cosines = vectors @ encoder.embed_query(part.searched)
    weights = term_weights(part.searched, [candidate.terms for candidate in candidates])
    overlaps = np.array([held(candidate.terms, weights) for candidate in candidates], np.float32)
    standing = np.array([_LEANING_DISCOUNT if _LEANS_BACK.match(c.text) else 1.0 for c in candidates], np.float32)
    relevance = standing * (np.clip(cosines, 0.0, 1.0) + overlaps) / 2
    own = [one if c.relevance is None else c.relevance[part.text] for c, one in zip(candidates, relevance, strict=True)]
    return Part(part.text, weights, np.array(own, np.float32))
