"""A question becomes ranked passages and hits.

Candidates come from both indexes and are fused, the best of them are reranked, and a chunk scores as its best passage.
Opening what is searched lives in `opening`, the reranking step in `reranked`, what an answerer gets to read in
`packing`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np

from rag_assets.domain import EVERYTHING, Chunk, Context, Evidence, Filter, Hit, SectionKind
from rag_assets.embedding.base import Embedder
from rag_assets.errors import InvalidSettings
from rag_assets.indexing.protocols import HybridQuestion, HybridStore, LexicalIndex, Scope, Scored, VectorStore
from rag_assets.questions import Question, asks_about_publication, question_parts
from rag_assets.reranking import SkippingReranker
from rag_assets.retrieval.filtering import PassageFilters
from rag_assets.retrieval.fusion import CandidateScores, Scores, fused, index_weights, is_by_server, weighted_down
from rag_assets.retrieval.library import Library
from rag_assets.retrieval.packing import PassageSizes, pack_contexts
from rag_assets.retrieval.reranked import Reranking
from rag_assets.settings import RetrievalSettings
from rag_assets.text.tokens import TokenCounter

SEARCH_VERSION = 5
"""Part of the key of published answers: raise it when the code finds or packs something else."""


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A candidate passage; a ranking lists them best first, equal scores by passage_id."""

    passage_id: str
    place: int
    """In the library."""
    score: float
    dense_score: float | None
    lexical_score: float | None
    relevance: float | None
    """As in `Hit`."""


@dataclass(frozen=True)
class DenseSearch:
    """The vector index and the model that its vectors come from."""

    store: VectorStore
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class _Query:
    """What is searched for, and where."""

    text: str
    scope: Scope | None
    has_title_pages: bool
    """Whether passages of title pages may be found."""


