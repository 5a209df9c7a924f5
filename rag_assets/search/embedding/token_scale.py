"""How similarities of token vectors are weighed and judged: the weights and thresholds of one
model.

The cosines of each model are distributed differently, so each model has its own numbers. They were
chosen on the tuning halves of data sets and tested on the other halves (benchmarks/README.md).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class TokenScale:
    """The weights and thresholds of one model."""

    search_weight: float
    tokens_weight: float
    words_weight: float
    """Weights of three scores in late interaction: the search score, the similarity of tokens, and
    the shared words."""
    constant: float
    likeness_weight: float
    shared_words_weight: float
    """Constant and weights of a logistic regression. It predicts from similarity of tokens
    (likeness) and shared words whether a passage is in a chunk that answers the question (if the
    data set has abstracts only: in a paper that does). It was fitted on the best 20 candidates of
    each question."""
    kin_from: float
    alike_from: float
    same_from: float
    """Least cosines of two words, each encoded alone: the words may be of one kind (`kin_from`),
    mean nearly the same (`alike_from`), or mean the same (`same_from`)."""
    answers_from: float | None = None
    """A sentence answers a question, in any language, if it is nearer to the question than the
    other sentences by this much. None for a model of one language."""


ALL_MINILM = TokenScale(0.4, 0.45, 0.15, -5.55, 7.39, 1.98, 0.4, 0.45, 0.7)
"""Chosen on the tuning halves of COVID-QA, OHR-Bench, FinanceBench and Cranfield together; each
data set counts the same."""
MULTILINGUAL_E5 = TokenScale(0.3, 0.4, 0.3, -5.84, 8.39, 2.53, 0.49, 0.52, 0.77, 0.1)
"""Chosen on the tuning halves of COVID-QA and FinanceBench (weights), of COVID-QA (regression), and
on XQuAD (the last number). The thresholds for words are such that as many pairs of a question's and
its paper's words are above them as with all-MiniLM-L6-v2."""
