"""A search goes on without its reranker: when that cannot be had, or takes too long, the order it found stands."""

import logging
from collections.abc import Sequence
from threading import Lock

from rag_assets.core.errors import BudgetExhausted, MissingKey, MissingModel, ModelFault, RerankingTooSlow
from rag_assets.search.reranking.base import Candidate, Judgement, Reranker

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
        """That of the reranker; another one while its model cannot be had, so that answers without it are not taken
        for answers with it."""
        try:
            return self._reranker.identity
        except (MissingModel, MissingKey) as error:
            self._is_missing = True
            self._warn(error)
            return "unavailable"

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judgement | None:
        """The reranker's judgement; None when it has none to give. A missing model or key is not asked for again."""
        if self._is_missing or not candidates:
            return None
        try:
            return self._reranker.judge(question, candidates)
        except (MissingModel, MissingKey) as error:
            self._is_missing = True
            self._warn(error)
        except (ModelFault, BudgetExhausted, RerankingTooSlow) as error:
            self._warn(error)
        return None

    def _warn(self, error: Exception) -> None:
        with self._lock:
            is_first, self._has_warned = not self._has_warned, True
        if is_first:
            logger.warning("Hits are not reranked, the order of the search stands: %s", error)
