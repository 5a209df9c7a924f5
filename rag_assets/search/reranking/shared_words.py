"""How much of a question's words a passage holds close together."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from rag_assets.search.indexing.tantivy_index import Analyser
from rag_assets.search.reranking.base import Scores

_WINDOW = 25
"""Terms: about a long sentence."""


class SharedWords:
    """Compares words as the word index reads them: stemmed, without stop words, hyphens kept and taken apart."""

    @cached_property
    def _analyser(self) -> Analyser:
        return Analyser()

    def shares(self, question: str, texts: Sequence[str]) -> Scores:
        """Of each text, the share of the question's terms that stand within 25 terms of each other; shape (n,), 0 to 1.

        Terms weigh by how rare they are among `texts`; 0 for a question without terms.
        """
        asked = set(self._analyser.terms(question))
        terms = [self._analyser.terms(text) for text in texts]
        weights = _rarity(asked, terms)
        total = sum(weights.values())
        if total <= 0:
            return np.zeros(len(texts))
        return np.array([_most_together(found, weights) / total for found in terms], np.float64)


def _rarity(asked: set[str], texts: Sequence[Sequence[str]]) -> dict[str, float]:
    """Inverse document frequency over the texts, as BM25 has it (Robertson and Spaerck Jones)."""
    n_texts = len(texts)
    held = Counter(term for terms in texts for term in asked.intersection(terms))
    return {term: math.log(1 + (n_texts - held[term] + 0.5) / (held[term] + 0.5)) for term in sorted(asked)}


def _most_together(terms: Sequence[str], weights: Mapping[str, float]) -> float:
    """The most weight of distinct terms within a window."""
    places = [(place, term) for place, term in enumerate(terms) if term in weights]
    best = 0.0
    for nth, (start, _) in enumerate(places):
        near = {term for place, term in places[nth:] if place < start + _WINDOW}
        best = max(best, sum(weights[term] for term in sorted(near)))
    return best