class Searcher:
    """Everything a question needs, opened once; close it, or use it as a context manager.

    An index without weight in the fusion is not asked, and no vector is made for it, unless it is the only one.
    """

    def __init__(
        self,
        library: Library,
        dense: DenseSearch | None,
        words: LexicalIndex | None,
        settings: RetrievalSettings,
        counter: TokenCounter,
        reranker: SkippingReranker | None = None,
    ) -> None:
        self.library = library
        dense_weight, lexical_weight = index_weights(settings)
        self._dense = dense if dense_weight or words is None else None
        self._words = words if lexical_weight or dense is None else None
        self._opened = [one for one in (dense.store if dense else None, words, library) if one is not None]
        self._settings = settings
        self._sizes = PassageSizes(counter, library.n_passages)
        self._filters = PassageFilters(library)
        self._reranking = Reranking(reranker, library, settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for one in self._opened:
            one.close()

    def rank(self, question: str, where: Filter = EVERYTHING) -> list[RankedPassage]:
        """All candidate passages that `where` and the floor of relevance let through, best first. Empty for a blank
        question.

        A compound question is searched part by part; a passage keeps its best score.
        """
        scope = self._filters.scope(where)
        best: dict[int, RankedPassage] = {}
        for part in question_parts(question):
            has_title_pages = asks_about_publication(part.searched) or where.names(SectionKind.TITLE_PAGE)
            for one in self._rank_part(_Query(part.searched, scope, has_title_pages)):
                known = best.get(one.place)
                if known is None or one.score > known.score:
                    best[one.place] = one
        return sorted(best.values(), key=lambda one: (-one.score, one.passage_id))

    def _rank_part(self, query: _Query) -> list[RankedPassage]:
        if not query.text.strip():
            return []
        ids, candidates = self._candidates(query)
        places = self.library.places(ids)
        reranked = self._reranking.applied(query.text, places, fused(candidates, self._settings))
        trust = np.where(self.library.are_generated(places), self._settings.generated_weight, 1.0)
        scores = weighted_down(reranked.scores, trust)
        return [
            RankedPassage(
                passage_id=ids[at],
                place=int(places[at]),
                score=float(scores[at]),
                dense_score=_known(candidates.dense[at]),
                lexical_score=_known(candidates.lexical[at]),
                relevance=_known(reranked.relevance[at]),
            )
            for at in np.flatnonzero(reranked.are_kept).tolist()
        ]

    def evidence(self, question: Question, k: int, budget_tokens: int | None = None) -> Evidence:
        """The best `k` chunks, and the contexts made of what was found in them.

        budget_tokens: pack so many tokens out of everything that was found instead.
        """
        ranking = self.rank(question.question, question.filter)
        best = self._best_of_chunks(ranking)[:k]
        packed, budget = ranking, budget_tokens
        if budget is None:
            chunks = self.library.chunk_numbers([one.place for one in best])
            among_best = np.isin(self.library.chunk_numbers([one.place for one in ranking]), chunks)
            packed = [one for one, is_among in zip(ranking, among_best, strict=True) if is_among]
            budget = self._settings.budget_tokens
        contexts, given = self.contexts(packed, budget)
        return Evidence(tuple(contexts), given, tuple(self._hits(best)))

    def hits(self, ranking: Sequence[RankedPassage], k: int) -> list[Hit]:
        """The best `k` chunks of a ranking, each scored by its best passage."""
        return self._hits(self._best_of_chunks(ranking)[:k])

    def contexts(self, ranking: Sequence[RankedPassage], budget_tokens: int) -> tuple[list[Context], dict[str, Chunk]]:
        """The best of a ranking packed into the token budget, and the chunks behind them; see `pack_contexts`."""
        scored = [(one.place, one.score) for one in ranking]
        return pack_contexts(scored, self.library, self._sizes, self._settings, budget_tokens=budget_tokens)

    def _best_of_chunks(self, ranking: Sequence[RankedPassage]) -> list[RankedPassage]:
        """The best passage of each chunk, best first."""
        best: dict[int, RankedPassage] = {}
        for one, chunk in zip(ranking, self.library.chunk_numbers([one.place for one in ranking]), strict=True):
            best.setdefault(int(chunk), one)
        return list(best.values())

    def _hits(self, best: Sequence[RankedPassage]) -> list[Hit]:
        passages = self.library.passages([one.place for one in best])
        chunks = self.library.chunks([passage.chunk_id for passage in passages])
        return [
            Hit(
                rank=rank,
                score=one.score,
                chunk=chunks[passage.chunk_id],
                passage=passage,
                dense_score=one.dense_score,
                lexical_score=one.lexical_score,
                relevance=one.relevance,
            )
            for rank, (one, passage) in enumerate(zip(best, passages, strict=True), start=1)
        ]

    def _candidates(self, query: _Query) -> tuple[list[str], CandidateScores]:
        if self._dense and is_by_server(self._settings):
            return self._fused_candidates(query, self._dense)
        limit = self._settings.candidates
        by_words = self._words.search(query.text, limit, query.scope) if self._words else []
        nearest: list[Scored] = []
        cosines: dict[str, float] = {}
        if self._dense:
            vector = self._dense.embedder.embed_query(query.text)
            nearest = self._dense.store.search(vector, limit, query.scope)
            cosines = dict(nearest)
            unknown = [hit.passage_id for hit in by_words if hit.passage_id not in cosines]
            cosines |= self._dense.store.cosines(vector, unknown)
        ids = self._searched(sorted({hit.passage_id for hit in (*nearest, *by_words)}), query)
        return ids, CandidateScores(
            dense=_in_order(ids, cosines),
            dense_rank=_in_order(ids, _ranks(nearest)),
            lexical=_in_order(ids, dict(by_words)),
            lexical_rank=_in_order(ids, _ranks(by_words)),
        )

    def _fused_candidates(self, query: _Query, dense: DenseSearch) -> tuple[list[str], CandidateScores]:
        vector = dense.embedder.embed_query(query.text)
        found = hybrid_store(dense.store).hybrid(
            HybridQuestion(query.text, vector), self._settings.candidates, query.scope
        )
        cosines = dict(found.nearest)
        cosines |= dense.store.cosines(vector, [hit.passage_id for hit in found.fused if hit.passage_id not in cosines])
        ids = self._searched(sorted(hit.passage_id for hit in found.fused), query)
        return ids, CandidateScores(
            dense=_in_order(ids, cosines),
            dense_rank=_in_order(ids, _ranks(found.nearest)),
            lexical=_in_order(ids, dict(found.by_words)),
            lexical_rank=_in_order(ids, _ranks(found.by_words)),
            fused=_in_order(ids, dict(found.fused)),
        )

    def _searched(self, passage_ids: list[str], query: _Query) -> list[str]:
        """Without the title pages, where nothing asks for them: they hold the words of every paper on a subject."""
        if query.has_title_pages:
            return passage_ids
        are_title_pages = self.library.are_title_pages(self.library.places(passage_ids))
        return [id_ for id_, is_title_page in zip(passage_ids, are_title_pages, strict=True) if not is_title_page]


def hybrid_store(store: VectorStore) -> HybridStore:
    """The store, as one that fuses by itself. Raises InvalidSettings when it cannot."""
    if isinstance(store, HybridStore):
        return store
    raise InvalidSettings(
        'retrieval.fusion names a fusion by Qdrant. Set indexing.vector_store = "qdrant" and indexing.word_vectors = '
        "true, and run rag-assets index build; or choose convex, rrf or rank_blend."
    )


def _ranks(hits: Sequence[Scored]) -> dict[str, float]:
    return {hit.passage_id: float(rank) for rank, hit in enumerate(hits)}


def _in_order(ids: Sequence[str], values: dict[str, float]) -> Scores:
    return np.array([values.get(id_, np.nan) for id_ in ids], np.float64)


def _known(score: float) -> float | None:
    return None if np.isnan(score) else float(score)
