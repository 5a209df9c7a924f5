"""The step of a search in which the best candidates are looked at once more, by a reranker."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rag_assets.core.settings import RetrievalSettings
from rag_assets.search.reranking import Candidate, Judgement, Scores, SkippingReranker, stretched
from rag_assets.search.retrieval.library import Library, Numbers

_LEAST_OF_SEEN, _MOST_OF_UNSEEN = 0.1, 0.099
"""Whatever the reranker looked at stays before what it did not."""


@dataclass(frozen=True)
class Reranked:
    """Of n candidates; every array has shape (n,)."""

    scores: Scores
    """0 to 1 where a reranker looked at the best, else as they were."""
    relevance: Scores
    """NaN where the reranker did not look."""
    are_kept: npt.NDArray[np.bool_]
    """Which of them reach the floor of relevance; all of them where there is no floor or nothing was reranked."""


class Reranking:
    """Scores the best candidates of a question anew; the others keep their order behind them."""

    def __init__(self, reranker: SkippingReranker | None, library: Library, settings: RetrievalSettings) -> None:
        self._reranker = reranker
        self._library = library
        self._settings = settings

    def applied(self, question: str, places: Numbers, scores: Scores) -> Reranked:
        """places: of the candidates in the library; scores: of the search. Equal scores count in the order given."""
        order = np.argsort(-scores, kind="stable")
        best, rest = order[: self._settings.reranked], order[self._settings.reranked :]
        judgement = self._judgement(question, places[best], scores[best])
        if judgement is None:
            return Reranked(scores, np.full(len(places), np.nan), np.ones(len(places), np.bool_))
        final, relevance = np.empty(len(places)), np.full(len(places), np.nan)
        final[best] = _LEAST_OF_SEEN + (1 - _LEAST_OF_SEEN) * judgement.scores
        final[rest] = _MOST_OF_UNSEEN * stretched(scores[rest]) if len(rest) else 0.0
        relevance[best] = judgement.relevance
        are_kept = np.nan_to_num(relevance, nan=0.0) >= self._settings.min_score
        return Reranked(final, relevance, are_kept)

    def _judgement(self, question: str, places: Numbers, scores: Scores) -> Judgement | None:
        if self._reranker is None or not len(places):
            return None
        passages = self._library.passages(places.tolist())
        return self._reranker.judge(
            question, [Candidate(passage, float(score)) for passage, score in zip(passages, scores, strict=True)]
        )
