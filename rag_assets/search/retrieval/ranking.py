"""A question becomes ranked passages.

What is searched for is planned in `queries`; `candidates` are found in both indexes and fused,
those of papers and sections that the question names (`question_names`) are raised, and a reranker
scores the best anew.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rag_assets.core.domain import Filter, Query
from rag_assets.core.settings import RetrievalSettings
from rag_assets.search.reranking.base import FoundPassage, Scores, SkippingReranker, stretched
from rag_assets.search.retrieval.candidates import CandidateSearch, Within
from rag_assets.search.retrieval.filtering import PassageFilters, not_asked_for
from rag_assets.search.retrieval.fusion import weighted_down
from rag_assets.search.retrieval.library import Library, Numbers
from rag_assets.search.retrieval.queries import QueryPlan
from rag_assets.search.retrieval.question_names import QuestionNames

RERANKED = 20
"""Candidates that the reranker looks at. 10 lose a little, 40 gain nothing on COVID-QA and
Cranfield; each costs about 10 ms with the packaged model."""
_LEAST_OF_SEEN, _MOST_OF_UNSEEN = 0.1, 0.099
"""Bounds of the scores that keep whatever the reranker looked at before what it did not."""


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A candidate passage; a ranking lists them best first, equal scores by passage_id."""

    passage_id: str
    place: int
    """In the library."""
    score: float
    dense_score: float | None = None
    lexical_score: float | None = None
    relevance: float | None = None
    """See `Hit`."""
    found_by: tuple[int, ...] = ()
    """Numbers of the queries that found it, among all of the question."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found for a question."""

    passages: list[RankedPassage]
    """For all parts of the question together, best first; each passage with its best score."""
    of_parts: list[list[RankedPassage]]
    """For each part by itself, best first."""


@dataclass(frozen=True)
class Ranker:
    """Ranks all candidate passages of a question; may be used by several threads."""

    library: Library
    candidates: CandidateSearch
    filters: PassageFilters
    names: QuestionNames
    reranker: SkippingReranker | None
    settings: RetrievalSettings

    def ranking(self, plan: QueryPlan, where: Filter) -> Ranking:
        """A compound question is searched part by part; a passage keeps its best score."""
        scope = self.filters.scope(where)
        best: dict[int, RankedPassage] = {}
        of_parts: list[list[RankedPassage]] = []
        n_before = 0
        for queries in plan.parts:
            left_out = self.filters.of_kinds(not_asked_for(queries[0].text, where))
            named = self.names.named_by(queries[0].text, plan.question, self.filters.passing(where))
            of_parts.append(_ordered(self._part(queries, Within(scope, left_out, named), n_before)))
            for one in of_parts[-1]:
                known = best.get(one.place)
                if known is None:
                    best[one.place] = one
                else:
                    better = one if one.score > known.score else known
                    best[one.place] = replace(better, found_by=(*known.found_by, *one.found_by))
            n_before += len(queries)
        return Ranking(_ordered(best.values()), of_parts)

    def _part(self, queries: Sequence[Query], within: Within, n_before: int) -> list[RankedPassage]:
        """queries: a question and its other wordings. n_before: queries of the parts before this
        one."""
        candidates = self.candidates.found(queries, within)
        raised = self.names.raise_named(candidates.scores, candidates.places, within.named)
        scores, relevance, are_kept = self._reranked(queries[0].text, candidates.places, raised)
        are_generated = self.library.are_generated(candidates.places)
        trust = np.where(are_generated, 1.0 - self.settings.generated_penalty, 1.0)
        scores = weighted_down(scores, trust)
        return [
            RankedPassage(
                passage_id=candidates.passage_ids[at],
                place=int(candidates.places[at]),
                score=float(scores[at]),
                dense_score=_known(candidates.dense[at]),
                lexical_score=_known(candidates.lexical[at]),
                relevance=_known(relevance[at]),
                found_by=tuple(n_before + number for number in candidates.found_by[at]),
            )
            for at in np.flatnonzero(are_kept).tolist()
        ]

    def _reranked(
        self, question: str, places: Numbers, scores: Scores
    ) -> tuple[Scores, Scores, npt.NDArray[np.bool_]]:
        """Gives the best candidates new scores; the others keep their order after them.

        Three arrays of shape (n,): scores, 0 to 1 where a reranker looked at the best, else as they
        were; relevance, NaN where it did not look; which candidates reach the floor of relevance,
        all where nothing was reranked.
        """
        order = np.argsort(-scores, kind="stable")
        best, rest = order[:RERANKED], order[RERANKED:]
        relevance = np.full(len(places), np.nan)
        judgement = None
        if self.reranker is not None and len(best):
            found = zip(
                self.library.passages(places[best].tolist()), scores[best].tolist(), strict=True
            )
            judgement = self.reranker.judge(
                question, [FoundPassage(passage, score) for passage, score in found]
            )
        if judgement is None:
            return scores, relevance, np.ones(len(places), np.bool_)
        final = np.empty(len(places))
        final[best] = _LEAST_OF_SEEN + (1 - _LEAST_OF_SEEN) * judgement.scores
        final[rest] = _MOST_OF_UNSEEN * stretched(scores[rest]) if len(rest) else 0.0
        relevance[best] = judgement.relevance
        return final, relevance, np.nan_to_num(relevance, nan=0.0) >= self.settings.min_score


def _ordered(passages: Iterable[RankedPassage]) -> list[RankedPassage]:
    return sorted(passages, key=lambda one: (-one.score, one.passage_id))


def _known(score: float) -> float | None:
    return None if np.isnan(score) else float(score)
