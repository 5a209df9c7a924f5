"""A question becomes ranked passages.

`queries` makes the queries of the question. Both indexes find candidates for them, and `fusion`
gives each candidate one score. Scores of passages in papers and sections that the question names
(`question_names`) are raised. Then a reranker gives the best candidates new scores.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rag_assets.core.domain import Filter, Query, QueryOrigin
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import RetrievalSettings
from rag_assets.questions import ReadQuestion
from rag_assets.search.embedding.base import Embedder
from rag_assets.search.embedding.fastembed_model import SparseVectors
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
    """The passages that a search may find."""

    scope: Scope | None
    """None: all passages."""
    left_out: Mask
    """Which passages must not be found even if they are in scope, by place."""
    named: Named = NOTHING_NAMED
    """What the question names."""

    @property
    def scopes(self) -> list[Scope | None]:
        """The scopes that are searched one by one: the whole scope, then the papers and the
        sections that are clearly named. These have searches of their own, because in a large corpus
        their best passages may not be among the best of all."""
        papers = Scope.within(self.scope, self.named.papers.clearly)
        return [self.scope, *(one for one in (papers, self.named.sections) if one is not None)]


@dataclass(frozen=True)
class Candidates:
    """n passages that were found, sorted by id. Every list and array has n entries in this
    order."""

    passage_ids: list[str]
    places: Numbers
    """In the library."""
    scores: Scores
    """Fused; higher is better."""
    dense: Scores
    """Cosine with the first query, NaN if it is not known."""
    lexical: Scores
    """BM25 for the first query, NaN if the word index did not find the passage for it."""
    found_by: list[tuple[int, ...]]
    """For each passage the numbers of the queries that found it, from 0."""

    def best(self, n: int) -> list[tuple[str, int]]:
        """The ids and places of the `n` with the highest scores, best first; equal scores by id."""
        order = np.argsort(-self.scores, kind="stable")[:n].tolist()
        return [(self.passage_ids[at], int(self.places[at])) for at in order]


class CandidateSearch:
    """Searches both indexes; safe to use from several threads.

    An index whose weight in the fusion is 0 is not searched, and no vector is made for it, unless
    it is the only index.
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
        """The candidates for a question and its other wordings.

        queries: the question first, at least one. The hits of other wordings count less than those
        of the question (`fusion.with_other_wordings`).
        """
        hits = [self._found_by_one(query, within) for query in queries]
        by_id = [
            dict(zip(one.ids, fused(one.scores, self._settings, self._dense_weight), strict=True))
            for one in hits
        ]
        scores = by_id[0] if len(by_id) == 1 else with_other_wordings(by_id)
        ids, first = sorted(scores), hits[0]
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

    def nearest(self, text: str, scope: Scope) -> tuple[list[Scored], float | None]:
        """The passages of a scope by their cosine with a text, best first, and the margin at which
        the first one can be told from the others (`EmbedderFacts.telling_margin`); no passages
        where vectors are not searched."""
        if self._dense is None:
            return [], None
        vector = self._dense.embedder.embed_query(text)
        return (
            self._dense.store.search(vector, CANDIDATES, scope),
            self._dense.embedder.facts.telling_margin,
        )

    def _found_by_one(self, query: Query, within: Within) -> "_QueryHits":
        """The hits of one query in both indexes."""
        if query.origin is QueryOrigin.PASSAGE:
            return self._near_passage(query.text, within)
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
            # Passages that only the word index found have a cosine, too.
            unknown = [hit.passage_id for hit in by_words if hit.passage_id not in cosines]
            cosines |= self._dense.store.cosines(vector, unknown)
        return self._scored(within, cosines, nearest, by_words)

    def _found_by_server(self, question: str, within: Within, dense: DenseSearch) -> "_QueryHits":
        """The hits of a question in a store that searches vectors and words and fuses them by
        itself."""
        vector = dense.embedder.embed_query(question)
        sparse = dense.sparse.of_question(question) if dense.sparse else None
        asked = HybridQuestion(question, vector, sparse)
        found = _hybrid_store(dense.store).hybrid(asked, CANDIDATES, within.scope)
        cosines = dict(found.nearest)
        cosines |= dense.store.cosines(
            vector, [hit.passage_id for hit in found.fused if hit.passage_id not in cosines]
        )
        return self._scored(within, cosines, found.nearest, found.by_words, dict(found.fused))

    def _near_passage(self, passage: str, within: Within) -> "_QueryHits":
        """The passages nearest to one that a model wrote as a possible answer.

        Its vector is made as for passages of papers, because models may put another prefix before
        questions. Its words are not searched, because the model guessed them.
        """
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
        """The hits with their scores, without passages that `within` leaves out.

        fused: final scores by passage_id if there is nothing to fuse; then only these passages are
        hits.
        """
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
    """The store, if it can fuse vectors and words by itself. Raises InvalidSettings otherwise."""
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
    """The 0-based rank of each passage, by id. hits: best first."""
    return {hit.passage_id: float(rank) for rank, hit in enumerate(hits)}


