"""How the cosines of a model's token vectors are read: weights and floors of what compares them.

Each model spreads its cosines in its own way, so each has its own numbers. They were chosen on
tuning halves and tried on the others (benchmarks/README.md).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class TokenScale:
    """The numbers of one model."""

    search_weight: float
    tokens_weight: float
    words_weight: float
    """Weights of the search score, the tokens and the shared words in late interaction."""
    constant: float
    of_likeness: float
    of_shared_words: float
    """A logistic regression of "the passage is in a chunk (an abstract: of a paper) that answers
    the question" on likeness and shared words of the best 20 candidates of each question."""
    kin_from: float
    alike_from: float
    same_from: float
    """The least cosine of two words, read alone, that may be of one kind, that mean nearly the
    same, and that may mean the same."""
    answers_from: float | None = None
    """So much nearer than the others comes a sentence to a question if it answers it, whatever
    languages they are in; None for a model that reads one language."""


ALL_MINILM = TokenScale(0.4, 0.45, 0.15, -5.55, 7.39, 1.98, 0.4, 0.45, 0.7)
"""Chosen on the tuning halves of COVID-QA, OHR-Bench, FinanceBench and Cranfield together, each set
with the same weight."""
MULTILINGUAL_E5 = TokenScale(0.3, 0.4, 0.3, -5.84, 8.39, 2.53, 0.49, 0.52, 0.77, 0.1)
"""Weights chosen on the tuning halves of COVID-QA and FinanceBench, the regression on the first;
cosines of words where as many pairs of a question's and its paper's words lie above as with
all-MiniLM-L6-v2; the last number on XQuAD."""
