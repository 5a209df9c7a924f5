"""The candidate passages of a question: what both indexes find for its queries, and one score for
each.

What is searched for is decided in `queries`, how scores become one in `fusion`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_assets.core.domain import Query, QueryOrigin
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
from rag_assets.search.retrieval.filtering import Mask
from rag_assets.search.retrieval.fusion import (
    CandidateScores,
    Scores,
    fused,
    index_weights,
    with_other_wordings,
)
from rag_assets.search.retrieval.library import Library, Numbers
from rag_assets.search.retrieval.question_names import NOTHING_NAMED, Named

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
        dense_weight, lexical_weight = index_weights(settings)
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
            dict(zip(found.ids, fused(found.scores, self._settings), strict=True)) for found in each
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
