"""What a reranker is: it reads the question and a few candidate passages together, and gives the
passages new scores.

Adapters are in `late_interaction` and `cross_encoder`. `rerankers` decides which one a setting
means, and `retrieval.ranking` how a search uses the scores.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import numpy as np
import numpy.typing as npt

from rag_assets.core.domain import Passage
from rag_assets.core.errors import MissingModel, RerankingTooSlow

Scores = npt.NDArray[np.float64]
TIMEOUT_S = 10.0
"""Most seconds a cross-encoder may take for one question."""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that the search found."""

    passage: Passage
    score: float
    """The score of the search; higher is better. Comparable within one question only."""


@dataclass(frozen=True)
class Judgement:
    """A reranker's scores of n candidates. Both arrays have shape (n,), in the order of the
    candidates."""

    scores: Scores
    """From 0 to 1, higher is better. They decide the order of the candidates. Comparable within one
    question only."""
    relevance: Scores
    """From 0 to 1: the estimated probability that the passage answers the question. Comparable
    between questions."""


class Reranker(Protocol):
    """Scores candidates. The scores depend on the question and the candidates only. Safe to use
    from several threads."""

    @property
    def identity(self) -> str:
        """Part of the key of everything that depends on the scores."""
        ...

    def judge(self, question: str, candidates: Sequence[FoundPassage]) -> Judgement:
        """The scores of the candidates; there must be at least one.

        Raises MissingModel or RerankingTooSlow if they cannot be scored.
        """
        ...


def described(passage: Passage) -> str:
    """A passage as input of a model that scores pairs of texts: the titles of the paper and its
    sections, then the passage."""
    return f"{passage.heading_text}\n{passage.text}" if passage.heading_text else passage.text


def stretched(scores: Scores) -> Scores:
    """The scores scaled to 0 to 1: the lowest becomes 0, the highest 1. All become 0 if they are
    equal."""
    low, high = scores.min(), scores.max()
    if high <= low:
        return np.zeros_like(scores)
    return np.asarray((scores - low) / (high - low), np.float64)


logger = logging.getLogger(__name__)


class SkippingReranker:
    """Gives no scores if the reranker fails. A warning is logged once, not for every question."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._lock = Lock()
        self._has_warned = False
        self._is_missing = False

    @property
    def identity(self) -> str:
        """The reranker's identity. While its model is missing, another one, since cached answers
        made with the reranker must not be mixed with answers made without it."""
        try:
            return self._reranker.identity
        except MissingModel as error:
            self._is_missing = True
            self._warn(error)
            return "unavailable"

    def judge(self, question: str, candidates: Sequence[FoundPassage]) -> Judgement | None:
        """The reranker's scores, or None if it fails. A reranker whose model is missing is not
        asked again."""
        if self._is_missing or not candidates:
            return None
        try:
            return self._reranker.judge(question, candidates)
        except MissingModel as error:
            self._is_missing = True
            self._warn(error)
        except RerankingTooSlow as error:
            self._warn(error)
        return None

    def _warn(self, error: Exception) -> None:
        """Log the error if it is the first one."""
        with self._lock:
            is_first, self._has_warned = not self._has_warned, True
        if is_first:
            logger.warning("Hits are not reranked, the order of the search stands: %s", error)
