"""Likeness of tokens and shared words as an estimate that means the same for every question."""

import numpy as np

from rag_assets.reranking.base import Scores

_CONSTANT, _OF_LIKENESS, _OF_SHARED_WORDS = -5.55, 7.39, 1.98
"""A logistic regression of "the passage stands in a chunk (of an abstract: is of a paper) that answers the question" on
the best 20 candidates of each question, fitted on the tuning halves of COVID-QA, OHR-Bench, FinanceBench and Cranfield,
each set with the same weight."""


def relevance(likeness: Scores, shared_words: Scores) -> Scores:
    """Estimated probability that each passage answers the question; shape (n,), 0 to 1.

    likeness: `late_interaction.best_stretch`; shared_words: `SharedWords.shares`; shape (n,) each.
    """
    return np.asarray(
        1 / (1 + np.exp(-(_CONSTANT + _OF_LIKENESS * likeness + _OF_SHARED_WORDS * shared_words))), np.float64
    )
