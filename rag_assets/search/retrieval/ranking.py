"""A question becomes ranked passages.

What is searched for is planned in `queries`. Both indexes find candidates for it, whose scores
`fusion` makes one; those of papers and sections that the question names (`question_names`) are
raised, and a reranker scores the best anew.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rag_assets.core.domain import Filter, Query, QueryOrigin
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import RetrievalSettings
from rag_assets.search.embedding.base import Embedder
from rag_assets.search.embedding.sparse_vectors import SparseVectors
from rag_assets.search.indexing.protocols import (
    HybridQuestion,
    Scope,
    Scored,
    VectorStore,
)
from rag_assets.search.indexing.qdrant.store import QdrantStore
from rag_assets.search.indexing.tantivy_index import TantivyIndex
from rag_assets.search.reranking.base import FoundPassage, SkippingReranker, stretched
from rag_assets.search.retrieval.filtering import Mask, PassageFilters, not_asked_for
from rag_assets.search.retrieval.fusion import (
    CandidateScores,
    Scores,
    fused,
    index_weights,
    weighted_down,
    with_other_wordings,
)
from rag_assets.search.retrieval.library import Library, Numbers
from rag_assets.search.retrieval.queries import QueryPlan
from rag_assets.search.retrieval.question_names import NOTHING_NAMED, Named, QuestionNames

CANDIDATES = 100
"""Passages taken from each index before fusion."""


@dataclass(frozen=True)
class DenseSearch:
    """The vector index and the model that its vectors come from."""

    store: VectorStore
    embedder: Embedder
    sparse: SparseVectors | None = None
    """The sparse model whose vectors the index holds too, if any."""


@dataclass(frozen=True, slots=True)
class Within:
    """Where is searched."""

    scope: Scope | None
    """None: everywhere."""
    left_out: Mask
    """Which places may not be found, whatever the scope."""
    named: Named = NOTHING_NAMED
    """What the question names."""

    @property
    def scopes(self) -> list[Scope | None]:
        """What is searched, each by itself: everything in scope, and the papers and sections that
        are clearly named. Their best passages need not be among the best of a large corpus."""
        papers = Scope.within(self.scope, self.named.papers.clearly)
        return [self.scope, *(one for one in (papers, self.named.sections) if one is not None)]


@dataclass(frozen=True)
class Candidates:
    """n passages that were found, sorted by id; every list and array has an entry for each."""

    passage_ids: list[str]
    places: Numbers
    """In the library."""
    scores: Scores
    """Fused; higher is better."""
    dense: Scores
    """Cosine with the first query, NaN where it is not known."""
    lexical: Scores
    """BM25 for the first query, NaN where its words did not find the passage."""
    found_by: list[tuple[int, ...]]
    """Numbers of the queries that found it, from 0."""

    def best(self, n: int) -> list[tuple[str, int]]:
        """The ids and places of the `n` with the highest scores, best first; equal scores by id."""
        order = np.argsort(-self.scores, kind="stable")[:n].tolist()
        return [(self.passage_ids[at], int(self.places[at])) for at in order]


class CandidateSearch:
    """Asks both indexes; safe to use from several threads.

    An index without weight in the fusion is not asked, and no vector is made for it, unless it is
    the only one.
    """

    def __init__(
        self,
        library: Library,
        dense: DenseSearch | None,
        words: TantivyIndex | None,
        settings: RetrievalSettings,
    ) -> None:
        usual = dense.embedder.facts.dense_weight if dense else 0.0
        chosen = settings.dense_weight
        self._dense_weight = usual if chosen is None else chosen
        dense_weight, lexical_weight = index_weights(settings, self._dense_weight)
        self._library = library
        self._dense = dense if dense_weight or words is None else None
        self._words = words if lexical_weight or dense is None else None
        self._settings = settings

    def found(self, queries: Sequence[Query], within: Within) -> Candidates:
        """The candidates for a question, which comes first, and its other wordings.

        Where there are several, each scores what it finds, and those that were asked weigh more
        (`fusion`).
        """
        each = [self._found_by_one(query, within) for query in queries]
        by_id = [
            dict(
                zip(found.ids, fused(found.scores, self._settings, self._dense_weight), strict=True)
            )
            for found in each
        ]
        scores = by_id[0] if len(by_id) == 1 else with_other_wordings(by_id)
        ids, first = sorted(scores), each[0]
        return Candidates(
            passage_ids=ids,
            places=self._library.places(ids),
            scores=np.array([scores[id_] for id_ in ids], np.float64),
            dense=_in_order(ids, dict(zip(first.ids, first.scores.dense.tolist(), strict=True))),
            lexical=_in_order(
                ids, dict(zip(first.ids, first.scores.lexical.tolist(), strict=True))
            ),
            found_by=[
                tuple(number for number, found in enumerate(by_id) if id_ in found) for id_ in ids
            ],
        )

    def _found_by_one(self, query: Query, within: Within) -> "_QueryHits":
        if query.origin is QueryOrigin.PASSAGE:
            return self._like(query.text, within)
        if self._dense and self._settings.is_fused_by_server:
            return self._found_by_server(query.text, within, self._dense)
        words = self._words
        by_words = (
            _merged([words.search(query.text, CANDIDATES, scope) for scope in within.scopes])
            if words
            else []
        )
        nearest: list[Scored] = []
        cosines: dict[str, float] = {}
        if self._dense:
            vector = self._dense.embedder.embed_query(query.text)
            nearest = _merged(
                [self._dense.store.search(vector, CANDIDATES, scope) for scope in within.scopes]
            )
            cosines = dict(nearest)
            unknown = [hit.passage_id for hit in by_words if hit.passage_id not in cosines]
            cosines |= self._dense.store.cosines(vector, unknown)
        return self._scored(within, cosines, nearest, by_words)

    def _found_by_server(self, question: str, within: Within, dense: DenseSearch) -> "_QueryHits":
        vector = dense.embedder.embed_query(question)
        sparse = dense.sparse.of_question(question) if dense.sparse else None
        asked = HybridQuestion(question, vector, sparse)
        found = _hybrid_store(dense.store).hybrid(asked, CANDIDATES, within.scope)
        cosines = dict(found.nearest)
        cosines |= dense.store.cosines(
            vector, [hit.passage_id for hit in found.fused if hit.passage_id not in cosines]
        )
        return self._scored(within, cosines, found.nearest, found.by_words, dict(found.fused))

    def _like(self, passage: str, within: Within) -> "_QueryHits":
        """What is nearest to a passage that is in no paper. It is embedded as passages are, because
        models may put something else before a question. Its words are not searched: they are a
        guess."""
        nearest: list[Scored] = []
        if self._dense:
            (vector,) = self._dense.embedder.embed_passages([passage])
            nearest = self._dense.store.search(vector, CANDIDATES, within.scope)
        cosines = dict(nearest)
        return self._scored(within, cosines, nearest, [], cosines)

    def _scored(
        self,
        within: Within,
        cosines: Mapping[str, float],
        nearest: Sequence[Scored],
        by_words: Sequence[Scored],
        fused: Mapping[str, float] | None = None,
    ) -> "_QueryHits":
        """The hits that may be found. fused: scores by passage_id where they need no fusion
        here."""
        found = sorted(
            {hit.passage_id for hit in (*nearest, *by_words)} if fused is None else fused
        )
        are_left_out = within.left_out[self._library.places(found)]
        ids = [id_ for id_, is_left_out in zip(found, are_left_out, strict=True) if not is_left_out]
        scores = CandidateScores(
            dense=_in_order(ids, cosines),
            dense_rank=_in_order(ids, _ranks(nearest)),
            lexical=_in_order(ids, dict(by_words)),
            lexical_rank=_in_order(ids, _ranks(by_words)),
            fused=None if fused is None else _in_order(ids, fused),
        )
        return _QueryHits(ids, scores)


@dataclass(frozen=True)
class _QueryHits:
    """What both indexes found for one query."""

    ids: list[str]
    scores: CandidateScores
    """In the order of the ids."""


def _hybrid_store(store: VectorStore) -> QdrantStore:
    """The store, as one that fuses by itself. Raises InvalidSettings when it cannot."""
    if isinstance(store, QdrantStore):
        return store
    raise InvalidSettings(
        'retrieval.fusion names a fusion by Qdrant. Set indexing.vector_store = "qdrant" and run rag-assets index '
        "build; or choose convex, rrf or rank_blend."
    )


def _merged(searches: Sequence[list[Scored]]) -> list[Scored]:
    """The hits of several searches of one index for one question, each once, best first; ties by
    passage_id."""
    if len(searches) == 1:
        return searches[0]
    return sorted(
        {hit for hits in searches for hit in hits}, key=lambda hit: (-hit.score, hit.passage_id)
    )


def _ranks(hits: Sequence[Scored]) -> dict[str, float]:
    return {hit.passage_id: float(rank) for rank, hit in enumerate(hits)}


def _in_order(ids: Sequence[str], values: Mapping[str, float]) -> Scores:
    return np.array([values.get(id_, np.nan) for id_ in ids], np.float64)


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
