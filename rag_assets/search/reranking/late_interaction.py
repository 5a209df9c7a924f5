"""Late interaction: the question's words are compared with the passage's words one by one, by
meaning.

The vectors are those of the packaged embedding model before it pools them, so no other model is
needed. Source of the comparison (MaxSim): Khattab and Zaharia 2020, "ColBERT: Efficient and
Effective Passage Search via Contextualized Late Interaction over BERT". Two things are added:
MaxSim is taken over the best stretch of the passage, because an answer is in one place, and the
words themselves count beside their meaning.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.token_scale import TokenScale
from rag_assets.search.embedding.token_vectors import PassageTokens
from rag_assets.search.indexing.tantivy_index import Analyser
from rag_assets.search.reranking.base import FoundPassage, Judgement, Scores, stretched

_WINDOW = 25
"""Terms: about a long sentence."""


class SharedWords:
    """Compares words as the word index reads them: stemmed, without stop words, hyphens kept and
    taken apart."""

    @cached_property
    def _analyser(self) -> Analyser:
        return Analyser()

    def shares(self, question: str, texts: Sequence[str]) -> Scores:
        """For each text the share of the question's terms within 25 terms of each other; shape
        (n,), 0 to 1.

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
    return {
        term: math.log(1 + (n_texts - held[term] + 0.5) / (held[term] + 0.5))
        for term in sorted(asked)
    }


def _most_together(terms: Sequence[str], weights: Mapping[str, float]) -> float:
    """The most weight of distinct terms within a window."""
    places = [(place, term) for place, term in enumerate(terms) if term in weights]
    best = 0.0
    for nth, (start, _) in enumerate(places):
        near = {term for place, term in places[nth:] if place < start + _WINDOW}
        best = max(best, sum(weights[term] for term in sorted(near)))
    return best


LATE_INTERACTION_VERSION = 2
"""Part of the identity: raise it when the same vectors give other scores."""
_BLOCK = 8
_BLOCKS_OF_STRETCH = 3


class LateInteraction:
    """A Reranker on token vectors."""

    def __init__(self, tokens: PassageTokens) -> None:
        self._tokens = tokens
        self._words = SharedWords()

    @property
    def identity(self) -> str:
        return f"late-interaction-v{LATE_INTERACTION_VERSION}:{self._tokens.identity}"

    def judge(self, question: str, candidates: Sequence[FoundPassage]) -> Judgement:
        (asked,) = self._tokens.of_texts([question])
        passages = [candidate.passage.text for candidate in candidates]
        likeness = np.array(
            [best_stretch(asked.vectors, found.vectors) for found in self._tokens.of(passages)]
        )
        shares = self._words.shares(question, passages)
        found_by_search = np.array([candidate.score for candidate in candidates], np.float64)
        scale = self._tokens.scale
        scores = (
            scale.search_weight * stretched(found_by_search)
            + scale.tokens_weight * stretched(likeness)
            + scale.words_weight * stretched(shares)
        )
        return Judgement(scores, _relevance(likeness, shares, scale))


def best_stretch(question: Vectors, passage: Vectors) -> float:
    """MaxSim of the question and the stretch of about 24 tokens of the passage that is most like
    it; -1 to 1.

    question: shape (n, dimension), passage: (m, dimension), unit length. For each token of the
    question the best cosine in the stretch, averaged. 0 where one of the two has no token.
    """
    if not len(question) or not len(passage):
        return 0.0
    cosines = question @ passage.T
    blocks = np.maximum.reduceat(cosines, np.arange(0, cosines.shape[1], _BLOCK), axis=1)
    for _ in range(min(_BLOCKS_OF_STRETCH, blocks.shape[1]) - 1):
        blocks = np.maximum(blocks[:, :-1], blocks[:, 1:])  # of one block more each time
    return float(blocks.mean(axis=0).max())


def _relevance(likeness: Scores, shared_words: Scores, scale: TokenScale) -> Scores:
    """Estimated probability that each passage answers the question; shape (n,), 0 to 1.

    likeness: `best_stretch`; shared_words: `SharedWords.shares`; shape (n,) each.
    """
    odds = scale.constant + scale.of_likeness * likeness + scale.of_shared_words * shared_words
    return np.asarray(1 / (1 + np.exp(-odds)), np.float64)
