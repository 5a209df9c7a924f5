"""A closer look at the best candidates of a search: late interaction, cross-encoders, and models behind an API."""

from rag_assets.search.reranking.base import FoundPassage, Judgement, Reranker, Scores, SkippingReranker, stretched
from rag_assets.search.reranking.rerankers import NO_RERANKER, RERANKERS, Means, open_reranker
from rag_assets.search.reranking.trained_reader import TrainedReader, open_sentence_reader

__all__ = [
    "NO_RERANKER",
    "RERANKERS",
    "FoundPassage",
    "Judgement",
    "Means",
    "Reranker",
    "Scores",
    "SkippingReranker",
    "TrainedReader",
    "open_reranker",
    "open_sentence_reader",
    "stretched",
]
