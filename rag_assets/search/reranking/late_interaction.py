"""Late interaction: the question's words are compared with the passage's words one by one, by meaning.

The vectors are those of the packaged embedding model before it pools them, so no other model is needed. Source of the
comparison (MaxSim): Khattab and Zaharia 2020, "ColBERT: Efficient and Effective Passage Search via Contextualized Late
Interaction over BERT". Two things are added: it is taken over the best stretch of the passage, because an answer
stands in one place, and the words themselves count beside their meaning.
"""

from collections.abc import Sequence

import numpy as np

from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.token_vectors import PassageTokens
from rag_assets.search.reranking.base import Candidate, Judgement, Scores, stretched
from rag_assets.search.reranking.shared_words import SharedWords

LATE_INTERACTION_VERSION = 1
"""Part of the identity: raise it when the same vectors give other scores."""
SEARCH_WEIGHT, TOKENS_WEIGHT, WORDS_WEIGHT = 0.4, 0.45, 0.15
"""Of the score of the search, of the tokens and of the words. Chosen on the tuning halves of COVID-QA, OHR-Bench,
FinanceBench and Cranfield together, see benchmarks/README.md."""
_BLOCK = 8
_BLOCKS_OF_STRETCH = 3
_CONSTANT, _OF_LIKENESS, _OF_SHARED_WORDS = -5.55, 7.39, 1.98
"""A logistic regression of "the passage stands in a chunk (of an abstract: is of a paper) that answers the question" on
the best 20 candidates of each question, fitted on the tuning halves of COVID-QA, OHR-Bench, FinanceBench and Cranfield,
each set with the same weight."""


class LateInteraction:
    """A Reranker on token vectors."""

    def __init__(self, tokens: PassageTokens) -> None:
        self._tokens = tokens
        self._words = SharedWords()

    @property
    def identity(self) -> str:
        return f"late-interaction-v{LATE_INTERACTION_VERSION}:{self._tokens.identity}"

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judgement:
        (asked,) = self._tokens.of_texts([question])
        passages = [candidate.passage for candidate in candidates]
        likeness = np.array([best_stretch(asked.vectors, found.vectors) for found in self._tokens.of(passages)])
        shares = self._words.shares(question, [passage.text for passage in passages])
        found_by_search = np.array([candidate.score for candidate in candidates], np.float64)
        scores = (
            SEARCH_WEIGHT * stretched(found_by_search)
            + TOKENS_WEIGHT * stretched(likeness)
            + WORDS_WEIGHT * stretched(shares)
        )
        return Judgement(scores, _relevance(likeness, shares))


def best_stretch(question: Vectors, passage: Vectors) -> float:
    """MaxSim of the question and the stretch of about 24 tokens of the passage that is most like it; -1 to 1.

    question: shape (n, dimension), passage: (m, dimension), unit length. For each token of the question the best
    cosine in the stretch, averaged. 0 where one of the two has no token.
    """
    if not len(question) or not len(passage):
        return 0.0
    cosines = question @ passage.T
    blocks = np.maximum.reduceat(cosines, np.arange(0, cosines.shape[1], _BLOCK), axis=1)
    for _ in range(min(_BLOCKS_OF_STRETCH, blocks.shape[1]) - 1):
        blocks = np.maximum(blocks[:, :-1], blocks[:, 1:])  # of one block more each time
    return float(blocks.mean(axis=0).max())


def _relevance(likeness: Scores, shared_words: Scores) -> Scores:
    """Estimated probability that each passage answers the question; shape (n,), 0 to 1.

    likeness: `best_stretch`; shared_words: `SharedWords.shares`; shape (n,) each.
    """
    return np.asarray(
        1 / (1 + np.exp(-(_CONSTANT + _OF_LIKENESS * likeness + _OF_SHARED_WORDS * shared_words))), np.float64
    )