def _in_order(ids: Sequence[str], values: Mapping[str, float]) -> Scores:
    """The value of each id, NaN if it has none."""
    return np.array([values.get(id_, np.nan) for id_ in ids], np.float64)


RERANKED = 20
"""Candidates that the reranker looks at. 10 lose a little, 40 gain nothing on COVID-QA and
Cranfield; each costs about 10 ms with the packaged model."""
_LEAST_RERANKED, _MOST_OF_OTHERS = 0.1, 0.099
"""The lowest score of a candidate that the reranker scored, and the highest one of the others: so
the others come after it."""


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
    """Numbers of the queries that found it, from 0, counted over all parts of the question."""


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
    read: ReadQuestion

    def ranking(self, plan: QueryPlan, where: Filter) -> Ranking:
        """The passages found for each part of a question, and for all parts together. If several
        parts find a passage, its best score counts there."""
        scope = self.filters.scope(where)
        best: dict[int, RankedPassage] = {}
        of_parts: list[list[RankedPassage]] = []
        n_before = 0
        for queries in plan.parts:
            left_out = self.filters.of_kinds(not_asked_for(self.read(queries[0].text).kinds, where))
            named = self.names.named_by(queries[0].text, plan.question, self.filters.passing(where))
            found = self._found_for_part(queries, Within(scope, left_out, named), n_before)
            of_parts.append(_ordered(found))
            for one in of_parts[-1]:
                known = best.get(one.place)
                if known is None:
                    best[one.place] = one
                else:
                    better = one if one.score > known.score else known
                    best[one.place] = replace(better, found_by=(*known.found_by, *one.found_by))
            n_before += len(queries)
        return Ranking(_ordered(best.values()), of_parts)

    def _found_for_part(
        self, queries: Sequence[Query], within: Within, n_before: int
    ) -> list[RankedPassage]:
        """The passages for one part of a question, sorted by id.

        queries: the part and its other wordings. n_before: the number of queries of earlier parts.
        """
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
        """Gives the best `RERANKED` candidates new scores; the others come after them in the same
        order as before.

        Returns three arrays of shape (n,). Scores are 0 to 1, or unchanged if no reranker answered.
        Relevance is NaN for candidates that the reranker did not score. The third array tells which
        candidates reach `min_score`; all of them do if no reranker answered.
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
        final[best] = _LEAST_RERANKED + (1 - _LEAST_RERANKED) * judgement.scores
        final[rest] = _MOST_OF_OTHERS * stretched(scores[rest]) if len(rest) else 0.0
        relevance[best] = judgement.relevance
        return final, relevance, np.nan_to_num(relevance, nan=0.0) >= self.settings.min_score


def _ordered(passages: Iterable[RankedPassage]) -> list[RankedPassage]:
    return sorted(passages, key=lambda one: (-one.score, one.passage_id))


def _known(score: float) -> float | None:
    """The score, None for NaN."""
    return None if np.isnan(score) else float(score)
