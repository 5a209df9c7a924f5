"""What a reranker is: it looks at a question and a few candidate passages together, and gives them
new scores.

Adapters are in `late_interaction` and `cross_encoder`; `rerankers` decides which one a setting
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
    passage: Passage
    score: float
    """What the search gave it; higher is better. Comparable within one question only."""


@dataclass(frozen=True)
class Judgement:
    """A reranker's judgement of n candidates; every array has shape (n,), in the order of the
    candidates."""

    scores: Scores
    """0 to 1, higher is better: the order of the candidates. Comparable within one question
    only."""
    relevance: Scores
    """0 to 1: estimate that the passage answers the question. It means the same for every
    question."""


class Reranker(Protocol):
    """Scores candidates. The scores depend on question and candidates only. Safe to use from
    several threads."""

    @property
    def identity(self) -> str:
        """Part of the key of whatever follows from the scores."""
        ...

    def judge(self, question: str, candidates: Sequence[FoundPassage]) -> Judgement:
        """The scores of at least one candidate.

        Raises MissingModel or RerankingTooSlow when there is no judgement.
        """
        ...


def described(passage: Passage) -> str:
    """A passage as input of a model that scores pairs of texts: titles of the paper and its
    sections, then the text."""
    return f"{passage.heading_text}\n{passage.text}" if passage.heading_text else passage.text


def stretched(scores: Scores) -> Scores:
    """Scores on 0 to 1, the lowest at 0; all 0 where they are equal."""
    low, high = scores.min(), scores.max()
    if high <= low:
        return np.zeros_like(scores)
    return np.asarray((scores - low) / (high - low), np.float64)


logger = logging.getLogger(__name__)


class SkippingReranker:
    """Gives no judgement where the reranker fails. Says so once, however many questions follow."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._lock = Lock()
        self._has_warned = False
        self._is_missing = False

    @property
    def identity(self) -> str:
        """The identity of the reranker; a different one while its model is missing, so that answers
        made without it are not taken for answers made with it.
        """
        try:
            return self._reranker.identity
        except MissingModel as error:
            self._is_missing = True
            self._warn(error)
            return "unavailable"

    def judge(self, question: str, candidates: Sequence[FoundPassage]) -> Judgement | None:
        """The reranker's judgement; None when it has none to give. A missing model is not asked for
        again."""
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
        with self._lock:
            is_first, self._has_warned = not self._has_warned, True
        if is_first:
            logger.warning("Hits are not reranked, the order of the search stands: %s", error)
