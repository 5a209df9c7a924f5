"""Late interaction: the meaning of each word of the question is compared with each word of the
passage.

The token vectors are made by the packaged embedding model, so no other model is needed. Source of
the comparison (MaxSim): Khattab and Zaharia 2020, "ColBERT: Efficient and Effective Passage Search
via Contextualized Late Interaction over BERT". Two things are different here. MaxSim is computed
for the best stretch of the passage, since an answer is in one place. And words that both texts
share count in addition to similar meanings.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.local_model import TokenScale
from rag_assets.search.embedding.token_vectors import PassageTokens
from rag_assets.search.indexing.tantivy_index import Analyser
from rag_assets.search.reranking.base import FoundPassage, Judgement, Scores, stretched

_WINDOW = 25
"""Number of terms in a window; about the length of a long sentence."""


class SharedWords:
    """Compares words as terms of the word index: stemmed, without stop words, with the parts of
    hyphenated words."""

    @cached_property
    def _analyser(self) -> Analyser:
        return Analyser()

    def shares(self, question: str, texts: Sequence[str]) -> Scores:
        """For each text, the largest share of the question's terms that it has within 25 terms;
        shape (n,), 0 to 1.

        Terms that are rare among `texts` count more. All shares are 0 if the question has no terms.
        """
        question_terms = set(self._analyser.terms(question))
        terms_by_text = [self._analyser.terms(text) for text in texts]
        weights = _rarity(question_terms, terms_by_text)
        total = sum(weights.values())
        if total <= 0:
            return np.zeros(len(texts))
        return np.array(
            [_best_window(text_terms, weights) / total for text_terms in terms_by_text], np.float64
        )


def _rarity(question_terms: set[str], texts: Sequence[Sequence[str]]) -> dict[str, float]:
    """For each term of the question, its inverse document frequency among the texts, as in BM25
    (Robertson and Spaerck Jones)."""
    n_texts = len(texts)
    n_texts_with = Counter(term for terms in texts for term in question_terms.intersection(terms))
    return {
        term: math.log(1 + (n_texts - n_texts_with[term] + 0.5) / (n_texts_with[term] + 0.5))
        for term in sorted(question_terms)
    }


def _best_window(terms: Sequence[str], weights: Mapping[str, float]) -> float:
    """The largest sum of weights of different terms within `_WINDOW` consecutive terms."""
    weighted = [(index, term) for index, term in enumerate(terms) if term in weights]
    best = 0.0
    for number, (start, _) in enumerate(weighted):
        window_terms = {term for index, term in weighted[number:] if index < start + _WINDOW}
        best = max(best, sum(weights[term] for term in sorted(window_terms)))
    return best


LATE_INTERACTION_VERSION = 2
"""Part of the identity: raise it if the same vectors get other scores."""
_BLOCK = 8
_BLOCKS_OF_STRETCH = 3
"""A stretch is three consecutive blocks of eight tokens."""


class LateInteraction:
    """A Reranker that compares token vectors and words."""

    def __init__(self, tokens: PassageTokens) -> None:
        self._tokens = tokens
        self._words = SharedWords()

    @property
    def identity(self) -> str:
        return f"late-interaction-v{LATE_INTERACTION_VERSION}:{self._tokens.identity}"

    def judge(self, question: str, candidates: Sequence[FoundPassage]) -> Judgement:
        (question_tokens,) = self._tokens.of_texts([question])
        passages = [candidate.passage.text for candidate in candidates]
        likeness = np.array(
            [
                best_stretch(question_tokens.vectors, passage_tokens.vectors)
                for passage_tokens in self._tokens.of(passages)
            ]
        )
        shares = self._words.shares(question, passages)
        search_scores = np.array([candidate.score for candidate in candidates], np.float64)
        scale = self._tokens.scale
        scores = (
            scale.search_weight * stretched(search_scores)
            + scale.tokens_weight * stretched(likeness)
            + scale.words_weight * stretched(shares)
        )
        return Judgement(scores, _relevance(likeness, shares, scale))


def best_stretch(question: Vectors, passage: Vectors) -> float:
    """MaxSim of the question and the stretch of about 24 tokens of the passage that is most similar
    to it; -1 to 1.

    question: shape (n, dimension), passage: shape (m, dimension), vectors of length 1. MaxSim is
    the mean, over the tokens of the question, of the best cosine with a token of the stretch. 0 if
    question or passage has no tokens.
    """
    if not len(question) or not len(passage):
        return 0.0
    cosines = question @ passage.T
    blocks = np.maximum.reduceat(cosines, np.arange(0, cosines.shape[1], _BLOCK), axis=1)
    for _ in range(min(_BLOCKS_OF_STRETCH, blocks.shape[1]) - 1):
        # each round, a column covers one block more
        blocks = np.maximum(blocks[:, :-1], blocks[:, 1:])
    return float(blocks.mean(axis=0).max())


def _relevance(likeness: Scores, shared_words: Scores, scale: TokenScale) -> Scores:
    """The estimated probability that each passage answers the question; shape (n,), 0 to 1.

    likeness: from `best_stretch`, shared_words: from `SharedWords.shares`; shape (n,) each.
    """
    logits = (
        scale.constant + scale.likeness_weight * likeness + scale.shared_words_weight * shared_words
    )
    return np.asarray(1 / (1 + np.exp(-logits)), np.float64)
