"""How likely each candidate is to answer a part of the question, 0 to 1, comparable between questions.

A logistic regression over `features`. One score orders the sentences of a question and decides whether any of them is
an answer: a second one for the order alone found no more (benchmarks/README.md). Its weights were fitted as
benchmarks/answerability.py fits them (ADR 0037), on three kinds of questions: those of a corpus with their answers, the
same in other words, and questions that the corpus does not answer, because their paper was left out or because one of
their words was replaced.
"""

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.extractive.features import FEATURES, Matrix

WEIGHTS = {
    "near": 1.908,
    "standing": 3.131,
    "in sentence": 0.932,
    "nearby": 0.676,
    "in context": 0.756,
    "in paper": 0.671,
    "weakest in context": 0.401,
    "weakest in paper": 0.429,
    "near by word": 1.429,
    "weakest near": 0.785,
    "whole": 0.89,
    "length": -0.207,
    "same words": 0.359,
}
BIAS = -6.44
"""Shifts the score so that `min_relevance` of 0.6 is where wrong answers and wrong refusals cost the same."""


def answerabilities(features: Matrix, evidence: NDArray[np.float64]) -> NDArray[np.float32]:
    """Shape (n,), of a matrix with one row per candidate and the columns of `FEATURES`.

    evidence: what else speaks for each candidate, or against it, in units of the score (logits), shape (n,).
    """
    logits = features @ np.array([WEIGHTS[name] for name in FEATURES]) + BIAS + evidence
    return np.asarray(1.0 / (1.0 + np.exp(-logits)), np.float32)
