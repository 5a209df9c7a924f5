"""How well a reader answers questions of papers that it was not trained on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader_training.lines import Line
from benchmarks.reader_training.nearness import NearLines
from benchmarks.reader_training.questions import Question
from rag_assets.answering.extractive.relevance import N_READ_OF_A_PART

Scores = NDArray[np.float32]
Score = Callable[[str, Sequence[Line]], Scores]
"""question, lines -> a score for each line, shape (len(lines),)."""


@dataclass(frozen=True)
class Candidates:
    """A held-out question and the lines that the product would read for it."""

    question: Question
    lines: tuple[Line, ...]
    """The nearest of its paper, nearest first, at most N_READ_OF_A_PART."""

    @property
    def are_right(self) -> list[bool]:
        return [line in self.question.answers for line in self.lines]


@dataclass(frozen=True)
class Measured:
    """Shares are of the questions that have an answer, 0 to 1; NaN where there is none."""

    n_answerable: int
    n_unanswerable: int
    nearest_right: float
    """The nearest line answers: what vectors and words reach without a reader."""
    best_right: float
    """The line with the highest score answers."""
    any_right: float
    """One of the lines that are read answers: no reader can reach more."""
    auc: float
    """Chance that the best score of an answerable question is above that of an unanswerable one;
    ties count half."""

    def __str__(self) -> str:
        return (
            f"{self.n_answerable} answerable questions: nearest line right {self.nearest_right:.3f}, best line right "
            f"{self.best_right:.3f}, right one among the nearest {N_READ_OF_A_PART} {self.any_right:.3f}; AUC against "
            f"{self.n_unanswerable} unanswerable ones {self.auc:.3f}"
        )


def candidates_of(questions: Sequence[Question], near: NearLines) -> list[Candidates]:
    """Each question with the lines that are read for it."""
    return [
        Candidates(question, tuple(near.nearest(question, N_READ_OF_A_PART)))
        for question in questions
    ]


def measured(held_out: Sequence[Candidates], score: Score) -> Measured:
    """What a reader makes of the questions."""
    scored = [(one, score(one.question.text, one.lines)) for one in held_out]
    answerable = [(one.are_right, scores) for one, scores in scored if one.question.answers]
    unanswerable = [float(scores.max()) for one, scores in scored if not one.question.answers]
    return Measured(
        n_answerable=len(answerable),
        n_unanswerable=len(unanswerable),
        nearest_right=_mean([right[0] for right, _ in answerable]),
        best_right=_mean([right[int(scores.argmax())] for right, scores in answerable]),
        any_right=_mean([any(right) for right, _ in answerable]),
        auc=auc([float(scores.max()) for _, scores in answerable], unanswerable),
    )


def auc(above: Sequence[float], below: Sequence[float]) -> float:
    """Chance that one of `above` is greater than one of `below`, ties counting half; NaN where one
    is empty."""
    if not above or not below:
        return float("nan")
    differences = np.sign(np.subtract.outer(np.array(above), np.array(below)))
    return float((differences.mean() + 1) / 2)


def _mean(values: Sequence[bool]) -> float:
    return float(np.mean(values)) if values else float("nan")
